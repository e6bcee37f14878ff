import Foundation
import RivuletSimulation
import Synchronization

/// Runs a series of seeds on several threads, each seed on one of them.
final class SeedSeries: Sendable {
    private struct State {
        var progress: SimulationProgress
        var next: Int
        var broken: (offset: Int, result: SimulationResult)?
        var savedAt = Date.distantPast
        var saveFailure: String?
    }

    private let count: Int
    private let path: String?
    private let isInterrupted: @Sendable () -> Bool
    private let state: Mutex<State>

    /// Makes a series.
    ///
    /// - Parameters:
    ///   - progress: Where it goes on.
    ///   - count: How many seeds it has.
    ///   - path: Where the progress is kept; nil for nowhere.
    ///   - isInterrupted: Whether it is to end after the seeds at hand.
    init(
        _ progress: SimulationProgress, count: Int, path: String?,
        isInterrupted: @escaping @Sendable () -> Bool
    ) {
        self.count = count
        self.path = path
        self.isInterrupted = isInterrupted
        state = Mutex(State(progress: progress, next: progress.doneCount))
    }

    /// Runs until all seeds are done or one breaks a rule; answers how far it came and the first broken run.
    func run(jobs: Int) -> (progress: SimulationProgress, broken: (offset: Int, result: SimulationResult)?) {
        let group = DispatchGroup()
        for _ in 0..<jobs {
            DispatchQueue.global().async(group: group) { self.work() }
        }
        group.wait()
        save(isLast: true)
        return state.withLock { ($0.progress, $0.broken) }
    }

    /// Why the progress could not be kept; nil when it could.
    var saveFailure: String? { state.withLock { $0.saveFailure } }

    private func work() {
        while let (offset, settings) = take() {
            let result = Simulation.run(settings)
            state.withLock { state in
                if result.violation == nil {
                    state.progress.finish(offset, result.totals)
                } else if offset < state.broken?.offset ?? .max {
                    state.broken = (offset, result)
                }
            }
            save(isLast: false)
        }
    }

    private func take() -> (offset: Int, SimulationSettings)? {
        guard !isInterrupted() else { return nil }
        return state.withLock { state in
            guard state.broken == nil, state.next < count else { return nil }
            defer { state.next += 1 }
            var settings = state.progress.settings
            settings.seed &+= UInt64(state.next)
            return (state.next, settings)
        }
    }

    /// Writes the progress, every few seconds.
    private func save(isLast: Bool) {
        guard let path else { return }
        let now = Date()
        let text: String? = state.withLock { state in
            guard isLast || now.timeIntervalSince(state.savedAt) > 5 else { return nil }
            state.savedAt = now
            return state.progress.text
        }
        guard let text else { return }
        do {
            try Data(text.utf8).write(to: URL(fileURLWithPath: path), options: .atomic)
        } catch {
            state.withLock { $0.saveFailure = "\(path) cannot be written: \(error.localizedDescription)" }
        }
    }
}
