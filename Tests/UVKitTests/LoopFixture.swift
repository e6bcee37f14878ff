import Synchronization
import Testing
import UVKit

/// Runs a test body on an event loop of its own and ends the loop afterwards.
func withLoop<Result: Sendable>(_ body: (EventLoop) async throws -> Result) async throws -> Result {
    let loop = try EventLoop()
    try loop.start()
    do {
        let result = try await body(loop)
        loop.stop()
        await loop.finished()
        return result
    } catch {
        loop.stop()
        await loop.finished()
        throw error
    }
}

/// Collects what happens on a loop and lets a test wait until enough has happened.
final class Recorder<Element: Sendable>: Sendable {
    private struct State {
        var elements: [Element] = []
        var waiters:
            [(condition: @Sendable ([Element]) -> Bool, continuation: CheckedContinuation<[Element], Never>)] =
                []
    }
    private let state = Mutex(State())

    func append(_ element: Element) {
        let ready = state.withLock { state in
            state.elements.append(element)
            let elements = state.elements
            let ready = state.waiters.filter { $0.condition(elements) }.map(\.continuation)
            state.waiters.removeAll { $0.condition(elements) }
            return ready.map { ($0, elements) }
        }
        for (continuation, elements) in ready { continuation.resume(returning: elements) }
    }

    var elements: [Element] { state.withLock { $0.elements } }

    /// Returns everything recorded as soon as the condition holds; a test's time limit ends a wait in vain.
    @discardableResult
    func wait(until condition: @escaping @Sendable ([Element]) -> Bool) async -> [Element] {
        await withCheckedContinuation { continuation in
            let elements: [Element]? = state.withLock { state in
                if condition(state.elements) { return state.elements }
                state.waiters.append((condition, continuation))
                return nil
            }
            if let elements { continuation.resume(returning: elements) }
        }
    }
}
