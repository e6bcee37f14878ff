import Foundation
import RivuletModel
import RivuletServerCore
import RivuletTestSupport
import SQLiteKit
import Testing

@testable import RivuletServer

/// What only the log in a file can get wrong.
@Suite struct SQLiteMessageLogTests {
    let folder: TemporaryFolder
    let path: String
    private let now = WallTime(milliseconds: 1_000_000)
    private let all = PageLimit(countMax: 1_000_000, bytesMax: .max)

    init() throws {
        folder = try TemporaryFolder()
        path = folder.path(of: "messages.sqlite")
    }

    private func contents(_ log: SQLiteMessageLog, of user: Int64 = 2) throws -> [String] {
        try log.messages(in: queue(user), after: 0, limit: all).messages.map(\.content)
    }

    private func foldAll(_ log: SQLiteMessageLog) throws {
        while try log.maintain(rowsMax: 50) {}
    }

    @Test func `a uuid is known after the file was closed and opened again`() throws {
        let first = try SQLiteMessageLog(path: path)
        let outcomes = try first.append([makeEntry(#"{"uuid":"A"}"#)], at: now)
        try first.close()
        let second = try SQLiteMessageLog(path: path)
        #expect(second.unfoldedCount == 0, "closing folds")
        guard case .stored(let places) = outcomes[0] else {
            Issue.record("not stored")
            return
        }
        #expect(try second.append([makeEntry(#"{"uuid":"A"}"#)], at: now) == [.duplicate(places)])
    }

    @Test func `keys go on after the file was opened again`() throws {
        var last: Int64 = 0
        for _ in 0..<4 {
            let log = try SQLiteMessageLog(path: path)
            guard case .stored(let places) = try log.append([makeEntry("x")], at: now)[0] else { continue }
            #expect(places[0].key > last)
            last = places[1].key
            if Bool.random() { try log.close() }
        }
    }

    @Test func `reported keys survive an orderly close`() throws {
        let first = try SQLiteMessageLog(path: path)
        try first.report(17, of: queue(2), by: Account(user: UserID(2)))
        try first.close()
        let second = try SQLiteMessageLog(path: path)
        #expect(try second.reportedKey(of: queue(2), by: Account(user: UserID(2))) == 17)
    }

    @Test func `a failed append leaves nothing behind, in the file and in memory`() throws {
        let log = try SQLiteMessageLog(path: path)
        _ = try log.append([makeEntry("before"), makeEntry(#"{"uuid":"B"}"#)], at: now)
        // As when the disk is full: SQLite may not take one more page.
        let pages = try log.database.integer("PRAGMA page_count") ?? 0
        try log.database.executeScript("PRAGMA max_page_count = \(pages)")
        let big = String(repeating: "x", count: 30_000)
        let lost = [makeEntry(#"{"uuid":"A","text":"\#(big)"}"#), makeEntry(big, number: 4)]
        let error = #expect(throws: SQLiteError.self) { try log.append(lost, at: now) }
        #expect(error?.code.primary == .full)
        #expect(try contents(log) == ["before", #"{"uuid":"B"}"#])

        try log.database.executeScript("PRAGMA max_page_count = 1000000")
        let outcomes = try log.append(lost, at: now)
        for outcome in outcomes {
            guard case .stored = outcome else {
                Issue.record("what was never stored was taken for a duplicate")
                return
            }
        }
        #expect(try contents(log).count == 4)
        #expect(try contents(SQLiteMessageLog(path: path)).count == 4)
    }

    @Test func `a fold that fails is tried again`() throws {
        let log = try SQLiteMessageLog(path: path)
        for index in 0..<500 {
            _ = try log.append([makeEntry(#"{"uuid":"\#(index)"}"#, to: Int64(index) + 10)], at: now)
        }
        let pages = try log.database.integer("PRAGMA page_count") ?? 0
        try log.database.executeScript("PRAGMA max_page_count = \(pages)")
        #expect(throws: SQLiteError.self) { try foldAll(log) }
        try log.database.executeScript("PRAGMA max_page_count = 1000000")
        try foldAll(log)
        #expect(log.recentIdentities.isEmpty)
        #expect(log.queues.values.allSatisfy { $0.entries.isEmpty })
        #expect(try contents(log, of: 1).count == 500)
        #expect(try contents(SQLiteMessageLog(path: path), of: 1).count == 500)
        #expect(try log.database.quickCheck() == [])
    }

    @Test func `two messages whose identities share a hash are two messages`() throws {
        let log = try SQLiteMessageLog(path: path)
        _ = try log.append([makeEntry(#"{"uuid":"A"}"#)], at: now)
        let other = makeEntry(#"{"uuid":"B"}"#)
        let identity = try #require(MessageIdentity(other))
        log.recentIdentities.add(identity.hash, RecordLocation(row: 1, offset: 1))
        guard case .stored = try log.append([other], at: now)[0] else {
            Issue.record("suppressed")
            return
        }
        #expect(try contents(log).count == 2)
    }

    @Test func `a big batch spans several rows of the journal`() throws {
        let log = try SQLiteMessageLog(path: path)
        let text = String(repeating: "y", count: 1000)
        let entries = (0..<500).map { makeEntry("\($0) \(text)") }
        _ = try log.append(entries, at: now)
        #expect(try log.database.integer("SELECT count(*) FROM journal") ?? 0 > 3)
        #expect(try contents(log) == entries.map(\.content))
        #expect(try contents(SQLiteMessageLog(path: path)) == entries.map(\.content))
    }

    @Test(arguments: [
        "UPDATE journal SET records = substr(records, 1, 40)", "UPDATE journal SET records = x'07'",
    ])
    func `a damaged journal is told as damage`(script: String) throws {
        let log = try SQLiteMessageLog(path: path)
        _ = try log.append([makeEntry("x")], at: now)
        try log.database.executeScript(script)
        let error = #expect(throws: SQLiteError.self) { try SQLiteMessageLog(path: path) }
        #expect(error?.isCorrupt == true)
    }

    @Test(arguments: 1...200 as ClosedRange<UInt64>)
    func `no bytes make reading a record trap`(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        var row: [UInt8] = [SQLiteMessageLog.rowFormat]
        LogRecord.write(
            makeEntry("content"), [QueuePlace(key: 1, previous: 0), QueuePlace(key: 2, previous: 0)], nil,
            to: &row)
        for _ in 0..<Int.random(in: 1...6, using: &random) {
            row[Int.random(in: 0..<row.count, using: &random)] = UInt8.random(
                in: .min ... .max, using: &random)
        }
        row.removeLast(Int.random(in: 0..<20, using: &random))
        if let record = LogRecord.read(row, at: 1) {
            #expect(record.end <= row.count)
            #expect(record.places.count == record.entry.queues.count)
        }
    }
}
