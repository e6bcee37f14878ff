import CFaultVFS
import Foundation
import RivuletModel
import RivuletServerCore
import RivuletTestSupport
import RivuletWire
import SQLiteKit
import Testing

@testable import RivuletServer

/// The n-th write, sync or truncation of the log goes wrong, for n = 1, 2, 3 … until a whole run passes.
///
/// Whatever happens: nothing acknowledged is missing, nothing is doubled, queues keep their order, and no key is given
/// twice. With `RIVULET_SOAK` every n is tried, else the seed picks about every thirtieth.
@Suite("Message log with a failing disk", .serialized)
struct MessageLogFaultTests {
    static let seeds: [UInt64] = [21, 22]
    static let isThorough = ProcessInfo.processInfo.environment["RIVULET_SOAK"] != nil
    /// A run has a few hundred operations; a fault that never comes would go on for ever.
    private static let operationsMax = 5_000
    private static let faultsMin = isThorough ? 60 : 4

    /// The numbers of the operations that go wrong, one run each.
    private struct Numbers {
        var random: SeededGenerator
        var number = 0

        mutating func next() -> Int {
            number += isThorough ? 1 : Int.random(in: 1...59, using: &random)
            return number
        }
    }

    @Test(arguments: [RIVULET_FAULT_ERROR, RIVULET_FAULT_FULL].map(\.rawValue), seeds)
    func `after a failed write or sync, or a full disk, the log goes on, and what failed can come again`(
        mode: UInt32, seed: UInt64
    ) throws {
        rivulet_fault_install()
        let folder = try TemporaryFolder()
        var numbers = Numbers(random: SeededGenerator(seed: seed))
        var faultCount = 0
        while true {
            let number = numbers.next()
            try #require(number < Self.operationsMax)
            var life = LogLife(path: folder.path(of: "fault-\(number)"), seed: seed)
            // The first seed begins with a file that is there, the second makes it.
            if seed == Self.seeds[0] { try life.open().close() }
            rivulet_fault_arm(folder.path, rivulet_fault_mode(mode), number, seed)
            try life.play(stopsAtError: false)
            let hasFired = rivulet_fault_disarm() != 0
            // The process ends here: nothing of what closing the file writes reaches it.
            rivulet_fault_arm(folder.path, RIVULET_FAULT_TEAR, 1, seed)
            life.log = nil
            _ = rivulet_fault_disarm()
            try life.checkAfterwards("operation \(number)")
            guard hasFired else { break }
            #expect(life.failures.count <= 1, "operation \(number): one fault is one failure")
            for failure in life.failures {
                #expect(
                    [10, 13].contains(failure.code.primary.rawValue), "operation \(number) says \(failure)")
            }
            faultCount += 1
        }
        // Without faults, the test would prove nothing.
        #expect(faultCount >= Self.faultsMin)
    }

    @Test(arguments: [RIVULET_FAULT_TEAR, RIVULET_FAULT_POWER].map(\.rawValue), seeds)
    func `a crash or power cut in any write or sync loses nothing acknowledged and doubles nothing`(
        mode: UInt32, seed: UInt64
    ) throws {
        rivulet_fault_install()
        let folder = try TemporaryFolder()
        var numbers = Numbers(random: SeededGenerator(seed: seed))
        var faultCount = 0
        while true {
            let number = numbers.next()
            try #require(number < Self.operationsMax)
            var life = LogLife(path: folder.path(of: "crash-\(number)"), seed: seed)
            if seed == Self.seeds[0] { try life.open().close() }
            rivulet_fault_arm(folder.path, rivulet_fault_mode(mode), number, seed &+ UInt64(number))
            try life.play(stopsAtError: true)
            // Closed while nothing more reaches the disk.
            life.log = nil
            let hasFired = rivulet_fault_disarm() != 0
            try life.checkAfterwards("operation \(number)")
            guard hasFired else { break }
            faultCount += 1
        }
        #expect(faultCount >= Self.faultsMin)
    }

    @Test func `after a sync that failed nothing is acknowledged before everything is in the file`() throws {
        rivulet_fault_install()
        let folder = try TemporaryFolder()
        let path = folder.path(of: "messages.sqlite")
        let log = try SQLiteMessageLog(path: path)
        let now = WallTime(milliseconds: 1_000_000)
        _ = try log.append([makeEntry(#"{"uuid":"A"}"#)], at: now)
        // Folded without waiting for the disk: the system may have thrown this away when it failed to write.
        while try log.maintain(rowsMax: 10) {}
        // A commit of one row writes its frames and then waits; the last of its operations is the sync.
        var failed: SQLiteError?
        for number in 1...40 where failed?.code != .syncFailed {
            rivulet_fault_arm(folder.path, RIVULET_FAULT_ERROR, number, 1)
            do {
                _ = try log.append([makeEntry(#"{"uuid":"\#(number)"}"#)], at: now)
            } catch let error as SQLiteError {
                failed = error
            }
            _ = rivulet_fault_disarm()
        }
        #expect(failed?.code == .syncFailed)
        #expect(try logSize(path) > 0)
        // While it cannot be made good, every append fails.
        rivulet_fault_arm(folder.path, RIVULET_FAULT_ERROR, 1, 1)
        #expect(throws: SQLiteError.self) { try log.append([makeEntry(#"{"uuid":"B"}"#)], at: now) }
        _ = rivulet_fault_disarm()
        let before = try logSize(path)
        _ = try log.append([makeEntry(#"{"uuid":"B"}"#)], at: now)
        #expect(try logSize(path) < before, "the write-ahead log begins anew")
        _ = try log.append([makeEntry(#"{"uuid":"C"}"#)], at: now)
        let held = try log.messages(in: queue(2), after: 0, limit: PageLimit()).messages.map(\.content)
        #expect(held.suffix(2) == [#"{"uuid":"B"}"#, #"{"uuid":"C"}"#])
    }

    private func logSize(_ path: String) throws -> Int {
        try FileManager.default.attributesOfItem(atPath: path + "-wal")[.size] as? Int ?? 0
    }

    @Test
    func `a whole server tells what failed, ends the connection, and takes the message when it comes again`()
        async throws
    {
        rivulet_fault_install()
        let server = try await TestServer(users: [1, 2])
        let content = #"{"uuid":"A","text":"again"}"#
        let author = try await server.login(1)
        #expect(try await author.receiveUntilPong().isEmpty)
        rivulet_fault_arm(server.folder.path(of: "messages.sqlite"), RIVULET_FAULT_ERROR, 1, 1)
        _ = await author.sendIM(from: 1, to: 2, content)
        #expect(try await author.receiveUntilClosed().isEmpty, "nothing is acknowledged")
        #expect(rivulet_fault_disarm() != 0)
        let line = try #require(server.log.lines.first { $0.message == "storage failed" })
        #expect(line.level == .error)
        let fields = Dictionary(line.fields.map { ($0.name, $0.value) }) { first, _ in first }
        #expect(fields["step"] == "append")
        #expect(fields["code"] == "SQLITE_IOERR")
        #expect(fields["detail"]?.contains("disk I/O error") == true, "\(fields)")
        #expect(!line.fields.contains { $0.value.contains("again") })

        let again = try await server.login(1)
        for _ in 0..<2 {
            let sequence = await again.sendIM(from: 1, to: 2, content)
            #expect(try await again.receive(2)[1].body == .ack(Acknowledgement(sequence: sequence)))
        }
        let reader = try await server.login(2)
        #expect(try await reader.page(.sync, .syncKey(-1)).map(\.command) == [.syncBegin, .im, .syncEnd])
        await server.stop()
    }
}

/// A log and what it must hold, through one run of appends in groups, folding, burning and resending.
private struct LogLife {
    let path: String
    private var random: SeededGenerator
    var log: SQLiteMessageLog?
    /// What was acknowledged, batch by batch, and the twin that holds it.
    private var acknowledged: [[LogEntry]] = []
    private var model = MemoryLog()
    private var places: [(entry: LogEntry, places: [QueuePlace])] = []
    /// What was given to the log when it failed: in it as a whole or not at all.
    private var pending: [LogEntry]?
    /// The unread counts that the log may answer: the one before the last acknowledged batch, and what came later.
    private var unreadCounts: [Int32] = [0]
    private(set) var failures: [SQLiteError] = []
    private var lastNumber = 0

    private static let owner = Account(user: UserID(4))
    private static let queues: [QueueID] = (1...4).map { queue($0) } + [.group(GroupID(8))]

    init(path: String, seed: UInt64) {
        self.path = path
        random = SeededGenerator(seed: seed)
    }

    func open() throws -> SQLiteMessageLog {
        try SQLiteMessageLog(path: path, mark: KeyMark(path: path + "-keys"))
    }

    /// Appends groups of entries until something throws, or to the end.
    mutating func play(stopsAtError: Bool) throws {
        do {
            log = try open()
        } catch let error as SQLiteError {
            failures.append(error)
            guard !stopsAtError else { return }
            log = try open()
        }
        for round in 1...12 as ClosedRange<Int64> {
            let now = WallTime(milliseconds: 1_000_000 + round * 1000)
            let batch = (0..<Int.random(in: 1...6, using: &random)).map { _ in nextEntry() }
            try log?.setUnreadCount(Int32(round), of: Self.owner)
            unreadCounts.append(Int32(round))
            do {
                try append(batch, at: now)
            } catch let error as SQLiteError {
                failures.append(error)
                if stopsAtError {
                    pending = batch
                    return
                }
                try checkContents(of: #require(log), "right after the failure", model)
                // The clients send it again.
                try append(batch, at: now)
            }
            guard round % 3 == 0 else { continue }
            do {
                while try log?.maintain(rowsMax: 9) == true {}
            } catch let error as SQLiteError {
                failures.append(error)
                if stopsAtError { return }
            }
        }
    }

    private mutating func append(_ batch: [LogEntry], at now: WallTime) throws {
        guard let outcomes = try log?.append(batch, at: now) else { return }
        #expect(try outcomes == model.append(batch, at: now))
        acknowledged.append(batch)
        unreadCounts.removeFirst(unreadCounts.count - 1)
        for case (let entry, .stored(let found)) in zip(batch, outcomes) { places.append((entry, found)) }
    }

    private mutating func nextEntry() -> LogEntry {
        lastNumber += 1
        let author = Int64.random(in: 1...3, using: &random)
        let content = #"{"uuid":"\#(lastNumber)","text":"\#(lastNumber)","burn":{"seconds":5}}"#
        switch Int.random(in: 0..<10, using: &random) {
        case 0, 1:
            var entry = makeEntry(content, from: author, to: 7)
            entry.command = .groupIM
            entry.queues = (1...4).filter { $0 != author }.map { queue($0) } + [queue(author)]
            return entry
        case 2:
            var entry = makeEntry(content, from: author, to: 8)
            entry.command = .groupIM
            entry.queues = [.group(GroupID(8))]
            return entry
        case 3:
            return places.randomElement(using: &random)?.entry ?? makeEntry(content)
        case 4:
            let peers = places.map(\.entry).filter { $0.command == .im && !uuid($0).isEmpty }
            guard let target = peers.last else { return makeEntry(content) }
            return makeEntry(
                #"{"uuid":"b\#(lastNumber)","burned":{"msgid":"\#(uuid(target))"}}"#, from: target.receiver,
                to: target.author.user.rawValue)
        case 5: return makeEntry("a receipt", from: author, device: 0)
        default: return makeEntry(content, from: author, to: Int64.random(in: 1...4, using: &random))
        }
    }

    private func uuid(_ entry: LogEntry) -> String {
        (entry.content.firstMatch(of: /"uuid":"([^"]+)"/)?.1).map(String.init) ?? ""
    }

    // MARK: Checks

    /// Opens the file as the next process does, and looks whether everything is as it must be.
    func checkAfterwards(_ moment: String) throws {
        let again = try open()
        #expect(try again.database.quickCheck() == [], "\(moment)")
        // The batch that was under way is there as a whole or not at all.
        let later = MemoryLog()
        for batch in acknowledged { _ = try later.append(batch, at: WallTime(milliseconds: 0)) }
        let held = try contents(of: again)
        if let pending, try held != contents(of: model) {
            _ = try later.append(pending, at: WallTime(milliseconds: 0))
        }
        try checkContents(of: again, moment, later)
        #expect(unreadCounts.contains(try again.unreadCount(of: Self.owner)), "\(moment)")

        // Everything comes again, since its ACK may have been lost.
        let newest = try Self.queues.map { try again.newestKey(of: $0) }
        let known = places.filter { $0.entry.content.hasPrefix("{") }
        let outcomes = try again.append(known.map(\.entry), at: WallTime(milliseconds: 2_000_000))
        #expect(outcomes == known.map { .duplicate($0.places) }, "\(moment)")
        if let pending {
            let resent = pending.filter { $0.content.hasPrefix("{") }
            _ = try again.append(resent, at: WallTime(milliseconds: 2_000_000))
            _ = try later.append(resent, at: WallTime(milliseconds: 2_000_000))
            let (held, expected) = (try contents(of: again), try contents(of: later))
            #expect(
                held.mapValues { $0.map(\.content) } == expected.mapValues { $0.map(\.content) }, "\(moment)")
        }
        let largest = max(newest.max() ?? 0, places.flatMap(\.places).map(\.key).max() ?? 0)
        let fresh = try again.append([makeEntry("fresh")], at: WallTime(milliseconds: 2_000_000))
        guard case .stored(let given) = fresh.first else {
            Issue.record("\(moment): \(fresh)")
            return
        }
        #expect(given.allSatisfy { $0.key > largest && $0.previous < $0.key }, "\(moment)")
        try again.close()
    }

    private func contents(of log: any MessageLog) throws -> [QueueID: [StoredMessage]] {
        var all: [QueueID: [StoredMessage]] = [:]
        for id in Self.queues {
            all[id] = try log.messages(in: id, after: 0, limit: PageLimit(countMax: 10_000)).messages
        }
        return all
    }

    private func checkContents(of log: SQLiteMessageLog, _ moment: String, _ model: MemoryLog) throws {
        let (held, expected) = (try contents(of: log), try contents(of: model))
        #expect(held == expected, "\(moment)")
    }
}
