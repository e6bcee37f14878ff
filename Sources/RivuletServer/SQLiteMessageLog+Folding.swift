import RivuletModel
import RivuletServerCore
import SQLiteKit

/// One pass of folding: everything up to a journal row, in slices.
///
/// It only ever goes forward, so that a slice that failed is begun again from the copy made before it.
struct Fold {
    /// The row up to which this pass goes.
    let upToRow: Int64
    /// The queues to be folded, and the next of them.
    let queues: [QueueID]
    var nextQueue = 0
    /// The identities of the bucket that is being folded, by rising hash, and the next of them.
    var identities: [IdentityIndex.Element] = []
    var nextIdentity = 0
    var nextBucket = 0

    var isDone: Bool {
        nextQueue == queues.count && nextIdentity == identities.count
            && nextBucket == IdentityIndex.bucketCount
    }
}

/// What one slice has written.
struct FoldedSlice {
    var queues: [QueueID] = []
    var identities: [IdentityIndex.Element] = []
}

// Folding and replay.
extension SQLiteMessageLog {
    /// With fewer places unfolded, folding waits, so that busy queues get many entries per segment at once.
    ///
    /// Uuids are random: a pass writes nearly every page of their index, so that twice as many messages per pass
    /// write half as many pages per message. A start reads back at most about so many places.
    static let foldThreshold = 262_144

    /// Does a slice of the work that can wait; call it when there is time, and after commits.
    ///
    /// That is saving reported keys, folding, and cutting the write-ahead log after a message burned. A slice is not waited for on the disk: when it is lost with the
    /// power, the next start folds again.
    ///
    /// - Parameters:
    ///   - rowsMax: About how many rows the slice may write; 256 take about a millisecond.
    ///   - isIdle: Whether folding begins below its threshold, too.
    /// - Returns: Whether there is more to do.
    /// - Throws: `SQLiteError`; then nothing of the slice was done.
    func maintain(rowsMax: Int, isIdle: Bool = true) throws -> Bool {
        if mayHoldBurned, isIdle { try cutBurned() }
        if fold == nil { beginFold(isIdle: isIdle) }
        guard fold != nil || (isIdle && hasUnsaved) else {
            return unfoldedCount > 0 || hasUnsaved || mayHoldBurned
        }
        let before = fold
        do {
            let folded = try withoutSyncing {
                try database.transaction { () throws -> FoldedSlice in
                    try saveReports()
                    try saveUnreadCounts()
                    return try foldSlice(rowsMax: rowsMax)
                }
            }
            finishSlice(folded)
            // Neighbouring rows share pages.
            writtenByteCount += rowsMax * 1024
        } catch {
            fold = before
            noteFailure(error)
            throw error
        }
        return fold != nil || unfoldedCount > 0 || mayHoldBurned
    }

    /// Cuts the write-ahead log, in which a burned message may still be.
    private func cutBurned() throws {
        do {
            mayHoldBurned = try !database.checkpoint(truncates: true)
        } catch {
            noteFailure(error)
            throw error
        }
    }

    /// Runs transactions whose loss would cost nothing but work.
    ///
    /// In WAL mode the log is one sequence: what is committed here reaches the disk with the next commit that waits.
    func withoutSyncing<Result>(_ body: () throws -> Result) throws -> Result {
        guard isDurable else { return try body() }
        try database.executeScript("PRAGMA synchronous = NORMAL")
        let result = Swift.Result { try body() }
        try database.executeScript("PRAGMA synchronous = FULL")
        return try result.get()
    }

    private func beginFold(isIdle: Bool) {
        guard unfoldedCount > 0, isIdle || unfoldedCount >= Self.foldThreshold else { return }
        let unfolded = queues.compactMap { $1.entries.isEmpty ? nil : $0 }
        fold = Fold(upToRow: lastRow, queues: unfolded)
        unfoldedCount = 0
    }

    /// Whether clients reported something that is only in memory yet.
    private var hasUnsaved: Bool {
        !unsavedReports.isEmpty || !unsavedUnreadCounts.isEmpty
    }

    func saveUnreadCounts() throws {
        for (account, count) in unsavedUnreadCounts {
            let (app, user) = (SQLiteValue.integer(account.app), SQLiteValue.integer(account.user.rawValue))
            if count > 0 {
                try database.execute(
                    "INSERT OR REPLACE INTO unread_count (app, user, count) VALUES (?, ?, ?)", app, user,
                    .integer(Int64(count)))
            } else {
                try database.execute("DELETE FROM unread_count WHERE app = ? AND user = ?", app, user)
            }
        }
    }

    private func saveReports() throws {
        guard !unsavedReports.isEmpty else { return }
        let save = try database.statement(
            """
            INSERT OR REPLACE INTO reported_key (kind, app, owner, reader_app, reader, key)
            VALUES (?, ?, ?, ?, ?, ?)
            """)
        for (id, key) in unsavedReports {
            try bind(id.queue, to: save)
            try save.bind(id.reader.app, at: 4)
            try save.bind(id.reader.user.rawValue, at: 5)
            try save.bind(key, at: 6)
            try save.run()
        }
    }

    /// Writes the next rows of the pass.
    private func foldSlice(rowsMax: Int) throws -> FoldedSlice {
        guard var pass = fold else { return FoldedSlice() }
        var slice = FoldedSlice()
        var left = rowsMax
        while left > 0, pass.nextQueue < pass.queues.count {
            let queue = pass.queues[pass.nextQueue]
            pass.nextQueue += 1
            left -= try foldQueue(queue, upTo: pass.upToRow)
            slice.queues.append(queue)
        }
        let insert = try database.statement(
            "INSERT OR IGNORE INTO message_identity (hash, journal, offset) VALUES (?, ?, ?)")
        while left > 0 {
            guard pass.nextIdentity < pass.identities.count else {
                guard pass.nextBucket < IdentityIndex.bucketCount else { break }
                pass.identities = recentIdentities.elements(inBucket: pass.nextBucket, upTo: pass.upToRow)
                pass.nextBucket += 1
                pass.nextIdentity = 0
                continue
            }
            let (hash, location) = pass.identities[pass.nextIdentity]
            pass.nextIdentity += 1
            try insert.bind(hash, at: 1)
            try insert.bind(location.row, at: 2)
            try insert.bind(Int64(location.offset), at: 3)
            try insert.run()
            slice.identities.append((hash, location))
            left -= 1
        }
        if pass.isDone { try saveState("folded", pass.upToRow) }
        fold = pass
        return slice
    }

    func saveState(_ name: String, _ value: Int64) throws {
        try database.execute(
            "INSERT OR REPLACE INTO state (name, value) VALUES (?, ?)", .text(name), .integer(value))
    }

    /// Moves a queue's entries up to a row into segments, filling its last one first; answers the rows written.
    private func foldQueue(_ id: QueueID, upTo row: Int64) throws -> Int {
        guard let queue = queues[id] else { return 0 }
        var entries = queue.entries.prefix { $0.location.row <= row }
        guard !entries.isEmpty else { return 1 }
        let save = try database.statement(
            """
            INSERT OR REPLACE INTO queue_segment (kind, app, owner, first_key, last_key, entries)
            VALUES (?, ?, ?, ?, ?, ?)
            """)
        var rows = 0
        let last = try database.statement(
            """
            SELECT first_key, entries FROM queue_segment WHERE kind = ? AND app = ? AND owner = ?
            ORDER BY first_key DESC LIMIT 1
            """)
        try bind(id, to: last)
        let open = try last.first { (key: $0.integer(at: 0), packed: $0.bytes(at: 1)) }
        var packed: [UInt8] = []
        var firstKey: Int64?
        if let open, open.packed.count < Segment.entriesMax * Segment.entryByteCount {
            (firstKey, packed) = (open.key, open.packed)
        }
        while let first = entries.first {
            let room = Segment.entriesMax - packed.count / Segment.entryByteCount
            let part = entries.prefix(room)
            Segment.pack(part, onto: &packed)
            entries = entries.dropFirst(part.count)
            try bind(id, to: save)
            try save.bind(firstKey ?? first.key, at: 4)
            try save.bind(part.last?.key ?? first.key, at: 5)
            try save.run(borrowing: packed, at: 6)
            (firstKey, packed) = (nil, [])
            rows += 2
        }
        return rows
    }

    /// Forgets what the committed slice made unnecessary to remember.
    private func finishSlice(_ slice: FoldedSlice) {
        unsavedReports = [:]
        unsavedUnreadCounts = [:]
        guard let pass = fold else { return }
        for id in slice.queues {
            queues[id]?.entries.removeAll { $0.location.row <= pass.upToRow }
        }
        for (hash, location) in slice.identities { recentIdentities.remove(hash, location) }
        if pass.isDone {
            foldedRow = pass.upToRow
            fold = nil
        }
    }

    // MARK: Replay

    /// Reads back what is in the journal and not yet in the other tables.
    func replay() throws {
        foldedRow = try database.integer("SELECT value FROM state WHERE name = 'folded'") ?? 0
        trimmedRow = try database.integer("SELECT value FROM state WHERE name = 'trimmed'") ?? 0
        lastRow = foldedRow
        if let last = try database.first(
            "SELECT id, last_key FROM journal ORDER BY id DESC LIMIT 1",
            make: { (id: $0.integer(at: 0), key: $0.integer(at: 1)) })
        {
            lastRow = max(last.id, foldedRow)
            lastKey = last.key
        }
        let select = try database.statement("SELECT id, records FROM journal WHERE id > ? ORDER BY id")
        try select.bind(foldedRow, at: 1)
        try select.forEachRow { row in
            try replay(row.integer(at: 0), row.bytes(at: 1))
        }
    }

    private func replay(_ id: Int64, _ row: [UInt8]) throws {
        try Self.forEachRecord(in: row, id) { record, location in
            for (id, place) in zip(record.entry.queues, record.places) {
                let queue = try queue(id)
                // A pass that did not reach its end has put some queues' entries into segments already.
                guard place.key > queue.newestKey else { continue }
                _ = queue.add(place.key, at: location, mark: 0)
            }
            if let identity = record.identity {
                if identity.isPermanent {
                    recentIdentities.add(identity.hash, location)
                } else {
                    let time = WallTime(milliseconds: Int64(record.entry.timestamp) * 1000)
                    window.add(identity.hash, location, at: time)
                }
            }
            unfoldedCount += record.places.count
        }
    }

    /// Calls back with each record of a journal row.
    static func forEachRecord(
        in row: [UInt8], _ id: Int64, _ body: (LogRecord, RecordLocation) throws -> Void
    ) throws {
        guard row.first == 1 || row.first == rowFormat else { throw damaged("row \(id) has another format") }
        var offset = 1
        while offset < row.count {
            guard let record = LogRecord.read(row, at: offset) else {
                throw damaged("row \(id) breaks off at byte \(offset)")
            }
            try body(record, RecordLocation(row: id, offset: UInt32(offset)))
            offset = record.end
        }
    }
}
