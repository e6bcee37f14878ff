public import RivuletModel
import SQLiteKit

extension SQLiteAccountStore {
    /// All conversations of which anything is known, hidden ones, too.
    public func sessions() async throws -> [Session] {
        try await read { tables, _ in try tables.allSessions() }
    }

    /// The messages of a conversation with media, the newest first.
    public func media(_ query: MediaQuery) async throws -> [Message] {
        try await read { tables, codec in
            guard let session = try tables.session(query.session)?.id else { return [] }
            return try tables.media(query, in: session).compactMap {
                try tables.message(of: $0, in: query.session, codec: codec)
            }
        }
    }

    /// The pinned messages of a conversation, the newest first.
    public func pinned(in session: Session) async throws -> [Message] {
        try await read { tables, codec in
            guard let number = try tables.session(session)?.id else { return [] }
            return try tables.pinned(in: number).compactMap {
                try tables.message(of: $0, in: session, codec: codec)
            }
        }
    }

    /// The user's favourites, the last one chosen first.
    public func favorites(limit: Int, offset: Int) async throws -> [Message] {
        try await read { tables, codec in
            try tables.favorites(limit: max(0, limit), offset: max(0, offset)).compactMap {
                try tables.message(of: $0, codec: codec)
            }
        }
    }

    /// What users chose in a poll; the last vote of each.
    public func votes(on id: MessageID) async throws -> [UserID: [Int]] {
        try await read { tables, _ in try tables.votes(on: id.rawValue) }
    }

    /// Who has read a message of the user.
    public func readers(of id: MessageID) async throws -> [UserID] {
        try await read { tables, _ in try tables.readers(of: id.rawValue) }
    }

    /// What an edited text was before, the oldest first.
    public func earlierTexts(of id: MessageID) async throws -> [String] {
        try await read { tables, _ in try tables.earlierTexts(of: id.rawValue) }
    }

    /// All contacts, by number.
    public func contacts() async throws -> [Contact] {
        try await read { tables, _ in try tables.contacts() }
    }

    /// One contact; nil when the user is none.
    public func contact(_ user: UserID) async throws -> Contact? {
        try await read { tables, _ in try tables.contact(user) }
    }

    /// All groups of which anything is known, by number.
    public func groups() async throws -> [GroupProfile] {
        try await read { tables, _ in try tables.groups() }
    }

    /// One group; nil when nothing is known of it.
    public func group(_ id: Int64) async throws -> GroupProfile? {
        try await read { tables, _ in try tables.group(id) }
    }

    /// The members of a group, by number.
    public func members(of group: Int64) async throws -> [GroupMemberProfile] {
        try await read { tables, _ in try tables.members(of: group) }
    }
}

extension SQLiteTables {
    func allSessions() throws -> [Session] {
        try database.rows("SELECT kind, peer, app FROM session ORDER BY id") { row in
            Session(
                kind: Session.Kind(rawValue: row.text(at: 0)), id: row.integer(at: 1),
                appID: row.integer(at: 2))
        }
    }

    /// The condition on kinds is that of the index `message_media`, word for word, so that SQLite uses it.
    func media(_ query: MediaQuery, in session: Int64) throws -> [MessageRow] {
        let kinds = "," + query.kinds.map(\.rawValue).joined(separator: ",") + ","
        return try database.rows(
            """
            SELECT \(Self.selectedColumns) FROM message INDEXED BY message_media
            WHERE session = ? AND position < ? AND \(Schema.mediaCondition)
                AND instr(?, ',' || kind || ',') > 0
            ORDER BY position DESC LIMIT ?
            """, .integer(session), .integer(query.before?.rawValue ?? .max), .text(kinds),
            .integer(Int64(query.limit)), make: Self.messageRow)
    }

    func pinned(in session: Int64) throws -> [MessageRow] {
        try database.rows(
            """
            SELECT \(Self.selectedColumns) FROM message INDEXED BY message_pinned
            WHERE session = ? AND position IS NOT NULL AND flags & 32 <> 0 ORDER BY position DESC
            """, .integer(session), make: Self.messageRow)
    }

    func favorites(limit: Int, offset: Int) throws -> [MessageRow] {
        let ids = try database.rows(
            "SELECT message FROM favorite ORDER BY id DESC LIMIT ? OFFSET ?", .integer(Int64(limit)),
            .integer(Int64(offset))
        ) { $0.integer(at: 0) }
        return try ids.compactMap { try message(id: $0) }
    }

    func votes(on message: Int64) throws -> [UserID: [Int]] {
        var votes: [UserID: [Int]] = [:]
        try database.forEachRow("SELECT user, options FROM vote WHERE message = ?", .integer(message)) {
            row in
            votes[UserID(row.integer(at: 0))] = row.text(at: 1).split(separator: ",").compactMap { Int($0) }
        }
        return votes
    }

    func readers(of message: Int64) throws -> [UserID] {
        try database.rows("SELECT user FROM reader WHERE message = ? ORDER BY user", .integer(message)) {
            UserID($0.integer(at: 0))
        }
    }

    func earlierTexts(of message: Int64) throws -> [String] {
        try database.rows("SELECT text FROM earlier_text WHERE message = ? ORDER BY id", .integer(message)) {
            $0.text(at: 0)
        }
    }
}
