public import RivuletModel
import Synchronization

/// An account that is forgotten with the process: for tests, previews and guests.
public final class MemoryAccountStore: AccountStore {
    /// The user whose account this is.
    public let account: UserID
    private let codec: ContentCodec
    private let publisher = ChangePublisher()
    /// Nil once closed.
    private let state: Mutex<MemoryTables.State?>

    /// Makes an empty account.
    public init(account: UserID, codec: ContentCodec = ContentCodec()) {
        self.account = account
        self.codec = codec
        state = Mutex(MemoryTables.State())
    }

    /// Performs the operations in order, all or none.
    public func apply(_ operations: [StoreOperation]) async throws -> [StoreOutcome] {
        try state.withLock { state in
            guard let before = state else { throw StoreError.closed }
            let tables = MemoryTables(state: before)
            var writer = try StoreWriter(tables: tables, codec: codec, account: account)
            let outcomes = try operations.map { try writer.perform($0) }
            try writer.finish()
            state = tables.state
            // Under the lock, so that streams see the transactions in their order; a stream only takes it down.
            try publisher.publish { try writer.changes() }
            return outcomes
        }
    }

    /// Reads a stretch of a conversation.
    public func page(_ query: PageQuery) async throws -> StoredPage {
        try read { tables in
            guard let session = tables.session(query.session)?.id else { return .empty }
            return try PageReader(tables: tables, session: session, query: query).page { row in
                message(of: row, tables)
            }
        }
    }

    /// The message of this identity; nil when there is none or it was deleted.
    public func message(_ id: MessageID) async throws -> Message? {
        try read { tables in tables.message(id: id.rawValue).flatMap { message(of: $0, tables) } }
    }

    /// The message of this uuid; nil when there is none or it was deleted.
    public func message(uuid: String) async throws -> Message? {
        try read { tables in tables.message(uuid: uuid).flatMap { message(of: $0, tables) } }
    }

    /// The JSON text of a message as it came or was sent; nil when there is no such message.
    public func rawContent(of id: MessageID) async throws -> String? {
        try read { tables in
            tables.message(id: id.rawValue).flatMap { $0.position == nil ? nil : $0.raw }
        }
    }

    /// The conversations, pinned ones first, then the one with the newest message first.
    public func conversations(limit: Int, offset: Int) async throws -> [Conversation] {
        try read { tables in
            let shown = tables.state.sessions.values
                .filter { !$0.isHidden && ($0.lastMessage != nil || $0.draft != nil) }
                .sorted { left, right in
                    if left.isPinned != right.isPinned { return left.isPinned }
                    return (left.activityMilliseconds, left.id) > (right.activityMilliseconds, right.id)
                }
            return shown.dropFirst(max(0, offset)).prefix(max(0, limit)).map { line($0, tables) }
        }
    }

    /// One conversation; nil when nothing is known of it.
    public func conversation(_ session: Session) async throws -> Conversation? {
        try read { tables in tables.session(session).map { line($0, tables) } }
    }

    /// The sum of the unread messages of all conversations that are not muted.
    public func unreadTotal() async throws -> Int {
        try read { tables in
            Int(clamping: tables.state.sessions.values.filter { !$0.isMuted }.reduce(0) { $0 + $1.unread })
        }
    }

    /// What the client needs to go on where it stopped.
    public func clientState() async throws -> StoredClientState {
        try read { tables in
            StoredClientState(
                peerKey: tables.state.peerKey, groupKeys: tables.state.groupKeys,
                outbox: tables.state.sends.values.map(\.send).sorted { $0.number < $1.number },
                lastSendNumber: tables.state.counters.lastSend)
        }
    }

    /// The changes from now on, one element per transaction.
    public func changes() -> AsyncStream<StoreChanges> {
        publisher.stream()
    }

    /// Forgets everything and ends all streams.
    public func close() async {
        state.withLock { $0 = nil }
        publisher.finish()
    }

    // MARK: Helpers

    func read<Result>(_ body: (MemoryTables) throws -> Result) throws -> Result {
        guard let copy = state.withLock({ $0 }) else { throw StoreError.closed }
        return try body(MemoryTables(state: copy))
    }

    func message(of row: MessageRow, _ tables: MemoryTables) -> Message? {
        guard let session = tables.session(id: row.session)?.session else { return nil }
        // The tables in memory cannot fail.
        guard let extras = try? tables.extras(of: row) else { return nil }
        return row.message(in: session, codec: codec, extras: extras)
    }

    private func line(_ row: SessionRow, _ tables: MemoryTables) -> Conversation {
        let last = row.lastMessage.flatMap { tables.message(id: $0) }
        return row.conversation(last: last.flatMap { message(of: $0, tables) })
    }
}
