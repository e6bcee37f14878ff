internal import RivuletClientCore
internal import Synchronization

/// Someone who waits for the fate of one send; resumed exactly once, whoever comes first.
final class SendWait: Sendable {
    private enum State {
        case waiting(CheckedContinuation<SendReport, any Error>?)
        case finished(Result<SendReport, any Error>)
    }

    private let state = Mutex(State.waiting(nil))

    var isFinished: Bool {
        state.withLock { if case .finished = $0 { true } else { false } }
    }

    func start(_ continuation: CheckedContinuation<SendReport, any Error>) {
        let result: Result<SendReport, any Error>? = state.withLock { state in
            guard case .finished(let result) = state else {
                state = .waiting(continuation)
                return nil
            }
            return result
        }
        if let result { continuation.resume(with: result) }
    }

    func finish(_ result: Result<SendReport, any Error>) {
        let continuation: CheckedContinuation<SendReport, any Error>? = state.withLock { state in
            guard case .waiting(let continuation) = state else { return nil }
            state = .finished(result)
            return continuation
        }
        continuation?.resume(with: result)
    }
}
