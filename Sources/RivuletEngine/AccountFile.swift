internal import RivuletClient
internal import RivuletClientCore
public import RivuletModel
internal import RivuletStore

#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Darwin)
    internal import Darwin
#endif

/// The file that keeps one user's messages of one server: `USER@HOST_PORT.sqlite` in a folder of the app's choice.
///
/// Every program that joins a service and a store names the file so, and finds what another one kept. The server is
/// part of the name, since keys of one server mean nothing to another. A file that an earlier version named
/// `HOST_PORT-USER.db` is used as long as there is no other.
public struct AccountFile: Hashable, Sendable {
    /// The user.
    public let user: UserID
    /// The folder.
    public let folder: String
    /// The whole path.
    public let path: String

    /// Names the file of a user on a server.
    ///
    /// - Parameters:
    ///   - folder: Where accounts are kept.
    ///   - user: The user.
    ///   - host: The name or the address of the server, in any spelling.
    ///   - port: The server's port.
    public init(folder: String, user: UserID, host: String, port: UInt16) {
        self.user = user
        self.folder = folder
        let path = folder + "/\(user.rawValue)@\(Self.safe(host))_\(port).sqlite"
        let earlier = folder + "/\(Self.earlierName(host))_\(port)-\(user.rawValue).db"
        let manager = FileManager.default
        let isEarlier = !manager.fileExists(atPath: path) && manager.fileExists(atPath: earlier)
        self.path = isEarlier ? earlier : path
    }

    /// Whether the file is there.
    public var exists: Bool { FileManager.default.fileExists(atPath: path) }

    /// Makes the folder, with mode 0700, unless it is there.
    ///
    /// - Throws: `StoreError` with the code `unusable`.
    public func makeFolder() throws {
        do {
            try FileManager.default.createDirectory(
                atPath: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        } catch {
            throw StoreError(code: .unusable, message: "the folder \(folder) cannot be made: \(error)")
        }
    }

    /// Takes the account for this process: two clients with one outbox would number their messages alike.
    ///
    /// - Returns: The lock, released when it is let go and when the process ends.
    /// - Throws: `StoreError`: `busy` when another client has it, `unusable` when the folder cannot be written to.
    public func lock() throws -> AccountLock {
        try makeFolder()
        let descriptor = open(path + ".lock", O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else {
            throw StoreError(code: .unusable, message: "the folder \(folder) cannot be written to")
        }
        guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else {
            close(descriptor)
            throw StoreError(
                code: .busy, message: "another program is connected as user \(user.rawValue) with \(path)")
        }
        return AccountLock(descriptor: descriptor)
    }

    /// A host as part of a file's name: no slash can lead elsewhere, and a colon is no letter for every file system.
    private static func safe(_ host: String) -> String {
        guard !host.isEmpty else { return "nowhere" }
        return String(
            String.UnicodeScalarView(
                host.unicodeScalars.map { scalar in
                    switch scalar {
                    case "a"..."z", "A"..."Z", "0"..."9", "-", ".", "_": scalar
                    case ":": "-"
                    default: "_"
                    }
                }))
    }

    private static func earlierName(_ host: String) -> String {
        guard !host.isEmpty else { return "nowhere" }
        return String(
            String.UnicodeScalarView(
                host.lowercased().unicodeScalars.map { scalar in
                    switch scalar {
                    case "a"..."z", "0"..."9", "-", ".": scalar
                    default: "_"
                    }
                }))
    }
}

extension AccountFile {
    /// The file of a service's user on its first server.
    init(folder: String, service: IMServiceConfiguration) {
        let server = service.core.endpoints.first
        self.init(
            folder: folder, user: UserID(service.identity.uid), host: server?.host ?? "",
            port: server?.port ?? 0)
    }
}

/// Holds an account for this process; the system releases it when the process ends, too.
public final class AccountLock: Sendable {
    private let descriptor: Int32

    fileprivate init(descriptor: Int32) {
        self.descriptor = descriptor
    }

    deinit {
        // A program that is being started has copies of all descriptors until it begins.
        flock(descriptor, LOCK_UN)
        close(descriptor)
    }

    /// Lets another process take the account.
    public func release() {
        flock(descriptor, LOCK_UN)
    }
}
