import RivuletModel
import Synchronization
import Testing

@testable import RivuletFlow

/// A service that keeps what it was given, and waits before it sends if the test says so.
private final class RecordingService: MessageServiceInterface {
    let gate: Gate?
    private let calls = Mutex<[(call: MessageServiceCall, message: Message)]>([])
    /// What it answers a send with, made of what it was given.
    private let answer: @Sendable (Message) -> Message

    init(gate: Gate? = nil, answer: @escaping @Sendable (Message) -> Message = { $0 }) {
        self.gate = gate
        self.answer = answer
    }

    var all: [(call: MessageServiceCall, message: Message)] { calls.withLock { $0 } }

    private func note(_ call: MessageServiceCall, _ message: Message) {
        calls.withLock { $0.append((call, message)) }
    }

    func send(message: Message, in session: Session) async throws -> Message {
        note(.send, message)
        await gate?.pass()
        return answer(message)
    }
    func resend(message: Message) async throws -> Message {
        note(.resend, message)
        await gate?.pass()
        return answer(message)
    }
    func forward(message: Message, to session: Session) async throws -> Message {
        note(.forward, message)
        return message
    }
    func revoke(message: Message) async throws { note(.revoke, message) }
    func save(message: Message, in session: Session) async throws { note(.save, message) }
    func delete(message: Message) async throws { note(.delete, message) }
}

/// Claims to be another message in every way, and keeps where each was to go.
private final class Impostor: MessageServicePreparation {
    private let targets = Mutex<[Session]>([])
    var sessions: [Session] { targets.withLock { $0 } }

    private func changed(_ message: Message, _ session: Session?) -> Message {
        if let session { targets.withLock { $0.append(session) } }
        var message = message
        message.id = MessageID(424_242)
        message.uuid = "stolen"
        message.sender = ben
        message.session = .peer(UserID(77))
        return message
    }
    func prepareSend(message: Message, in session: Session) async throws -> Message {
        changed(message, session)
    }
    func prepareResend(message: Message) async throws -> Message { changed(message, nil) }
    func prepareForward(message: Message, to session: Session) async throws -> Message {
        changed(message, session)
    }
    func prepareRevoke(message: Message) async throws -> Message { changed(message, nil) }
    func prepareSave(message: Message, in session: Session) async throws -> Message {
        changed(message, session)
    }
    func prepareDelete(message: Message) async throws -> Message { changed(message, nil) }
}

/// Keeps the greatest page that was asked for.
private final class LimitProvider: SessionMessageProvider {
    private let base: MemoryEngine
    private let asked = Mutex<Set<Int>>([])
    init(_ base: MemoryEngine) { self.base = base }
    var limits: Set<Int> { asked.withLock { $0 } }

    func messages(
        in session: Session, anchorMessage: Message?, direction: PageDirection, limit: Int
    ) async throws -> MessagePage {
        asked.withLock { _ = $0.insert(limit) }
        return try await base.messages(
            in: session, anchorMessage: anchorMessage, direction: direction, limit: limit)
    }
}

/// Each of these was written because a fault that was put in on purpose had passed all other tests.
@Suite("The contract, where it could break unseen", .timeLimit(.minutes(5))) @MainActor
struct ContractGapTests {
    private let memory = MemoryEngine(history: 2)

    private func opened(
        _ configuration: SessionConfiguration, _ body: (Screen) async throws -> Void
    ) async throws {
        let screen = Screen(engine: memory.engine, configuration: configuration)
        try await screen.run {
            screen.manager.open()
            await screen.wait { screen.messages.count == 2 }
            try await body(screen)
        }
    }

    @Test func `the service gets the message that the call was made with, whatever a preparation claims`()
        async throws
    {
        let (service, impostor) = (RecordingService(), Impostor())
        var configuration = SessionConfiguration.test
        configuration.service = service
        try await opened(configuration) { screen in
            let manager = screen.manager
            let first = screen.messages[0]
            let own = try await manager.send(.text("own"))
            manager.configuration.preparations = [impostor]
            let new = manager.makeMessage(.text("new"))
            try await manager.send(message: new)
            try await manager.forward(message: first, to: withCho)
            try await manager.revoke(message: own)
            let note = manager.makeMessage(.text("note"))
            try await manager.save(message: note)
            try await manager.delete(message: first)
            let expected: [(MessageServiceCall, Message)] = [
                (.send, new), (.forward, first), (.revoke, own), (.save, note), (.delete, first),
            ]
            let given = Array(service.all.dropFirst())
            #expect(given.map(\.call) == expected.map(\.0))
            for (given, (call, message)) in zip(given, expected) {
                #expect(given.message.uuid == message.uuid, "\(call)")
                #expect(given.message.sender == message.sender, "\(call)")
                #expect(given.message.session == message.session, "\(call)")
                #expect(given.message.id != MessageID(424_242), "\(call)")
            }
            // A preparation hears where a message goes to, not where it comes from.
            #expect(impostor.sessions == [withBen, withCho, withBen])
        }
    }

    @Test func `the row keeps its name, whatever name the service answers with`() async throws {
        var configuration = SessionConfiguration.test
        configuration.service = RecordingService { message in
            var message = message
            message.uuid = "another"
            message.sender = ben
            message.isOutgoing = false
            message.session = withCho
            return message
        }
        try await opened(configuration) { screen in
            let message = screen.manager.makeMessage(.text("x"))
            let sent = try await screen.manager.send(message: message)
            #expect(sent.uuid == message.uuid && sent.sender == ada && sent.isOutgoing)
            #expect(screen.manager.message(uuid: "another") == nil)
            await screen.wait { screen.messages.count == 3 }
        }
    }

    @Test func `a call that is cancelled before it begins does not reach the service`() async throws {
        final class Counting: CompletionMessageProvider {
            let count = Mutex(0)
            func messages(
                in session: Session, anchorMessage: Message?, limit: Int,
                completion: @escaping @Sendable ([Message]) -> Void
            ) {
                count.withLock { $0 += 1 }
                completion([])
            }
        }
        let counting = Counting()
        let asking = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            return try await CompletionProviderAdapter(counting).messages(
                in: withBen, anchorMessage: nil, direction: .older, limit: 1)
        }
        await #expect(throws: CancellationError.self) { try await asking.value }
        #expect(counting.count.withLock { $0 } == 0)
    }

    @Test func `a send that is cancelled while a deaf preparation works never reaches the service`()
        async throws
    {
        struct Deaf: MessageServicePreparation {
            let gate: Gate
            func prepareSend(message: Message, in session: Session) async throws -> Message {
                await gate.pass()
                return message
            }
        }
        let (gate, service) = (Gate(), RecordingService())
        var configuration = SessionConfiguration.test
        configuration.service = service
        configuration.preparations = [Deaf(gate: gate)]
        try await opened(configuration) { screen in
            let sending = Task { try await screen.manager.send(.text("x")) }
            await gate.arrived()
            sending.cancel()
            gate.open()
            await #expect(throws: CancellationError.self) { try await sending.value }
            #expect(service.all.isEmpty)
            await screen.wait { screen.messages.last?.state == .failed(reason: "It was cancelled.") }
            // The host takes a row away while it is prepared: it is not sent either.
            let other = Gate()
            screen.manager.configuration.preparations = [Deaf(gate: other)]
            let second = Task { try await screen.manager.send(.text("y")) }
            await other.arrived()
            await screen.wait { screen.texts.last == "y" }
            screen.manager.remove([screen.messages[screen.messages.count - 1].id])
            other.open()
            await #expect(throws: CancellationError.self) { try await second.value }
            #expect(service.all.isEmpty)
        }
    }

    @Test func `a message on its way is neither sent again nor sent twice`() async throws {
        let gate = Gate()
        let service = RecordingService(gate: gate)
        var configuration = SessionConfiguration.test
        configuration.service = service
        try await opened(configuration) { screen in
            let message = screen.manager.makeMessage(.text("x"))
            let sending = Task { try await screen.manager.send(message: message) }
            await gate.arrived()
            for call in [screen.manager.send(message:), screen.manager.resend(message:)] {
                let row = try #require(screen.manager.message(uuid: message.uuid ?? ""))
                let error = await #expect(throws: InteractionError.self) { try await call(row) }
                #expect(error?.code == .busy)
            }
            gate.open()
            _ = try await sending.value
            #expect(service.all.count == 1)
            await screen.wait { screen.messages.count == 3 }
        }
    }

    @Test func `deleting a message that waits in the service ends its call`() async throws {
        let clock = ManualClock()
        let slow = MemoryEngine(history: 2, clock: clock)
        slow.setScript { $0.kind == .send ? .delayed(by: .seconds(5)) : .normal }
        let screen = Screen(engine: slow.engine)
        try await screen.run {
            screen.manager.open()
            await screen.wait { screen.messages.count == 2 }
            let sending = Task { try await screen.manager.send(.text("x")) }
            await clock.slept()
            await screen.wait { screen.messages.count == 3 }
            try await screen.manager.delete(message: screen.messages[2])
            await #expect(throws: CancellationError.self) { try await sending.value }
            await screen.wait { screen.messages.count == 2 }
            #expect(slow.messages(in: withBen).count == 2)
            #expect(screen.failures.isEmpty)
        }
    }

    @Test func `each session asks for pages of its own size`() async throws {
        let other = MemoryEngine(history: 200, in: withCho)
        let mine = MemoryEngine(history: 200)
        let providers = (LimitProvider(mine), LimitProvider(other))
        var configuration = SessionConfiguration.test
        configuration.pageSize = 11
        configuration.provider = providers.0
        let left = Screen(withBen, engine: mine.engine, configuration: configuration)
        configuration.pageSize = 23
        configuration.provider = providers.1
        let right = Screen(withCho, engine: other.engine, configuration: configuration)
        try await left.run {
            try await right.run {
                left.manager.open()
                right.manager.open()
                await left.wait { left.texts.last == "200" }
                await right.wait { right.texts.last == "200" }
                #expect(providers.0.limits == [11] && providers.1.limits == [23])
            }
        }
    }

    @Test func `a page of an opening that another one replaced is dropped`() async throws {
        struct Slow: SessionMessageProvider {
            let base: MemoryEngine
            let gate: Gate
            func messages(
                in session: Session, anchorMessage: Message?, direction: PageDirection, limit: Int
            ) async throws -> MessagePage {
                await gate.pass()
                return try await base.messages(
                    in: session, anchorMessage: anchorMessage, direction: direction, limit: limit)
            }
        }
        let gate = Gate()
        var configuration = SessionConfiguration.test
        configuration.provider = Slow(base: memory, gate: gate)
        let screen = Screen(engine: memory.engine, configuration: configuration)
        try await screen.run {
            screen.manager.open()
            await gate.arrived()
            // Opened anew without being closed.
            screen.manager.configuration.provider = nil
            screen.manager.open()
            await screen.wait { screen.messages.count == 2 }
            gate.open()
            while screen.manager.counters.staleAnswers == 0 { await Task.yield() }
            #expect(screen.manager.counters.staleAnswers == 1)
            #expect(screen.texts == ["1", "2"])
        }
    }

    @Test func `an engine's hub tells a session nothing of the others`() async throws {
        let hub = SessionEventHub()
        let (bens, chos) = (hub.events(in: withBen), hub.events(in: withCho))
        hub.publish(.deleted([MessageID(1)]), in: withCho)
        hub.publish(.cleared, in: withBen)
        hub.finish()
        var heard: [String] = []
        for await event in bens { heard.append("ben \(event)") }
        for await event in chos { heard.append("cho \(event)") }
        #expect(heard.count == 2 && heard[0] == "ben cleared" && heard[1].hasPrefix("cho deleted"))
    }
}
