import Foundation
import RivuletModel
import RivuletServerCore
import RivuletTestSupport
import RivuletWire
import SQLiteKit
import Testing

@testable import RivuletServer

/// Collisions, burning, removal and epochs: what keeps a log right for years.
@Suite struct MessageLogCareTests {
    typealias Kind = MessageLogContractTests.Kind

    private let now = WallTime(milliseconds: 1_000_000)
    private let all = PageLimit(countMax: 100_000, bytesMax: .max)

    private func contents(_ log: any MessageLog, _ id: QueueID = queue(2)) throws -> [String] {
        try log.messages(in: id, after: 0, limit: all).messages.map(\.content)
    }

    private func isStored(_ outcome: AppendOutcome) -> Bool {
        if case .stored = outcome { true } else { false }
    }

    // MARK: Identities

    @Test(arguments: Kind.allCases)
    func `when all hashes collide, messages are still told apart by what they are`(kind: Kind) throws {
        let folder = try TemporaryFolder()
        let log = try MessageLogContractTests.make(kind, folder, hashBits: 0)
        // Each differs from the first in one part of the key.
        let entries = [
            makeEntry(#"{"uuid":"A"}"#), makeEntry(#"{"uuid":"B"}"#), makeEntry(#"{"uuid":"A"}"#, from: 3),
            makeEntry(#"{"uuid":"A"}"#, to: 4), makeEntry("x", number: 4), makeEntry("y", number: 4),
            makeEntry("x", number: 5), makeEntry("x", number: 4, device: 6), makeEntry("x", to: 9, number: 4),
        ]
        var first: [[QueuePlace]] = []
        for entry in entries {
            guard case .stored(let places) = try log.append([entry], at: now)[0] else {
                Issue.record("\(entry.content) was suppressed")
                return
            }
            first.append(places)
        }
        // Each is known again, and answered with its own places.
        #expect(try log.append(entries, at: now) == first.map { .duplicate($0) })
        var other = entries[0]
        other.command = .groupIM
        #expect(try isStored(log.append([other], at: now)[0]), "another command")
        other = entries[0]
        other.author.app = 2
        #expect(try isStored(log.append([other], at: now)[0]), "another app")
        other = entries[0]
        other.receiverApp = 2
        #expect(try isStored(log.append([other], at: now)[0]), "another app of the receiver")
    }

    @Test func `a collision is told apart after folding and opening again, too`() throws {
        let folder = try TemporaryFolder()
        let path = folder.path(of: "messages.sqlite")
        let entries = (0..<20).map { makeEntry(#"{"uuid":"\#($0)"}"#) }
        var places: [AppendOutcome] = []
        for entry in entries {
            let log = try SQLiteMessageLog(path: path, hashBits: 1)
            guard case .stored(let stored) = try log.append([entry], at: now)[0] else {
                Issue.record("suppressed")
                return
            }
            places.append(.duplicate(stored))
            // Some are folded, some are read back from the journal.
            if places.count % 3 == 0 { try log.close() }
        }
        #expect(try SQLiteMessageLog(path: path, hashBits: 1).append(entries, at: now) == places)
    }

    @Test(arguments: Kind.allCases)
    func `receipts in the same second both arrive, and one content goes to two receivers`(kind: Kind) throws {
        let log = try MessageLogContractTests.make(kind, try TemporaryFolder())
        let receipt = #"{"readed":{"msgid":"A"}}"#
        let text = #"{"uuid":"T","text":"to both"}"#
        let outcomes = try log.append(
            [
                makeEntry(receipt), makeEntry(receipt), makeEntry(text, to: 2), makeEntry(text, to: 3),
                makeEntry(text, to: 2),
            ], at: now)
        #expect(outcomes.map(isStored) == [true, true, true, true, false])
        #expect(try contents(log) == [receipt, receipt, text])
        #expect(try contents(log, queue(3)) == [text])
    }

    // MARK: Queues of groups

    @Test(arguments: Kind.allCases)
    func `a super group has a log of its own, with a reported key for each reader`(kind: Kind) throws {
        let log = try MessageLogContractTests.make(kind, try TemporaryFolder())
        let group = QueueID.group(GroupID(2))
        var entry = makeEntry("to the group")
        entry.command = .groupIM
        entry.queues = [group]
        guard case .stored(let places) = try log.append([entry, makeEntry("to the user")], at: now)[0] else {
            Issue.record("not stored")
            return
        }
        #expect(places.count == 1)
        #expect(try contents(log, group) == ["to the group"])
        #expect(try contents(log) == ["to the user"], "user 2 is not group 2")
        let (one, two) = (Account(user: UserID(1)), Account(app: 2, user: UserID(1)))
        try log.report(places[0].key, of: group, by: one)
        #expect(try log.reportedKey(of: group, by: one) == places[0].key)
        #expect(try log.reportedKey(of: group, by: two) == 0)
    }

    @Test(arguments: Kind.allCases)
    func `a thousand queues and two apps keep their places`(kind: Kind) throws {
        let log = try MessageLogContractTests.make(kind, try TemporaryFolder())
        var entry = makeEntry(#"{"uuid":"A"}"#)
        entry.queues = (1...1000).map { queue($0) }
        guard case .stored(let places) = try log.append([entry], at: now)[0] else { return }
        #expect(places.count == 1000)
        var other = makeEntry(#"{"uuid":"B"}"#)
        other.receiverApp = 7
        other.queues = [.user(Account(app: 7, user: UserID(2))), queue(1)]
        _ = try log.append([other], at: now)
        let newest = try log.append([entry], at: now)
        #expect(newest == [.duplicate(places)])
        #expect(try contents(log, queue(1000)) == [entry.content])
        #expect(try contents(log, queue(1)) == [entry.content, other.content])
        #expect(try contents(log, other.queues[0]) == [other.content])
        #expect(try contents(log, queue(2)) == [entry.content])
    }

    // MARK: Burning

    private func burn(_ uuid: String, by reader: Int64 = 2, author: Int64 = 1) -> LogEntry {
        makeEntry(#"{"uuid":"burn-\#(uuid)","burned":{"msgid":"\#(uuid)"}}"#, from: reader, to: author)
    }

    @Test(arguments: Kind.allCases)
    func `a burned message is in no queue any more, keeps its place and is known again`(kind: Kind) throws {
        let log = try MessageLogContractTests.make(kind, try TemporaryFolder())
        let secret = makeEntry(#"{"text":"secret","uuid":"A\u0042","burn":{"seconds":5}}"#)
        let outcomes = try log.append([secret, makeEntry("after")], at: now)
        _ = try log.append([burn("AB")], at: now)
        #expect(try contents(log) == ["after", burn("AB").content])
        #expect(try contents(log, queue(1)) == ["after", burn("AB").content])
        guard case .stored(let places) = outcomes[0] else { return }
        #expect(try log.append([secret], at: now) == [.duplicate(places)], "it does not come back")
        let first = try log.messages(in: queue(2), after: 0, limit: PageLimit(countMax: 1))
        #expect((first.messages.count, first.end, first.hasMore) == (0, places[0].key, true))
        let backwards = try log.messages(in: queue(2), before: .max, countMax: 10)
        #expect(backwards.messages.map(\.content) == [burn("AB").content, "after"])
    }

    @Test(arguments: Kind.allCases)
    func `nobody but the receiver burns a message`(kind: Kind) throws {
        let log = try MessageLogContractTests.make(kind, try TemporaryFolder())
        let secret = makeEntry(#"{"uuid":"A","text":"secret","burn":{"seconds":5}}"#)
        _ = try log.append([secret], at: now)
        var group = burn("A")
        group.command = .groupIM
        let attempts = [
            burn("A", by: 1, author: 2), burn("A", by: 3, author: 1), burn("A", by: 2, author: 3), group,
            burn("B"),
        ]
        _ = try log.append(attempts, at: now)
        #expect(try contents(log).first == secret.content)
        #expect(try contents(log, queue(1)).first == secret.content)
    }

    @Test(arguments: Kind.allCases)
    func `a message that was not sent to be burned stays, also for its author`(kind: Kind) throws {
        let log = try MessageLogContractTests.make(kind, try TemporaryFolder())
        let kept = [#"{"uuid":"A","text":"kept"}"#, #"{"uuid":"B","text":"kept","burn":true}"#].map {
            makeEntry($0)
        }
        _ = try log.append(kept + [burn("A"), burn("B")], at: now)
        for user in [1, 2] as [Int64] {
            #expect(try contents(log, queue(user)).prefix(2) == kept.map(\.content)[...])
        }
    }

    @Test(arguments: [false, true])
    func `a burned content is gone from the file, and a failed burn changes nothing`(isFolded: Bool) throws {
        let folder = try TemporaryFolder()
        let path = folder.path(of: "messages.sqlite")
        let log = try SQLiteMessageLog(path: path)
        _ = try log.append([makeEntry(#"{"uuid":"A","text":"zebracrossing","burn":{"seconds":5}}"#)], at: now)
        if isFolded { while try log.maintain(rowsMax: 10) {} }
        let pages = try log.database.integer("PRAGMA page_count") ?? 0
        try log.database.executeScript("PRAGMA max_page_count = \(pages)")
        var big = burn("A")
        big.content.insert(
            contentsOf: #""text":"\#(String(repeating: "x", count: 30_000))","#,
            at: big.content.index(after: big.content.startIndex))
        #expect(throws: SQLiteError.self) { try log.append([big], at: now) }
        #expect(try contents(log).count == 1)
        try log.database.executeScript("PRAGMA max_page_count = 1000000")
        _ = try log.append([burn("A")], at: now)
        try log.close()
        let bytes = try String(decoding: folder.contents(of: "messages.sqlite"), as: UTF8.self)
        #expect(!bytes.contains("zebracrossing"))
        #expect(try contents(SQLiteMessageLog(path: path)) == [burn("A").content])
    }

    // MARK: Removal

    @Test(arguments: Kind.allCases)
    func `old messages go, new ones stay, and keys go on`(kind: Kind) throws {
        let folder = try TemporaryFolder()
        let log = try MessageLogContractTests.make(kind, folder)
        for index in 0..<300 {
            _ = try log.append(
                [makeEntry(#"{"uuid":"\#(index)"}"#, at: Int64(index) * 1000)],
                at: WallTime(milliseconds: Int64(index) * 1000))
        }
        if let log = log as? SQLiteMessageLog { while try log.maintain(rowsMax: 100) {} }
        let newest = try log.newestKey(of: queue(2))
        let limit = WallTime(milliseconds: 200_000)
        while try log.removeMessages(before: limit, countMax: 17) {}
        let kept = (200..<300).map { #"{"uuid":"\#($0)"}"# }
        #expect(try contents(log) == kept)
        #expect(
            try log.messages(in: queue(2), before: .max, countMax: 1000).messages.map(\.content)
                == kept.reversed())
        #expect(try log.newestKey(of: queue(2)) == newest)
        let page = try log.messages(in: queue(2), after: 0, limit: PageLimit(countMax: 60))
        #expect(page.messages.map(\.content) == Array(kept.prefix(60)))
        #expect(page.hasMore)
        #expect(
            try isStored(log.append([makeEntry(#"{"uuid":"7"}"#)], at: limit)[0]),
            "forgotten with the message")
        #expect(try !isStored(log.append([makeEntry(#"{"uuid":"250"}"#)], at: limit)[0]))
    }

    @Test func `keys are not used again when everything was removed and the file opened again`() throws {
        let folder = try TemporaryFolder()
        let path = folder.path(of: "messages.sqlite")
        var log = try SQLiteMessageLog(path: path)
        for index in 0..<50 { _ = try log.append([makeEntry("\(index)")], at: now) }
        while try log.maintain(rowsMax: 100) {}
        let newest = try log.newestKey(of: queue(1))
        while try log.removeMessages(before: WallTime(milliseconds: .max), countMax: 100) {}
        #expect(try contents(log).count <= 1, "the last row stays, for its key")
        try log.close()
        log = try SQLiteMessageLog(path: path)
        #expect(try log.newestKey(of: queue(1)) == newest)
        guard case .stored(let places) = try log.append([makeEntry("new")], at: now)[0] else { return }
        #expect(places[0].key > newest)
        #expect(places[1].previous == newest)
        #expect(try contents(log).last == "new")
        #expect(try log.database.quickCheck() == [])
    }

    @Test(arguments: 1...4 as ClosedRange<UInt64>)
    func `whatever is removed and whenever, queues are the newest part of what they were`(seed: UInt64) throws
    {
        var random = SeededGenerator(seed: seed)
        let folder = try TemporaryFolder()
        let path = folder.path(of: "messages.sqlite")
        var options = SQLiteMessageLog.options
        options.synchronous = .off
        let model = MemoryLog()
        var log = try SQLiteMessageLog(path: path, options: options)
        var time: Int64 = 1_000_000
        for _ in 0..<250 {
            time += 1000
            switch Int.random(in: 0..<10, using: &random) {
            case 0: log = try SQLiteMessageLog(path: path, options: options)
            case 1, 2: _ = try log.maintain(rowsMax: Int.random(in: 1...30, using: &random))
            case 3:
                let limit = WallTime(milliseconds: time - Int64.random(in: 0...100_000, using: &random))
                _ = try log.removeMessages(before: limit, countMax: Int.random(in: 1...50, using: &random))
                _ = try log.compact(pagesMax: Int.random(in: 1...20, using: &random), unusedMin: 1)
            default:
                let entries = (0..<Int.random(in: 1...6, using: &random)).map { _ in
                    makeEntry("m\(random.next())", to: .random(in: 2...4, using: &random), at: time)
                }
                let now = WallTime(milliseconds: time)
                #expect(try log.append(entries, at: now) == model.append(entries, at: now))
            }
            let id = queue(.random(in: 1...4, using: &random))
            let (kept, whole) = (try contents(log, id), try contents(model, id))
            #expect(kept == Array(whole.suffix(kept.count)))
            #expect(try log.newestKey(of: id) == model.newestKey(of: id))
        }
    }

    @Test func `the file becomes shorter when most of it was removed, and what stays is whole`() throws {
        let folder = try TemporaryFolder()
        let path = folder.path(of: "messages.sqlite")
        let log = try SQLiteMessageLog(path: path)
        let words = String(repeating: "word ", count: 800)
        for index in 0..<1_000 {
            let time = WallTime(milliseconds: Int64(index) * 1000)
            _ = try log.append([makeEntry("\(words)\(index)", at: time.milliseconds)], at: time)
        }
        while try log.maintain(rowsMax: 1_000) {}
        func size() throws -> Int {
            try log.database.checkpoint(truncates: true)
            return try folder.contents(of: "messages.sqlite").count
        }
        let before = try size()
        while try log.removeMessages(before: WallTime(milliseconds: 900_000), countMax: 200) {}
        #expect(try size() == before, "removing alone gives nothing back")
        var slices = 1
        while try log.compact(pagesMax: 100, unusedMin: 16) { slices += 1 }
        #expect(slices > 5, "a little at a time")
        #expect(try size() < before / 4)
        #expect(try contents(log) == (900..<1_000).map { "\(words)\($0)" })
        #expect(try log.database.integrityCheck() == [])
        #expect(try log.compact(pagesMax: 100, unusedMin: 16) == false)
    }

    // MARK: Failing writes

    @Test func `whichever page cannot be written, nothing is half done and the next try goes on`() throws {
        let folder = try TemporaryFolder()
        let path = folder.path(of: "messages.sqlite")
        var log = try SQLiteMessageLog(path: path)
        let model = MemoryLog()
        var failures = 0
        for round in 0..<120 {
            var entries = (0..<5).map {
                makeEntry(#"{"uuid":"\#(round)-\#($0)"}"#, to: Int64($0) + 2, at: Int64(round) * 1000)
            }
            if round > 3 { entries.append(burn("\(round - 3)-0")) }
            let time = WallTime(milliseconds: Int64(round) * 1000)
            // One more page is given at each try, until the step goes through.
            func insist<Result>(_ body: () throws -> Result) throws -> Result {
                let pages = try log.database.integer("PRAGMA page_count") ?? 0
                for allowed in 0..<100 as Range<Int64> {
                    try log.database.executeScript("PRAGMA max_page_count = \(pages + allowed)")
                    do {
                        return try body()
                    } catch let error as SQLiteError where error.code.primary == .full {
                        failures += 1
                        let (held, expected) = (try contents(log), try contents(model))
                        #expect(held == expected, "round \(round)")
                    }
                }
                return try body()
            }
            let outcomes = try model.append(entries, at: time)
            #expect(try insistOnAppend(&failures, log, entries, (time, outcomes)))
            while try insist({ try log.maintain(rowsMax: 7) }) {}
            if round % 10 == 9 {
                log = try SQLiteMessageLog(path: path)
                #expect(try log.database.quickCheck() == [])
            }
        }
        #expect(failures > 20)
        #expect(try contents(log) == contents(model))
    }

    /// Appends with one more page at each try.
    private func insistOnAppend(
        _ failures: inout Int, _ log: SQLiteMessageLog, _ entries: [LogEntry],
        _ expected: (time: WallTime, outcomes: [AppendOutcome])
    ) throws -> Bool {
        let before = try contents(log)
        let pages = try log.database.integer("PRAGMA page_count") ?? 0
        for allowed in 0..<100 as Range<Int64> {
            try log.database.executeScript("PRAGMA max_page_count = \(pages + allowed)")
            do {
                return try log.append(entries, at: expected.time) == expected.outcomes
            } catch let error as SQLiteError where error.code.primary == .full {
                failures += 1
                let held = try contents(log)
                #expect(held == before)
            }
        }
        return false
    }

    // MARK: Epochs

    @Test func `a log that was put back from a copy gives keys that nobody ever had`() throws {
        let folder = try TemporaryFolder()
        let (path, keys) = (folder.path(of: "messages.sqlite"), folder.path(of: "keys"))
        func open() throws -> SQLiteMessageLog { try SQLiteMessageLog(path: path, mark: KeyMark(path: keys)) }
        func store(_ log: SQLiteMessageLog, _ content: String) throws -> Int64 {
            guard case .stored(let places) = try log.append([makeEntry(content)], at: now)[0] else {
                return 0
            }
            return places[1].key
        }
        var log = try open()
        let early = try store(log, "kept")
        try log.close()
        let copy = try folder.contents(of: "messages.sqlite")
        log = try open()
        let lost = try store(log, "lost")
        try log.close()
        #expect(lost == early + 2, "an orderly start goes on counting")
        try folder.write(copy, to: "messages.sqlite")
        log = try open()
        let new = try store(log, "new")
        #expect(new > lost)
        #expect(new == lost + KeyEpoch.gap + 2)
        #expect(new < 1 << 53)
        // A client that holds the lost key is told of everything since.
        let page = try log.page(
            PageRequest(queue: queue(2), reader: Account(user: UserID(2)), after: lost), limit: all)
        #expect(page.messages.map(\.content) == ["new"])
        try log.close()
        try folder.remove("keys")
        log = try open()
        let newer = try store(log, "newer")
        #expect(newer == new + KeyEpoch.gap + 2, "a copy has no mark")
        try log.close()
        log = try open()
        #expect(try store(log, "newest") == newer + 2, "an orderly start is no restoration")
        log = try open()
        #expect(try store(log, "last") == newer + 4, "nor is a crash")
        try log.close()
        try folder.remove("messages.sqlite")
        #expect(
            try store(open(), "first") == newer + 4 + KeyEpoch.gap + 2, "an empty log goes on above the mark")
    }

    @Test func `of two logs put back from the same copy the later one gives greater keys`() throws {
        let folder = try TemporaryFolder()
        let (path, keys) = (folder.path(of: "messages.sqlite"), folder.path(of: "keys"))
        func open(atMinute minute: Int64) throws -> SQLiteMessageLog {
            let now = WallTime(milliseconds: 1_800_000_000_000 + minute * 60_000)
            return try SQLiteMessageLog(path: path, mark: KeyMark(path: keys), openedAt: now)
        }
        var log = try open(atMinute: 0)
        _ = try log.append([makeEntry("kept")], at: now)
        try log.close()
        let copy = try folder.contents(of: "messages.sqlite")
        // A folder that is lost as a whole takes the mark along, both times.
        try folder.remove("keys")
        log = try open(atMinute: 1)
        _ = try log.append([makeEntry("lost"), makeEntry("lost too")], at: now)
        let lost = log.lastKey
        try log.close()
        try folder.write(copy, to: "messages.sqlite")
        try folder.remove("keys")
        log = try open(atMinute: 2)
        _ = try log.append([makeEntry("new")], at: now)
        let reader = PageRequest(queue: queue(2), reader: Account(user: UserID(2)), after: lost)
        #expect(try log.page(reader, limit: all).messages.map(\.content) == ["new"])
    }

    @Test func `a log without a key left stores nothing more`() throws {
        let folder = try TemporaryFolder()
        let log = try SQLiteMessageLog(path: folder.path(of: "messages.sqlite"))
        log.lastKey = SQLiteMessageLog.keyMax - 3
        #expect(try isStored(log.append([makeEntry("x")], at: now)[0]))
        #expect(throws: SQLiteError.self) { try log.append([makeEntry("y")], at: now) }
        #expect(try contents(log) == ["x"])
    }

    @Test(arguments: ["", "x\n", "12", "9223372036854775807\n", "-5\n", "                   7\n"])
    func `any mark can be read`(text: String) throws {
        let folder = try TemporaryFolder()
        try folder.write(Array(text.utf8), to: "keys")
        let mark = KeyMark(path: folder.path(of: "keys"))
        #expect(mark.found == (text.hasSuffix("7\n") && text.hasPrefix(" ") ? 7 : nil))
        mark.save(9)
        #expect(KeyMark(path: folder.path(of: "keys")).found == 9)
    }

    // MARK: Earlier versions

    @Test func `a file of the first version is upgraded with everything in it`() throws {
        let folder = try TemporaryFolder()
        let path = folder.path(of: "messages.sqlite")
        let old = try Database(path: path)
        let first = Migrations(
            applicationID: SQLiteMessageLog.migrations.applicationID,
            steps: [SQLiteMessageLog.migrations.steps[0]])
        try old.migrate(first)
        let entry = makeEntry(#"{"uuid":"A","text":"old","burn":{"seconds":5}}"#)
        let identity = try #require(MessageIdentity(entry))
        var row: [UInt8] = [1]
        for keys in [(1, 2), (3, 4)] as [(Int64, Int64)] {
            row += FormatOneRecord.bytes(entry, identity, keys: keys)
        }
        let insert = try old.statement("INSERT INTO journal (id, last_key, records) VALUES (1, 4, ?)")
        try insert.run(borrowing: row, at: 1)
        try old.execute("INSERT INTO reported (user, key) VALUES (2, 1)")
        old.close()
        let log = try SQLiteMessageLog(path: path)
        #expect(try contents(log) == [entry.content, entry.content])
        #expect(try log.reportedKey(of: queue(2), by: Account(user: UserID(2))) == 1)
        #expect(
            try log.append([entry], at: now)
                == [.duplicate([QueuePlace(key: 1, previous: 0), QueuePlace(key: 2, previous: 0)])])
        _ = try log.append([burn("A")], at: now)
        #expect(try contents(log).count == 1, "both old copies are burned")
        try log.close()
        #expect(try contents(SQLiteMessageLog(path: path)).count == 1)
    }
}

extension TemporaryFolder {
    fileprivate func contents(of name: String) throws -> [UInt8] {
        Array(try Data(contentsOf: url.appending(path: name)))
    }

    fileprivate func write(_ bytes: [UInt8], to name: String) throws {
        try Data(bytes).write(to: url.appending(path: name))
    }

    fileprivate func remove(_ name: String) throws {
        try FileManager.default.removeItem(at: url.appending(path: name))
    }
}

/// A record as the first version wrote it.
private enum FormatOneRecord {
    static func bytes(_ entry: LogEntry, _ identity: MessageIdentity, keys: (Int64, Int64)) -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.append(littleEndian: UInt32(57 + 48 + entry.content.utf8.count))
        bytes += [entry.command.rawValue, entry.flags.rawValue]
        bytes.append(littleEndian: UInt16(2))
        bytes.append(littleEndian: entry.author.app)
        bytes.append(littleEndian: entry.author.user.rawValue)
        bytes.append(littleEndian: entry.device.rawValue)
        bytes.append(littleEndian: entry.receiver)
        bytes.append(littleEndian: entry.timestamp)
        bytes.append(littleEndian: entry.msgLocalID)
        bytes.append(1)
        bytes.append(littleEndian: identity.hash)
        for (user, key) in [(2, keys.0), (1, keys.1)] as [(Int64, Int64)] {
            bytes.append(littleEndian: user)
            bytes.append(littleEndian: key)
            bytes.append(littleEndian: Int64(0))
        }
        return bytes + Array(entry.content.utf8)
    }
}
