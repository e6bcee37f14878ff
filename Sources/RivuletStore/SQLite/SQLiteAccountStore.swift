public import RivuletModel
import SQLiteKit
import Synchronization

#if canImport(Glibc)
    import Glibc
#elseif canImport(Darwin)
    import Darwin
#endif

/// An account in one SQLite file.
///
/// One queue writes, others read, each transaction in a snapshot of its own. Several processes may use one file. The
/// file is for its owner only (mode 0600).
///
/// Damage that is met later than at opening throws `StoreError.Code.damaged` and is remembered beside the file: the next
/// opening does what the policy says.
public final class SQLiteAccountStore: AccountStore {
    /// What to do with a damaged file.
    public enum DamagePolicy: Sendable {
        /// Throw `StoreError.Code.damaged` and leave it.
        case refuse
        /// Rename it, with `.damaged-N` at its end, and start an empty one; the server then fills it again.
        case keepAside
    }

    /// The user whose account this is.
    public let account: UserID
    /// The file.
    public let path: String
    /// Where a damaged file was put when this store was opened; nil when there was none.
    public let damagedFile: String?
    let codec: ContentCodec
    private let writer: DatabaseQueue
    private let readers: [DatabaseQueue]
    private let nextReader = Atomic<Int>(0)
    private let publisher = ChangePublisher()

    /// Opens or creates the file; blocks until that is done.
    ///
    /// - Parameters:
    ///   - path: The file; its folder must exist.
    ///   - account: The user; a file of another user is refused.
    ///   - codec: Reads the contents; must know the app's own kinds.
    ///   - damagePolicy: What to do with a damaged file.
    /// - Throws: `StoreError`.
    public init(
        path: String, account: UserID, codec: ContentCodec = ContentCodec(),
        damagePolicy: DamagePolicy = .refuse
    ) throws {
        self.account = account
        self.path = path
        self.codec = codec
        do {
            writer = try Self.openWriter(path, account, codec)
            damagedFile = nil
        } catch let error as StoreError where error.code == .damaged && damagePolicy == .keepAside {
            damagedFile = try Self.putAside(path)
            writer = try Self.openWriter(path, account, codec)
        }
        do {
            readers = try (0..<2).map { index in
                try DatabaseQueue(path: path, options: .readOnly, label: "rivulet.store.reader\(index)")
            }
        } catch let error as SQLiteError {
            throw StoreError(error)
        }
    }

    // MARK: Writing

    /// Performs the operations in order, all or none.
    public func apply(_ operations: [StoreOperation]) async throws -> [StoreOutcome] {
        let codec = codec
        let account = account
        let publisher = publisher
        return try await translating {
            try await writer.perform { database in
                let (outcomes, finished) = try database.transaction {
                    let tables = try SQLiteTables(database: database)
                    try tables.chooseDeletion(for: operations)
                    var writer = try StoreWriter(tables: tables, codec: codec, account: account)
                    var outcomes: [StoreOutcome] = []
                    outcomes.reserveCapacity(operations.count)
                    for operation in operations {
                        outcomes.append(try writer.perform(operation))
                    }
                    try writer.finish()
                    try tables.finishSpans()
                    try tables.finishWiping()
                    return (outcomes, writer)
                }
                Self.wipeLog(database)
                // On the writer's queue, so that streams see the transactions in their order.
                try publisher.publish { try finished.changes() }
                return outcomes
            }
        }
    }

    /// The changes from now on, one element per transaction of this process.
    public func changes() -> AsyncStream<StoreChanges> {
        publisher.stream()
    }

    /// Ends all streams and closes the file.
    public func close() async {
        publisher.finish()
        for reader in readers {
            await reader.closeAsync()
        }
        await writer.closeAsync()
    }

    /// Cuts the write-ahead log to nothing when it may hold the text of a burned message.
    ///
    /// While another process reads, that is not possible; it is tried again after every transaction.
    private static func wipeLog(_ database: Database) {
        do {
            guard try database.integer("SELECT value FROM meta WHERE name = 'wipe'") == 1,
                try database.checkpoint(truncates: true)
            else { return }
            try database.execute("DELETE FROM meta WHERE name = 'wipe'")
        } catch {
            // The mark stays, and with it the duty.
        }
    }

    // MARK: Reading

    /// Reads a stretch of a conversation.
    public func page(_ query: PageQuery) async throws -> StoredPage {
        try await read { tables, codec in
            guard let session = try tables.session(query.session) else { return .empty }
            return try PageReader(tables: tables, session: session.id, query: query).page { row in
                try tables.message(of: row, in: query.session, codec: codec)
            }
        }
    }

    /// The message of this identity; nil when there is none or it was deleted.
    public func message(_ id: MessageID) async throws -> Message? {
        try await read { tables, codec in
            guard let row = try tables.message(id: id.rawValue) else { return nil }
            return try tables.message(of: row, codec: codec)
        }
    }

    /// The message of this uuid; nil when there is none or it was deleted.
    public func message(uuid: String) async throws -> Message? {
        try await read { tables, codec in
            guard let row = try tables.message(uuid: uuid) else { return nil }
            return try tables.message(of: row, codec: codec)
        }
    }

    /// The JSON text of a message as it came or was sent; nil when there is no such message.
    public func rawContent(of id: MessageID) async throws -> String? {
        try await read { tables, _ in
            guard let row = try tables.message(id: id.rawValue), row.position != nil else { return nil }
            return row.raw
        }
    }

    /// The conversations, pinned ones first, then the one with the newest message first.
    public func conversations(limit: Int, offset: Int) async throws -> [Conversation] {
        try await read { tables, codec in
            try tables.sessions(limit: max(0, limit), offset: max(0, offset)).map { row in
                try tables.conversation(of: row, codec: codec)
            }
        }
    }

    /// One conversation; nil when nothing is known of it.
    public func conversation(_ session: Session) async throws -> Conversation? {
        try await read { tables, codec in
            try tables.session(session).map { try tables.conversation(of: $0, codec: codec) }
        }
    }

    /// The sum of the unread messages of all conversations that are not muted.
    public func unreadTotal() async throws -> Int {
        try await read { tables, _ in
            let sum = try tables.database.integer("SELECT sum(unread) FROM session WHERE is_muted = 0")
            return Int(clamping: sum ?? 0)
        }
    }

    /// What the client needs to go on where it stopped.
    public func clientState() async throws -> StoredClientState {
        try await read { tables, _ in
            let keys = try tables.keys()
            return StoredClientState(
                peerKey: keys.peer, groupKeys: keys.groups, outbox: try tables.allSends().map(\.send),
                lastSendNumber: try tables.counters().lastSend)
        }
    }

    /// Runs the closure on one of the reading queues, in a snapshot.
    func read<Result: Sendable>(
        _ body: @escaping @Sendable (SQLiteTables, ContentCodec) throws -> Result
    ) async throws -> Result {
        let codec = codec
        let turn = nextReader.wrappingAdd(1, ordering: .relaxed).newValue
        return try await translating {
            try await readers[Int(UInt(bitPattern: turn) % UInt(readers.count))].read { database in
                try body(try SQLiteTables(database: database), codec)
            }
        }
    }

    private func translating<Result: Sendable>(_ body: () async throws -> Result) async throws -> Result {
        do {
            return try await body()
        } catch let error as SQLiteError {
            let translated = StoreError(error)
            if translated.code == .damaged { DamageMark.put(on: path) }
            throw translated
        }
    }

    // MARK: Care

    /// Looks for damage in the file; answers the first findings, none for a sound file.
    ///
    /// Reads the whole file.
    public func integrityFindings() async throws -> [String] {
        try await read { tables, _ in try tables.database.quickCheck() }
    }

    // MARK: Deleting

    /// Deletes an account's file, those beside it, and damaged ones that were put aside; the store must be closed.
    ///
    /// - Throws: `StoreError` when a file is there and cannot be deleted.
    public static func delete(path: String) throws {
        var files = [path + "-wal", path + "-shm", path]
        // The path is a string that lives for the call, here and below.
        for number in 1... {
            let aside = "\(path).damaged-\(number)"
            guard unsafe access(aside, F_OK) == 0 else { break }
            files += [aside + "-wal", aside + "-shm", aside]
        }
        DamageMark.remove(from: path)
        for file in files where unsafe access(file, F_OK) == 0 {
            guard unsafe unlink(file) == 0 else {
                throw StoreError(code: .unusable, message: "the file \(file) cannot be deleted")
            }
        }
    }

    // MARK: Opening

    private static func openWriter(
        _ path: String, _ account: UserID, _ codec: ContentCodec
    ) throws -> DatabaseQueue {
        do {
            var options = DatabaseOptions()
            // The index of uuids is hit all over by every sync round.
            options.cacheKibibytes = 32_768
            options.walCheckpointPages = 4_000
            return try DatabaseQueue(path: path, options: options, label: "rivulet.store.writer") {
                database in
                try database.migrate(Schema.migrations)
                try claim(database, for: account)
                try DamageMark.settle(database, path)
                wipeLog(database)
                try SQLiteTables.reindex(database, codec)
            }
        } catch let error as SQLiteError {
            throw StoreError(error)
        }
    }

    /// Marks a new file as this user's and refuses another user's.
    private static func claim(_ database: Database, for account: UserID) throws {
        // Another process may make the same file at this moment: whoever was first stands in it.
        try database.execute(
            "INSERT OR IGNORE INTO meta VALUES ('account', ?)", .integer(account.rawValue))
        let owner = try database.integer("SELECT value FROM meta WHERE name = 'account'")
        guard owner == account.rawValue else {
            throw SQLiteError(
                code: .foreignFile, message: "the file belongs to another user", operation: "open")
        }
    }

    /// Renames the file and those beside it, and takes the mark away; the result is the new name.
    private static func putAside(_ path: String) throws -> String {
        var number = 1
        // The path is a string that lives for the call, here and below.
        while unsafe access("\(path).damaged-\(number)", F_OK) == 0 { number += 1 }
        let target = "\(path).damaged-\(number)"
        guard unsafe rename(path, target) == 0 else {
            throw StoreError(code: .unusable, message: "the damaged file \(path) cannot be renamed")
        }
        for suffix in ["-wal", "-shm"] {
            // They need not exist.
            _ = unsafe rename(path + suffix, target + suffix)
        }
        DamageMark.remove(from: path)
        return target
    }
}

extension SQLiteTables {
    func message(of row: MessageRow, in session: Session? = nil, codec: ContentCodec) throws -> Message? {
        guard row.position != nil, let session = try session ?? self.session(id: row.session)?.session else {
            return nil
        }
        return row.message(in: session, codec: codec, extras: try extras(of: row))
    }

    func conversation(of row: SessionRow, codec: ContentCodec) throws -> Conversation {
        guard let id = row.lastMessage, let last = try message(id: id) else {
            return row.conversation(last: nil)
        }
        return row.conversation(last: try message(of: last, in: row.session, codec: codec))
    }
}
