import RivuletModel
import RivuletServerCore
import RivuletTestSupport
import RivuletWire
import SQLiteKit
import Synchronization
import Testing

@testable import RivuletServer

/// A log whose disk is full until it is told otherwise.
private final class FullDiskLog: MessageLog {
    private let memory = MemoryLog()
    private let isFull: @Sendable () -> Bool

    init(isFull: @escaping @Sendable () -> Bool) {
        self.isFull = isFull
    }

    private func check() throws {
        if isFull() { throw SQLiteError(code: .full, message: "full", operation: "run") }
    }

    func append(_ entries: [LogEntry], at now: WallTime) throws -> [AppendOutcome] {
        try check()
        return try memory.append(entries, at: now)
    }

    func messages(in queue: QueueID, after key: Int64, limit: PageLimit) throws -> QueueSlice {
        try check()
        return try memory.messages(in: queue, after: key, limit: limit)
    }

    func messages(in queue: QueueID, before key: Int64, countMax: Int) throws -> QueueSlice {
        try check()
        return try memory.messages(in: queue, before: key, countMax: countMax)
    }

    func newestKey(of queue: QueueID) throws -> Int64 { try memory.newestKey(of: queue) }

    var lastKey: Int64 { memory.lastKey }

    func unreadCount(of account: Account) throws -> Int32 { try memory.unreadCount(of: account) }

    func setUnreadCount(_ count: Int32, of account: Account) throws {
        try memory.setUnreadCount(count, of: account)
    }

    func reportedKey(of queue: QueueID, by reader: Account) throws -> Int64 {
        try memory.reportedKey(of: queue, by: reader)
    }

    func setReportedKey(_ key: Int64, of queue: QueueID, by reader: Account) throws {
        try memory.setReportedKey(key, of: queue, by: reader)
    }

    func removeMessages(before time: WallTime, countMax: Int) throws -> Bool {
        try memory.removeMessages(before: time, countMax: countMax)
    }
}

@Suite struct LogThreadTests {
    /// The flags and answers of one test.
    private final class Desk: Sendable {
        struct State {
            var isFull = true
            var time: Int64 = 0
            var events: [NodeEvent] = []
        }

        let state = Mutex(State())

        func waitForEvents(_ count: Int) async throws -> [NodeEvent] {
            let deadline = ContinuousClock.now + .seconds(20)
            while ContinuousClock.now < deadline {
                let events = state.withLock { $0.events }
                if events.count >= count { return events }
                try await Task.sleep(for: .milliseconds(2))
            }
            return state.withLock { $0.events }
        }
    }

    @Test func `a full disk acknowledges nothing, is told once a period, and is over when there is space`()
        async throws
    {
        let desk = Desk()
        let log = CollectedLog()
        let thread = LogThread()
        try thread.start(
            open: { FullDiskLog { desk.state.withLock { $0.isFull } } },
            LogSettings(
                clock: { WallTime(milliseconds: desk.state.withLock { $0.time }) }, logger: log.logger),
            answer: { events in desk.state.withLock { $0.events += events } })
        for number in 1...20 as ClosedRange<UInt64> {
            thread.post(.append(BatchID(rawValue: number), [makeEntry("x")]))
        }
        let reader = Account(user: UserID(2))
        thread.post(
            .load(
                ConnectionID(rawValue: 1), PageRequest(queue: .user(reader), reader: reader, after: 0)))
        let failed = try await desk.waitForEvents(21)
        #expect(failed.count == 21)
        for event in failed {
            switch event {
            case .appendFailed, .loadFailed: break
            default: Issue.record("\(event)")
            }
        }
        // One line for each kind of step, none for each message.
        #expect(log.lines.count == 2)
        #expect(log.lines.allSatisfy { $0.level == .error })
        #expect(log.lines.first?.fields.contains { $0.value == "SQLITE_FULL" } == true)

        desk.state.withLock { $0.time = 10_000 }
        thread.post(.append(BatchID(rawValue: 21), [makeEntry("x")]))
        _ = try await desk.waitForEvents(22)
        #expect(log.lines.count == 3, "told again after ten seconds")

        desk.state.withLock { $0.isFull = false }
        thread.post(.append(BatchID(rawValue: 22), [makeEntry("x"), makeEntry("y")]))
        let events = try await desk.waitForEvents(23)
        guard case .appended(BatchID(rawValue: 22), let outcomes) = events.last else {
            Issue.record("\(events)")
            return
        }
        #expect(outcomes.count == 2)
        thread.close()
        #expect(thread.waitingMessageCount == 0)
        #expect(!thread.post(.reportKey(.user(reader), reader, 1)), "a closed log takes nothing")
    }

    @Test func `a log that has nothing to do folds what it took`() async throws {
        let folder = try TemporaryFolder()
        let path = folder.path(of: "messages.sqlite")
        let desk = Desk()
        let thread = LogThread()
        let isFolded = Mutex(false)
        try thread.start(
            open: { try SQLiteMessageLog(path: path) }, LogSettings(clock: { WallTime(milliseconds: 0) }),
            answer: { events in desk.state.withLock { $0.events += events } })
        thread.post(.append(BatchID(rawValue: 1), [makeEntry("x")]))
        _ = try await desk.waitForEvents(1)
        for _ in 0..<200 where !isFolded.withLock({ $0 }) {
            // Longer than the log waits for more to do.
            try await Task.sleep(for: .milliseconds(600))
            thread.post(
                .query { log in
                    let log = log as? SQLiteMessageLog
                    isFolded.withLock { $0 = log?.foldedRow == log?.lastRow && log?.lastRow != 0 }
                })
        }
        #expect(isFolded.withLock { $0 })
        thread.close()
    }

    @Test func `a log that cannot be opened is told to the one who starts it`() {
        let thread = LogThread()
        #expect(throws: SQLiteError.self) {
            try thread.start(
                open: { throw SQLiteError(code: .cannotOpen, message: "", operation: "open") },
                LogSettings(clock: { WallTime(milliseconds: 0) }), answer: { _ in })
        }
    }
}

/// Many connections and several loops.
@Suite struct ServerLoadTests {
    @Test(arguments: [1, 3])
    func `users on any number of loops get each other's messages once and in order`(loops: Int) async throws {
        let users = Array(1...8 as ClosedRange<Int64>)
        let server = try await TestServer(users: users) { $0.loops = loops }
        var clients: [RawClient] = []
        for user in users { clients.append(try await server.login(user)) }
        let count = 60
        for number in 0..<count {
            for (index, client) in clients.enumerated() {
                let next = users[(index + 1) % users.count]
                _ = await client.sendIM(from: users[index], to: next, "message \(number)")
            }
        }
        for client in clients {
            // Two frames for each own message, three for each of the neighbour's.
            let packets = try await client.receive(count * 5)
            #expect(packets.filter { $0.command == .ack }.count == count)
            let contents = packets.compactMap { packet in
                if case .im(let message) = packet.body { message.content } else { nil as String? }
            }
            #expect(contents == (0..<count).map { "message \($0)" })
            #expect(zip(packets, packets.dropFirst()).allSatisfy { $1.sequence == $0.sequence + 1 })
        }
        await server.stop()
    }

    @Test func `connections above the limit are closed at once, and their places can be taken again`()
        async throws
    {
        let server = try await TestServer(users: [1]) { $0.connectionsMax = 2 }
        let first = try await server.login(1)
        let second = try await server.login(1)
        let third = try await RawClient.connect(port: server.port)
        #expect(try await third.receiveUntilClosed().isEmpty)
        #expect(try await first.receiveUntilPong().isEmpty)
        second.close()
        _ = try await second.receiveUntilClosed()
        // The server hears of the end a moment later.
        var isLoggedIn = false
        for _ in 0..<200 where !isLoggedIn {
            let again = try await RawClient.connect(port: server.port)
            await again.send(.ping)
            isLoggedIn = (try? await again.receive().command == .pong) ?? false
        }
        #expect(isLoggedIn)
        #expect(server.log.lines.contains { $0.message == "too many connections" })
        await server.stop()
    }

    @Test func `a server can be stopped twice, and its address is free afterwards`() async throws {
        let server = try await TestServer(users: [1])
        let port = server.port
        await server.stop()
        await server.stop()
        #expect(server.server.addresses.isEmpty)
        let again = try await TestServer(users: [1], folder: server.folder) {
            $0.listen = [ListenAddress(host: "127.0.0.1", port: port)]
        }
        #expect(again.port == port)
        await again.stop()
    }

    @Test(arguments: [
        ("127.0.0.1:23000", "127.0.0.1:23000"), ("[::1]:0", "[::1]:0"), ("::1:5", nil), (":5", nil),
        ("host", nil),
        ("host:x", nil), ("host:70000", nil), ("", nil),
    ])
    func `addresses are read as they are written`(text: String, result: String?) {
        #expect(ListenAddress(text)?.description == result)
    }
}
