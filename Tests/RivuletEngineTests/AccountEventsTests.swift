import RivuletClient
import RivuletClientCore
import RivuletModel
import RivuletStore
import Testing

@testable import RivuletEngine
@testable import RivuletFlow

/// The word that a message has burned, of a test's own.
private struct Burned: CustomContent {
    static let kind = MessageKind(rawValue: "burned")
    static let behavior = ContentBehavior.control
    var msgid: String
    var summary: String { "" }
    var effect: ContentEffect? { .erase(target: msgid) }
}

/// An account that never connects: what the store says reaches the session.
@Suite("What the account's store tells a session", .timeLimit(.minutes(1))) @MainActor
struct AccountEventsTests {
    private let ada = UserID(1)
    private let ben = UserID(2)
    private var withBen: Session { .peer(ben) }
    private let codec: ContentCodec

    init() throws {
        var registry = ContentRegistry()
        try registry.register(Burned.self)
        codec = ContentCodec(registry: registry)
    }

    private func account() -> ChatAccount {
        ChatAccount(
            store: MemoryAccountStore(account: ada, codec: codec),
            service: IMServiceConfiguration(
                endpoints: [ClientEndpoint(host: "127.0.0.1", port: 1)],
                identity: ClientIdentity(uid: 1, token: "t", deviceID: "d")), codec: codec)
    }

    private func message(
        _ content: MessageContent, uuid: String, from sender: UserID, burns seconds: Int? = nil
    ) throws -> IncomingMessage {
        let envelope = ContentEnvelope(uuid: uuid, burnSeconds: seconds)
        return try incoming(.message(content), envelope, codec.encode(content, envelope: envelope), sender)
    }

    private func control(_ control: ControlContent, from sender: UserID, uuid: String) throws
        -> IncomingMessage
    {
        let envelope = ContentEnvelope(uuid: uuid)
        return try incoming(.control(control), envelope, codec.encode(control, envelope: envelope), sender)
    }

    private func incoming(
        _ body: DecodedContent.Body, _ envelope: ContentEnvelope, _ raw: String, _ sender: UserID
    ) throws -> IncomingMessage {
        IncomingMessage(
            session: withBen, sender: sender, isOutgoing: sender == ada, raw: raw,
            content: DecodedContent(envelope: envelope, body: body), timeMilliseconds: 1_000)
    }

    /// Shows the session and waits until a row is as it should be.
    private func showing(
        _ account: ChatAccount, _ configuration: SessionConfiguration = SessionConfiguration(),
        _ body: (DataManager, _ wait: (@MainActor (DataManager) -> Bool) async -> Void) async throws -> Void
    ) async throws {
        let manager = DataManager(
            session: withBen, engine: account.engine, configuration: configuration, codec: codec,
            now: { 2_000 }, makeUUID: ChatAccount.systemUUID)
        let (changes, signal) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
        let observer = Signaller(signal)
        manager.controller.addObserver(observer)
        manager.controller.submit(.resized(LayoutSize(width: 400, height: 300)))
        manager.open()
        let running = Task { await manager.run() }
        defer { running.cancel() }
        let wait = { (isDone: @MainActor (DataManager) -> Bool) async in
            manager.controller.drain()
            if isDone(manager) { return }
            for await _ in changes where isDone(manager) { return }
        }
        await wait { $0.controller.state.opening == .shown }
        try await body(manager, wait)
        withExtendedLifetime(observer) {}
    }

    @Test func `votes that the store has are shown, also those before the session was opened`() async throws {
        let account = account()
        let poll = PollContent(question: "When?", options: ["now", "later"])
        _ = try await account.store.apply([
            .receive(try message(.poll(poll), uuid: "p", from: ada)),
            .receive(try control(.vote(target: "p", options: [0]), from: ben, uuid: "v1")),
        ])
        try await showing(account) { manager, wait in
            await wait { $0.message(uuid: "p").map { manager.votes(on: $0.id) } == [[self.ben], []] }
            let before = try #require(manager.message(uuid: "p")).revision
            _ = try await account.store.apply([
                .receive(try control(.vote(target: "p", options: [1]), from: ben, uuid: "v2"))
            ])
            await wait { $0.message(uuid: "p").map { manager.votes(on: $0.id) } == [[], [self.ben]] }
            #expect(try #require(manager.message(uuid: "p")).revision > before)
            _ = try await account.store.apply([
                .receive(try control(.readed(target: "p"), from: ben, uuid: "r1"))
            ])
            await wait { $0.message(uuid: "p")?.state == .read(count: 1) }
            let row = try #require(manager.message(uuid: "p"))
            #expect(try await manager.loadReaders(of: row.id) == [ben])
            #expect(manager.readers(of: row.id) == [ben])
        }
        await account.close()
    }

    @Test func `what burns in the store becomes the shell that the session chose, for ever`() async throws {
        let account = account()
        _ = try await account.store.apply([
            .receive(try message(.text("secret"), uuid: "s", from: ben, burns: 5)),
            .receive(try message(.text("old secret"), uuid: "o", from: ben, burns: 5)),
            .receive(try control(.custom(CustomContentBox(Burned(msgid: "o"))), from: ada, uuid: "b0")),
        ])
        var configuration = SessionConfiguration()
        configuration.burnedShell = .notice("gone")
        try await showing(account, configuration) { manager, wait in
            await wait { $0.message(uuid: "s")?.content == .text("secret") }
            #expect(manager.message(uuid: "s")?.burnSeconds == 5)
            #expect(manager.message(uuid: "o")?.content == .notice("gone"))
            _ = try await account.store.apply([
                .receive(try control(.custom(CustomContentBox(Burned(msgid: "s"))), from: ada, uuid: "b1"))
            ])
            await wait { $0.message(uuid: "s")?.content == .notice("gone") }
            manager.reload()
            await wait {
                $0.controller.snapshot.messages.map(\.content) == [.notice("gone"), .notice("gone")]
            }
        }
        await account.close()
    }

    @Test func `delivery, pins and labels reach the rows`() async throws {
        let account = account()
        _ = try await account.store.apply([
            .receive(try message(.text("mine"), uuid: "m", from: ada)),
            .receive(try message(.text("yours"), uuid: "y", from: ben)),
        ])
        try await showing(account) { manager, wait in
            await wait { $0.message(uuid: "y") != nil }
            _ = try await account.store.apply([.deliver(uuids: ["m"])])
            await wait { $0.message(uuid: "m")?.state == .delivered }
            _ = try await account.store.apply([
                .receive(try control(.pin(target: "y", isOn: true), from: ben, uuid: "c1"))
            ])
            await wait { $0.message(uuid: "y")?.isPinned == true }
            let id = try #require(manager.message(uuid: "y")).id
            let stored = try #require(try await account.store.message(uuid: "y"))
            _ = try await account.store.apply([.setFavorite(stored.id, true)])
            await wait { _ in manager.message(id)?.isFavorite == true }
        }
        await account.close()
    }

    @Test func `a draft is found again with all that belongs to it`() async throws {
        let account = account()
        let drafts = try #require(account.engine.drafts)
        let whole = Draft(
            text: "Look, @Ben ", mentions: [TextContent.Mention(user: ben, name: "Ben")], reference: "r")
        for draft in [whole, Draft(text: "plain"), Draft(reference: "r"), Draft(text: "new", editing: "e")] {
            try await drafts.setDraft(draft, in: withBen)
            #expect(try await drafts.draft(in: withBen) == draft)
        }
        // The list of conversations shows the text alone.
        #expect(try await account.store.conversation(withBen)?.draft == "new")
        try await drafts.setDraft(nil, in: withBen)
        #expect(try await drafts.draft(in: withBen) == nil)
        // A text that another program writes is a draft of its own; a record that nobody can read is none.
        try await drafts.setDraft(whole, in: withBen)
        _ = try await account.store.apply([.setDraft(withBen, nil), .setDraft(withBen, "other")])
        #expect(try await drafts.draft(in: withBen) == Draft(text: "other"))
        _ = try await account.store.apply([.setDraftDetails(withBen, "{")])
        #expect(try await drafts.draft(in: withBen) == Draft(text: "other"))
        await account.close()
    }
}

@MainActor private final class Signaller: FlowObserver {
    private let signal: AsyncStream<Void>.Continuation

    init(_ signal: AsyncStream<Void>.Continuation) {
        self.signal = signal
    }

    func flow(_ controller: FlowController, didApply update: FlowUpdate) { signal.yield() }
}
