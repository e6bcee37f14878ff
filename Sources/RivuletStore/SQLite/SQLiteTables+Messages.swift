import RivuletModel
import SQLiteKit

extension SQLiteTables {
    static let messageColumns = """
        id, session, position, sender, uuid, server_key, local_number, time_ms, kind, state, failure, flags,
        revision, raw
        """

    /// As `messageColumns`, with the JSON from where it is (`MessageRow.Flags.burning`).
    static let selectedColumns = """
        id, session, position, sender, uuid, server_key, local_number, time_ms, kind, state, failure, flags,
        revision, CASE WHEN flags & 512 THEN (SELECT raw FROM burning WHERE burning.message = id) ELSE raw END
        """

    static func messageRow(_ row: borrowing Row) -> MessageRow {
        MessageRow(
            id: row.integer(at: 0), session: row.integer(at: 1), position: row.optionalInteger(at: 2),
            sender: row.integer(at: 3), uuid: row.optionalText(at: 4), serverKey: row.optionalInteger(at: 5),
            localNumber: row.integer(at: 6), timeMilliseconds: row.integer(at: 7), kind: row.text(at: 8),
            raw: row.text(at: 13), state: StateCode(rawValue: row.integer(at: 9)),
            failure: row.optionalText(at: 10), flags: MessageRow.Flags(rawValue: row.integer(at: 11)),
            revision: row.integer(at: 12))
    }

    // MARK: Finding

    func message(id: Int64) throws -> MessageRow? {
        try database.first(
            "SELECT \(Self.selectedColumns) FROM message WHERE id = ?", .integer(id), make: Self.messageRow)
    }

    func message(uuid: String) throws -> MessageRow? {
        let find = try findByUUID.get()
        try find.bind(uuid, at: 1)
        return try find.first(Self.messageRow)
    }

    func message(likeSender sender: Int64, localNumber: Int64, timeMilliseconds: Int64, session: Int64) throws
        -> MessageRow?
    {
        try database.first(
            """
            SELECT \(Self.selectedColumns) FROM message
            WHERE uuid IS NULL AND local_number <> 0 AND sender = ? AND local_number = ? AND time_ms = ?
                AND session = ?
            ORDER BY id LIMIT 1
            """, .integer(sender), .integer(localNumber), .integer(timeMilliseconds), .integer(session),
            make: Self.messageRow)
    }

    func last(in session: Int64) throws -> MessageRow? {
        try database.first(
            """
            SELECT \(Self.selectedColumns) FROM message WHERE session = ? AND position IS NOT NULL
            ORDER BY position DESC LIMIT 1
            """, .integer(session), make: Self.messageRow)
    }

    func countUnread(in session: Int64, after position: Int64) throws -> (unread: Int64, mentions: Int64) {
        try database.first(
            """
            SELECT count(*), coalesce(sum(flags & 4 <> 0), 0) FROM message
            WHERE session = ? AND position > ? AND flags & 2 <> 0
            """, .integer(session), .integer(position)
        ) { row in (row.integer(at: 0), row.integer(at: 1)) } ?? (0, 0)
    }

    func shown(in session: Int64, after position: Int64, limit: Int) throws -> [MessageRow] {
        try database.rows(
            """
            SELECT \(Self.selectedColumns) FROM message WHERE session = ? AND position > ?
            ORDER BY position LIMIT ?
            """, .integer(session), .integer(position), .integer(Int64(limit)), make: Self.messageRow)
    }

    func shown(in session: Int64, before position: Int64, limit: Int) throws -> [MessageRow] {
        try database.rows(
            """
            SELECT \(Self.selectedColumns) FROM message WHERE session = ? AND position < ?
            ORDER BY position DESC LIMIT ?
            """, .integer(session), .integer(position), .integer(Int64(limit)), make: Self.messageRow
        ).reversed()
    }

    /// Halves the range of positions: times grow with them closely enough, and an index on times would cost every
    /// arriving message.
    func firstPosition(in session: Int64, fromMilliseconds: Int64) throws -> Int64? {
        guard let row = try self.session(id: session) else { return nil }
        var low = row.firstPosition
        var high = row.nextPosition
        while low < high {
            let middle = low + (high - low) / 2
            let probe = try database.first(
                """
                SELECT position, time_ms FROM message WHERE session = ? AND position >= ? AND position < ?
                ORDER BY position LIMIT 1
                """, .integer(session), .integer(middle), .integer(high)
            ) { ($0.integer(at: 0), $0.integer(at: 1)) }
            if let (position, time) = probe, time < fromMilliseconds {
                low = position + 1
            } else {
                high = middle
            }
        }
        return try shown(in: session, after: low - 1, limit: 1).first?.position
    }

    // MARK: Writing

    func insert(_ row: MessageRow) throws {
        let insert = try insertMessage.get()
        try insert.bind(row.id, at: 1)
        try insert.bind(row.session, at: 2)
        try insert.bind(row.position, at: 3)
        try insert.bind(row.sender, at: 4)
        try insert.bind(row.uuid, at: 5)
        try insert.bind(row.serverKey, at: 6)
        try insert.bind(row.localNumber, at: 7)
        try insert.bind(row.timeMilliseconds, at: 8)
        try insert.bind(row.kind, at: 9)
        try insert.bind(row.state.rawValue, at: 10)
        try insert.bind(row.failure, at: 11)
        try insert.bind(row.flags.rawValue, at: 12)
        try insert.bind(row.revision, at: 13)
        guard row.flags.contains(.burning) else { return try insert.run(borrowing: row.raw, at: 14) }
        try insert.run(borrowing: "", at: 14)
        try saveBurning(row)
    }

    private func saveBurning(_ row: MessageRow) throws {
        try database.execute(
            "INSERT INTO burning VALUES (?, ?) ON CONFLICT DO UPDATE SET raw = excluded.raw",
            .integer(row.id), .text(row.raw))
    }

    func update(_ row: MessageRow) throws {
        if row.flags.contains(.indexed) { noteTime(of: row) }
        try database.execute(
            """
            UPDATE message SET server_key = ?, time_ms = ?, kind = ?, state = ?, failure = ?, flags = ?,
                revision = ?, raw = ?
            WHERE id = ?
            """, .optional(row.serverKey), .integer(row.timeMilliseconds), .text(row.kind),
            .integer(row.state.rawValue), .optional(row.failure), .integer(row.flags.rawValue),
            .integer(row.revision), .text(row.flags.contains(.burning) ? "" : row.raw), .integer(row.id))
        if row.flags.contains(.burning) { try saveBurning(row) }
        // Apart, because it touches the index of places.
        try database.execute(
            "UPDATE message SET position = ?1 WHERE id = ?2 AND position IS NOT ?1", .optional(row.position),
            .integer(row.id))
    }

    // MARK: What belongs to a message

    func reactions(of message: Int64) throws -> [Message.Reaction] {
        var all: [Message.Reaction] = []
        try database.forEachRow(
            "SELECT emoji, user FROM reaction WHERE message = ? ORDER BY id", .integer(message)
        ) { row in
            let emoji = row.text(at: 0)
            let user = UserID(row.integer(at: 1))
            if let index = all.firstIndex(where: { $0.emoji == emoji }) {
                all[index].users.append(user)
            } else {
                all.append(Message.Reaction(emoji: emoji, users: [user]))
            }
        }
        return all
    }

    func setReaction(_ emoji: String, of user: Int64, on message: Int64, isOn: Bool) throws {
        try database.execute(
            isOn
                ? "INSERT OR IGNORE INTO reaction (message, emoji, user) VALUES (?, ?, ?)"
                : "DELETE FROM reaction WHERE message = ? AND emoji = ? AND user = ?", .integer(message),
            .text(emoji), .integer(user))
    }

    func deleteReactions(of message: Int64) throws {
        try database.execute("DELETE FROM reaction WHERE message = ?", .integer(message))
    }

    func tags(of message: Int64) throws -> [String] {
        try database.rows("SELECT tag FROM tag WHERE message = ? ORDER BY tag", .integer(message)) {
            $0.text(at: 0)
        }
    }

    func setTag(_ tag: String, on message: Int64, isOn: Bool) throws {
        try database.execute(
            isOn
                ? "INSERT OR IGNORE INTO tag VALUES (?, ?)" : "DELETE FROM tag WHERE message = ? AND tag = ?",
            .integer(message), .text(tag))
    }

    func deleteTags(of message: Int64) throws {
        try database.execute("DELETE FROM tag WHERE message = ?", .integer(message))
    }

    func setFavorite(_ message: Int64, isOn: Bool) throws {
        try database.execute(
            isOn
                ? "INSERT OR IGNORE INTO favorite (message) VALUES (?)"
                : "DELETE FROM favorite WHERE message = ?",
            .integer(message))
    }

    func addReader(_ user: Int64, of message: Int64) throws -> Int64 {
        try database.execute(
            "INSERT OR IGNORE INTO reader VALUES (?, ?)", .integer(message), .integer(user))
        return try database.integer("SELECT count(*) FROM reader WHERE message = ?", .integer(message)) ?? 0
    }

    func setVote(_ options: [Int], of user: Int64, on message: Int64) throws {
        try database.execute(
            "INSERT INTO vote VALUES (?, ?, ?) ON CONFLICT DO UPDATE SET options = excluded.options",
            .integer(message), .integer(user), .text(options.map(String.init).joined(separator: ",")))
    }

    func keepEarlierText(_ text: String, of message: Int64, timeMilliseconds: Int64) throws {
        try database.execute(
            "INSERT INTO earlier_text (message, text, time_ms) VALUES (?, ?, ?)", .integer(message),
            .text(text), .integer(timeMilliseconds))
    }

    func deleteEarlierTexts(of message: Int64) throws {
        try database.execute("DELETE FROM earlier_text WHERE message = ?", .integer(message))
    }
}
