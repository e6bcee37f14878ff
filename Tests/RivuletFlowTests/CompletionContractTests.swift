import Dispatch
import RivuletModel
import Synchronization
import Testing

@testable import RivuletFlow

/// A service in the described form whose callbacks the test holds in its hand.
private final class HandService: CompletionMessageService, CompletionMessageProvider,
    CompletionMessagePreparation
{
    private let calls = Mutex<[MessageServiceInterfaceCompletion]>([])
    private let pages = Mutex<[@Sendable ([Message]) -> Void]>([])
    let started = Gate()

    func callback(_ number: Int = 0) -> MessageServiceInterfaceCompletion {
        calls.withLock { $0[number] }
    }
    func page(_ number: Int = 0) -> @Sendable ([Message]) -> Void { pages.withLock { $0[number] } }
    func forgetAll() { calls.withLock { $0 = [] } }

    private func note(_ completion: @escaping MessageServiceInterfaceCompletion) {
        calls.withLock { $0.append(completion) }
        Task { await started.pass() }
    }

    func send(
        message: Message, in session: Session, completion: @escaping MessageServiceInterfaceCompletion
    ) {
        note(completion)
    }
    func resend(message: Message, completion: @escaping MessageServiceInterfaceCompletion) {
        note(completion)
    }
    func forward(
        message: Message, to session: Session, completion: @escaping MessageServiceInterfaceCompletion
    ) { note(completion) }
    func revoke(message: Message, completion: @escaping MessageServiceInterfaceCompletion) {
        note(completion)
    }
    func save(
        message: Message, in session: Session, completion: @escaping MessageServiceInterfaceCompletion
    ) {
        note(completion)
    }
    func delete(message: Message, completion: @escaping MessageServiceInterfaceCompletion) {
        note(completion)
    }
    func messages(
        in session: Session, anchorMessage: Message?, limit: Int,
        completion: @escaping @Sendable ([Message]) -> Void
    ) {
        pages.withLock { $0.append(completion) }
        Task { await started.pass() }
    }
    func prepareSend(
        message: Message, in session: Session, callback: @escaping MessageServicePreparationCallback
    ) { note(callback) }
}

@Suite(.timeLimit(.minutes(5))) struct `Completions` {
    let message = Message.sample(1)

    /// The six calls of a service, by name.
    static func perform(
        _ call: MessageServiceCall, _ service: some MessageServiceInterface, _ message: Message
    ) async throws {
        switch call {
        case .send: _ = try await service.send(message: message, in: withBen)
        case .resend: _ = try await service.resend(message: message)
        case .forward: _ = try await service.forward(message: message, to: withBen)
        case .revoke: try await service.revoke(message: message)
        case .save: try await service.save(message: message, in: withBen)
        case .delete: try await service.delete(message: message)
        }
    }

    @Test(arguments: MessageServiceCall.allCases)
    func `one that comes twice counts once`(call: MessageServiceCall) async throws {
        let (hand, monitor) = (HandService(), CallbackMonitor())
        let service = CompletionServiceAdapter(hand, timeout: nil, monitor: monitor)
        async let answer: Void = Self.perform(call, service, message)
        await hand.started.arrived()
        let callback = hand.callback()
        callback(.success(message))
        callback(.failure(InteractionError(.refused)))
        callback(.success(message))
        try await answer
        #expect(monitor.counts.doubles == 2)
        #expect(monitor.counts.lates == 0)
    }

    @Test(arguments: MessageServiceCall.allCases)
    func `one that never comes ends the call when its time is over, and is late afterwards`(
        call: MessageServiceCall
    ) async throws {
        let (hand, monitor, clock) = (HandService(), CallbackMonitor(), ManualClock())
        let service = CompletionServiceAdapter(
            hand, timeout: .seconds(60), clock: clock, monitor: monitor)
        let answer = Task { [message] in try await Self.perform(call, service, message) }
        await hand.started.arrived()
        await clock.slept()
        clock.advance(by: .seconds(59))
        #expect(monitor.counts.missing == 0)
        clock.advance(by: .seconds(1))
        let error = await #expect(throws: InteractionError.self) { try await answer.value }
        #expect(error?.code == .timedOut)
        hand.callback()(.success(message))
        #expect(monitor.counts.missing == 1)
        #expect(monitor.counts.lates == 1)
    }

    @Test(arguments: MessageServiceCall.allCases)
    func `one that is thrown away ends the call at once`(call: MessageServiceCall) async throws {
        let (hand, monitor) = (HandService(), CallbackMonitor())
        let service = CompletionServiceAdapter(hand, timeout: nil, monitor: monitor)
        let answer = Task { [message] in try await Self.perform(call, service, message) }
        await hand.started.arrived()
        hand.forgetAll()
        let error = await #expect(throws: InteractionError.self) { try await answer.value }
        #expect(error?.code == .callbackLost)
        #expect(monitor.counts.missing == 1)
    }

    @Test(arguments: MessageServiceCall.allCases)
    func `nobody waits for one after cancellation`(call: MessageServiceCall) async throws {
        let (hand, monitor) = (HandService(), CallbackMonitor())
        let service = CompletionServiceAdapter(hand, timeout: nil, monitor: monitor)
        let answer = Task { [message] in try await Self.perform(call, service, message) }
        await hand.started.arrived()
        answer.cancel()
        await #expect(throws: CancellationError.self) { try await answer.value }
        hand.callback()(.success(message))
        #expect(
            monitor.counts
                == {
                    var counts = CallbackMonitor.Counts()
                    counts.lates = 1
                    return counts
                }())
    }

    @Test func `a call that is cancelled before it begins asks nothing`() async throws {
        let hand = HandService()
        let answer = Task { [message] in
            withUnsafeCurrentTask { $0?.cancel() }
            try await Self.perform(.send, CompletionServiceAdapter(hand), message)
        }
        await #expect(throws: CancellationError.self) { try await answer.value }
    }

    @Test(arguments: 1...8)
    func `many threads that call at once are answered once`(round: Int) async throws {
        let (hand, monitor) = (HandService(), CallbackMonitor())
        let service = CompletionServiceAdapter(hand, timeout: nil, monitor: monitor)
        let answer = Task { [message] in try await service.send(message: message, in: withBen) }
        await hand.started.arrived()
        let callback = hand.callback()
        let samples = (0..<16).map { Message.sample(Int64($0)) }
        DispatchQueue.concurrentPerform(iterations: 16) { callback(.success(samples[$0])) }
        #expect(samples.contains(try await answer.value))
        #expect(monitor.counts.doubles == 15)
    }

    @Test func `one may come before the call has returned`() async throws {
        struct Eager: CompletionMessageProvider {
            func messages(
                in session: Session, anchorMessage: Message?, limit: Int,
                completion: @escaping @Sendable ([Message]) -> Void
            ) {
                completion([.sample(1)])
                completion([])
            }
        }
        let monitor = CallbackMonitor()
        let provider = CompletionProviderAdapter(Eager(), monitor: monitor)
        let page = try await provider.messages(
            in: withBen, anchorMessage: nil, direction: .older, limit: 10)
        #expect(page == MessagePage(messages: [.sample(1)], hasOlder: true, hasNewer: false))
        #expect(monitor.counts.doubles == 1)
    }

    @Test func `a provider's page follows the same rules`() async throws {
        let (hand, monitor, clock) = (HandService(), CallbackMonitor(), ManualClock())
        let provider = CompletionProviderAdapter(
            hand, timeout: .seconds(30), clock: clock, monitor: monitor)
        let answer = Task {
            try await provider.messages(in: withBen, anchorMessage: nil, direction: .older, limit: 10)
        }
        await hand.started.arrived()
        await clock.slept()
        clock.advance(by: .seconds(30))
        await #expect(throws: InteractionError.self) { try await answer.value }
        hand.page()([.sample(1)])
        #expect(monitor.counts.lates == 1)
        let newer = try await provider.messages(
            in: withBen, anchorMessage: .sample(1), direction: .newer, limit: 10)
        #expect(newer.messages.isEmpty && !newer.hasNewer)
    }

    @Test func `a preparation's callback follows the same rules`() async throws {
        let (hand, monitor) = (HandService(), CallbackMonitor())
        let preparation = CompletionPreparationAdapter(hand, timeout: nil, monitor: monitor)
        async let answer = preparation.prepareSend(message: message, in: withBen)
        await hand.started.arrived()
        hand.callback()(.success(.sample(2)))
        hand.callback()(.success(.sample(3)))
        #expect(try await answer == .sample(2))
        #expect(monitor.counts.doubles == 1)
        // Those that are not overridden change nothing.
        #expect(try await preparation.prepareDelete(message: message) == message)
        #expect(try await preparation.prepareResend(message: message) == message)
        #expect(try await preparation.prepareRevoke(message: message) == message)
        #expect(try await preparation.prepareSave(message: message, in: withBen) == message)
        #expect(try await preparation.prepareForward(message: message, to: withBen) == message)
    }
}

@Suite(.timeLimit(.minutes(5))) @MainActor struct `Completions of a session` {
    @Test func `every call completes once, with success and with failure`() async throws {
        let memory = MemoryEngine(history: 3)
        let screen = Screen(engine: memory.engine)
        try await screen.run {
            screen.manager.open()
            await screen.wait { screen.messages.count == 3 }
            for fails in [false, true] {
                memory.setScript { _ in fails ? .failing(with: InteractionError(.refused)) : .normal }
                let counts = Mutex<[MessageServiceCall: Int]>([:])
                let count = { @Sendable (call: MessageServiceCall) in
                    { @Sendable (_: Result<Message, any Error>) in
                        counts.withLock { $0[call, default: 0] += 1 }
                    }
                }
                let manager = screen.manager
                let tasks = [
                    manager.send(message: manager.makeMessage(.text("a")), completion: count(.send)),
                    manager.resend(message: .sample(99), completion: count(.resend)),
                    manager.forward(message: screen.messages[0], to: withCho, completion: count(.forward)),
                    manager.revoke(message: screen.messages[0], completion: count(.revoke)),
                    manager.save(message: .sample(50), completion: count(.save)),
                    manager.delete(message: screen.messages[1], completion: count(.delete)),
                ]
                for task in tasks { await task.value }
                #expect(
                    counts.withLock { $0 }
                        == Dictionary(uniqueKeysWithValues: MessageServiceCall.allCases.map { ($0, 1) }))
            }
        }
    }

    @Test func `after closing, running calls complete with their outcome and new ones are refused`()
        async throws
    {
        let gate = Gate()
        struct Slow: MessageServicePreparation {
            let gate: Gate
            func prepareSend(message: Message, in session: Session) async throws -> Message {
                await gate.pass()
                return message
            }
        }
        let memory = MemoryEngine(history: 1)
        var configuration = SessionConfiguration.test
        configuration.preparations = [Slow(gate: gate)]
        let screen = Screen(engine: memory.engine, configuration: configuration)
        try await screen.run {
            screen.manager.open()
            await screen.wait { screen.messages.count == 1 }
            let sending = Task { try await screen.manager.send(.text("late")) }
            await gate.arrived()
            screen.manager.close()
            await #expect(throws: InteractionError.self) { try await screen.manager.send(.text("no")) }
            gate.open()
            let sent = try await sending.value
            #expect(sent.state == .accepted)
            #expect(memory.messages(in: withBen).map(\.content.summary) == ["1", "late"])
            // Opened again, the row is there once.
            screen.manager.open()
            await screen.wait { screen.texts == ["1", "late"] }
        }
    }

    @Test func `cancelling a send keeps the message as failed`() async throws {
        let memory = MemoryEngine(history: 1, clock: ManualClock())
        memory.setScript { $0.kind == .send ? .delayed(by: .seconds(5)) : .normal }
        let screen = Screen(engine: memory.engine)
        try await screen.run {
            screen.manager.open()
            await screen.wait { screen.messages.count == 1 }
            let sending = Task { try await screen.manager.send(.text("stop")) }
            await screen.wait { screen.messages.last?.state == .sending }
            sending.cancel()
            await #expect(throws: CancellationError.self) { try await sending.value }
            await screen.wait { screen.messages.last?.state == .failed(reason: "It was cancelled.") }
            // By the row's id, too.
            let again = Task { try await screen.manager.send(.text("stop too")) }
            await screen.wait { screen.messages.count == 3 }
            #expect(screen.manager.cancelSending(screen.messages[2].id))
            await #expect(throws: CancellationError.self) { try await again.value }
            #expect(!screen.manager.cancelSending(screen.messages[2].id))
        }
    }
}
