import RivuletModel
import RivuletServerCore
import SQLiteKit

/// One pass of folding: everything up to a journal row, in slices.
struct Fold {
    /// The row up to which this pass goes.
    let upToRow: Int64
    /// The queues still to be folded.
    var users: [UserID]
    /// The identities still to be folded, greatest hash first, so that the next ones are popped in rising order.
    var identities: [(hash: Int64, location: RecordLocation)]
}

// Folding and replay.
extension SQLiteMessageLog {
    /// With fewer messages unfolded, folding waits, so that busy queues get many entries per segment at once.
    static let foldThreshold = 32_768

    /// Does a slice of the work that can wait; call it when there is time, and after commits.
    ///
    /// That is saving reported keys and folding.
    ///
    /// - Parameters:
    ///   - rowsMax: About how many rows the slice may write; 256 take about a millisecond.
    ///   - isIdle: Whether folding begins below its threshold, too.
    /// - Returns: Whether there is more to do.
    /// - Throws: `SQLiteError`; then nothing of the slice was done.
    func maintain(rowsMax: Int, isIdle: Bool = true) throws -> Bool {
        if fold == nil { beginFold(isIdle: isIdle) }
        guard fold != nil || !unsavedReports.isEmpty else { return false }
        guard isIdle || fold != nil else { return true }
        let before = fold
        do {
            let folded = try database.transaction { () throws -> [UserID] in
                try saveReports()
                return try foldSlice(rowsMax: rowsMax)
            }
            finishSlice(folded, before)
        } catch {
            fold = before
            throw error
        }
        return fold != nil || unfoldedCount > 0
    }

    private func beginFold(isIdle: Bool) {
        guard unfoldedCount > 0, isIdle || unfoldedCount >= Self.foldThreshold else { return }
        let users = queues.compactMap { $1.entries.isEmpty ? nil : $0 }
        fold = Fold(
            upToRow: lastRow, users: users,
            identities: recentIdentities.map { ($0, $1) }.sorted { $0.hash > $1.hash })
        unfoldedCount = 0
    }

    private func saveReports() throws {
        guard !unsavedReports.isEmpty else { return }
        let save = try database.statement("INSERT OR REPLACE INTO reported (user, key) VALUES (?, ?)")
        for (user, key) in unsavedReports {
            try save.bind(user.rawValue, at: 1)
            try save.bind(key, at: 2)
            try save.run()
        }
    }

    /// Writes the next rows of the pass; answers the queues whose entries are now in segments.
    private func foldSlice(rowsMax: Int) throws -> [UserID] {
        guard var pass = fold else { return [] }
        var left = rowsMax
        var done: [UserID] = []
        while left > 0, let user = pass.users.popLast() {
            left -= try foldQueue(user, upTo: pass.upToRow)
            done.append(user)
        }
        if left > 0, !pass.identities.isEmpty {
            let insert = try database.statement(
                "INSERT OR IGNORE INTO identity (hash, journal, offset) VALUES (?, ?, ?)")
            while left > 0, let (hash, location) = pass.identities.popLast() {
                try insert.bind(hash, at: 1)
                try insert.bind(location.row, at: 2)
                try insert.bind(Int64(location.offset), at: 3)
                try insert.run()
                left -= 1
            }
        }
        if pass.users.isEmpty, pass.identities.isEmpty {
            try database.execute(
                "INSERT OR REPLACE INTO state (name, value) VALUES ('folded', ?)", .integer(pass.upToRow))
        }
        fold = pass
        return done
    }

    /// Moves a queue's entries up to a row into segments, filling its last one first; answers the rows written.
    private func foldQueue(_ user: UserID, upTo row: Int64) throws -> Int {
        guard let queue = queues[user] else { return 0 }
        var entries = queue.entries.prefix { $0.location.row <= row }
        guard !entries.isEmpty else { return 1 }
        let save = try database.statement(
            "INSERT OR REPLACE INTO segment (user, first_key, last_key, entries) VALUES (?, ?, ?, ?)")
        var rows = 0
        let last = try database.statement(
            "SELECT first_key, entries FROM segment WHERE user = ? ORDER BY first_key DESC LIMIT 1")
        try last.bind(user.rawValue, at: 1)
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
            try save.bind(user.rawValue, at: 1)
            try save.bind(firstKey ?? first.key, at: 2)
            try save.bind(part.last?.key ?? first.key, at: 3)
            try save.run(borrowing: packed, at: 4)
            (firstKey, packed) = (nil, [])
            rows += 2
        }
        return rows
    }

    /// Forgets what the committed slice made unnecessary to remember.
    private func finishSlice(_ users: [UserID], _ before: Fold?) {
        unsavedReports = [:]
        guard let pass = fold else { return }
        for user in users {
            queues[user]?.entries.removeAll { $0.location.row <= pass.upToRow }
        }
        if let before {
            for (hash, _) in before.identities[pass.identities.count...] {
                recentIdentities[hash] = nil
            }
        }
        if pass.users.isEmpty, pass.identities.isEmpty {
            foldedRow = pass.upToRow
            fold = nil
        }
    }

    // MARK: Replay

    /// Reads back what is in the journal and not yet in the other tables.
    func replay() throws {
        foldedRow = try database.integer("SELECT value FROM state WHERE name = 'folded'") ?? 0
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
        guard row.first == Self.rowFormat else { throw Self.damaged("row \(id) has another format") }
        var offset = 1
        while offset < row.count {
            guard let (record, end) = LogRecord.read(row, at: offset) else {
                throw Self.damaged("row \(id) breaks off at byte \(offset)")
            }
            let location = RecordLocation(row: id, offset: UInt32(offset))
            for (user, place) in zip(record.entry.queues, record.places) {
                let queue = try queue(of: user)
                // A pass that did not reach its end has put some queues' entries into segments already.
                guard place.key > queue.newestKey else { continue }
                _ = queue.add(place.key, at: location, mark: 0)
            }
            if let identity = record.identity {
                if identity.isPermanent {
                    if recentIdentities[identity.hash] == nil { recentIdentities[identity.hash] = location }
                } else {
                    let time = WallTime(milliseconds: Int64(record.entry.timestamp) * 1000)
                    window.add(identity.hash, record.places, at: time)
                }
            }
            unfoldedCount += 1
            offset = end
        }
    }
}
