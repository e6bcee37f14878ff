import RivuletModel
import Synchronization
import Testing

@testable import RivuletFlow

let ada = UserID(7)
let ben = UserID(8)
let withBen = Session.peer(ben)
let withCho = Session.peer(UserID(9))

/// Lets callers wait until a test opens it; can be waited at and opened from anywhere.
final class Gate: Sendable {
    private struct State {
        var isOpen = false
        var waiting: [CheckedContinuation<Void, Never>] = []
        var arrivals = 0
        var watchers: [(count: Int, continuation: CheckedContinuation<Void, Never>)] = []
    }

    private let state = Mutex(State())

    /// Waits for the gate; cancellation does not let anybody through, as a provider that ignores it.
    func pass() async {
        await withCheckedContinuation { continuation in
            let (isOpen, reached) = state.withLock { state in
                state.arrivals += 1
                if !state.isOpen { state.waiting.append(continuation) }
                let reached = state.watchers.filter { $0.count <= state.arrivals }.map(\.continuation)
                state.watchers.removeAll { $0.count <= state.arrivals }
                return (state.isOpen, reached)
            }
            for watcher in reached { watcher.resume() }
            if isOpen { continuation.resume() }
        }
    }

    func open() {
        let waiting = state.withLock { state in
            state.isOpen = true
            defer { state.waiting = [] }
            return state.waiting
        }
        for continuation in waiting { continuation.resume() }
    }

    /// Returns when so many callers have come.
    func arrived(_ count: Int = 1) async {
        await withCheckedContinuation { continuation in
            let isReached = state.withLock { state in
                if state.arrivals >= count { return true }
                state.watchers.append((count, continuation))
                return false
            }
            if isReached { continuation.resume() }
        }
    }
}

/// A clock that a test moves; nobody can sleep past the test's knowledge.
final class ManualClock: Clock {
    struct Instant: InstantProtocol {
        var offset: Duration

        func advanced(by duration: Duration) -> Instant { Instant(offset: offset + duration) }
        func duration(to other: Instant) -> Duration { other.offset - offset }
        static func < (left: Instant, right: Instant) -> Bool { left.offset < right.offset }
    }

    private struct State {
        var now = Instant(offset: .zero)
        var sleepers: [Int: (deadline: Instant, continuation: CheckedContinuation<Void, any Error>)] =
            [:]
        var cancelled: Set<Int> = []
        var lastID = 0
        var registrations = 0
        var watchers: [(count: Int, continuation: CheckedContinuation<Void, Never>)] = []
    }

    private let state = Mutex(State())

    var now: Instant { state.withLock { $0.now } }
    var minimumResolution: Duration { .nanoseconds(1) }

    func sleep(until deadline: Instant, tolerance: Duration?) async throws {
        let id = state.withLock { state in
            state.lastID += 1
            return state.lastID
        }
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                let (result, watchers) = state.withLock {
                    state -> (Result<Void, any Error>?, [CheckedContinuation<Void, Never>]) in
                    state.registrations += 1
                    let reached = state.watchers.filter { $0.count <= state.registrations }
                    state.watchers.removeAll { $0.count <= state.registrations }
                    let watchers = reached.map(\.continuation)
                    if state.cancelled.remove(id) != nil { return (.failure(CancellationError()), watchers) }
                    if deadline <= state.now { return (.success(()), watchers) }
                    state.sleepers[id] = (deadline, continuation)
                    return (nil, watchers)
                }
                for watcher in watchers { watcher.resume() }
                if let result { continuation.resume(with: result) }
            }
        } onCancel: {
            let sleeper = state.withLock { state in
                let sleeper = state.sleepers.removeValue(forKey: id)
                if sleeper == nil { state.cancelled.insert(id) }
                return sleeper
            }
            sleeper?.continuation.resume(throwing: CancellationError())
        }
    }

    /// Returns when so many sleeps have begun since the clock was made.
    func slept(_ count: Int = 1) async {
        await withCheckedContinuation { continuation in
            let isReached = state.withLock { state in
                if state.registrations >= count { return true }
                state.watchers.append((count, continuation))
                return false
            }
            if isReached { continuation.resume() }
        }
    }

    func advance(by duration: Duration) {
        let due = state.withLock { state in
            state.now = state.now.advanced(by: duration)
            let due = state.sleepers.filter { $0.value.deadline <= state.now }
            for id in due.keys { state.sleepers[id] = nil }
            return due.values.map(\.continuation)
        }
        for continuation in due { continuation.resume() }
    }
}

/// A session on a screen of 600 × 600, driven by its own tasks.
@MainActor
final class Screen: FlowObserver, DataManagerDelegate {
    let manager: DataManager
    var vetoes: [(MessageServiceCall, String?)] = []
    var failures: [MessageServiceCall] = []
    var controls: [ControlContent] = []
    var missing: [MessageID] = []
    /// Every message that any apply showed.
    var everShown: Set<Session> = []
    /// The states that the row with this text has been shown in.
    var states: [Message.State] = []
    private let changes: AsyncStream<Void>
    private let signal: AsyncStream<Void>.Continuation

    init(
        _ session: Session = withBen, engine: Engine, configuration: SessionConfiguration = .test
    ) {
        let ids = Mutex(0)
        (changes, signal) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
        manager = DataManager(
            session: session, engine: engine, configuration: configuration, now: { 60_000_000 },
            makeUUID: {
                ids.withLock { id in
                    id += 1
                    return "uuid-\(session.id)-\(id)"
                }
            })
        manager.delegate = self
        manager.controller.addObserver(self)
        manager.controller.submit(.resized(LayoutSize(width: 600, height: 600)))
    }

    var messages: [Message] { manager.controller.snapshot.messages }
    var texts: [String] { messages.map(\.content.summary) }

    func flow(_ controller: FlowController, didApply update: FlowUpdate) {
        everShown.formUnion(update.snapshot.messages.map(\.session))
        if let state = update.snapshot.messages.last?.state, states.last != state {
            states.append(state)
        }
        signal.yield()
    }

    func flow(_ controller: FlowController, didShow state: FlowViewState) { signal.yield() }

    func flow(_ controller: FlowController, didMiss message: MessageID) {
        missing.append(message)
        signal.yield()
    }

    func dataManager(
        _ manager: DataManager, didVeto call: MessageServiceCall, of message: Message, reason: String?
    ) {
        vetoes.append((call, reason))
    }

    func dataManager(
        _ manager: DataManager, didFail call: MessageServiceCall, of message: Message,
        with error: any Error
    ) {
        failures.append(call)
    }

    func dataManager(_ manager: DataManager, didReceive control: ControlContent, by user: UserID) {
        controls.append(control)
        signal.yield()
    }

    /// Waits until the condition holds after something was shown.
    func wait(until isDone: () -> Bool) async {
        manager.controller.drain()
        if isDone() { return }
        for await _ in changes where isDone() { break }
    }

    /// Runs the session while the body does.
    func run(_ body: @MainActor () async throws -> Void) async throws {
        let running = Task { [manager] in await manager.run() }
        let result: Result<Void, any Error>
        do {
            result = .success(try await body())
        } catch {
            result = .failure(error)
        }
        // The next run may begin only when this one is over.
        running.cancel()
        await running.value
        try result.get()
    }
}

extension SessionConfiguration {
    /// Heights that are easy to add up, no loading by itself beyond the first page.
    static var test: SessionConfiguration {
        var configuration = SessionConfiguration()
        configuration.flow = .test
        return configuration
    }
}

extension MemoryEngine {
    convenience init(
        history count: Int = 0, in session: Session = withBen,
        clock: any Clock<Duration> = ContinuousClock()
    ) {
        self.init(user: ada, clock: clock, now: { 60_000_000 })
        addHistory(count, in: session)
    }

    func addHistory(_ count: Int, in session: Session) {
        add(
            (0..<count).map { number in
                Message(
                    id: MessageID(0), session: session, sender: UserID(session.id),
                    position: MessagePosition(0), timeMilliseconds: Int64(number) * 60_000,
                    content: .text("\(number + 1)"))
            })
    }
}
