import RivuletModel
import RivuletServerCore
import SQLiteKit
import Synchronization

/// The state of the log's thread.
final class LogWorker {
    private let log: any MessageLog
    private let settings: LogSettings
    private let answer: @Sendable ([NodeEvent]) -> Void
    private var lastComplaint: [String: WallTime] = [:]
    private var nextRetention: WallTime?
    /// When everything was folded last.
    private var lastFold: WallTime
    private(set) var hasUpkeep = true

    /// A commit holds at most about so many places in queues: larger batches become several commits.
    private static let placesPerCommitMax = 50_000
    private static let foldInterval: Int64 = 10_000
    private static let retentionInterval: Int64 = 60_000
    private static let rowsPerSlice = 256
    private static let pagesPerSlice = 256

    init(
        log: any MessageLog, _ settings: LogSettings, answer: @escaping @Sendable ([NodeEvent]) -> Void
    ) {
        self.log = log
        self.settings = settings
        self.answer = answer
        lastFold = settings.clock()
        if settings.retentionMilliseconds != nil { nextRetention = settings.clock() }
    }

    /// Performs a batch of tasks, or some upkeep when there are none; answers how many messages it was about.
    func perform(_ tasks: [LogTask]) -> Int {
        guard !tasks.isEmpty else {
            maintain(isIdle: true)
            return 0
        }
        let now = settings.clock()
        // Before the commit, which makes them safe.
        for case .reportUnread(let account, let count) in tasks {
            complaining("report_unread", now) { try log.setUnreadCount(count, of: account) }
        }
        let count = commit(tasks, now)
        var pages: [NodeEvent] = []
        for task in tasks {
            switch task {
            case .append, .reportUnread: break
            case .reportKey(let queue, let reader, let key):
                complaining("report_key", now) { try log.report(key, of: queue, by: reader) }
            case .load(let connection, let request):
                let page = complaining("load", now) { try log.page(request, limit: settings.pageLimit) }
                pages.append(page.map { .loaded(connection, $0) } ?? .loadFailed(connection))
            case .query(let body): body(log)
            }
        }
        if !pages.isEmpty { answer(pages) }
        maintain(isIdle: false)
        return count
    }

    func close() {
        complaining("close", settings.clock()) { try (log as? SQLiteMessageLog)?.close() }
    }

    /// When the thread is to wake up for retention though nothing came.
    var timeToRetention: Duration? {
        guard let nextRetention else { return nil }
        return .milliseconds(max(0, nextRetention.milliseconds - settings.clock().milliseconds))
    }

    // MARK: Commits

    /// Commits all batches, in as few commits as their size allows; answers the number of messages.
    private func commit(_ tasks: [LogTask], _ now: WallTime) -> Int {
        var batches: [(id: BatchID, entries: [LogEntry])] = []
        var places = 0
        var count = 0
        for case .append(let id, let entries) in tasks {
            batches.append((id, entries))
            places += entries.reduce(0) { $0 + $1.queues.count }
            count += entries.count
            guard places >= Self.placesPerCommitMax else { continue }
            answer(commit(batches, now))
            (batches, places) = ([], 0)
        }
        if !batches.isEmpty { answer(commit(batches, now)) }
        return count
    }

    private func commit(_ batches: [(id: BatchID, entries: [LogEntry])], _ now: WallTime) -> [NodeEvent] {
        var entries: [LogEntry] = []
        for batch in batches { entries += batch.entries }
        let outcomes = complaining("append", now) { try log.append(entries, at: now) }
        settings.metrics.isStorageFailing.store(outcomes == nil, ordering: .relaxed)
        guard let outcomes else {
            return batches.map { .appendFailed($0.id) }
        }
        settings.metrics.count(outcomes)
        noteWrites()
        var start = 0
        return batches.map { batch in
            let end = start + batch.entries.count
            defer { start = end }
            return .appended(batch.id, Array(outcomes[start..<end]))
        }
    }

    /// Tells the checkpointer what was written since the last time.
    private func noteWrites() {
        guard let checkpointer = settings.checkpointer, let log = log as? SQLiteMessageLog else { return }
        checkpointer.noteWrite(of: log.takeWrittenByteCount())
    }

    // MARK: Upkeep

    private func maintain(isIdle: Bool) {
        guard let log = log as? SQLiteMessageLog else {
            hasUpkeep = false
            return
        }
        let now = settings.clock()
        // A log that is never idle folds nevertheless, if not at once.
        let isDue = isIdle || now.milliseconds - lastFold.milliseconds >= Self.foldInterval
        let more = complaining("fold", now) { try log.maintain(rowsMax: Self.rowsPerSlice, isIdle: isDue) }
        settings.metrics.foldBacklog.store(log.unfoldedCount, ordering: .relaxed)
        // After a failure it is tried again when the next task comes.
        hasUpkeep = more ?? false
        if !hasUpkeep { lastFold = now }
        noteWrites()
        settings.checkpointer?.restartIfDue(log.database)
        removeOld(from: log, now)
    }

    private func removeOld(from log: SQLiteMessageLog, _ now: WallTime) {
        guard let age = settings.retentionMilliseconds, let next = nextRetention, next <= now else { return }
        let limit = WallTime(milliseconds: now.milliseconds - age)
        let more = complaining("retention", now) {
            try log.removeMessages(before: limit, countMax: Self.rowsPerSlice)
        }
        let isLong =
            more == false
            ? complaining("compaction", now) { try log.compact(pagesMax: Self.pagesPerSlice) } : nil
        guard more != true, isLong != true else {
            hasUpkeep = true
            return
        }
        nextRetention = WallTime(milliseconds: now.milliseconds + Self.retentionInterval)
    }

    /// Runs a step of storage work; a failure is logged, each kind once in ten seconds.
    @discardableResult
    private func complaining<Result>(_ step: String, _ now: WallTime, _ body: () throws -> Result) -> Result?
    {
        do {
            return try body()
        } catch {
            settings.metrics.storageErrors.add(1, ordering: .relaxed)
            let last = lastComplaint[step]
            guard last.map({ now.milliseconds - $0.milliseconds >= 10_000 }) ?? true else { return nil }
            lastComplaint[step] = now
            let known = error as? SQLiteError
            let code = known?.shortDescription ?? String(describing: type(of: error))
            // An SQLiteError's description has the statement's text and never its values.
            settings.logger.log(
                .error, "storage failed",
                [("step", step), ("code", code)] + (known.map { [("detail", "\($0)")] } ?? []))
            return nil
        }
    }
}
