import RivuletModel
import RivuletServerCore
import SQLiteKit

/// The message log in one SQLite file.
///
/// A commit writes its messages one after the other into a row of the *journal*; that alone makes them safe, and it
/// is one insert however many messages and queues there are. The index of queues and that of uuids are *folded* from
/// it later, in slices small enough to hide behind a commit (`SQLiteMessageLog+Folding.swift`). What is not yet
/// folded is in memory as well, and is read back from the journal when the file is opened.
///
/// | table | content |
/// |---|---|
/// | `journal` | one row per commit, or more: the records (``LogRecord``) and the last key given |
/// | `queue_segment` | up to 48 consecutive entries of one queue: key, journal row, offset |
/// | `message_identity` | hash of (app, sender, command, receiver, uuid) → journal row, offset |
/// | `reported_key` | the key of a queue that a reader's clients reported |
/// | `unread_count` | how many messages a user's client reported as unread, where there are any |
/// | `state` | `folded`: the journal row up to which everything is folded; `trimmed`: up to which rows were removed |
///
/// The log begins a new epoch of keys (``KeyEpoch``) when it was put back from a copy (``KeyMark``), so that no key is
/// given to two messages.
///
/// An instance belongs to one thread. It expects to be the file's only user.
final class SQLiteMessageLog: MessageLog {
    /// The version of the journal's rows, in their first byte.
    static let rowFormat: UInt8 = 2
    /// A longer row is ended and another begun in the same commit.
    static let rowBytesMax = 96 * 1024
    static let keyMax = KeyEpoch.keyMax

    let database: Database
    let mark: KeyMark?
    let hashBits: Int
    /// Whether commits wait for the disk.
    let isDurable: Bool
    var queues: [QueueID: QueueTail] = [:]
    /// Permanent identities that are not yet in the table.
    var recentIdentities = IdentityIndex()
    var window = IdentityWindow()
    var lastKey: Int64 = 0
    var lastRow: Int64 = 0
    var foldedRow: Int64 = 0
    var trimmedRow: Int64 = 0
    /// How many places in queues are not folded.
    var unfoldedCount = 0
    var fold: Fold?
    var unsavedReports: [ReportedKey: Int64] = [:]
    var reports: [ReportedKey: Int64] = [:]
    var unsavedUnreadCounts: [Account: Int32] = [:]
    /// Rows that the append under way has changed.
    var changedRows: [Int64: [UInt8]] = [:]
    /// The rows of the append under way.
    var newRows: [[UInt8]] = []
    var cachedRow: (id: Int64, bytes: [UInt8])?
    /// Whether the write-ahead log may still hold what a burned message said.
    var mayHoldBurned = false

    /// About how many bytes went into the write-ahead log since somebody asked.
    var writtenByteCount = 0
    private var appendCount: UInt64 = 0
    /// Whether a sync failed and nothing was written anew since.
    private var isSyncOwed = false

    /// Opens or creates the file.
    ///
    /// - Parameters:
    ///   - path: The file.
    ///   - mark: Knows the last key given; without it a copy that was put back is not noticed.
    ///   - now: When; of two logs put back from the same copy the later one gives greater keys (``KeyEpoch``).
    ///   - hashBits: How much of the hash of an identity is used; tests take fewer to make identities collide.
    ///   - options: How the file is opened.
    /// - Throws: `SQLiteError`; `isCorrupt` also for a journal that cannot be read.
    init(
        path: String, mark: KeyMark? = nil, openedAt now: WallTime = WallTime(milliseconds: 0),
        hashBits: Int = 64, options: DatabaseOptions = SQLiteMessageLog.options
    ) throws {
        self.mark = mark
        self.hashBits = hashBits
        isDurable = options.synchronous == .full
        database = try Database(path: path, options: options)
        try database.migrate(Self.migrations)
        // What burned right before a crash is still in the write-ahead log.
        try database.checkpoint(truncates: true)
        try replay()
        if let mark, mark.isAhead(of: lastKey) { beginEpoch(at: now) }
        mark?.save(lastKey)
    }

    /// Durable at each commit; the write-ahead log is moved into the file by somebody else (``LogCheckpointer``).
    static var options: DatabaseOptions {
        var options = DatabaseOptions()
        options.synchronous = .full
        options.cacheKibibytes = 32 * 1024
        options.walCheckpointPages = 0
        options.canShrink = true
        return options
    }

    /// Folds everything and closes the file.
    func close() throws {
        while try maintain(rowsMax: 4096) {}
        mark?.save(lastKey)
        database.close()
    }

    /// The next key will be greater than any that was ever given.
    func beginEpoch(at now: WallTime) {
        lastKey = KeyEpoch.start(after: max(lastKey, mark?.found ?? 0), at: now)
    }

    // MARK: Appending

    func append(_ entries: [LogEntry], at now: WallTime) throws -> [AppendOutcome] {
        try paySync()
        appendCount += 1
        let lastKeyBefore = lastKey
        var touched: [QueueTail] = []
        var identities: [(MessageIdentity, RecordLocation)] = []
        var stored = 0
        newRows = [[Self.rowFormat]]
        defer {
            newRows = []
            changedRows = [:]
        }
        do {
            var outcomes: [AppendOutcome] = []
            outcomes.reserveCapacity(entries.count)
            // One transaction for the look-ups, too: each by itself would cost several locks on the file.
            try database.transaction {
                for entry in entries {
                    let identity = MessageIdentity(entry, hashBits: hashBits)
                    if let identity, let places = try places(ofEarlier: entry, identity, at: now) {
                        outcomes.append(.duplicate(places))
                        continue
                    }
                    guard !entry.isRepeatOnly else {
                        outcomes.append(.unknown)
                        continue
                    }
                    let (places, location) = try store(entry, identity, touched: &touched)
                    if let identity {
                        remember(identity, location, now)
                        identities.append((identity, location))
                    }
                    try burn(for: entry)
                    stored += places.count
                    outcomes.append(.stored(places))
                }
                if newRows[0].count > 1 {
                    try write()
                    // What is acknowledged from now on makes safe what clients reported before it.
                    try saveUnreadCounts()
                }
            }
            if newRows[0].count > 1 { committed(stored) }
            return outcomes
        } catch {
            noteFailure(error)
            // The transaction is undone; so is what it left in memory.
            lastKey = lastKeyBefore
            for queue in touched { queue.undo() }
            for (identity, location) in identities { forget(identity, location) }
            throw error
        }
    }

    /// Writes one entry into the row that is being made and adds it to its queues.
    private func store(
        _ entry: LogEntry, _ identity: MessageIdentity?, touched: inout [QueueTail]
    ) throws -> ([QueuePlace], RecordLocation) {
        guard lastKey <= Self.keyMax - Int64(entry.queues.count) else {
            throw SQLiteError(code: .full, message: "no key is left", operation: "append")
        }
        if newRows[newRows.count - 1].count > Self.rowBytesMax { newRows.append([Self.rowFormat]) }
        let location = RecordLocation(
            row: lastRow + Int64(newRows.count), offset: UInt32(newRows[newRows.count - 1].count))
        var places: [QueuePlace] = []
        places.reserveCapacity(entry.queues.count)
        for id in entry.queues {
            let queue = try queue(id)
            lastKey += 1
            places.append(QueuePlace(key: lastKey, previous: queue.newestKey))
            if queue.add(lastKey, at: location, mark: appendCount) { touched.append(queue) }
        }
        LogRecord.write(entry, places, identity, to: &newRows[newRows.count - 1])
        return (places, location)
    }

    private func write() throws {
        if changedRows.isEmpty {
            try writeRows()
        } else {
            mayHoldBurned = true
            try erasing { try writeRows() }
        }
    }

    private func committed(_ stored: Int) {
        if let cachedRow, changedRows[cachedRow.id] != nil { self.cachedRow = nil }
        mark?.save(lastKey)
        unsavedUnreadCounts = [:]
        lastRow += Int64(newRows.count)
        unfoldedCount += stored
        writtenByteCount += newRows.reduce(8192 * (1 + changedRows.count)) { $0 + $1.count }
    }

    /// How many bytes went into the write-ahead log since the last call, about.
    func takeWrittenByteCount() -> Int {
        defer { writtenByteCount = 0 }
        return writtenByteCount
    }

    /// Runs changes after which nothing of what they deleted is left in the file.
    func erasing<Result>(_ body: () throws -> Result) throws -> Result {
        try database.executeScript("PRAGMA secure_delete = ON")
        let result = Swift.Result { try body() }
        try database.executeScript("PRAGMA secure_delete = OFF")
        return try result.get()
    }

    private func writeRows() throws {
        let insert = try database.statement(
            "INSERT INTO journal (id, last_key, records) VALUES (?, ?, ?)")
        for (index, row) in newRows.enumerated() {
            try insert.bind(lastRow + 1 + Int64(index), at: 1)
            try insert.bind(lastKey, at: 2)
            try insert.run(borrowing: row, at: 3)
        }
        for (id, row) in changedRows {
            let update = try database.statement("UPDATE journal SET records = ?2 WHERE id = ?1")
            try update.bind(id, at: 1)
            try update.run(borrowing: row, at: 2)
        }
    }

    // MARK: Failed syncs

    /// Remembers that a sync failed.
    ///
    /// The system forgets what it could not write and tells it once: the next sync succeeds, though what folding wrote
    /// into the write-ahead log without waiting may be missing there, and a start reads that log only up to a gap.
    func noteFailure(_ error: any Error) {
        if isDurable, (error as? SQLiteError)?.code == .syncFailed { isSyncOwed = true }
    }

    /// After a failed sync, writes everything anew, into the file itself, and begins the write-ahead log at its start.
    ///
    /// - Throws: `SQLiteError` as long as that does not work; then nothing may be appended.
    private func paySync() throws {
        guard isSyncOwed else { return }
        guard try database.checkpoint(truncates: true) else {
            throw SQLiteError(
                code: .busy, message: "the write-ahead log is in use after a failed sync",
                operation: "checkpoint")
        }
        isSyncOwed = false
    }

    // MARK: Identities

    /// The places of an entry that is already stored; nil for a new one.
    private func places(
        ofEarlier entry: LogEntry, _ identity: MessageIdentity, at now: WallTime
    ) throws -> [QueuePlace]? {
        let candidates =
            identity.isPermanent
            ? try locations(of: identity.hash) : window.locations(of: identity.hash, at: now).reversed()
        for location in candidates {
            // Two different messages may share a hash; they are two messages.
            let record = try record(at: location)
            if MessageIdentity.areSame(record.entry, entry) { return record.places }
        }
        return nil
    }

    /// Where messages with this hash may be, not yet folded or in the table.
    func locations(of hash: Int64) throws -> [RecordLocation] {
        var found: [RecordLocation] = []
        let select = try database.statement("SELECT journal, offset FROM message_identity WHERE hash = ?")
        try select.bind(hash, at: 1)
        try select.forEachRow { row in
            found.append(
                RecordLocation(row: row.integer(at: 0), offset: UInt32(clamping: row.integer(at: 1))))
        }
        return found + recentIdentities.locations(of: hash)
    }

    private func remember(_ identity: MessageIdentity, _ location: RecordLocation, _ now: WallTime) {
        if identity.isPermanent {
            recentIdentities.add(identity.hash, location)
        } else {
            window.add(identity.hash, location, at: now)
        }
    }

    private func forget(_ identity: MessageIdentity, _ location: RecordLocation) {
        if identity.isPermanent {
            recentIdentities.remove(identity.hash, location)
        } else {
            window.remove(identity.hash, after: lastRow)
        }
    }

    // MARK: Burning

    /// Takes the content out of the message that an entry asks to be burned.
    private func burn(for entry: LogEntry) throws {
        guard let identity = MessageIdentity(burnedBy: entry, hashBits: hashBits) else { return }
        for location in try locations(of: identity.hash) {
            var row = try row(location.row)
            let offset = Int(location.offset)
            guard let record = LogRecord.read(row, at: offset, withPlaces: false), !record.isBurned,
                MessageIdentity.burns(entry, record.entry)
            else { continue }
            // What is left knows the message again when it is resent, and is never longer than what was there.
            let left = Array(MessageIdentity.burnedContent(record.entry.content).utf8)
            guard left.count <= record.content.count else { continue }
            let padding = [UInt8](repeating: UInt8(ascii: " "), count: record.content.count - left.count)
            row.replaceSubrange(record.content, with: left + padding)
            LogRecord.markBurned(&row, at: offset)
            let unwritten = location.row - lastRow - 1
            if unwritten >= 0 { newRows[Int(unwritten)] = row } else { changedRows[location.row] = row }
        }
    }
}
