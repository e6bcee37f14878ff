import RivuletModel
import RivuletStore

/// The two stores that must behave alike.
enum StoreKind: String, CaseIterable {
    case sqlite
    case memory

}

/// A store of user 1 with short ways to fill it.
struct StoreFixture {
    static let me = UserID(1)
    static let ada = UserID(2)
    let store: any AccountStore
    private let folder: TemporaryFolder
    let codec = ContentCodec()

    init(_ kind: StoreKind) throws {
        folder = try TemporaryFolder()
        store =
            switch kind {
            case .sqlite: try SQLiteAccountStore(path: folder.file("account.db"), account: Self.me)
            case .memory: MemoryAccountStore(account: Self.me)
            }
    }

    func incoming(
        _ json: String, from sender: UserID = Self.ada, in session: Session? = nil, time: Int64 = 1_000,
        key: Int64? = nil, number: Int64 = 0
    ) -> IncomingMessage {
        IncomingMessage(
            session: session ?? .peer(Self.ada), sender: sender, isOutgoing: sender == Self.me, raw: json,
            content: codec.decode(json), timeMilliseconds: time, serverKey: key, localNumber: number)
    }

    func text(
        _ text: String, uuid: String?, from sender: UserID = Self.ada, in session: Session? = nil,
        time: Int64 = 1_000, key: Int64? = nil
    ) throws -> IncomingMessage {
        let json = try codec.encode(.text(text), envelope: ContentEnvelope(uuid: uuid))
        return incoming(json, from: sender, in: session, time: time, key: key)
    }

    func control(
        _ control: ControlContent, uuid: String? = nil, from sender: UserID = Self.ada,
        in session: Session? = nil, time: Int64 = 2_000
    ) throws -> IncomingMessage {
        incoming(
            try codec.encode(control, envelope: ContentEnvelope(uuid: uuid)), from: sender, in: session,
            time: time)
    }

    func outgoing(_ text: String, uuid: String, send: Int64, time: Int64 = 1_500) throws -> QueuedMessage {
        try outgoing(
            json: codec.encode(.text(text), envelope: ContentEnvelope(uuid: uuid)), send: send, time: time)
    }

    func outgoing(json: String, send: Int64, time: Int64 = 1_500) -> QueuedMessage {
        let content = codec.decode(json)
        return QueuedMessage(
            session: .peer(Self.ada), raw: json, content: content,
            send: StoredSend(
                number: send, uuid: content.envelope.uuid, command: 4, flags: 0, body: [1, 2, 3],
                createdMilliseconds: time))
    }

    @discardableResult func apply(_ operations: StoreOperation...) async throws -> [StoreOutcome] {
        try await store.apply(operations)
    }

    /// The texts of the newest messages, oldest first, in a short form that shows their kind.
    func flow(_ session: Session? = nil, limit: Int = 100) async throws -> [String] {
        try await store.page(PageQuery(session: session ?? .peer(Self.ada), limit: limit)).messages
            .map { $0.content.text ?? "<\($0.content.kind.rawValue)>" }
    }

    func line(_ session: Session? = nil) async throws -> Conversation? {
        try await store.conversation(session ?? .peer(Self.ada))
    }

    func message(_ uuid: String) async throws -> Message? {
        try await store.message(uuid: uuid)
    }
}
