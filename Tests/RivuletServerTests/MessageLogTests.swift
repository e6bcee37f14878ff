import RivuletModel
import RivuletServerCore
import RivuletTestSupport
import RivuletWire
import SQLiteKit
import Testing

@testable import RivuletServer

/// What every message log promises, tried on both of them.
@Suite struct MessageLogContractTests {
    enum Kind: CaseIterable, Sendable {
        case memory
        case sqlite
        /// SQLite, folded after every append.
        case foldedSQLite
    }

    static func make(
        _ kind: Kind, _ folder: TemporaryFolder, hashBits: Int = 64
    ) throws -> any MessageLog {
        switch kind {
        case .memory: MemoryLog(hashBits: hashBits)
        case .sqlite: try SQLiteMessageLog(path: folder.path(of: "messages.sqlite"), hashBits: hashBits)
        case .foldedSQLite: try FoldingLog(path: folder.path(of: "messages.sqlite"), hashBits: hashBits)
        }
    }

    /// Stores one message; answers its outcome.
    private func append(
        _ log: any MessageLog, _ content: String, from author: Int64 = 1, to receiver: Int64 = 2,
        number: Int32 = 0,
        device: Int64 = 5, at time: Int64 = 1_000_000
    ) throws -> AppendOutcome {
        let entry = makeEntry(content, from: author, to: receiver, number: number, device: device, at: time)
        return try #require(try log.append([entry], at: WallTime(milliseconds: time)).first)
    }

    @Test(arguments: Kind.allCases)
    func `a message stands in each queue once, in order, with the key before it`(kind: Kind) throws {
        let folder = try TemporaryFolder()
        let log = try Self.make(kind, folder)
        var previous = [Int64: Int64]()
        for index in 0..<200 {
            guard case .stored(let places) = try append(log, "m\(index)") else {
                Issue.record("not stored")
                return
            }
            for (user, place) in zip([2, 1] as [Int64], places) {
                #expect(place.previous == previous[user] ?? 0)
                #expect(place.key > place.previous)
                #expect(place.key < 1 << 53)
                previous[user] = place.key
            }
        }
        for user in [1, 2] as [Int64] {
            let slice = try log.messages(in: queue(user), after: 0, limit: PageLimit())
            #expect(slice.messages.map(\.content) == (0..<200).map { "m\($0)" })
            #expect(slice.messages.map(\.key) == slice.messages.map(\.key).sorted())
            #expect(!slice.hasMore)
            #expect(try log.newestKey(of: queue(user)) == previous[user])
        }
        #expect(try log.newestKey(of: queue(3)) == 0)
    }

    @Test(arguments: Kind.allCases)
    func `all fields of a message come back`(kind: Kind) throws {
        let folder = try TemporaryFolder()
        let log = try Self.make(kind, folder)
        let entry = LogEntry(
            author: Account(app: 9, user: UserID(-4)), device: DeviceNumber(rawValue: .max), command: .im,
            flags: .text, receiver: .min, timestamp: -1, msgLocalID: .min, content: "\0 é 漢字 🧵",
            queues: [queue(.min), .user(Account(app: 9, user: UserID(-4)))])
        _ = try log.append([entry], at: WallTime(milliseconds: 0))
        let stored = try #require(
            try log.messages(in: queue(.min), after: 0, limit: PageLimit()).messages.first)
        #expect(stored == StoredMessage(entry, key: stored.key))
    }

    @Test(arguments: Kind.allCases, [(1, 1), (3, 1_000_000), (48, 1_000_000), (49, 1_000_000), (1000, 30)])
    func `pages put together are the queue`(kind: Kind, limit: (count: Int, bytes: Int)) throws {
        let folder = try TemporaryFolder()
        let log = try Self.make(kind, folder)
        let count = limit.count < 10 ? 60 : 150
        for index in 0..<count { _ = try append(log, "message \(index)", from: index % 3 == 0 ? 7 : 1) }
        var key: Int64 = 0
        var contents: [String] = []
        while true {
            let slice = try log.messages(
                in: queue(2), after: key, limit: PageLimit(countMax: limit.count, bytesMax: limit.bytes))
            #expect(slice.messages.count <= limit.count)
            contents += slice.messages.map(\.content)
            key = slice.messages.last?.key ?? key
            guard slice.hasMore else { break }
            #expect(!slice.messages.isEmpty)
            if slice.messages.isEmpty { break }
        }
        #expect(contents == (0..<count).map { "message \($0)" })
    }

    @Test(arguments: Kind.allCases)
    func `the keys of SYNC mean what the protocol says`(kind: Kind) throws {
        let folder = try TemporaryFolder()
        let log = try Self.make(kind, folder)
        for index in 0..<5 { _ = try append(log, "\(index)") }
        let (reader, account) = (queue(2), Account(user: UserID(2)))
        func page(_ key: Int64) throws -> SyncPage {
            try log.page(
                PageRequest(queue: reader, reader: account, after: key), limit: PageLimit(countMax: 3))
        }
        let first = try page(0)
        #expect((first.start, first.messages.count, first.hasMore) == (0, 3, true))
        try log.report(first.end, of: reader, by: account)
        #expect(try page(0).messages.map(\.content) == ["3", "4"])
        #expect(try page(-9).messages.count == 3)
        let newest = try log.newestKey(of: reader)
        let above = try page(newest + 1000)
        #expect((above.start, above.messages.count, above.end, above.hasMore) == (newest, 0, newest, false))
        try log.report(1, of: reader, by: account)
        #expect(try log.reportedKey(of: reader, by: account) == first.end)
        try log.report(1 << 60, of: reader, by: account)
        try log.report(newest, of: reader, by: account)
        #expect(try log.reportedKey(of: reader, by: account) == newest)
        try log.report(0, of: reader, by: account)
        try log.report(-5, of: reader, by: account)
        #expect(try log.reportedKey(of: reader, by: account) == newest)
        let other = PageRequest(queue: queue(77), reader: Account(user: UserID(77)), after: 12)
        #expect(try log.page(other, limit: PageLimit()).end == 0)
    }

    @Test(arguments: Kind.allCases)
    func `an entry that is only to be recognised is stored in no case`(kind: Kind) throws {
        let folder = try TemporaryFolder()
        let log = try Self.make(kind, folder)
        let now = WallTime(milliseconds: 1_000_000)
        let entry = makeEntry(
            #"{"uuid":"A","text":"x"}"#, from: 1, to: 2, number: 0, device: 5, at: 1_000_000)
        var question = entry
        question.isRepeatOnly = true
        question.queues = []
        #expect(try log.append([question], at: now) == [.unknown])
        let outcomes = try log.append([entry, question], at: now)
        guard case .stored(let places)? = outcomes.first else {
            Issue.record("not stored")
            return
        }
        #expect(outcomes == [.stored(places), .duplicate(places)])
        #expect(try log.append([question], at: now) == [.duplicate(places)])
        #expect(try log.append([entry], at: now) == [.duplicate(places)])
    }

    @Test(arguments: Kind.allCases)
    func `a message with the same uuid is stored once and answered with its first places`(kind: Kind) throws {
        let folder = try TemporaryFolder()
        let log = try Self.make(kind, folder)
        let content = #"{"uuid":"A","text":"x"}"#
        guard case .stored(let places) = try append(log, content) else {
            Issue.record("not stored")
            return
        }
        #expect(try append(log, content) == .duplicate(places))
        #expect(
            try append(log, #"{"text":"changed","uuid":"A"}"#, device: 9, at: 99_000_000)
                == .duplicate(places))
        for other in [
            try append(log, content, to: 3), try append(log, content, from: 4),
            try append(log, #"{"uuid":"B"}"#),
        ] {
            if case .duplicate = other { Issue.record("another message was suppressed") }
        }
        #expect(try log.messages(in: queue(2), after: 0, limit: PageLimit()).messages.count == 3)
    }

    @Test(arguments: Kind.allCases)
    func `duplicates inside one batch are found`(kind: Kind) throws {
        let folder = try TemporaryFolder()
        let log = try Self.make(kind, folder)
        let entry = makeEntry(#"{"uuid":"A"}"#)
        let numbered = makeEntry("x", number: 4)
        let outcomes = try log.append(
            [entry, entry, numbered, numbered], at: WallTime(milliseconds: 1_000_000))
        guard case .stored(let first) = outcomes[0], case .stored(let second) = outcomes[2] else {
            Issue.record("not stored")
            return
        }
        #expect(outcomes[1] == .duplicate(first))
        #expect(outcomes[3] == .duplicate(second))
    }

    @Test(arguments: Kind.allCases)
    func `without a uuid a resent message is known for two minutes, and only with device and number`(
        kind: Kind
    )
        throws
    {
        let folder = try TemporaryFolder()
        let log = try Self.make(kind, folder)
        func isDuplicate(_ outcome: AppendOutcome) -> Bool {
            if case .duplicate = outcome { true } else { false }
        }
        let receipt = #"{"readed":{"msgid":"A"}}"#
        #expect(try !isDuplicate(append(log, receipt, number: 0)))
        #expect(try !isDuplicate(append(log, receipt, number: 0)), "receipts are never suppressed")
        #expect(try !isDuplicate(append(log, "x", number: 4)))
        #expect(try isDuplicate(append(log, "x", number: 4, at: 1_119_000)))
        #expect(try !isDuplicate(append(log, "y", number: 4)), "another content")
        #expect(try !isDuplicate(append(log, "x", number: 4, device: 6)), "another device")
        #expect(try !isDuplicate(append(log, "x", to: 3, number: 4)), "another receiver")
        #expect(try !isDuplicate(append(log, "x", number: 4, device: 0)), "no device")
        #expect(try !isDuplicate(append(log, "x", number: 4, device: 0)), "no device is equal to none")
        #expect(try !isDuplicate(append(log, "x", number: 4, at: 1_120_001)), "after the window")
    }

    @Test(arguments: Kind.allCases)
    func `a message to oneself stands in the queue twice`(kind: Kind) throws {
        let folder = try TemporaryFolder()
        let log = try Self.make(kind, folder)
        guard case .stored(let places) = try append(log, "note", from: 2, to: 2) else {
            Issue.record("not stored")
            return
        }
        #expect(places[1].previous == places[0].key)
        #expect(try log.messages(in: queue(2), after: 0, limit: PageLimit()).messages.count == 2)
    }

    @Test(arguments: [1, 2, 3, 4] as [UInt64], [Kind.sqlite, .foldedSQLite])
    func `any run of appends, slices of folding and reopenings agrees with the log in memory`(
        seed: UInt64, kind: Kind
    ) throws {
        let folder = try TemporaryFolder()
        let path = folder.path(of: "messages.sqlite")
        var random = SeededGenerator(seed: seed)
        let model = MemoryLog()
        var options = SQLiteMessageLog.options
        options.synchronous = .off
        var log = try SQLiteMessageLog(path: path, options: options)
        var time: Int64 = 1_000_000
        for _ in 0..<200 {
            time += 1000
            switch Int.random(in: 0..<10, using: &random) {
            case 0:
                // Dropped without closing: as after a crash, nothing is folded at the end.
                log = try SQLiteMessageLog(path: path, options: options)
            case 1, 2:
                _ = try log.maintain(rowsMax: Int.random(in: 1...20, using: &random))
            case 3:
                let user = UserID(Int64.random(in: 1...6, using: &random))
                let key = Int64.random(in: 0...400, using: &random)
                let account = Account(user: user)
                try model.report(key, of: .user(account), by: account)
                try log.report(key, of: .user(account), by: account)
                // A reported key may be lost in a crash; here it is saved at once.
                _ = try log.maintain(rowsMax: 1)
            default:
                let entries = (0..<Int.random(in: 1...8, using: &random)).map { _ in
                    randomEntry(&random, at: time)
                }
                let now = WallTime(milliseconds: time)
                #expect(try log.append(entries, at: now) == model.append(entries, at: now))
            }
            let user = UserID(Int64.random(in: 1...6, using: &random))
            let limit = PageLimit(countMax: Int.random(in: 1...100, using: &random))
            let key = Int64.random(in: -1...500, using: &random)
            let request = PageRequest(queue: queue(user.rawValue), reader: Account(user: user), after: key)
            #expect(try log.page(request, limit: limit) == model.page(request, limit: limit))
            let back = max(1, limit.countMax / 3)
            #expect(
                try log.messages(in: request.queue, before: key, countMax: back)
                    == model.messages(in: request.queue, before: key, countMax: back))
        }
        while try log.maintain(rowsMax: 100) {}
        for user in 1...6 as ClosedRange<Int64> {
            let all = PageLimit(countMax: 10_000)
            #expect(
                try log.messages(in: queue(user), after: 0, limit: all)
                    == model.messages(in: queue(user), after: 0, limit: all))
        }
    }

    private func randomEntry(_ random: inout SeededGenerator, at time: Int64) -> LogEntry {
        // Without a number and a uuid there is no identity: what has one without a uuid is forgotten at an opening.
        let content =
            Bool.random(using: &random)
            ? #"{"uuid":"\#(Int.random(in: 0...60, using: &random))"}"# : "none"
        return makeEntry(
            content, from: .random(in: 1...3, using: &random), to: .random(in: 1...6, using: &random),
            device: .random(in: 0...2, using: &random), at: time)
    }
}

/// One peer message as the node makes them.
func makeEntry(
    _ content: String, from author: Int64 = 1, to receiver: Int64 = 2, number: Int32 = 0, device: Int64 = 5,
    at time: Int64 = 1_000_000
) -> LogEntry {
    LogEntry(
        author: Account(user: UserID(author)), device: DeviceNumber(rawValue: device), command: .im,
        flags: [],
        receiver: receiver, timestamp: WallTime(milliseconds: time).timestamp, msgLocalID: number,
        content: content,
        queues: [queue(receiver), queue(author)])
}

/// The queue of a user of the default app.
func queue(_ user: Int64) -> QueueID {
    .user(Account(user: UserID(user)))
}

/// A log that folds everything after every append.
private final class FoldingLog: MessageLog {
    private let log: SQLiteMessageLog

    init(path: String, hashBits: Int) throws {
        log = try SQLiteMessageLog(path: path, hashBits: hashBits)
    }

    func append(_ entries: [LogEntry], at now: WallTime) throws -> [AppendOutcome] {
        let outcomes = try log.append(entries, at: now)
        while try log.maintain(rowsMax: 3) {}
        return outcomes
    }

    func messages(in queue: QueueID, after key: Int64, limit: PageLimit) throws -> QueueSlice {
        try log.messages(in: queue, after: key, limit: limit)
    }

    func messages(in queue: QueueID, before key: Int64, countMax: Int) throws -> QueueSlice {
        try log.messages(in: queue, before: key, countMax: countMax)
    }

    func newestKey(of queue: QueueID) throws -> Int64 { try log.newestKey(of: queue) }

    var lastKey: Int64 { log.lastKey }

    func unreadCount(of account: Account) throws -> Int32 { try log.unreadCount(of: account) }

    func setUnreadCount(_ count: Int32, of account: Account) throws {
        try log.setUnreadCount(count, of: account)
    }

    func reportedKey(of queue: QueueID, by reader: Account) throws -> Int64 {
        try log.reportedKey(of: queue, by: reader)
    }

    func setReportedKey(_ key: Int64, of queue: QueueID, by reader: Account) throws {
        try log.setReportedKey(key, of: queue, by: reader)
    }

    func removeMessages(before time: WallTime, countMax: Int) throws -> Bool {
        try log.removeMessages(before: time, countMax: countMax)
    }
}
