public import RivuletModel

extension MemoryAccountStore {
    /// All conversations of which anything is known, hidden ones, too.
    public func sessions() async throws -> [Session] {
        try read { $0.state.sessions.values.sorted { $0.id < $1.id }.map(\.session) }
    }

    /// The messages of a conversation with media, the newest first.
    public func media(_ query: MediaQuery) async throws -> [Message] {
        try read { tables in
            let rows = shown(in: query.session, tables).filter { row in
                MediaQuery.kinds.contains(MessageKind(rawValue: row.kind))
                    && query.kinds.contains(MessageKind(rawValue: row.kind))
                    && row.position ?? .max < query.before?.rawValue ?? .max
            }
            return rows.reversed().prefix(query.limit).compactMap { message(of: $0, tables) }
        }
    }

    /// The pinned messages of a conversation, the newest first.
    public func pinned(in session: Session) async throws -> [Message] {
        try read { tables in
            shown(in: session, tables).filter { $0.flags.contains(.pinned) }.reversed()
                .compactMap { message(of: $0, tables) }
        }
    }

    /// The user's favourites, the last one chosen first.
    public func favorites(limit: Int, offset: Int) async throws -> [Message] {
        try read { tables in
            tables.state.favorites.reversed().dropFirst(max(0, offset)).prefix(max(0, limit))
                .compactMap { tables.message(id: $0).flatMap { message(of: $0, tables) } }
        }
    }

    /// What users chose in a poll; the last vote of each.
    public func votes(on id: MessageID) async throws -> [UserID: [Int]] {
        try read { tables in
            Dictionary(
                uniqueKeysWithValues: (tables.state.votes[id.rawValue] ?? [:]).map { (UserID($0), $1) })
        }
    }

    /// Who has read a message of the user.
    public func readers(of id: MessageID) async throws -> [UserID] {
        try read { $0.state.readers[id.rawValue, default: []].sorted().map { UserID($0) } }
    }

    /// What an edited text was before, the oldest first.
    public func earlierTexts(of id: MessageID) async throws -> [String] {
        try read { $0.state.earlierTexts[id.rawValue] ?? [] }
    }

    /// All contacts, by number.
    public func contacts() async throws -> [Contact] {
        try read { $0.state.contacts.values.sorted { $0.id < $1.id } }
    }

    /// One contact; nil when the user is none.
    public func contact(_ user: UserID) async throws -> Contact? {
        try read { $0.contact(user) }
    }

    /// All groups of which anything is known, by number.
    public func groups() async throws -> [GroupProfile] {
        try read { $0.state.groups.values.sorted { $0.id < $1.id } }
    }

    /// One group; nil when nothing is known of it.
    public func group(_ id: Int64) async throws -> GroupProfile? {
        try read { $0.group(id) }
    }

    /// The members of a group, by number.
    public func members(of group: Int64) async throws -> [GroupMemberProfile] {
        try read { $0.members(of: group) }
    }

    private func shown(in session: Session, _ tables: MemoryTables) -> [MessageRow] {
        guard let number = tables.session(session)?.id else { return [] }
        return tables.shown(in: number, after: .min, limit: .max)
    }
}
