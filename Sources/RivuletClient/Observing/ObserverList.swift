internal import Synchronization

/// Observers of one kind: held weakly, in the order in which they were added, each once.
final class ObserverList<Observer: Sendable>: Sendable {
    private struct Entry: Sendable {
        let id: ObjectIdentifier
        /// Tells entries apart when an id is used again after its observer's end.
        let number: UInt64
        /// Gives the observer while it lives; its closure holds it weakly.
        let observer: @Sendable () -> Observer?
    }

    private struct State {
        var entries: [Entry] = []
        var lastNumber: UInt64 = 0
    }

    private let state = Mutex(State())

    /// Adds an observer, unless it is there already.
    ///
    /// - Parameters:
    ///   - id: The identity of the observer.
    ///   - observer: Gives the observer, which it holds weakly, while it lives.
    func add(_ id: ObjectIdentifier, _ observer: @escaping @Sendable () -> Observer?) {
        // Asked outside the lock: what an entry gives may be the last reference, and its end would come here.
        let dead = Set(entries.filter { $0.observer() == nil }.map(\.number))
        state.withLock { state in
            state.entries.removeAll { dead.contains($0.number) }
            guard !state.entries.contains(where: { $0.id == id }) else { return }
            state.lastNumber += 1
            state.entries.append(Entry(id: id, number: state.lastNumber, observer: observer))
        }
    }

    var isEmpty: Bool {
        state.withLock { $0.entries.isEmpty }
    }

    func remove(_ id: ObjectIdentifier) {
        state.withLock { state in state.entries.removeAll { $0.id == id } }
    }

    /// Calls each observer that is still there when its turn comes, outside the lock.
    @MainActor
    func forEach(_ body: @MainActor (Observer) -> Void) {
        for entry in entries {
            let isThere = state.withLock { state in state.entries.contains { $0.number == entry.number } }
            guard isThere, let observer = entry.observer() else { continue }
            body(observer)
        }
    }

    /// Calls the observer that was added last and still lives.
    @MainActor
    func callLast(_ body: @MainActor (Observer) -> Void) {
        for entry in entries.reversed() {
            guard let observer = entry.observer() else { continue }
            return body(observer)
        }
    }

    /// Adds an observer on top, taking it from where it was.
    func push(_ id: ObjectIdentifier, _ observer: @escaping @Sendable () -> Observer?) {
        remove(id)
        add(id, observer)
    }

    /// Removes an observer if no living one lies above it.
    func pop(_ id: ObjectIdentifier) {
        let entries = entries
        guard let top = entries.last(where: { $0.observer() != nil }), top.id == id else { return }
        state.withLock { state in state.entries.removeAll { $0.number == top.number } }
    }

    private var entries: [Entry] {
        state.withLock { $0.entries }
    }
}
