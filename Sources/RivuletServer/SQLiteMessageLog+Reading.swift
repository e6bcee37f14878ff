import RivuletModel
import RivuletServerCore
import SQLiteKit

/// Which reader's key of which queue.
struct ReportedKey: Hashable {
    var queue: QueueID
    var reader: Account
}

// Pages, keys and records.
extension SQLiteMessageLog {
    func messages(in queue: QueueID, after key: Int64, limit: PageLimit) throws -> QueueSlice {
        let tail = try self.queue(queue)
        var slice = QueueSlice(messages: [], end: key, hasMore: false)
        var bytes = 0
        for entry in try entries(in: queue, tail, after: key, countMax: limit.countMax) {
            if let message = try message(entry) {
                bytes += message.content.utf8.count
                if !slice.messages.isEmpty, bytes > limit.bytesMax { break }
                slice.messages.append(message)
            }
            slice.end = entry.key
        }
        slice.hasMore = slice.end < tail.newestKey ? try newestPlace(of: queue, tail) > slice.end : false
        return slice
    }

    func messages(in queue: QueueID, before key: Int64, countMax: Int) throws -> QueueSlice {
        let countMax = max(1, countMax)
        let tail = try self.queue(queue)
        var slice = QueueSlice(messages: [], end: key, hasMore: false)
        let entries = try entries(in: queue, tail, before: key, countMax: countMax + 1)
        for entry in entries.prefix(countMax) {
            if let message = try message(entry) { slice.messages.append(message) }
            slice.end = entry.key
        }
        slice.hasMore = entries.count > countMax
        return slice
    }

    func newestKey(of queue: QueueID) throws -> Int64 {
        try self.queue(queue).newestKey
    }

    func reportedKey(of queue: QueueID, by reader: Account) throws -> Int64 {
        let id = ReportedKey(queue: queue, reader: reader)
        if let known = reports[id] { return known }
        let (kind, app, owner) = queue.numbers
        let key =
            try database.integer(
                """
                SELECT key FROM reported_key
                WHERE kind = ? AND app = ? AND owner = ? AND reader_app = ? AND reader = ?
                """,
                .integer(kind), .integer(app), .integer(owner), .integer(reader.app),
                .integer(reader.user.rawValue)) ?? 0
        reports[id] = key
        return key
    }

    func setReportedKey(_ key: Int64, of queue: QueueID, by reader: Account) throws {
        let id = ReportedKey(queue: queue, reader: reader)
        reports[id] = key
        unsavedReports[id] = key
    }

    func unreadCount(of account: Account) throws -> Int32 {
        if let count = unsavedUnreadCounts[account] { return count }
        let count = try database.integer(
            "SELECT count FROM unread_count WHERE app = ? AND user = ?", .integer(account.app),
            .integer(account.user.rawValue))
        return Int32(clamping: count ?? 0)
    }

    func setUnreadCount(_ count: Int32, of account: Account) throws {
        // Every login resets the count, which nearly always is 0 already.
        guard try unreadCount(of: account) != max(count, 0) else { return }
        unsavedUnreadCounts[account] = max(count, 0)
    }

    /// The queue's entry in memory, made from its last segment at first use.
    func queue(_ id: QueueID) throws -> QueueTail {
        if let known = queues[id] { return known }
        let select = try database.statement(
            """
            SELECT last_key FROM queue_segment WHERE kind = ? AND app = ? AND owner = ?
            ORDER BY first_key DESC LIMIT 1
            """)
        try bind(id, to: select)
        let made = QueueTail(newestKey: try select.first { $0.integer(at: 0) } ?? 0)
        queues[id] = made
        return made
    }

    /// Binds the three numbers of a queue to the first three parameters.
    func bind(_ queue: QueueID, to statement: Statement) throws {
        let (kind, app, owner) = queue.numbers
        try statement.bind(kind, at: 1)
        try statement.bind(app, at: 2)
        try statement.bind(owner, at: 3)
    }

    /// The newest key of which the record is still there; 0 for none.
    private func newestPlace(of id: QueueID, _ queue: QueueTail) throws -> Int64 {
        if trimmedRow == 0 || !queue.entries.isEmpty { return queue.newestKey }
        return try entries(in: id, queue, before: .max, countMax: 1).first?.key ?? 0
    }

    private func entries(
        in id: QueueID, _ queue: QueueTail, after key: Int64, countMax: Int
    ) throws -> [QueueEntry] {
        var found: [QueueEntry] = []
        guard key < queue.newestKey else { return found }
        let oldestInMemory = queue.entries.first?.key ?? .max
        let select = try database.statement(
            """
            SELECT entries FROM queue_segment WHERE kind = ?1 AND app = ?2 AND owner = ?3 AND first_key >= coalesce(
                (SELECT max(first_key) FROM queue_segment
                 WHERE kind = ?1 AND app = ?2 AND owner = ?3 AND first_key <= ?4), 0)
            ORDER BY first_key LIMIT ?5
            """)
        try bind(id, to: select)
        try select.bind(key, at: 4)
        // All segments but a queue's last are full, and the first one found may hold nothing after the key, nor do
        // the first two when rows were removed.
        try select.bind(countMax / Segment.entriesMax + 3, at: 5)
        try select.forEachRow { row in
            found += Segment.unpack(row.bytes(at: 0)).filter {
                $0.key > key && $0.key < oldestInMemory && $0.location.row > trimmedRow
            }
        }
        found += queue.entries.drop { $0.key <= key }
        return found.count > countMax ? Array(found.prefix(countMax)) : found
    }

    /// The entries before a key, newest first.
    private func entries(
        in id: QueueID, _ queue: QueueTail, before key: Int64, countMax: Int
    ) throws -> [QueueEntry] {
        var found = Array(queue.entries.prefix { $0.key < key }.suffix(countMax).reversed())
        guard found.count < countMax else { return found }
        let oldestInMemory = min(queue.entries.first?.key ?? .max, key)
        let select = try database.statement(
            """
            SELECT entries FROM queue_segment WHERE kind = ? AND app = ? AND owner = ? AND first_key < ?
            ORDER BY first_key DESC LIMIT ?
            """)
        try bind(id, to: select)
        try select.bind(oldestInMemory, at: 4)
        try select.bind((countMax - found.count) / Segment.entriesMax + 3, at: 5)
        try select.forEachRow { row in
            found += Segment.unpack(row.bytes(at: 0)).reversed().filter {
                $0.key < oldestInMemory && $0.location.row > trimmedRow
            }
        }
        return Array(found.prefix(countMax))
    }

    /// The message of an entry; nil when it was burned.
    private func message(_ entry: QueueEntry) throws -> StoredMessage? {
        let record = try record(at: entry.location, withPlaces: false)
        return record.isBurned ? nil : StoredMessage(record.entry, key: entry.key)
    }

    func record(at location: RecordLocation, withPlaces: Bool = true) throws -> LogRecord {
        let row = try row(location.row)
        guard let record = LogRecord.read(row, at: Int(location.offset), withPlaces: withPlaces) else {
            throw Self.damaged("no record at row \(location.row), byte \(location.offset)")
        }
        return record
    }

    func row(_ id: Int64) throws -> [UInt8] {
        let unwritten = id - lastRow - 1
        if unwritten >= 0, unwritten < Int64(newRows.count) { return newRows[Int(unwritten)] }
        if let changed = changedRows[id] { return changed }
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
