import RivuletModel
import RivuletServerCore
import Synchronization

/// Something for the message log to do.
enum LogTask: Sendable {
    case append(BatchID, [LogEntry])
    case load(ConnectionID, PageRequest)
    case reportKey(QueueID, Account, Int64)
    case reportUnread(Account, Int32)
    /// Anything else that reads.
    case query(@Sendable (any MessageLog) -> Void)
}

/// The thread on which the message log lives: group commit, pages, folding, retention.
///
/// All batches that gathered while the last commit ran become one commit. Pages are read after it, so that a SYNC
/// sees what the same client sent before it.
final class LogThread: Sendable {
    private let queue = WorkQueue<LogTask>()
    /// How many messages wait for their commit.
    private let waiting = Atomic<Int>(0)

    /// How long the log waits for more to do before it folds.
    private static let patience = Duration.milliseconds(500)

    /// Opens the log and starts.
    ///
    /// - Parameters:
    ///   - open: Makes the log, on its thread.
    ///   - settings: How the thread works.
    ///   - answer: Takes what happened, on the log's thread.
    /// - Throws: What `open` throws.
    func start(
        open: @escaping @Sendable () throws -> any MessageLog, _ settings: LogSettings,
        answer: @escaping @Sendable ([NodeEvent]) -> Void
    ) throws {
        try queue.start(
            named: "rivulet-log",
            makeState: { LogWorker(log: try open(), settings, answer: answer) },
            work: { [self] worker, tasks in
                let done = worker.perform(tasks)
                waiting.subtract(done, ordering: .relaxed)
                return worker.hasUpkeep ? (tasks.isEmpty ? .zero : Self.patience) : worker.timeToRetention
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

/// How the log's thread works.
struct LogSettings: Sendable {
    /// How much one page holds.
    var pageLimit = PageLimit()
    /// After how many milliseconds messages are removed; nil keeps them for ever.
    var retentionMilliseconds: Int64?
    /// The wall clock.
    var clock: @Sendable () -> WallTime
    /// Where failures are told, each kind once in ten seconds.
    var logger = ServerLogger.silent
    /// Where commits and messages are counted.
    var metrics = ServerMetrics()
    /// Moves the write-ahead log into the file, beside the commits.
    var checkpointer: LogCheckpointer?
}
