import RivuletModel
import SQLiteKit

/// The tables of an account in an SQLite file, inside one transaction.
final class SQLiteTables: StoreTables, PageTables {
    let database: Database
    // What every arriving message needs, found once.
    private(set) lazy var findByUUID = Result {
        try database.statement("SELECT \(Self.selectedColumns) FROM message WHERE uuid = ?")
    }
    private(set) lazy var insertMessage = Result {
        try database.statement(
            "INSERT INTO message (\(Self.messageColumns)) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)")
    }
    /// The shard of the search that was written last, with its statement.
    var currentShard: (number: Int64, insert: Statement)?
    /// Whether any control waits for its target; spares a look-up for every message that arrives.
    private var hasWaiting: Bool
    /// Whether a message burned in this transaction.
    private(set) var hasWiped = false
    /// The times that this transaction adds to `search_span`.
    var spans: [Int64: ClosedRange<Int64>] = [:]

    init(database: Database) throws {
        self.database = database
        hasWaiting = try database.integer("SELECT EXISTS (SELECT 1 FROM waiting)") == 1
    }

    // MARK: Numbers

    func counters() throws -> Counters {
        var counters = Counters()
        try database.forEachRow("SELECT name, value FROM meta") { row in
            switch row.text(at: 0) {
            case "next_id": counters.nextID = row.integer(at: 1)
            case "first_id": counters.firstID = row.integer(at: 1)
            case "last_send": counters.lastSend = row.integer(at: 1)
            default: break
            }
        }
        return counters
    }

    func save(_ counters: Counters) throws {
        for (name, value) in [
            ("next_id", counters.nextID), ("first_id", counters.firstID), ("last_send", counters.lastSend),
        ] {
            try database.execute(
                "INSERT INTO meta VALUES (?, ?) ON CONFLICT DO UPDATE SET value = excluded.value",
                .text(name),
                .integer(value))
        }
    }

    // MARK: Conversations

    private static let sessionColumns = """
        id, kind, peer, app, next_position, first_position, last_message, last_position, activity_ms, unread,
        mentions, read_position, draft, is_pinned, is_muted, is_hidden, draft_details
        """

    static func sessionRow(_ row: borrowing Row) -> SessionRow {
        var made = SessionRow(
            id: row.integer(at: 0),
            session: Session(
                kind: Session.Kind(rawValue: row.text(at: 1)), id: row.integer(at: 2),
                appID: row.integer(at: 3)))
        made.nextPosition = row.integer(at: 4)
        made.firstPosition = row.integer(at: 5)
        made.lastMessage = row.optionalInteger(at: 6)
        made.lastPosition = row.integer(at: 7)
        made.activityMilliseconds = row.integer(at: 8)
        made.unread = row.integer(at: 9)
        made.mentions = row.integer(at: 10)
        made.readPosition = row.optionalInteger(at: 11)
        made.draft = row.optionalText(at: 12)
        made.isPinned = row.integer(at: 13) != 0
        made.isMuted = row.integer(at: 14) != 0
        made.isHidden = row.integer(at: 15) != 0
        made.draftDetails = row.optionalText(at: 16)
        return made
    }

    func session(_ session: Session) throws -> SessionRow? {
        try database.first(
            "SELECT \(Self.sessionColumns) FROM session WHERE kind = ? AND peer = ? AND app = ?",
            .text(session.kind.rawValue), .integer(session.id), .integer(session.appID), make: Self.sessionRow
        )
    }

    func session(id: Int64) throws -> SessionRow? {
        try database.first(
            "SELECT \(Self.sessionColumns) FROM session WHERE id = ?", .integer(id), make: Self.sessionRow)
    }

    func sessions(limit: Int, offset: Int) throws -> [SessionRow] {
        try database.rows(
            """
            SELECT \(Self.sessionColumns) FROM session WHERE is_listed = 1
            ORDER BY is_pinned DESC, activity_ms DESC, id DESC LIMIT ? OFFSET ?
            """, .integer(Int64(limit)), .integer(Int64(offset)), make: Self.sessionRow)
    }

    func insert(_ session: Session) throws -> SessionRow {
        var row = SessionRow(id: 0, session: session)
        try database.execute(
            """
            INSERT INTO session (kind, peer, app, next_position, first_position, last_position, activity_ms)
            VALUES (?, ?, ?, ?, ?, ?, 0)
            """, .text(session.kind.rawValue), .integer(session.id), .integer(session.appID),
            .integer(row.nextPosition), .integer(row.firstPosition), .integer(row.lastPosition))
        row.id = database.lastInsertedRowID
        return row
    }

    func save(_ row: SessionRow) throws {
        try database.execute(
            """
            UPDATE session SET next_position = ?, first_position = ?, last_message = ?, last_position = ?,
                activity_ms = ?, unread = ?, mentions = ?, read_position = ?, draft = ?, is_pinned = ?,
                is_muted = ?, is_hidden = ?, draft_details = ?
            WHERE id = ?
            """, .integer(row.nextPosition), .integer(row.firstPosition), .optional(row.lastMessage),
            .integer(row.lastPosition), .integer(row.activityMilliseconds), .integer(row.unread),
            .integer(row.mentions), .optional(row.readPosition), .optional(row.draft),
            .integer(row.isPinned ? 1 : 0), .integer(row.isMuted ? 1 : 0), .integer(row.isHidden ? 1 : 0),
            .optional(row.draftDetails), .integer(row.id))
    }

    // MARK: Burning

    /// Removes the JSON of a burned message.
    ///
    /// Pages that were split or merged may hold old copies of rows in their gaps, which deleting a row does not reach;
    /// so the two small tables in which the text stood are emptied, which zeroes all their pages, and filled again.
    func wipe(_ row: MessageRow) throws {
        try database.execute("DELETE FROM burning WHERE message = ?", .integer(row.id))
        hasWiped = true
    }

    /// Ends a transaction in which messages burned.
    func finishWiping() throws {
        guard hasWiped else { return }
        let burning = try database.rows("SELECT message, raw FROM burning") { row in
            (row.integer(at: 0), row.text(at: 1))
        }
        let sends = try allSends()
        // Without a condition, so that SQLite empties the whole tree at once.
        try database.execute("DELETE FROM burning")
        try database.execute("DELETE FROM outbox")
        for (message, raw) in burning {
            try database.execute("INSERT INTO burning VALUES (?, ?)", .integer(message), .text(raw))
        }
        for send in sends { try insert(send) }
        try database.execute("INSERT OR REPLACE INTO meta VALUES ('wipe', 1)")
    }

    // MARK: Sends and keys

    private static let sendColumns =
        "number, message, session, control, uuid, command, flags, body, created_ms"

    static func sendRow(_ row: borrowing Row) -> SendRow {
        SendRow(
            send: StoredSend(
                number: row.integer(at: 0), uuid: row.optionalText(at: 4),
                command: Int(truncatingIfNeeded: row.integer(at: 5)),
                flags: Int(truncatingIfNeeded: row.integer(at: 6)), body: row.bytes(at: 7),
                createdMilliseconds: row.integer(at: 8)),
            message: row.optionalInteger(at: 1), session: row.integer(at: 2), control: row.optionalText(at: 3)
        )
    }

    func insert(_ row: SendRow) throws {
        // The client gives each number once; a repeated one is the same send, stored again.
        try database.execute(
            "INSERT OR REPLACE INTO outbox (\(Self.sendColumns)) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
            .integer(row.send.number), .optional(row.message), .integer(row.session), .optional(row.control),
            .optional(row.send.uuid), .integer(Int64(row.send.command)), .integer(Int64(row.send.flags)),
            .blob(row.send.body), .integer(row.send.createdMilliseconds))
    }

    func send(number: Int64) throws -> SendRow? {
        try database.first(
            "SELECT \(Self.sendColumns) FROM outbox WHERE number = ?", .integer(number), make: Self.sendRow)
    }

    func sends(ofMessage id: Int64) throws -> [SendRow] {
        try database.rows(
            "SELECT \(Self.sendColumns) FROM outbox WHERE message = ?", .integer(id), make: Self.sendRow)
    }

    func allSends() throws -> [SendRow] {
        try database.rows("SELECT \(Self.sendColumns) FROM outbox ORDER BY number", make: Self.sendRow)
    }

    func deleteSend(number: Int64) throws {
        try database.execute("DELETE FROM outbox WHERE number = ?", .integer(number))
    }

    func setKey(group: Int64?, key: Int64) throws {
        try database.execute(
            "INSERT INTO sync_key VALUES (?, ?, ?) ON CONFLICT DO UPDATE SET key = excluded.key",
            .integer(group == nil ? 0 : 1), .integer(group ?? 0), .integer(key))
    }

    func deleteKey(group: Int64) throws {
        try database.execute("DELETE FROM sync_key WHERE is_group = 1 AND id = ?", .integer(group))
    }

    func keys() throws -> (peer: Int64?, groups: [Int64: Int64]) {
        var keys: (peer: Int64?, groups: [Int64: Int64]) = (nil, [:])
        try database.forEachRow("SELECT is_group, id, key FROM sync_key") { row in
            if row.integer(at: 0) == 0 {
                keys.peer = row.integer(at: 2)
            } else {
                keys.groups[row.integer(at: 1)] = row.integer(at: 2)
            }
        }
        return keys
    }

    // MARK: Controls that came early

    func insert(_ waiting: WaitingControl) throws {
        try database.execute(
            "INSERT INTO waiting (target, sender, time_ms, raw) VALUES (?, ?, ?, ?)", .text(waiting.target),
            .integer(waiting.sender), .integer(waiting.timeMilliseconds), .text(waiting.raw))
        // A peer can send any number of controls for messages that do not exist; the oldest go.
        try database.execute(
            "DELETE FROM waiting WHERE id <= ?",
            .integer(database.lastInsertedRowID - Int64(MemoryTables.waitingMax)))
        hasWaiting = true
    }

    func takeWaiting(for target: String) throws -> [WaitingControl] {
        guard hasWaiting else { return [] }
        let taken = try database.rows(
            "SELECT target, sender, time_ms, raw FROM waiting WHERE target = ? ORDER BY id", .text(target)
        ) { row in
            WaitingControl(
                target: row.text(at: 0), sender: row.integer(at: 1), timeMilliseconds: row.integer(at: 2),
                raw: row.text(at: 3))
        }
        if !taken.isEmpty { try database.execute("DELETE FROM waiting WHERE target = ?", .text(target)) }
        return taken
    }
}
