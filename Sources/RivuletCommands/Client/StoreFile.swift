internal import Foundation
internal import RivuletModel
internal import RivuletStore
internal import RivuletTransport

#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Darwin)
    internal import Darwin
#endif

/// The file with one user's messages of one server.
///
/// The server is part of the name: keys of one server mean nothing to another.
struct StoreFile: Sendable {
    let folder: String
    let path: String
    let user: UserID

    init(folder: String, user: UserID, server: Endpoint) {
        self.folder = folder
        self.user = user
        // A host has no slash (``Endpoint``), a colon is no letter for every file system.
        let name = "\(user.rawValue)@\(server.host)_\(server.port)".replacing(":", with: "-")
        path = folder + "/" + name + ".sqlite"
    }

    /// Opens the store, making it when it is missing.
    func open() throws -> SQLiteAccountStore {
        do {
            return try SQLiteAccountStore(path: path, account: user)
        } catch let error as StoreError {
            throw CommandError("cannot use the store \(path): \(error); name another folder with --store")
        }
    }

    /// Opens the store only if it exists.
    func openExisting() throws -> SQLiteAccountStore? {
        FileManager.default.fileExists(atPath: path) ? try open() : nil
    }

    /// Takes the store for this process: two clients with one outbox would number their messages alike.
    func lock() throws -> StoreLock {
        do {
            try FileManager.default.createDirectory(
                atPath: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        } catch {
            throw CommandError("cannot write in the store folder \(folder); name another one with --store")
        }
        let descriptor = Glibc.open(path + ".lock", O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else {
            throw CommandError("cannot write in the store folder \(folder); name another one with --store")
        }
        guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else {
            close(descriptor)
            throw CommandError(
                "another rivulet is connected as user \(user.rawValue) with the store \(folder); "
                    + "end it or name another folder with --store")
        }
        return StoreLock(descriptor: descriptor)
    }
}

/// Holds a store for this process; the system releases it when the process ends, too.
final class StoreLock: Sendable {
    private let descriptor: Int32

    fileprivate init(descriptor: Int32) {
        self.descriptor = descriptor
    }

    deinit {
        close(descriptor)
    }

    /// Lets another process take the store.
    func release() {
        flock(descriptor, LOCK_UN)
    }
}
