import Foundation
import SQLiteKit
import Synchronization

/// Moves the write-ahead log of the messages into their file, on a thread and a connection of its own.
///
/// A checkpoint writes and syncs the file, which takes tens of milliseconds; done by the connection that commits, as
/// SQLite does it by itself, every message of that time waits for it. Beside it, commits go on. Only starting the
/// write-ahead log anew needs the committing connection (``restartIfDue(_:)``), and there is nearly nothing left to
/// move then.
final class LogCheckpointer: Sendable {
    private let queue = WorkQueue<Void>()
    private let hasCommits = Atomic<Bool>(false)
    private let isCaughtUp = Atomic<Bool>(false)
    private let path: String

    /// How long commits gather before they are moved.
    private static let interval = 0.25
    /// A longer write-ahead log is started anew.
    private static let bytesMax: UInt64 = 32 << 20

    /// Makes a checkpointer that does not run yet.
    init(path: String) {
        self.path = path
    }

    /// Opens its connection and starts.
    func start() throws {
        let path = path
        try queue.start(
            named: "rivulet-checkpoint",
            makeState: {
                var options = SQLiteMessageLog.options
                options.cacheKibibytes = 256
                return try Database(path: path, options: options)
            },
            work: { [self] database, _ in
                // Gathers without holding anything; the log's thread never waits for this one.
                Thread.sleep(forTimeInterval: Self.interval)
                hasCommits.store(false, ordering: .relaxed)
                do {
                    try database.checkpoint()
                    isCaughtUp.store(true, ordering: .releasing)
                } catch {
                    // The next commit asks for another one; closing the log moves everything in any case.
                }
                return nil
            },
            end: { $0.close() })
    }

    /// Says that there is something to move.
    func noteCommit() {
        guard !hasCommits.exchange(true, ordering: .relaxed) else { return }
        queue.post(())
    }

    /// Lets the next commit begin the write-ahead log at its start, when it is long and nearly moved.
    func restartIfDue(_ database: Database) {
        guard isCaughtUp.exchange(false, ordering: .acquiring) else { return }
        let attributes = try? FileManager.default.attributesOfItem(atPath: path + "-wal")
        guard let size = attributes?[.size] as? UInt64, size > Self.bytesMax else { return }
        do {
            try database.checkpoint()
        } catch {
            // Somebody reads; the next time will do.
        }
    }

    /// Ends the thread; blocks until it is done.
    func close() {
        queue.close()
        queue.waitUntilEnded()
    }
}
