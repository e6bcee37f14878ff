package import RivuletModel

/// The store's rules over tables in memory, without a lock and without waiting: for simulations, which own time.
///
/// Operations change the tables in place, so one that throws half way leaves its traces; `copy()` keeps a state.
package final class AccountTables {
    /// A message of a conversation as it stands now.
    package struct ShownMessage: Hashable, Sendable {
        /// The uuid; nil for messages that have none.
        package var uuid: String?
        /// Whether the server has it, or it came from there.
        package var isSettled: Bool
        /// Where its sending stands, or who has read it.
        package var state: Message.State
        /// What it says; nil for what is no text, as after a withdrawal.
        package var text: String?
        /// The stable name of its kind.
        package var kind: String
    }

    private let tables: MemoryTables
    private let codec: ContentCodec
    private let account: UserID

    /// Makes an empty account.
    package convenience init(account: UserID, codec: ContentCodec) {
        self.init(MemoryTables(state: MemoryTables.State()), account, codec)
    }

    private init(_ tables: MemoryTables, _ account: UserID, _ codec: ContentCodec) {
        self.tables = tables
        self.account = account
        self.codec = codec
    }

    /// The same account, which goes its own way from now on.
    package func copy() -> AccountTables {
        AccountTables(MemoryTables(state: tables.state), account, codec)
    }

    /// Performs operations in order.
    package func apply(_ operations: [StoreOperation]) throws -> [StoreOutcome] {
        var writer = try StoreWriter(tables: tables, codec: codec, account: account)
        let outcomes = try operations.map { try writer.perform($0) }
        try writer.finish()
        return outcomes
    }

    /// What a client needs to go on where it stopped.
    package var clientState: StoredClientState {
        StoredClientState(
            peerKey: tables.state.peerKey, groupKeys: tables.state.groupKeys,
            outbox: tables.state.sends.values.map(\.send).sorted { $0.number < $1.number },
            lastSendNumber: tables.state.counters.lastSend)
    }

    /// How many messages of others are not read.
    package var unreadTotal: Int {
        Int(clamping: tables.state.sessions.values.reduce(0) { $0 + $1.unread })
    }

    /// The conversations of which anything is known.
    package var sessions: [Session] {
        tables.state.sessions.values.map(\.session)
            .sorted { ($0.kind.rawValue, $0.id) < ($1.kind.rawValue, $1.id) }
    }

    /// The messages of a conversation that people see, in their order.
    package func shown(in session: Session) -> [ShownMessage] {
        guard let number = tables.session(session)?.id else { return [] }
        return tables.shown(in: number, after: .min, limit: .max).map { row in
            var text: String?
            if case .text(let content)? = codec.decode(row.raw).message { text = content.text }
            return ShownMessage(
                uuid: row.uuid, isSettled: !row.state.isUnderWay,
                state: row.state.state(failure: row.failure), text: text, kind: row.kind)
        }
    }
}
