import Foundation
import RivuletModel
import RivuletStore

#if canImport(Glibc)
    import Glibc
#endif

/// The file with the user's messages of one server, the same that `rivulet` uses.
final class AccountFile {
    /// The opened store.
    let store: SQLiteAccountStore
    private let lock: Int32

    /// Opens the file, making it when it is missing, and takes it for this process.
    ///
    /// Two clients with one outbox would number their messages alike.
    init(folder: String, user: UserID, host: String, port: UInt16) throws {
        let name = "\(user.rawValue)@\(host)_\(port)".replacing(":", with: "-")
        let path = folder + "/" + name + ".sqlite"
        do {
            try FileManager.default.createDirectory(
                atPath: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        } catch {
            throw ChatError("cannot write in the folder \(folder); name another one with --store")
        }
        lock = open(path + ".lock", O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
        guard lock >= 0 else {
            throw ChatError("cannot write in the folder \(folder); name another one with --store")
        }
        guard flock(lock, LOCK_EX | LOCK_NB) == 0 else {
            close(lock)
            throw ChatError(
                "another program is connected as user \(user.rawValue) with the folder \(folder); end it or name "
                    + "another folder with --store")
        }
        store = try SQLiteAccountStore(path: path, account: user, damagePolicy: .keepAside)
    }

    deinit {
        close(lock)
    }
}
