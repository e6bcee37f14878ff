import RivuletModel
import RivuletServerCore
import SQLiteKit

/// The message log in one SQLite file.
///
/// A commit writes its messages one after the other into a row of the *journal*; that alone makes them safe, and it
/// is one insert however many messages there are. The per-user index and the index of uuids are *folded* from it
/// later, in slices small enough to hide behind a commit (`SQLiteMessageLog+Folding.swift`). What is not yet folded
/// is in memory as well, and is read back from the journal when the file is opened.
///
/// | table | content |
/// |---|---|
/// | `journal` | one row per commit: the records (``LogRecord``) and the last key given |
/// | `segment` | up to 48 consecutive entries of one queue: key, journal row, offset |
/// | `identity` | hash of (app, sender, command, receiver, uuid) → journal row, offset |
/// | `reported` | the key that a user's clients reported |
/// | `state` | `folded`: the journal row up to which everything is folded |
///
/// An instance belongs to one thread. It expects to be the file's only user.
final class SQLiteMessageLog: MessageLog {
    static let migrations = Migrations(
        applicationID: 0x5256_4D53,
        scripts: [
            """
            CREATE TABLE journal (id INTEGER PRIMARY KEY, last_key INTEGER NOT NULL, records BLOB NOT NULL);
            CREATE TABLE segment (
                user INTEGER NOT NULL,
                first_key INTEGER NOT NULL,
                last_key INTEGER NOT NULL,
                entries BLOB NOT NULL,
                PRIMARY KEY (user, first_key)
            ) WITHOUT ROWID;
            CREATE TABLE identity (hash INTEGER PRIMARY KEY, journal INTEGER NOT NULL, offset INTEGER NOT NULL);
            CREATE TABLE reported (user INTEGER PRIMARY KEY, key INTEGER NOT NULL);
            CREATE TABLE state (name TEXT PRIMARY KEY, value INTEGER NOT NULL) WITHOUT ROWID;
            """
        ])
    /// The version of the journal's rows, in their first byte.
    static let rowFormat: UInt8 = 1
    /// A longer row is ended and another begun in the same commit.
    static let rowBytesMax = 96 * 1024

    let database: Database
    var queues: [UserID: QueueTail] = [:]
    /// Permanent identities that are not yet in the table, and where their records are.
    var recentIdentities: [Int64: RecordLocation] = [:]
    var window = IdentityWindow()
    var lastKey: Int64 = 0
    var lastRow: Int64 = 0
    var foldedRow: Int64 = 0
    var unfoldedCount = 0
    var fold: Fold?
    var unsavedReports: [UserID: Int64] = [:]

    private var appendCount: UInt64 = 0
    private var cachedRow: (id: Int64, bytes: [UInt8])?
    /// The rows of the append that is under way.
    private var newRows: [[UInt8]] = []

    /// Opens or creates the file.
    ///
    /// - Throws: `SQLiteError`; `isCorrupt` also for a journal that cannot be read.
    init(path: String, options: DatabaseOptions = SQLiteMessageLog.options) throws {
        database = try Database(path: path, options: options)
        try database.migrate(Self.migrations)
        try replay()
    }

    /// Durable at each commit.
    static var options: DatabaseOptions {
        var options = DatabaseOptions()
        options.synchronous = .full
        options.cacheKibibytes = 32 * 1024
        return options
    }

    /// Folds everything and closes the file.
    func close() throws {
        while try maintain(rowsMax: 4096) {}
        database.close()
    }

    // MARK: Appending

    func append(_ entries: [LogEntry], at now: WallTime) throws -> [AppendOutcome] {
        appendCount += 1
        let lastKeyBefore = lastKey
        var touched: [QueueTail] = []
        var identities: [MessageIdentity] = []
        var stored = 0
        newRows = [[Self.rowFormat]]
        defer { newRows = [] }
        do {
            var outcomes: [AppendOutcome] = []
            outcomes.reserveCapacity(entries.count)
            for entry in entries {
                let identity = MessageIdentity(entry)
                if let identity, let places = try places(ofEarlier: entry, identity, at: now) {
                    outcomes.append(.duplicate(places))
                    continue
                }
                let places = try store(entry, identity, touched: &touched)
                if let identity {
                    remember(identity, now)
                    identities.append(identity)
                }
                stored += 1
                outcomes.append(.stored(places))
            }
            if stored > 0 { try commit(stored) }
            return outcomes
        } catch {
            // The transaction is undone; so is what it left in memory.
            lastKey = lastKeyBefore
            for queue in touched { queue.undo() }
            for identity in identities { forget(identity) }
            throw error
        }
    }

    /// Writes one entry into the row that is being made and adds it to its queues.
    private func store(
        _ entry: LogEntry, _ identity: MessageIdentity?, touched: inout [QueueTail]
    ) throws -> [QueuePlace] {
        if newRows[newRows.count - 1].count > Self.rowBytesMax { newRows.append([Self.rowFormat]) }
        let location = RecordLocation(
            row: lastRow + Int64(newRows.count), offset: UInt32(newRows[newRows.count - 1].count))
        var places: [QueuePlace] = []
        places.reserveCapacity(entry.queues.count)
        for user in entry.queues {
            let queue = try queue(of: user)
            lastKey += 1
            places.append(QueuePlace(key: lastKey, previous: queue.newestKey))
            if queue.add(lastKey, at: location, mark: appendCount) { touched.append(queue) }
        }
        _ = LogRecord.write(entry, places, identity, to: &newRows[newRows.count - 1])
        lastLocation = location
        lastPlaces = places
        return places
    }

    /// Of the entry stored last, for ``remember(_:_:)``.
    private var lastLocation = RecordLocation(row: 0, offset: 0)
    private var lastPlaces: [QueuePlace] = []

    private func commit(_ stored: Int) throws {
        try database.transaction {
            let insert = try database.statement(
                "INSERT INTO journal (id, last_key, records) VALUES (?, ?, ?)")
            for (index, row) in newRows.enumerated() {
                try insert.bind(lastRow + 1 + Int64(index), at: 1)
                try insert.bind(lastKey, at: 2)
                try insert.run(borrowing: row, at: 3)
            }
        }
        lastRow += Int64(newRows.count)
        unfoldedCount += stored
    }

    // MARK: Identities

    /// The places of an entry that is already stored; nil for a new one.
    private func places(
        ofEarlier entry: LogEntry, _ identity: MessageIdentity, at now: WallTime
    ) throws -> [QueuePlace]? {
        guard identity.isPermanent else { return window.places(of: identity.hash, at: now) }
        guard let location = try location(of: identity.hash) else { return nil }
        let record = try record(at: location)
        // Two different messages may share a hash; they are two messages.
        let isSame =
            record.identity == identity && record.entry.author == entry.author
            && record.entry.command == entry.command && record.entry.receiver == entry.receiver
            && MessageIdentity.haveSameUUID(record.entry, entry)
        return isSame ? record.places : nil
    }

    private func location(of hash: Int64) throws -> RecordLocation? {
        if let recent = recentIdentities[hash] { return recent }
        let select = try database.statement("SELECT journal, offset FROM identity WHERE hash = ?")
        try select.bind(hash, at: 1)
        return try select.first { row in
            RecordLocation(row: row.integer(at: 0), offset: UInt32(clamping: row.integer(at: 1)))
        }
    }

    private func remember(_ identity: MessageIdentity, _ now: WallTime) {
        if identity.isPermanent {
            if recentIdentities[identity.hash] == nil { recentIdentities[identity.hash] = lastLocation }
        } else {
            window.add(identity.hash, lastPlaces, at: now)
        }
    }

    private func forget(_ identity: MessageIdentity) {
        if identity.isPermanent {
            // Rows above the last one exist only in the append that failed.
            if let location = recentIdentities[identity.hash], location.row > lastRow {
                recentIdentities[identity.hash] = nil
            }
        } else {
            window.remove(identity.hash)
        }
    }

    // MARK: Reading

    func messages(of user: UserID, after key: Int64, limit: PageLimit) throws -> QueueSlice {
        let queue = try queue(of: user)
        var messages: [StoredMessage] = []
        var bytes = 0
        for entry in try entries(of: user, queue, after: key, countMax: limit.countMax) {
            let message = StoredMessage(try record(at: entry.location).entry, key: entry.key)
            bytes += message.content.utf8.count
            if !messages.isEmpty, bytes > limit.bytesMax { break }
            messages.append(message)
        }
        return QueueSlice(messages: messages, hasMore: (messages.last?.key ?? key) < queue.newestKey)
    }

    func newestKey(of user: UserID) throws -> Int64 {
        try queue(of: user).newestKey
    }

    func reportedKey(of user: UserID) throws -> Int64 {
        let queue = try queue(of: user)
        if let known = queue.reportedKey { return known }
        let key =
            try database.integer("SELECT key FROM reported WHERE user = ?", .integer(user.rawValue)) ?? 0
        queue.reportedKey = key
        return key
    }

    func setReportedKey(_ key: Int64, of user: UserID) throws {
        try queue(of: user).reportedKey = key
        unsavedReports[user] = key
    }

    /// The queue's entry in memory, made from its last segment at first use.
    func queue(of user: UserID) throws -> QueueTail {
        if let known = queues[user] { return known }
        let select = try database.statement(
            "SELECT last_key FROM segment WHERE user = ? ORDER BY first_key DESC LIMIT 1")
        try select.bind(user.rawValue, at: 1)
        let made = QueueTail(newestKey: try select.first { $0.integer(at: 0) } ?? 0)
        queues[user] = made
        return made
    }

    private func entries(
        of user: UserID, _ queue: QueueTail, after key: Int64, countMax: Int
    ) throws -> [QueueEntry] {
        var found: [QueueEntry] = []
        guard key < queue.newestKey else { return found }
        let oldestInMemory = queue.entries.first?.key ?? .max
        let select = try database.statement(
            """
            SELECT entries FROM segment WHERE user = ?1 AND first_key >= coalesce(
                (SELECT max(first_key) FROM segment WHERE user = ?1 AND first_key <= ?2), 0)
            ORDER BY first_key LIMIT ?3
            """)
        try select.bind(user.rawValue, at: 1)
        try select.bind(key, at: 2)
        // All segments but a queue's last are full, and the first one found may hold nothing after the key.
        try select.bind(countMax / Segment.entriesMax + 2, at: 3)
        try select.forEachRow { row in
            found += Segment.unpack(row.bytes(at: 0)).filter { $0.key > key && $0.key < oldestInMemory }
        }
        found += queue.entries.drop { $0.key <= key }
        return found.count > countMax ? Array(found.prefix(countMax)) : found
    }

    func record(at location: RecordLocation) throws -> LogRecord {
        let row = try row(location.row)
        guard let (record, _) = LogRecord.read(row, at: Int(location.offset)) else {
            throw Self.damaged("no record at row \(location.row), byte \(location.offset)")
        }
        return record
    }

    private func row(_ id: Int64) throws -> [UInt8] {
        let unwritten = id - lastRow - 1
        if unwritten >= 0, unwritten < Int64(newRows.count) { return newRows[Int(unwritten)] }
        if let cachedRow, cachedRow.id == id { return cachedRow.bytes }
        let select = try database.statement("SELECT records FROM journal WHERE id = ?")
        try select.bind(id, at: 1)
        guard let bytes = try select.first({ $0.bytes(at: 0) }) else {
            throw Self.damaged("the journal has no row \(id)")
        }
        cachedRow = (id, bytes)
        return bytes
    }

    static func damaged(_ what: String) -> SQLiteError {
        SQLiteError(code: .corrupt, message: what, operation: "read the journal")
    }
}
