import Synchronization

/// Counts callbacks that broke the contract of the completion forms.
///
/// Each completion counts once: the first call wins, from whichever thread; a second is dropped and counted here as
/// *double*, one after a time-out or a cancellation as *late*. One that does not come in time, or can never come because
/// it was thrown away, ends the call with an error and is counted as *missing*.
public final class CallbackMonitor: Sendable {
    /// The numbers.
    public struct Counts: Hashable, Sendable {
        /// Callbacks after the first of their call.
        public internal(set) var doubles = 0
        /// Callbacks after their call had been given up.
        public internal(set) var lates = 0
        /// Calls that were given up because no callback came.
        public internal(set) var missing = 0
    }

    private let state = Mutex(Counts())

    /// Makes a monitor with all numbers at 0.
    public init() {}

    /// The numbers so far.
    public var counts: Counts { state.withLock { $0 } }

    func note(_ change: @Sendable (inout Counts) -> Void) {
        state.withLock { change(&$0) }
    }
}

/// The one answer of a call: whoever is first gives it.
final class OneAnswer<Value: Sendable>: Sendable {
    enum Giver {
        /// The callback.
        case callback
        /// The time is over, or the callback can never come.
        case watchdog
        /// The caller does not wait any more.
        case canceller
    }

    private enum State {
        case open(CheckedContinuation<Value, any Error>?)
        case answered(by: Giver, Result<Value, any Error>)
    }

    private let state = Mutex(State.open(nil))
    private let monitor: CallbackMonitor

    init(monitor: CallbackMonitor) {
        self.monitor = monitor
    }

    /// Gives the answer if there is none yet.
    func give(_ result: Result<Value, any Error>, by giver: Giver) {
        let (continuation, earlier) = state.withLock {
            state -> (CheckedContinuation<Value, any Error>?, Giver?) in
            switch state {
            case .open(let continuation):
                state = .answered(by: giver, result)
                return (continuation, nil)
            case .answered(let earlier, _): return (nil, earlier)
            }
        }
        if let continuation { continuation.resume(with: result) }
        switch (giver, earlier) {
        case (.callback, .callback?): monitor.note { $0.doubles += 1 }
        case (.callback, .some): monitor.note { $0.lates += 1 }
        case (.watchdog, nil): monitor.note { $0.missing += 1 }
        default: break
        }
    }

    /// Waits for the answer; cancellation is one.
    func wait() async throws -> Value {
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                let result = state.withLock { state -> Result<Value, any Error>? in
                    switch state {
                    case .open:
                        state = .open(continuation)
                        return nil
                    case .answered(_, let result): return result
                    }
                }
                if let result { continuation.resume(with: result) }
            }
        } onCancel: {
            give(.failure(CancellationError()), by: .canceller)
        }
    }
}

/// What a callback's closure holds: when the last copy of the closure is gone uncalled, no answer can come any more.
private final class CallbackToken<Value: Sendable>: Sendable {
    private let answer: OneAnswer<Value>

    init(_ answer: OneAnswer<Value>) {
        self.answer = answer
    }

    func call(_ result: Result<Value, any Error>) {
        answer.give(result, by: .callback)
    }

    deinit {
        answer.give(.failure(InteractionError(.callbackLost)), by: .watchdog)
    }
}

/// Turns calls with a callback into calls that return.
struct CallbackBridge: Sendable {
    /// How long a callback may take; nil for ever.
    let timeout: Duration?
    let clock: any Clock<Duration>
    let monitor: CallbackMonitor

    /// Starts a call and waits for its callback.
    ///
    /// - Throws: What the callback says; ``InteractionError`` for a callback that does not come; `CancellationError`.
    func call<Value: Sendable>(
        _ start: (@escaping @Sendable (Result<Value, any Error>) -> Void) -> Void
    ) async throws -> Value {
        try Task.checkCancellation()
        let answer = OneAnswer<Value>(monitor: monitor)
        do {
            let token = CallbackToken(answer)
            start { token.call($0) }
        }
        return try await withThrowingTaskGroup(of: Void.self) { group in
            if let timeout {
                let clock = clock
                group.addTask {
                    try await clock.sleep(for: timeout)
                    answer.give(.failure(InteractionError(.timedOut)), by: .watchdog)
                }
            }
            defer { group.cancelAll() }
            return try await answer.wait()
        }
    }
}
