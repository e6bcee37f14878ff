internal import RivuletEngine
internal import RivuletModel
internal import RivuletStore
internal import RivuletTransport

/// The file with one user's messages of one server, with errors in the words of a command.
struct StoreFile: Sendable {
    private let file: AccountFile

    var path: String { file.path }

    init(folder: String, user: UserID, server: Endpoint) {
        file = AccountFile(folder: folder, user: user, host: server.host, port: server.port)
    }

    /// Opens the store, making it when it is missing.
    func open() throws -> SQLiteAccountStore {
        do {
            return try SQLiteAccountStore(path: path, account: file.user)
        } catch let error as StoreError {
            throw CommandError("cannot use the store \(path): \(error); name another folder with --store")
        }
    }

    /// Opens the store only if it exists.
    func openExisting() throws -> SQLiteAccountStore? {
        file.exists ? try open() : nil
    }

    /// Takes the store for this process.
    func lock() throws -> AccountLock {
        do {
            return try file.lock()
        } catch let error as StoreError where error.code == .busy {
            throw CommandError(
                "another rivulet is connected as user \(file.user.rawValue) with the store \(file.folder); "
                    + "end it or name another folder with --store")
        } catch is StoreError {
            throw CommandError(
                "cannot write in the store folder \(file.folder); name another one with --store")
        }
    }
}
