import CFaultVFS
import Foundation
import RivuletModel
import RivuletServerCore
import RivuletSimulation
import SQLiteKit

@testable import RivuletServer

/// The server's real log, whose disk fails when it is told to.
final class SQLiteLogFile: SimulatedLogFile {
    private let folder: String
    private let seed: UInt64
    private var generation = 0
    private var log: SQLiteMessageLog
    private var crashCount: UInt64 = 0
    private var appendCount = 0

    init(_ folder: String, seed: UInt64) throws {
        self.folder = folder
        self.seed = seed
        log = try SQLiteMessageLog(path: folder + "/log-0.db", mark: KeyMark(path: folder + "/keys"))
    }

    /// The layer below knows files by their paths, so what is put back gets one of its own.
    private var path: String { folder + "/log-\(generation).db" }

    private func open(at now: WallTime) throws {
        log = try SQLiteMessageLog(path: path, mark: KeyMark(path: folder + "/keys"), openedAt: now)
    }

    func append(_ entries: [LogEntry], at now: WallTime) throws -> [AppendOutcome] {
        let outcomes = try log.append(entries, at: now)
        appendCount += 1
        // Folding goes on in slices between commits, now and then to its end.
        if appendCount % 3 == 0 { _ = try log.maintain(rowsMax: appendCount % 4 == 0 ? 4096 : 4) }
        return outcomes
    }

    func appendOnFullDisk(_ entries: [LogEntry], at now: WallTime) throws -> Bool {
        let before = log.lastKey
        rivulet_fault_arm(path, RIVULET_FAULT_FULL, 1, seed)
        defer { _ = rivulet_fault_disarm() }
        do {
            // What is known already needs no room.
            return try log.append(entries, at: now).contains {
                if case .stored = $0 { true } else { false }
            }
        } catch {
            return log.lastKey != before
        }
    }

    func crash(
        during batches: [[LogEntry]], at now: WallTime, afterWrites count: Int, losesPower: Bool
    ) throws -> Int {
        crashCount += 1
        let mode = losesPower ? RIVULET_FAULT_POWER : RIVULET_FAULT_TEAR
        rivulet_fault_arm(path, mode, count + 1, seed &+ crashCount)
        var doneCount = 0
        var lastKey = log.lastKey
        do {
            for batch in batches {
                _ = try log.append(batch, at: now)
                doneCount += 1
                lastKey = log.lastKey
            }
            while try log.maintain(rowsMax: 16) {}
        } catch {
            // The server is dead; what its file holds is seen when it is opened again.
        }
        log.database.close()
        _ = rivulet_fault_disarm()
        try open(at: now)
        guard log.lastKey >= lastKey else {
            throw SliceError(description: "key \(lastKey) was committed, and \(log.lastKey) is the last")
        }
        return doneCount + (log.lastKey > lastKey ? 1 : 0)
    }

    func report(_ key: Int64, of queue: QueueID, by reader: Account) throws {
        try log.report(key, of: queue, by: reader)
    }

    func reportedKey(of queue: QueueID, by reader: Account) throws -> Int64 {
        try log.reportedKey(of: queue, by: reader)
    }

    func backUp() throws {
        while try log.maintain(rowsMax: 4096) {}
        guard try log.database.checkpoint(truncates: true) else {
            throw SliceError(description: "the log's file could not be copied")
        }
        try? FileManager.default.removeItem(atPath: folder + "/copy.db")
        try FileManager.default.copyItem(atPath: path, toPath: folder + "/copy.db")
    }

    func restore(lastKey: Int64?, at now: WallTime) throws {
        log.database.close()
        generation += 1
        try FileManager.default.copyItem(atPath: folder + "/copy.db", toPath: path)
        try? FileManager.default.removeItem(atPath: folder + "/keys")
        if let lastKey { KeyMark(path: folder + "/keys").save(lastKey) }
        try open(at: now)
    }

    func check(against memory: MemoryLog, queues: [QueueID]) throws -> String? {
        let findings = try log.database.integrityCheck()
        guard findings == [] || findings == ["ok"] else { return "\(findings)" }
        guard log.lastKey == memory.lastKey else {
            return "\(log.lastKey) is the last key instead of \(memory.lastKey)"
        }
        let all = PageLimit(countMax: 1_000_000, bytesMax: .max)
        for queue in queues {
            let held = try log.messages(in: queue, after: 0, limit: all).messages
            let wanted = try memory.messages(in: queue, after: 0, limit: all).messages
            if held != wanted { return "\(queue) holds \(held.count) messages instead of \(wanted.count)" }
        }
        return nil
    }
}
