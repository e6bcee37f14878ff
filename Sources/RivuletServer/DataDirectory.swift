import SQLiteKit
import Synchronization

#if canImport(Glibc)
    import Glibc
#elseif canImport(Darwin)
    import Darwin
#endif

/// The folder in which one server keeps everything.
///
/// | file | content |
/// |---|---|
/// | `messages.sqlite` | the queues of all users; only the running server opens it |
/// | `accounts.sqlite` | tokens (hashed) and device numbers; any process may open it at any time |
/// | `members.sqlite` | groups, room bans, friend lists; the running server or, while it is stopped, one program |
/// | `keys` | the last key given, by which a copy that was put back is noticed; never part of a backup |
/// | `room-keys` | a number above every one that a message of a room was given |
/// | `admin.socket` | through which the running server is asked about groups, rooms and friends |
/// | `lock` | held by the running server |
///
/// A folder that is made has mode 0700, a file 0600; what exists already keeps its mode (docs/files.md).
public struct DataDirectory: Sendable, Hashable {
    /// The folder's path.
    public let path: String

    /// Names a folder, which need not exist.
    public init(path: String) {
        var path = path
        while path.count > 1, path.hasSuffix("/") { path.removeLast() }
        self.path = path
    }

    /// The folder that programs use when none is named: `rivulet/server` below `XDG_DATA_HOME`, or below
    /// `~/.local/share`; nil when the environment names neither.
    public static func standard(environment: [String: String]) -> DataDirectory? {
        if let base = environment["XDG_DATA_HOME"], base.hasPrefix("/") {
            return DataDirectory(path: base + "/rivulet/server")
        }
        guard let home = environment["HOME"], home.hasPrefix("/") else { return nil }
        return DataDirectory(path: home + "/.local/share/rivulet/server")
    }

    /// The message log's file.
    public var messagesPath: String { path + "/messages.sqlite" }
    /// The account directory's file.
    public var accountsPath: String { path + "/accounts.sqlite" }
    /// The membership directory's file.
    public var membersPath: String { path + "/members.sqlite" }
    /// The file that knows the last key given.
    public var keysPath: String { path + "/keys" }
    /// The file that knows a number above every one that a message of a room was given.
    public var roomKeysPath: String { path + "/room-keys" }
    /// The socket through which the running server is asked.
    public var adminSocketPath: String { path + "/admin.socket" }
    /// The file that the running server locks.
    public var lockPath: String { path + "/lock" }

    /// Makes the folder, and those above it, when it is missing.
    ///
    /// - Throws: ``ServerError`` with `folderUnwritable`.
    public func create() throws {
        var made = path.hasPrefix("/") ? "" : "."
        for part in path.split(separator: "/") {
            made += "/" + part
            guard mkdir(made, 0o700) != 0, errno != EEXIST, errno != EISDIR else { continue }
            // A folder above may be out of reach and yet be there; what counts is the last one.
            let reason = String(cString: strerror(errno))
            guard made.hasSuffix(path) || access(made, F_OK) != 0 else { continue }
            throw ServerError(.folderUnwritable, "cannot create the data folder \(path): \(reason)")
        }
        guard access(path, R_OK | W_OK | X_OK) == 0 else {
            let reason = String(cString: strerror(errno))
            throw ServerError(.folderUnwritable, "cannot write in the data folder \(path): \(reason)")
        }
    }

    /// Takes the folder for one server.
    ///
    /// - Throws: ``ServerError`` with `folderInUse` when another server holds it, `folderUnwritable` when the lock
    ///   file cannot be made.
    func lock() throws -> DataDirectoryLock {
        let descriptor = open(lockPath, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else {
            let reason = String(cString: strerror(errno))
            throw ServerError(.folderUnwritable, "cannot create \(lockPath): \(reason)")
        }
        guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else {
            close(descriptor)
            throw ServerError(
                .folderInUse,
                "another server uses the data folder \(path); stop it or name another folder with --data")
        }
        return DataDirectoryLock(descriptor: descriptor)
    }

    /// Says in a person's terms what is wrong with a database file of this folder.
    static func describe(_ error: any Error, path: String) -> ServerError {
        guard let error = error as? SQLiteError else {
            return ServerError(.databaseUnusable, "cannot use \(path): \(error)", underlying: error)
        }
        if error.isCorrupt {
            return ServerError(
                .databaseCorrupt,
                "\(path) is damaged (\(error.symbolicName)); move it away and put a backup in its place",
                underlying: error)
        }
        switch error.code {
        case .schemaIsNewer:
            return ServerError(
                .databaseNewer,
                "\(path) was written by a newer version of Rivulet (\(error.message)); use that version",
                underlying: error)
        case .foreignFile:
            return ServerError(
                .databaseForeign, "\(path) belongs to another program; name another folder", underlying: error
            )
        default:
            return ServerError(
                .databaseUnusable, "cannot use \(path): \(error.symbolicName)", underlying: error)
        }
    }
}

/// Holds the lock on a data folder until it is released; the system releases it when the process ends.
final class DataDirectoryLock: Sendable {
    private let descriptor: Mutex<Int32?>

    init(descriptor: Int32) {
        self.descriptor = Mutex(descriptor)
    }

    /// Lets go of the folder; once is enough.
    func release() {
        let held = descriptor.withLock { descriptor in
            defer { descriptor = nil }
            return descriptor
        }
        guard let held else { return }
        // Closing alone leaves the lock to a program that is being started meanwhile: until it begins, it has copies
        // of all descriptors.
        flock(held, LOCK_UN)
        close(held)
    }

    deinit {
        release()
    }
}
