public import RivuletModel
import Synchronization

/// Hands an engine's events to whoever shows a session, from any thread.
///
/// It is the part that every engine of an app's own needs. A listener that falls behind loses the oldest events and gets
/// a `reset` instead, so that it reads anew.
public final class SessionEventHub: SessionEventSource {
    private struct Listener {
        var session: Session
        var continuation: AsyncStream<SessionEvent>.Continuation
    }

    private struct State {
        var listeners: [Int: Listener] = [:]
        var lastID = 0
        var isFinished = false
    }

    /// How many events may wait for a listener.
    public let backlogMax: Int
    private let state = Mutex(State())

    /// Makes a hub without listeners.
    public init(backlogMax: Int = 1_024) {
        self.backlogMax = max(2, backlogMax)
    }

    /// The events of a session from now on.
    public func events(in session: Session) -> AsyncStream<SessionEvent> {
        let (stream, continuation) = AsyncStream.makeStream(
            of: SessionEvent.self, bufferingPolicy: .bufferingNewest(backlogMax))
        let id = state.withLock { state -> Int? in
            guard !state.isFinished else { return nil }
            state.lastID += 1
            state.listeners[state.lastID] = Listener(session: session, continuation: continuation)
            return state.lastID
        }
        guard let id else {
            continuation.finish()
            return stream
        }
        continuation.onTermination = { [weak self] _ in
            self?.state.withLock { $0.listeners[id] = nil }
        }
        return stream
    }

    /// Whether somebody shows this session.
    public func hasListeners(in session: Session) -> Bool {
        state.withLock { state in state.listeners.values.contains { $0.session == session } }
    }

    /// Tells an event to those who show this session.
    public func publish(_ event: SessionEvent, in session: Session) {
        for listener in listeners(in: session) {
            if case .dropped = listener.yield(event) { listener.yield(.reset) }
        }
    }

    /// Tells all that events were lost.
    public func publishReset() {
        for listener in listeners(in: nil) { listener.yield(.reset) }
    }

    /// Ends all streams, and those that begin later at once.
    public func finish() {
        let listeners = state.withLock { state in
            state.isFinished = true
            defer { state.listeners = [:] }
            return state.listeners.values.map(\.continuation)
        }
        for listener in listeners { listener.finish() }
    }

    private func listeners(in session: Session?) -> [AsyncStream<SessionEvent>.Continuation] {
        state.withLock { state in
            state.listeners.values.filter { session == nil || $0.session == session }.map(\.continuation)
        }
    }
}
