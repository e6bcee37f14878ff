internal import Synchronization

/// Gives every listener its own bounded stream of the elements, or of what it makes of them.
final class Broadcast<Element: Sendable>: Sendable {
    private struct Listener: Sendable {
        var yield: @Sendable (Element) -> Void
        var finish: @Sendable () -> Void
    }

    private struct State {
        var listeners: [UInt64: Listener] = [:]
        var nextID: UInt64 = 0
        var isFinished = false
    }

    private let state = Mutex(State())
    private let limit: Int

    /// Makes a broadcast whose listeners may be this many elements behind before they lose the oldest ones.
    init(limit: Int) {
        self.limit = limit
    }

    /// Makes a stream of everything from now on, behind `first`.
    func makeStream(beginningWith first: Element? = nil) -> AsyncStream<Element> {
        makeStream(beginningWith: first) { $0 }
    }

    /// Makes a stream of what `transform` makes of the elements from now on; nil leaves one out.
    func makeStream<Output: Sendable>(
        beginningWith first: Output? = nil, _ transform: @escaping @Sendable (Element) -> Output?
    ) -> AsyncStream<Output> {
        let (stream, continuation) = AsyncStream.makeStream(
            of: Output.self, bufferingPolicy: .bufferingNewest(limit))
        let listener = Listener(
            yield: { element in if let output = transform(element) { continuation.yield(output) } },
            finish: { continuation.finish() })
        let id: UInt64? = state.withLock { state in
            guard !state.isFinished else { return nil }
            state.nextID += 1
            if let first { continuation.yield(first) }
            state.listeners[state.nextID] = listener
            return state.nextID
        }
        guard let id else {
            continuation.finish()
            return stream
        }
        continuation.onTermination = { [weak self] _ in self?.remove(id) }
        return stream
    }

    func yield(_ element: Element) {
        for listener in state.withLock({ Array($0.listeners.values) }) { listener.yield(element) }
    }

    func finish() {
        let listeners = state.withLock { state in
            state.isFinished = true
            defer { state.listeners = [:] }
            return Array(state.listeners.values)
        }
        for listener in listeners { listener.finish() }
    }

    private func remove(_ id: UInt64) {
        state.withLock { _ = $0.listeners.removeValue(forKey: id) }
    }
}
