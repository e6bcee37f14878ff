import RivuletClient
import RivuletClientCore
import RivuletModel
import RivuletServer
import RivuletServerCore
import RivuletStore
import RivuletTransport
import Testing

@testable import RivuletEngine
@testable import RivuletFlow

/// What a session shows, and a way to wait for it.
@MainActor
private final class Watcher: FlowObserver {
    let manager: DataManager
    private let changes: AsyncStream<Void>
    private let signal: AsyncStream<Void>.Continuation

    init(_ session: Session, _ engine: Engine, _ configuration: SessionConfiguration = SessionConfiguration())
    {
        (changes, signal) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
        manager = DataManager(
            session: session, engine: engine, configuration: configuration, now: ChatAccount.systemTime,
            makeUUID: ChatAccount.systemUUID)
        manager.controller.addObserver(self)
        manager.controller.submit(.resized(LayoutSize(width: 400, height: 300)))
        manager.open()
    }

    var messages: [Message] { manager.controller.snapshot.messages }
    var texts: [String] { messages.map(\.content.summary) }

    func flow(_ controller: FlowController, didApply update: FlowUpdate) { signal.yield() }

    func wait(until isDone: () -> Bool) async {
        manager.controller.drain()
        if isDone() { return }
        for await _ in changes where isDone() { break }
    }

    func run(_ body: () async throws -> Void) async throws {
        let running = Task { [manager] in await manager.run() }
        defer { running.cancel() }
        try await body()
    }
}

@Suite("The account's engine, over real sockets", .timeLimit(.minutes(3))) @MainActor
struct AccountEngineTests {
    @Test func `a refused message keeps its reason, and goes out under the same name later`() async throws {
        let world = try await TwoUsers()
        let ada = try world.account(1)
        ada.start()
        let group = Session.group(5)
        let watcher = Watcher(group, ada.engine)
        try await watcher.run {
            await #expect(throws: (any Error).self) { try await watcher.manager.send(.text("hello")) }
            await watcher.wait { watcher.messages.last?.state.isFailed == true }
            let failed = watcher.messages[watcher.messages.count - 1]
            guard case .failed(let reason) = failed.state else { return }
            #expect(!reason.isEmpty)
            try await world.server.apply([
                .createGroup(
                    GroupID(5), app: Account.defaultApp, name: "Hikers", isSuper: false, owner: UserID(1),
                    members: [])
            ])
            let sent = try await watcher.manager.resend(message: failed)
            #expect(sent.uuid == failed.uuid && sent.id == failed.id && sent.state == .accepted)
            await watcher.wait { watcher.messages.contains { $0.id == failed.id && $0.state == .accepted } }
            #expect(watcher.texts.count { $0 == "hello" } == 1)
        }
        // The store has it once, too.
        let stored = try await ada.history(group)
        #expect(stored.messages.count { $0.content == .text("hello") } == 1)
        await ada.close()
        await world.server.stop()
    }

    @Test func `long conversations are paged both ways, and what is local stays`() async throws {
        let world = try await TwoUsers()
        let ada = try world.account(1)
        ada.start()
        let bob = Session.peer(UserID(2))
        // As history, in one transaction: what is sent one by one takes as long as the disk does.
        let history = try (1...130).map { number in
            let envelope = ContentEnvelope(uuid: "old-\(number)")
            return IncomingMessage(
                session: bob, sender: UserID(2), isOutgoing: false,
                raw: try ada.codec.encode(.text("\(number)"), envelope: envelope),
                content: DecodedContent(envelope: envelope, body: .message(.text("\(number)"))),
                timeMilliseconds: Int64(number) * 1_000)
        }
        _ = try await ada.store.apply([.insertHistory(history)])
        var configuration = SessionConfiguration()
        configuration.pageSize = 20
        let watcher = Watcher(bob, ada.engine, configuration)
        try await watcher.run {
            await watcher.wait { watcher.texts.last == "130" }
            let early = try await ada.store.page(PageQuery(session: bob, place: .oldest, limit: 10)).messages
            watcher.manager.jump(to: early[9].id)
            await watcher.wait { watcher.texts.contains("10") }
            watcher.manager.controller.submit(.loadRequested(.newer))
            await watcher.wait { watcher.texts.contains("30") }
            try await watcher.manager.delete(message: watcher.messages[0])
            try await watcher.manager.save(message: watcher.manager.makeMessage(.text("a note")))
            watcher.manager.setDraftText("to be continued")
            await watcher.manager.draftTask?.value
        }
        let again = Watcher(bob, ada.engine, configuration)
        try await again.run {
            await again.wait { again.texts.last == "a note" && again.manager.draft.text == "to be continued" }
        }
        let stored = try await ada.history(bob, limit: 1_000)
        #expect(stored.messages.count == 130)
        await ada.close()
        await world.server.stop()
    }

    @Test func `what is read here is read on the other device, and the author learns of it`() async throws {
        let world = try await TwoUsers()
        let (ada, bob) = (try world.account(1), try world.account(2))
        let second = try world.account(2, device: "second")
        for account in [ada, bob, second] { account.start() }
        var configuration = SessionConfiguration()
        configuration.receipts = .eachMessage
        let adas = Watcher(.peer(UserID(2)), ada.engine)
        let bobs = Watcher(.peer(UserID(1)), bob.engine, configuration)
        try await adas.run {
            try await bobs.run {
                try await adas.manager.send(.text("one"))
                try await adas.manager.send(.text("two"))
                await bobs.wait { bobs.texts == ["one", "two"] }
                await bobs.manager.noteSeen(bobs.messages.map(\.id))
                await adas.wait { adas.messages.allSatisfy { $0.state == .read(count: 1) } }
            }
        }
        let changes = second.changes()
        var unread = try await second.store.unreadTotal()
        var count = try await second.history(.peer(UserID(1))).messages.count
        if unread > 0 || count < 2 {
            for await _ in changes {
                unread = try await second.store.unreadTotal()
                count = try await second.history(.peer(UserID(1))).messages.count
                if unread == 0, count == 2 { break }
            }
        }
        #expect(unread == 0)
        for account in [ada, bob, second] { await account.close() }
        await world.server.stop()
    }

    @Test func `a room is entered while it is listened to, and left afterwards`() async throws {
        let world = try await TwoUsers()
        let (ada, bob) = (try world.account(1), try world.account(2))
        for account in [ada, bob] {
            let states = account.service.connectionStates()
            account.start()
            for await state in states where state == .authenticated { break }
        }
        let room = Session.room(9)
        let adas = Watcher(room, RoomEngine(account: ada).engine)
        let bobs = Watcher(room, RoomEngine(account: bob).engine)
        try await adas.run {
            await adas.wait { adas.manager.controller.state.opening == .shown }
            try await adas.manager.send(.text("nobody hears this"))
            try await bobs.run {
                await bobs.wait { bobs.manager.controller.state.opening == .shown }
                // Entering is not answered; the own message comes back only after it.
                try await bobs.manager.send(.text("I am here"))
                await adas.wait { adas.texts == ["nobody hears this", "I am here"] }
                let regret = try await adas.manager.send(.text("oops"))
                await bobs.wait { bobs.texts == ["I am here", "oops"] }
                try await adas.manager.revoke(message: regret)
                await bobs.wait { bobs.messages.last?.content == .revoked }
            }
        }
        // Without a room, a message to it cannot be sent to anything else either.
        await #expect(throws: (any Error).self) {
            try await RoomEngine(account: ada).send(
                message: adas.manager.makeMessage(.text("x")), in: .peer(UserID(2)))
        }
        for account in [ada, bob] { await account.close() }
        await world.server.stop()
    }

    @Test func `a transaction of the store becomes the events of each session`() {
        let (here, there) = (Session.peer(UserID(2)), Session.peer(UserID(3)))
        let make = { (id: Int64, session: Session, state: Message.State) in
            Message(
                id: MessageID(id), session: session, sender: UserID(1),
                isOutgoing: state != .received, position: MessagePosition(id), timeMilliseconds: 0,
                content: .text("x"), state: state)
        }
        var change = StoreChanges(number: 1)
        change.inserted = [make(1, here, .sending), make(2, here, .received), make(3, there, .received)]
        change.updated = [make(4, there, .accepted)]
        change.deleted = [MessageID(9)]
        change.cleared = [there]
        let names = { (session: Session) in
            AccountEngine.events(of: change, in: session).map { event in
                switch event {
                case .sent(let messages): "sent \(messages.map(\.id.rawValue))"
                case .arrived(let messages): "arrived \(messages.map(\.id.rawValue))"
                case .updated(let messages): "updated \(messages.map(\.id.rawValue))"
                case .deleted(let ids): "deleted \(ids.map(\.rawValue))"
                case .cleared: "cleared"
                default: "?"
                }
            }
        }
        #expect(names(here) == ["sent [1]", "arrived [2]", "deleted [9]"])
        #expect(names(there) == ["cleared", "arrived [3]", "updated [4]", "deleted [9]"])
    }
}
