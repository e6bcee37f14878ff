public import RivuletModel
import SQLiteKit

extension SQLiteAccountStore {
    /// Finds messages by their text.
    public func search(_ query: SearchQuery) async throws -> [Message] {
        try await read { tables, codec in
            try tables.search(query).compactMap { try tables.message(of: $0, codec: codec) }
        }
    }
}

extension SQLiteTables {
    func search(_ query: SearchQuery) throws -> [MessageRow] {
        guard let expression = try expression(query) else { return [] }
        // Rows of the index are numbered like messages, and these in the order of arrival: going down from the
        // greatest finds the newest without looking at the others.
        let order = query.order == .newest ? "search.rowid DESC" : "search.rank"
        let kinds = query.kinds.isEmpty ? "" : "," + query.kinds.map(\.rawValue).joined(separator: ",") + ","
        return try database.rows(
            """
            SELECT \(Self.joinedColumns) FROM search JOIN message ON message.id = search.rowid
            WHERE search MATCH ? AND search.rowid < ? AND message.position IS NOT NULL
                AND message.time_ms >= ? AND message.time_ms < ?
                AND (? = '' OR instr(?, ',' || message.kind || ',') > 0)
            ORDER BY \(order) LIMIT ?
            """, .text(expression), .integer(query.before?.rawValue ?? .max),
            .integer(query.fromMilliseconds ?? .min), .integer(query.untilMilliseconds ?? .max),
            .text(kinds), .text(kinds), .integer(Int64(query.limit)), make: Self.messageRow)
    }

    private static let joinedColumns = messageColumns.split(separator: ",")
        .map { "message." + $0.filter { !$0.isWhitespace } }.joined(separator: ", ")

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
