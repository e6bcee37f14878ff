import RivuletModel
import SQLiteKit

/// The full-text index, in shards of consecutive message numbers.
///
/// A prefix must read the whole list of every word that it begins, before FTS5 gives a first row. One index of a million
/// messages took 58 ms for that; a search for the newest that begins in the last shard is done after a
/// part of it. Small indexes are also merged less often while they fill.
extension SQLiteTables {
    /// A shard covers 2^17 numbers.
    private static let shardBits: Int64 = 17

    static func shard(of message: Int64) -> Int64 {
        message >> shardBits
    }

    // MARK: Writing

    func index(_ text: String, row: MessageRow) throws {
        noteTime(of: row)
        let insert = try insertStatement(Self.shard(of: row.id))
        try insert.bind(row.id, at: 1)
        try insert.bind(SearchText.scope(of: row), at: 2)
        try insert.run(borrowing: SearchText.segmented(text), at: 3)
    }

    /// The tables keep no text of their own, so they must be told what the row was indexed with.
    func unindex(_ text: String, row: MessageRow) throws {
        let table = "search_\(Self.shard(of: row.id))"
        try database.execute(
            "INSERT INTO \(table) (\(table), rowid, scope, text) VALUES ('delete', ?, ?, ?)",
            .integer(row.id), .text(SearchText.scope(of: row)), .text(SearchText.segmented(text)))
    }

    private func insertStatement(_ shard: Int64) throws -> Statement {
        if let current = currentShard, current.number == shard { return current.insert }
        let isKnown = try database.integer(
            "SELECT EXISTS (SELECT 1 FROM search_shard WHERE id = ?)", .integer(shard))
        if isKnown != 1 { try createShard(shard) }
        let insert = try database.statement(
            "INSERT INTO search_\(shard) (rowid, scope, text) VALUES (?, ?, ?)")
        currentShard = (shard, insert)
        return insert
    }

    /// The number is all that varies in the text.
    private func createShard(_ shard: Int64) throws {
        let table = "search_\(shard)"
        try database.executeScript(
            """
            CREATE VIRTUAL TABLE \(table) USING fts5 (
                text, scope, content = '', columnsize = 0, tokenize = 'unicode61 remove_diacritics 2');
            INSERT INTO \(table) (\(table), rank) VALUES ('automerge', 8);
            INSERT INTO search_shard VALUES (\(shard));
            """)
    }

    /// Fills the index anew from the messages, when a migration asked for it.
    static func reindex(_ database: Database, _ codec: ContentCodec) throws {
        let isWanted = "SELECT EXISTS (SELECT 1 FROM meta WHERE name = 'reindex')"
        guard try database.integer(isWanted) == 1 else { return }
        try database.transaction {
            // Another process may have done it meanwhile.
            guard try database.integer(isWanted) == 1 else { return }
            for shard in try database.rows("SELECT id FROM search_shard", make: { $0.integer(at: 0) }) {
                try database.executeScript("DROP TABLE search_\(shard)")
            }
            try database.executeScript("DELETE FROM search_shard; DELETE FROM search_span")
            let tables = try SQLiteTables(database: database)
            try tables.reindex(codec)
            try tables.finishSpans()
            try database.execute("DELETE FROM meta WHERE name = 'reindex'")
        }
    }

    private func reindex(_ codec: ContentCodec) throws {
        var after = Int64.min
        while true {
            let rows = try database.rows(
                """
                SELECT \(Self.selectedColumns) FROM message WHERE id > ? AND flags & 256 <> 0
                ORDER BY id LIMIT 1000
                """, .integer(after), make: Self.messageRow)
            guard let last = rows.last else { return }
            after = last.id
            for row in rows {
                guard let text = codec.decode(row.raw).message?.searchText else { continue }
                try index(text, row: row)
            }
        }
    }

    // MARK: Finding

    func search(_ query: SearchQuery) throws -> [MessageRow] {
        guard let expression = try expression(query),
            let dated = try numbers(from: query.fromMilliseconds, until: query.untilMilliseconds)
        else { return [] }
        // What is asked for lies before one number, and within the range of the dates.
        let (end, isLast) = dated.upperBound.addingReportingOverflow(1)
        let range =
            dated
            .lowerBound..<max(
                dated.lowerBound, min(query.before?.rawValue ?? .max, isLast ? .max : end))
        let shards = try database.rows(
            "SELECT id FROM search_shard WHERE id BETWEEN ? AND ? ORDER BY id DESC",
            .integer(Self.shard(of: range.lowerBound)), .integer(Self.shard(of: range.upperBound))
        ) { $0.integer(at: 0) }
        var found: [(row: MessageRow, rank: Double)] = []
        for shard in shards {
            let left = query.order == .newest ? query.limit - found.count : query.limit
            found += try search(query, expression, shard: shard, range: range, limit: left)
            // Numbers grow with arrival: what older shards have is older.
            if query.order == .newest, found.count >= query.limit { break }
        }
        guard query.order == .rank else { return found.map(\.row) }
        // A better match has a smaller rank.
        return found.sorted { ($0.rank, $1.row.id) < ($1.rank, $0.row.id) }.prefix(query.limit).map(\.row)
    }

    /// The flag is that of indexed rows: a build that knows another kind of words for a message than the build that
    /// indexed it cannot take all of them out again, and withdrawn messages must not be found by those.
    private func search(
        _ query: SearchQuery, _ expression: String, shard: Int64, range: Range<Int64>, limit: Int
    ) throws -> [(row: MessageRow, rank: Double)] {
        let table = "search_\(shard)"
        let order = query.order == .newest ? "\(table).rowid DESC" : "\(table).rank"
        let rank = query.order == .newest ? "0.0" : "\(table).rank"
        let kinds = query.kinds.isEmpty ? "" : "," + query.kinds.map(\.rawValue).joined(separator: ",") + ","
        let found = try database.rows(
            """
            SELECT \(table).rowid, \(rank) FROM \(table) JOIN message ON message.id = \(table).rowid
            WHERE \(table) MATCH ? AND \(table).rowid >= ? AND \(table).rowid < ? AND message.position IS NOT NULL AND message.flags & 256 <> 0
                AND message.time_ms >= ? AND message.time_ms < ?
                AND (? = '' OR instr(?, ',' || message.kind || ',') > 0)
            ORDER BY \(order) LIMIT ?
            """, .text(expression), .integer(range.lowerBound), .integer(range.upperBound),
            .integer(query.fromMilliseconds ?? .min), .integer(query.untilMilliseconds ?? .max),
            .text(kinds), .text(kinds), .integer(Int64(limit))
        ) { (id: $0.integer(at: 0), rank: $0.real(at: 1)) }
        return try found.compactMap { entry in try message(id: entry.id).map { ($0, entry.rank) } }
    }

    /// The query in the language of FTS5; nil when nothing can be found.
    private func expression(_ query: SearchQuery) throws -> String? {
        let phrases = SearchPhrases(query.text)
        guard !phrases.phrases.isEmpty else { return nil }
        var parts = ["{text} : (\(phrases.expression))"]
        if let session = query.session {
            guard let row = try self.session(session) else { return nil }
            parts.append("{scope} : \(SearchText.session(row.id))")
        }
        if let sender = query.sender { parts.append("{scope} : \(SearchText.sender(sender.rawValue))") }
        // Most messages are texts and have no word for it; the rows themselves are asked then.
        if !query.kinds.isEmpty, !query.kinds.contains(.text) {
            let kinds = query.kinds.map { SearchText.kind($0.rawValue) }.sorted()
            parts.append("{scope} : (\(kinds.joined(separator: " OR ")))")
        }
        return parts.joined(separator: " AND ")
    }
}
