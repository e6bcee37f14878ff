import Dispatch
import RivuletModel
import Synchronization
import Testing

@testable import RivuletFlow

/// A service and a preparation in the described form whose callbacks the test holds in its hand.
private final class Hand: CompletionMessageService, CompletionMessagePreparation {
    typealias Callback = @Sendable (Result<Message, any Error>) -> Void

    private struct State {
        var held: [(message: Message, callback: Callback)] = []
        var countSoFar = 0
    }

    /// The preparation that is held; the others pass.
    let held: MessageServiceCall?
    private let state = Mutex(State())
    private let gate = Gate()

    init(holding held: MessageServiceCall? = nil) {
        self.held = held
        gate.open()
    }

    /// The last call that came, once so many have come.
    func call(_ count: Int) async -> (message: Message, callback: Callback) {
        await gate.arrived(count)
        return state.withLock { $0.held[$0.held.count - 1] }
    }

    func throwAway() { state.withLock { $0.held = [] } }

    private func hold(_ message: Message, _ callback: @escaping Callback) {
        state.withLock { $0.held.append((message, callback)) }
        Task { [gate] in await gate.pass() }
    }

    private func prepare(_ call: MessageServiceCall, _ message: Message, _ callback: @escaping Callback) {
        if call == held { hold(message, callback) } else { callback(.success(message)) }
    }

    func send(message: Message, in session: Session, completion: @escaping Callback) {
        hold(message, completion)
    }
    func resend(message: Message, completion: @escaping Callback) { hold(message, completion) }
    func forward(message: Message, to session: Session, completion: @escaping Callback) {
        hold(message, completion)
    }
    func revoke(message: Message, completion: @escaping Callback) { hold(message, completion) }
    func save(message: Message, in session: Session, completion: @escaping Callback) {
        hold(message, completion)
    }
    func delete(message: Message, completion: @escaping Callback) { hold(message, completion) }
    func prepareSend(message: Message, in session: Session, callback: @escaping Callback) {
        prepare(.send, message, callback)
    }
    func prepareResend(message: Message, callback: @escaping Callback) { prepare(.resend, message, callback) }
    func prepareForward(message: Message, to session: Session, callback: @escaping Callback) {
        prepare(.forward, message, callback)
    }
    func prepareRevoke(message: Message, callback: @escaping Callback) { prepare(.revoke, message, callback) }
    func prepareSave(message: Message, in session: Session, callback: @escaping Callback) {
        prepare(.save, message, callback)
    }
    func prepareDelete(message: Message, callback: @escaping Callback) { prepare(.delete, message, callback) }
}

/// What a callback does.
private enum Manner: String, CaseIterable, Sendable {
    case once, twice, contradictory, otherThread, afterClosing
    case failure, tooLate, lost, cancelled

    var succeeds: Bool {
        switch self {
        case .once, .twice, .contradictory, .otherThread, .afterClosing: true
        case .failure, .tooLate, .lost, .cancelled: false
        }
    }

    var code: InteractionError.Code? {
        switch self {
        case .failure: .refused
        case .tooLate: .timedOut
        case .lost: .callbackLost
        default: nil
        }
    }
}

/// Six calls, nine manners, at the service and at a preparation: each completion once, and the row as it must be.
@Suite("The contract, case by case", .timeLimit(.minutes(5))) @MainActor
struct ContractMatrixTests {
    /// One case under way.
    @MainActor private struct Case {
        let screen: Screen
        let hand: Hand
        let clock: ManualClock
        let monitor: CallbackMonitor
        let target: Message
    }

    @Test(arguments: MessageServiceCall.allCases, Manner.allCases)
    fileprivate func `at the service`(call: MessageServiceCall, manner: Manner) async throws {
        let (hand, clock, monitor) = (Hand(), ManualClock(), CallbackMonitor())
        var configuration = SessionConfiguration.test
        configuration.service = CompletionServiceAdapter(
            hand, timeout: .seconds(60), clock: clock, monitor: monitor)
        let screen = Screen(engine: try engine().engine, configuration: configuration)
        try await screen.run {
            let earlier = call == .resend ? 1 : 0
            let target = try await target(of: call, screen) {
                await hand.call(1).callback(.failure(InteractionError(.refused)))
            }
            try await check(
                call, manner,
                Case(screen: screen, hand: hand, clock: clock, monitor: monitor, target: target),
                heldCount: earlier + 1)
        }
    }

    @Test(arguments: MessageServiceCall.allCases, Manner.allCases)
    fileprivate func `at a preparation`(call: MessageServiceCall, manner: Manner) async throws {
        let (hand, clock, monitor) = (Hand(holding: call), ManualClock(), CallbackMonitor())
        var configuration = SessionConfiguration.test
        configuration.preparations = [
            CompletionPreparationAdapter(hand, timeout: .seconds(60), clock: clock, monitor: monitor)
        ]
        let memory = try engine()
        let screen = Screen(engine: memory.engine, configuration: configuration)
        try await screen.run {
            if call == .resend {
                memory.setScript { $0.kind == .send ? .failing(with: InteractionError(.refused)) : .normal }
            }
            let target = try await target(of: call, screen) {}
            memory.setScript { _ in .normal }
            try await check(
                call, manner,
                Case(screen: screen, hand: hand, clock: clock, monitor: monitor, target: target),
                heldCount: 1)
        }
    }

    /// A message of ben and one of ada.
    private func engine() throws -> MemoryEngine {
        let memory = MemoryEngine(history: 1)
        memory.add([
            Message(
                id: MessageID(0), session: withBen, sender: ada, isOutgoing: true, uuid: "own",
                position: MessagePosition(0), timeMilliseconds: 61_000, content: .text("own"),
                state: .accepted)
        ])
        return memory
    }

    /// Opens the session and finds or makes the message that the call is about.
    private func target(
        of call: MessageServiceCall, _ screen: Screen, fail: () async -> Void
    ) async throws -> Message {
        screen.manager.open()
        await screen.wait { screen.messages.count == 2 }
        switch call {
        case .send, .save: return screen.manager.makeMessage(.text("new"))
        case .forward, .revoke, .delete: return screen.messages[1]
        case .resend:
            let message = screen.manager.makeMessage(.text("new"))
            let sent = Task { try await screen.manager.send(message: message) }
            await fail()
            await #expect(throws: InteractionError.self) { try await sent.value }
            return try #require(screen.manager.message(uuid: message.uuid ?? ""))
        }
    }

    private func begin(
        _ call: MessageServiceCall, _ manager: DataManager, _ message: Message,
        _ completion: @escaping MessageServiceInterfaceCompletion
    ) -> Task<Void, Never> {
        switch call {
        case .send: manager.send(message: message, completion: completion)
        case .resend: manager.resend(message: message, completion: completion)
        case .forward: manager.forward(message: message, to: withCho, completion: completion)
        case .revoke: manager.revoke(message: message, completion: completion)
        case .save: manager.save(message: message, completion: completion)
        case .delete: manager.delete(message: message, completion: completion)
        }
    }

    private func check(
        _ call: MessageServiceCall, _ manner: Manner, _ situation: Case, heldCount: Int
    ) async throws {
        let answers = Mutex<[Result<Message, any Error>]>([])
        let task = begin(call, situation.screen.manager, situation.target) { result in
            // Ends the test's process when it is another thread.
            MainActor.assumeIsolated {}
            answers.withLock { $0.append(result) }
        }
        if manner == .lost {
            // Nobody may hold the callback, not even this test.
            _ = await situation.hand.call(heldCount).message
            situation.hand.throwAway()
            await task.value
        } else {
            let (message, callback) = await situation.hand.call(heldCount)
            await act(manner, situation, task, message, callback, sleeps: heldCount)
            await task.value
            // Whatever else comes changes nothing.
            callback(.failure(InteractionError(.refused)))
            callback(.success(message))
        }
        let given = answers.withLock { $0 }
        try #require(given.count == 1)
        switch given[0] {
        case .success: #expect(manner.succeeds)
        case .failure(let error):
            #expect(!manner.succeeds, "\(error)")
            #expect((error as? InteractionError)?.code == manner.code)
            #expect((error is CancellationError) == (manner == .cancelled))
        }
        let counts = situation.monitor.counts
        #expect(counts.missing == (manner == .tooLate || manner == .lost ? 1 : 0))
        #expect((counts.lates > 0) == (manner == .tooLate || manner == .cancelled))
        #expect((counts.doubles > 0) == (manner.succeeds || manner == .failure))
        expectRow(call, manner, situation)
    }

    private func act(
        _ manner: Manner, _ situation: Case, _ task: Task<Void, Never>, _ message: Message,
        _ callback: @escaping Hand.Callback, sleeps: Int
    ) async {
        switch manner {
        case .once: callback(.success(message))
        case .twice:
            callback(.success(message))
            callback(.success(message))
        case .contradictory:
            callback(.success(message))
            callback(.failure(InteractionError(.refused)))
        case .otherThread: DispatchQueue.global().async { callback(.success(message)) }
        case .afterClosing:
            situation.screen.manager.close()
            callback(.success(message))
        case .failure: callback(.failure(InteractionError(.refused)))
        case .tooLate:
            await situation.clock.slept(sleeps)
            situation.clock.advance(by: .seconds(60))
        case .lost: break
        case .cancelled: task.cancel()
        }
    }

    private func expectRow(_ call: MessageServiceCall, _ manner: Manner, _ situation: Case) {
        let (manager, target) = (situation.screen.manager, situation.target)
        let row = manager.message(uuid: target.uuid ?? "")
        switch call {
        case .send, .resend:
            #expect(row?.content == .text("new"))
            #expect(row?.state.isFailed == !manner.succeeds)
            if manner.succeeds { #expect(row?.state == .accepted) }
        case .save: #expect((row != nil) == manner.succeeds)
        case .revoke: #expect(row?.content == (manner.succeeds ? .revoked : .text("own")))
        case .delete: #expect((row == nil) == manner.succeeds)
        case .forward: #expect(row == target)
        }
        #expect(situation.screen.failures.contains(call) == !manner.succeeds)
    }
}
