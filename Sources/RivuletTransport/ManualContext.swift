internal import Synchronization
internal import UVKit

/// A context that a test turns by hand, with a clock that stands still until it is advanced.
///
/// Jobs wait until ``run(_:)``, ``runUntilIdle()`` or ``advance(by:)`` and then run on the calling thread, in the order in
/// which they were enqueued; deadlines pass in the order of their times. So a whole client can be driven step by step.
///
/// ```swift
/// let context = ManualContext()
/// let transport = MemoryTransport(context: context)
/// context.run { connection = transport.connect(to: server) { events.append($0) } }
/// context.advance(by: .seconds(10))
/// ```
public final class ManualContext: SerialContext {
    private enum Job {
        case closure(@Sendable () -> Void)
        case executorJob(UnownedJob)
    }

    private struct State {
        var jobs: [Job] = []
        var now: UInt64 = 1_000_000_000
        var thread: UInt = 0
        var nextDeadline = 0
    }

    private let state = Mutex(State())
    private let deadlines = Mutex<[Int: ContextBound<ManualDeadline>]>([:])

    /// Makes a context whose clock shows one second.
    public init() {}

    /// Adds a job; it runs when the context is turned.
    @discardableResult
    public func enqueue(_ job: @escaping @Sendable () -> Void) -> Bool {
        state.withLock { $0.jobs.append(.closure(job)) }
        return true
    }

    /// Adds a job of an actor that lives on this context.
    public func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        state.withLock { $0.jobs.append(.executorJob(job)) }
    }

    /// Traps outside ``run(_:)``.
    public func preconditionOnContext() {
        precondition(state.withLock { $0.thread } == currentThreadNumber(), "used outside its context")
    }

    /// Traps outside ``run(_:)``; lets an actor use `assumeIsolated` inside its callbacks.
    public func checkIsolated() {
        preconditionOnContext()
    }

    /// The clock's reading.
    public var nowNanoseconds: UInt64 {
        state.withLock { $0.now }
    }

    /// Makes a deadline that passes when the clock is advanced over it.
    public func makeDeadline(_ passed: @escaping () -> Void) throws -> any Deadline {
        let number = state.withLock { state in
            state.nextDeadline += 1
            return state.nextDeadline
        }
        let deadline = ManualDeadline(context: self, number: number, passed: passed)
        let bound = ContextBound(deadline, context: self)
        deadlines.withLock { $0[number] = bound }
        return deadline
    }

    /// Runs a body on the context, then every waiting job and passed deadline until none is left.
    @discardableResult
    public func run<Result, Failure>(_ body: () throws(Failure) -> Result) throws(Failure) -> Result {
        let before = state.withLock { exchange(&$0.thread, with: currentThreadNumber()) }
        defer { state.withLock { $0.thread = before } }
        let result = try body()
        turn()
        return result
    }

    /// Runs every waiting job and passed deadline until none is left.
    public func runUntilIdle() {
        run {}
    }

    /// Moves the clock forward, stopping at each deadline on the way.
    public func advance(by duration: Duration) {
        let (seconds, attoseconds) = duration.components
        let step = UInt64(clamping: seconds) &* 1_000_000_000 &+ UInt64(clamping: attoseconds / 1_000_000_000)
        let target = nowNanoseconds &+ step
        run {
            turn()
            while let (time, _) = nextDeadline(), time <= target {
                state.withLock { $0.now = max($0.now, time) }
                turn()
            }
            state.withLock { $0.now = target }
        }
    }

    /// When the nearest deadline passes; nil when none is set.
    public var nextDeadlineNanoseconds: UInt64? {
        run { nextDeadline()?.0 }
    }

    fileprivate func forget(_ number: Int) {
        deadlines.withLock { _ = $0.removeValue(forKey: number) }
    }

    private func turn() {
        while true {
            let jobs = state.withLock { exchange(&$0.jobs, with: []) }
            for job in jobs {
                switch job {
                case .closure(let body): body()
                case .executorJob(let job): job.runSynchronously(on: asUnownedSerialExecutor())
                }
            }
            if jobs.isEmpty {
                guard let (time, deadline) = nextDeadline(), time <= nowNanoseconds else { return }
                deadline.fire()
            }
        }
    }

    private func nextDeadline() -> (UInt64, ManualDeadline)? {
        let all = deadlines.withLock { $0 }
        return
            all.sorted { $0.key < $1.key }
            .compactMap { entry in entry.value.value.time.map { ($0, entry.value.value) } }
            .min { $0.0 < $1.0 }
    }
}

/// A value that may be carried anywhere but touched only on its context.
final class ContextBound<Value>: @unchecked Sendable {  // Invariant: below.
    // `storage` is fixed, and read only after `preconditionOnContext`.
    private let storage: Value
    private let context: any SerialContext

    init(_ value: Value, context: any SerialContext) {
        self.storage = value
        self.context = context
    }

    var value: Value {
        context.preconditionOnContext()
        return storage
    }
}

private final class ManualDeadline: Deadline {
    private(set) var time: UInt64?
    private let context: ManualContext
    private let number: Int
    private let passed: () -> Void

    init(context: ManualContext, number: Int, passed: @escaping () -> Void) {
        self.context = context
        self.number = number
        self.passed = passed
    }

    func arm(at nanoseconds: UInt64) {
        context.preconditionOnContext()
        time = nanoseconds
    }

    func disarm() {
        context.preconditionOnContext()
        time = nil
    }

    func close() {
        disarm()
        context.forget(number)
    }

    func fire() {
        time = nil
        passed()
    }
}
