import RivuletModel
package import RivuletServerCore
import RivuletWire

/// A server's log in a file, which does what the one in memory does, over a disk that fails.
///
/// The simulation itself opens no file: who runs it hands one in.
package protocol SimulatedLogFile: AnyObject {
    /// Stores a batch, and does some of the work that was put off.
    func append(_ entries: [LogEntry], at now: WallTime) throws -> [AppendOutcome]

    /// Tries to store a batch while the disk is full; answers whether anything of it stayed.
    func appendOnFullDisk(_ entries: [LogEntry], at now: WallTime) throws -> Bool

    /// The process dies, or the power fails, while it stores these batches, after so many writes; the file is opened
    /// anew. Answers how many of them it has.
    func crash(
        during batches: [[LogEntry]], at now: WallTime, afterWrites count: Int, losesPower: Bool
    ) throws -> Int

    /// Takes a key that a reader reported.
    func report(_ key: Int64, of queue: QueueID, by reader: Account) throws

    /// The key that a reader reported last.
    func reportedKey(of queue: QueueID, by reader: Account) throws -> Int64

    /// Copies the file.
    func backUp() throws

    /// Puts the copy in the place of the file, with the last key that was given or with nothing that knows it.
    func restore(lastKey: Int64?, at now: WallTime) throws

    /// Whether the file holds the same queues as the log in memory, and is sound.
    func check(against log: MemoryLog, queues: [QueueID]) throws -> String?
}

extension Simulation {
    /// Does something with the log's file, if there is one; what goes wrong breaks the rule of the store.
    private mutating func withLogFile(_ body: (any SimulatedLogFile) throws -> Void) {
        guard let logFile else { return }
        do {
            try body(logFile)
        } catch {
            ledger.fail(.storeDiffers, "the log's file: \(error)")
        }
    }

    /// Compares what the file answers with what the log in memory answered.
    mutating func appendToLogFile(_ entries: [LogEntry], _ outcomes: [AppendOutcome]) {
        withLogFile { [wallTime] file in
            let answered = try file.append(entries, at: wallTime)
            guard answered == outcomes else {
                throw SimulatedFileError(description: "the outcomes are \(answered) instead of \(outcomes)")
            }
        }
    }

    mutating func fillLogFile(_ entries: [LogEntry]) {
        withLogFile { [wallTime] file in
            guard try file.appendOnFullDisk(entries, at: wallTime) else { return }
            throw SimulatedFileError(description: "a batch stays that found the disk full")
        }
    }

    /// A real file decides itself what a crash leaves of the batches that it is given.
    mutating func crashLogFile(_ losesPower: Bool) -> Int {
        let count = chance.below(40)
        let batches = serverDiskFullUntil > now ? [] : pendingAppends.map(\.entries)
        var survivors = 0
        let reports = unsyncedReports
        unsyncedReports = []
        let log = log
        withLogFile { [wallTime] file in
            survivors = try file.crash(
                during: batches, at: wallTime, afterWrites: count, losesPower: losesPower)
            guard (0...batches.count).contains(survivors) else {
                throw SimulatedFileError(description: "\(survivors) of \(batches.count) batches stayed")
            }
            for (queue, reader, before) in reports.reversed() {
                let key = try file.reportedKey(of: queue, by: reader)
                guard try key <= log.reportedKey(of: queue, by: reader) || key == before else {
                    throw SimulatedFileError(description: "\(reader) has reported \(key)")
                }
                try log.setReportedKey(key, of: queue, by: reader)
            }
        }
        return survivors
    }

    mutating func backUpLogFile() {
        withLogFile { try $0.backUp() }
    }

    mutating func restoreLogFile(lastKey: Int64?) {
        withLogFile { [wallTime] in try $0.restore(lastKey: lastKey, at: wallTime) }
    }

    mutating func checkLogFile() {
        let queues = ledger.allQueueIDs
        withLogFile { [log] file in
            guard let difference = try file.check(against: log, queues: queues) else { return }
            throw SimulatedFileError(description: difference)
        }
    }
}
