import SQLiteKit
import Synchronization

/// Moves the write-ahead log of the messages into their file, on a thread and a connection of its own.
///
/// A checkpoint writes and syncs the file, which takes tens of milliseconds; done by the connection that commits, as
/// SQLite does it by itself, every message of that time waits for it. Beside it, commits go on. They share the disk,
/// though: what is moved at once is little, or a commit waits behind it. Only starting the write-ahead log anew needs
/// the committing connection (``restartIfDue(_:)``), and there is nearly nothing left to move then.
final class LogCheckpointer: Sendable {
    private let queue = WorkQueue<Void>()
    private let waitingByteCount = Atomic<Int>(0)
    private let isRestartDue = Atomic<Bool>(false)
    private let path: String

    /// So much gathers before it is moved.
    private static let bytesMin = 1 << 20
    /// A write-ahead log of more pages is started anew; with 4 KiB each, it is 32 MiB long then.
    private static let pagesMax: Int64 = 8_192
    /// The room that the write-ahead log gets on the disk once there is something to move: a little more than that.
    private static let reservedByteCount = 40 << 20

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
                database.reserveWriteAheadLog(Self.reservedByteCount)
                do {
                    let pages = try database.first("PRAGMA wal_checkpoint(PASSIVE)") { $0.integer(at: 1) }
                    isRestartDue.store(pages ?? 0 > Self.pagesMax, ordering: .relaxed)
                } catch {
                    // What comes next asks for another one; closing the log moves everything in any case.
                }
                return nil
            },
            end: { $0.close() })
    }

    /// Says how many bytes more there are to move.
    func noteWrite(of byteCount: Int) {
        let waiting = waitingByteCount.add(byteCount, ordering: .relaxed).newValue
        guard waiting >= Self.bytesMin else { return }
        waitingByteCount.store(0, ordering: .relaxed)
        queue.post(())
    }

    /// Lets the next commit begin the write-ahead log at its start, when it is long; nearly all of it was moved.
    func restartIfDue(_ database: Database) {
        guard isRestartDue.exchange(false, ordering: .relaxed) else { return }
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
