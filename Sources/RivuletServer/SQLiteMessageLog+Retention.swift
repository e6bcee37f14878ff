import RivuletServerCore
import SQLiteKit

// Removing old messages.
extension SQLiteMessageLog {
    /// Removes whole rows of the journal whose newest message is older than a time, with what the other tables know
    /// of them.
    ///
    /// The newest row stays, since it holds the last key given; so does the last segment of each queue, since it
    /// holds the queue's newest key. The space is used again by later messages, or given back by `compact`.
    func removeMessages(before time: WallTime, countMax: Int) throws -> Bool {
        var removed: [(id: Int64, records: [(LogRecord, RecordLocation)])] = []
        var (count, isMore) = (0, false)
        while let row = try oldestRow(after: removed.last?.id ?? trimmedRow),
            row.records.allSatisfy({ $0.0.entry.timestamp < time.timestamp })
        {
            isMore = count >= max(1, countMax)
            if isMore { break }
            removed.append(row)
            count += row.records.reduce(1) { $0 + $1.0.places.count }
        }
        guard let last = removed.last else { return false }
        do {
            try erasing { try remove(removed, upTo: last.id) }
        } catch {
            noteFailure(error)
            throw error
        }
        trimmedRow = last.id
        cachedRow = nil
        return isMore
    }

    /// Gives the end of the file back to the disk, some pages at a time, while more than a quarter of it is unused.
    ///
    /// What later messages will soon fill is kept: to shrink and grow by turns costs more than the space. The file is
    /// shorter after the next checkpoint. A file made by an earlier version, without the ability, stays as long as it is.
    ///
    /// - Parameters:
    ///   - pagesMax: How many pages are given back at most.
    ///   - unusedMin: A file with fewer unused pages is left alone.
    /// - Returns: Whether there is more to give back.
    /// - Throws: `SQLiteError`.
    func compact(pagesMax: Int, unusedMin: Int64 = 256) throws -> Bool {
        // 2 is `INCREMENTAL`.
        guard try database.integer("PRAGMA auto_vacuum") == 2, try isWasteful(unusedMin) else { return false }
        try database.executeScript("PRAGMA incremental_vacuum(\(max(1, pagesMax)))")
        writtenByteCount += max(1, pagesMax) * 4096
        return try isWasteful(unusedMin)
    }

    private func isWasteful(_ unusedMin: Int64) throws -> Bool {
        let unused = try database.integer("PRAGMA freelist_count") ?? 0
        let all = try database.integer("PRAGMA page_count") ?? 0
        return unused >= unusedMin && unused > all / 4
    }

    private func remove(_ rows: [(id: Int64, records: [(LogRecord, RecordLocation)])], upTo last: Int64)
        throws
    {
        try database.transaction {
            for (id, records) in rows {
                for (record, location) in records { try remove(record, location) }
                try database.execute("DELETE FROM journal WHERE id = ?", .integer(id))
            }
            try saveState("trimmed", last)
        }
    }

    /// The oldest row of the journal behind this one that may be removed, with its records.
    private func oldestRow(after id: Int64) throws -> (id: Int64, records: [(LogRecord, RecordLocation)])? {
        let select = try database.statement(
            "SELECT id, records FROM journal WHERE id > ? AND id <= ? AND id < ? ORDER BY id LIMIT 1")
        try select.bind(id, at: 1)
        try select.bind(foldedRow, at: 2)
        try select.bind(lastRow, at: 3)
        guard let row = try select.first({ (id: $0.integer(at: 0), bytes: $0.bytes(at: 1)) }) else {
            return nil
        }
        var records: [(LogRecord, RecordLocation)] = []
        try Self.forEachRecord(in: row.bytes, row.id) { records.append(($0, $1)) }
        return (row.id, records)
    }

    private func remove(_ record: LogRecord, _ location: RecordLocation) throws {
        if let identity = record.identity, identity.isPermanent {
            try database.execute(
                "DELETE FROM message_identity WHERE hash = ? AND journal = ? AND offset = ?",
                .integer(identity.hash), .integer(location.row), .integer(Int64(location.offset)))
        }
        let delete = try database.statement(
            """
            DELETE FROM queue_segment WHERE kind = ?1 AND app = ?2 AND owner = ?3 AND last_key <= ?4
                AND first_key <= ?4 AND first_key < (SELECT max(first_key) FROM queue_segment
                    WHERE kind = ?1 AND app = ?2 AND owner = ?3)
            """)
        for (id, place) in zip(record.entry.queues, record.places) {
            try bind(id, to: delete)
            try delete.bind(place.key, at: 4)
            try delete.run()
        }
    }
}
