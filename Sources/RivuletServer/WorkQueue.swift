import Foundation
import Synchronization

/// A thread of its own that takes what was posted, all at once, in order.
///
/// While it works on one batch the next one gathers: under load the batches grow by themselves, which is what makes
/// group commit pay.
final class WorkQueue<Item: Sendable>: Sendable {
    private struct State {
        var items: [Item] = []
        var isClosed = false
    }

    private let state = Mutex(State())
    private let wakeUp = DispatchSemaphore(value: 0)
    private let ended = DispatchGroup()

    init() {}

    /// Starts the thread.
    ///
    /// - Parameters:
    ///   - name: The thread's name, for profilers.
    ///   - makeState: Makes what belongs to the thread, on the thread.
    ///   - work: Takes a batch; an empty one says that nothing came for a while. Its answer is how long to wait for
    ///     more before the next empty one; nil waits for ever.
    ///   - end: Called when the queue was closed and everything is done.
    /// - Throws: What `makeState` throws; then the thread has ended.
    func start<Context>(
        named name: String, makeState: @escaping @Sendable () throws -> Context,
        work: @escaping @Sendable (Context, [Item]) -> Duration?,
        end: @escaping @Sendable (Context) -> Void
    ) throws {
        let started = DispatchSemaphore(value: 0)
        let failure = Mutex<(any Error)?>(nil)
        ended.enter()
        let thread = Thread { [self] in
            defer { ended.leave() }
            let context: Context
            do {
                context = try makeState()
            } catch {
                failure.withLock { $0 = error }
                started.signal()
                return
            }
            started.signal()
            run(context, work)
            end(context)
        }
        thread.name = name
        thread.start()
        started.wait()
        if let error = failure.withLock({ $0 }) { throw error }
    }

    /// Adds an item; false when the queue is closed.
    @discardableResult
    func post(_ item: Item) -> Bool {
        let (isAccepted, isFirst) = state.withLock { state in
            guard !state.isClosed else { return (false, false) }
            state.items.append(item)
            return (true, state.items.count == 1)
        }
        if isFirst { wakeUp.signal() }
        return isAccepted
    }

    /// Takes no more items; what was posted is still done.
    func close() {
        state.withLock { $0.isClosed = true }
        wakeUp.signal()
    }

    /// Blocks until the thread has ended.
    func waitUntilEnded() {
        ended.wait()
    }

    private func run<Context>(_ context: Context, _ work: (Context, [Item]) -> Duration?) {
        var patience: Duration?
        while true {
            let (items, isClosed) = take()
            if !items.isEmpty {
                patience = work(context, items)
                continue
            }
            if isClosed { return }
            guard let limit = patience else {
                wakeUp.wait()
                continue
            }
            if limit == .zero || wakeUp.wait(timeout: .now() + limit.dispatchInterval) == .timedOut {
                // Something may have come between the two.
                let (late, _) = take()
                patience = work(context, late)
            }
        }
    }

    private func take() -> (items: [Item], isClosed: Bool) {
        state.withLock { state in
            var items: [Item] = []
            swap(&items, &state.items)
            return (items, state.isClosed)
        }
    }
}

extension Duration {
    fileprivate var dispatchInterval: DispatchTimeInterval {
        .microseconds(
            Int(clamping: components.seconds) * 1_000_000 + Int(components.attoseconds / 1_000_000_000_000))
    }
}
