import Synchronization

/// Tells a loop that there is something to do; a signal given while no loop listens is kept for the next.
final class WakeSignal: Sendable {
    private struct State {
        var continuation: AsyncStream<Void>.Continuation?
        var isPending = false
    }

    private let state = Mutex(State())

    /// Gives the signal, from any thread; many at once are one.
    func give() {
        let continuation = state.withLock { state in
            if state.continuation == nil { state.isPending = true }
            return state.continuation
        }
        continuation?.yield()
    }

    /// Begins to listen; an earlier listener's stream ends.
    func listen() -> AsyncStream<Void> {
        let (stream, continuation) = AsyncStream.makeStream(
            of: Void.self, bufferingPolicy: .bufferingNewest(1))
        let (earlier, isPending) = state.withLock { state in
            defer {
                state.continuation = continuation
                state.isPending = false
            }
            return (state.continuation, state.isPending)
        }
        earlier?.finish()
        if isPending { continuation.yield() }
        return stream
    }

    /// Ends listening; signals are kept from now on.
    func stopListening() {
        state.withLock { state in
            state.continuation = nil
            // What was signalled to the loop that ended may not have been done.
            state.isPending = true
        }
    }
}
