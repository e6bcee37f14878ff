import RivuletModel
import RivuletServerCore
import SQLiteKit
import Synchronization

/// Something for the message log to do.
enum LogTask: Sendable {
    case append(BatchID, [LogEntry])
    case load(ConnectionID, UserID, after: Int64)
    case reportKey(UserID, Int64)
}

/// The thread on which the message log lives: group commit, pages, folding.
///
/// All batches that gathered while the last commit ran become one commit. Pages are read after it, so that a SYNC
/// sees what the same client sent before it.
final class LogThread: Sendable {
    private let queue = WorkQueue<LogTask>()
    /// How many messages wait for their commit.
    private let waiting = Atomic<Int>(0)

    /// How long the log waits for more to do before it folds.
    private static let patience = Duration.milliseconds(500)
    private static let sliceRows = 256

    /// Opens the log and starts.
    ///
    /// - Parameters:
    ///   - open: Makes the log, on its thread.
    ///   - pageLimit: How much one page holds.
    ///   - clock: The wall clock.
    ///   - logger: Where failures are told, each kind once in ten seconds.
    ///   - answer: Takes what happened, on the log's thread.
    /// - Throws: What `open` throws.
    func start(
        open: @escaping @Sendable () throws -> any MessageLog, pageLimit: PageLimit,
        clock: @escaping @Sendable () -> WallTime, logger: ServerLogger,
        answer: @escaping @Sendable ([NodeEvent]) -> Void
    ) throws {
        try queue.start(
            named: "rivulet-log",
            makeState: {
                LogWorker(log: try open(), pageLimit: pageLimit, clock: clock, logger: logger, answer: answer)
            },
            work: { [self] worker, tasks in
                let done = worker.perform(tasks)
                waiting.subtract(done, ordering: .relaxed)
                return worker.hasUpkeep ? (tasks.isEmpty ? .zero : Self.patience) : nil
            },
            end: { $0.close() })
    }

    /// Adds a task; false when the log is closed.
    @discardableResult
    func post(_ task: LogTask) -> Bool {
        if case .append(_, let entries) = task { waiting.add(entries.count, ordering: .relaxed) }
        return queue.post(task)
    }

    /// How many messages wait for their commit.
    var waitingMessageCount: Int {
        waiting.load(ordering: .relaxed)
    }

    /// Finishes what was posted, folds everything and closes the log; blocks until it is done.
    func close() {
        queue.close()
        queue.waitUntilEnded()
    }
}

/// The state of the log's thread.
private final class LogWorker {
    private let log: any MessageLog
    private let pageLimit: PageLimit
    private let clock: @Sendable () -> WallTime
    private let logger: ServerLogger
    private let answer: @Sendable ([NodeEvent]) -> Void
    private var lastComplaint: [String: WallTime] = [:]
    private(set) var hasUpkeep = true

    init(
        log: any MessageLog, pageLimit: PageLimit, clock: @escaping @Sendable () -> WallTime,
        logger: ServerLogger, answer: @escaping @Sendable ([NodeEvent]) -> Void
    ) {
        self.log = log
        self.pageLimit = pageLimit
        self.clock = clock
        self.logger = logger
        self.answer = answer
    }

    /// Performs a batch of tasks, or some upkeep when there are none; answers how many messages it was about.
    func perform(_ tasks: [LogTask]) -> Int {
        guard !tasks.isEmpty else {
            maintain(isIdle: true)
            return 0
        }
        let now = clock()
        var batches: [(id: BatchID, entries: [LogEntry])] = []
        for case .append(let id, let entries) in tasks { batches.append((id, entries)) }
        let count = batches.reduce(0) { $0 + $1.entries.count }
        if !batches.isEmpty { answer(commit(batches, count, now)) }
        var pages: [NodeEvent] = []
        for task in tasks {
            switch task {
            case .append: break
            case .reportKey(let user, let key):
                complaining("report_key", now) { try log.report(key, of: user) }
            case .load(let connection, let user, let key):
                let page = complaining("load", now) { try log.page(of: user, after: key, limit: pageLimit) }
                pages.append(page.map { .loaded(connection, $0) } ?? .loadFailed(connection))
            }
        }
        if !pages.isEmpty { answer(pages) }
        maintain(isIdle: false)
        return count
    }

    func close() {
        complaining("close", clock()) { try (log as? SQLiteMessageLog)?.close() }
    }

    private func commit(
        _ batches: [(id: BatchID, entries: [LogEntry])], _ count: Int, _ now: WallTime
    ) -> [NodeEvent] {
        var entries: [LogEntry] = []
        entries.reserveCapacity(count)
        for batch in batches { entries += batch.entries }
        guard let outcomes = complaining("append", now, { try log.append(entries, at: now) }) else {
            return batches.map { .appendFailed($0.id) }
        }
        var start = 0
        return batches.map { batch in
            let end = start + batch.entries.count
            defer { start = end }
            return .appended(batch.id, Array(outcomes[start..<end]))
        }
    }

    private func maintain(isIdle: Bool) {
        guard let log = log as? SQLiteMessageLog else {
            hasUpkeep = false
            return
        }
        let more = complaining("fold", clock()) { try log.maintain(rowsMax: 512, isIdle: isIdle) }
        // After a failure it is tried again when the next task comes.
        hasUpkeep = more ?? false
    }

    /// Runs a step of storage work; a failure is logged, each kind once in ten seconds.
    @discardableResult
    private func complaining<Result>(_ step: String, _ now: WallTime, _ body: () throws -> Result) -> Result?
    {
        do {
            return try body()
        } catch {
            let last = lastComplaint[step]
            guard last.map({ now.milliseconds - $0.milliseconds >= 10_000 }) ?? true else { return nil }
            lastComplaint[step] = now
            let code = (error as? SQLiteError)?.shortDescription ?? String(describing: type(of: error))
            logger.log(.error, "storage failed", [("step", step), ("code", code)])
            return nil
        }
    }
}
