import Foundation
import RivuletModel
import RivuletServer
import RivuletServerCore
import RivuletTestSupport
import RivuletWire
import Synchronization
import Testing

/// The server killed in the middle of its work: nothing acknowledged is missing, nothing is doubled.
@Suite(.serialized) struct CrashTests {
    // One after the other: Foundation's Process does not bear many starts at the same time.

    /// A server of its own process, which can be killed and started again on the same port.
    private final class Victim {
        let folder: TemporaryFolder
        let tokens: [Int64: String]
        private(set) var program: Program
        private(set) var port: UInt16

        init(users: [Int64]) async throws {
            folder = try TemporaryFolder()
            let data = DataDirectory(path: folder.path(of: "data"))
            tokens = try TestServer.makeTokens(users, in: data)
            let members = try MembershipFile(whileStoppedIn: data)
            _ = try members.apply(
                [(7, false), (8, true)].map { id, isSuper in
                    .createGroup(
                        GroupID(id), app: 1, name: "", isSuper: isSuper, owner: UserID(1),
                        members: users.map { UserID($0) })
                }, at: .current)
            members.close()
            (program, port) = try await Self.start(folder, port: 0)
        }

        func restart() async throws {
            program.signal(SIGKILL)
            try await program.waitForExit()
            (program, port) = try await Self.start(folder, port: 0)
        }

        /// Kills it, leaves what a write that was cut short leaves at the end of the write-ahead log, and starts it.
        func restart(tearing random: inout SeededGenerator) async throws {
            program.signal(SIGKILL)
            try await program.waitForExit()
            let path = folder.path(of: "data/messages.sqlite-wal")
            if Bool.random(using: &random), let log = FileHandle(forWritingAtPath: path) {
                try log.seekToEnd()
                let torn = (0..<Int.random(in: 1...6000, using: &random)).map { _ in
                    UInt8.random(in: .min ... .max, using: &random)
                }
                try log.write(contentsOf: Data(torn))
                try log.close()
            }
            (program, port) = try await Self.start(folder, port: 0)
        }

        private static func start(_ folder: TemporaryFolder, port: UInt16) async throws -> (Program, UInt16) {
            let program = try Program(
                "rivuletd", ["--data", folder.path(of: "data"), "--listen", "127.0.0.1:\(port)"])
            let line = try await program.waitForLine(containing: "listening on 127.0.0.1:")
            return (program, try #require(line.split(separator: ":").last.flatMap { UInt16($0) }))
        }

        func login(_ user: Int64) async throws -> RawClient {
            try await RawClient.login(port: port, token: try #require(tokens[user]))
        }
    }

    private func allMessages(_ client: RawClient) async throws -> [IMMessage] {
        var messages: [IMMessage] = []
        await client.send(.sync, .syncKey(-1))
        while true {
            let packet = try await client.receive()
            switch packet.body {
            case .im(let message): messages.append(message)
            case .syncKey(let key):
                // NOTIFY follows END exactly when the page is not the last.
                if packet.command == .syncNotify { await client.send(.sync, .syncKey(key - 1)) }
                if packet.command == .syncEnd {
                    let rest = try await client.receiveUntilPong()
                    if rest.isEmpty { return messages }
                    await client.send(.sync, .syncKey(key))
                }
            default: break
            }
        }
    }

    private func content(_ number: Int) -> String {
        #"{"uuid":"u\#(number)","text":"message \#(number)"}"#
    }

    /// Each seed kills the server five times: 50 times in all, and 1,000 times in the soak.
    static let seeds: ClosedRange<UInt64> =
        1...(ProcessInfo.processInfo.environment["RIVULET_SOAK"] == nil ? 10 : 200)

    @Test(arguments: seeds)
    func `killed under load, it keeps everything acknowledged, once and in order`(seed: UInt64) async throws {
        var random = SeededGenerator(seed: seed)
        let victim = try await Victim(users: [1, 2, 3])
        var next = 0
        var acknowledged = 0
        for _ in 0..<5 {
            let author = try await victim.login(1)
            // Everything not acknowledged goes out again, as a client's outbox does.
            let first = acknowledged
            next = max(next, first) + Int.random(in: 30...200, using: &random)
            for number in first..<next { await send(number, by: author) }
            let wanted = Int.random(in: 1...(next - first), using: &random)
            for _ in 0..<wanted {
                #expect(try await author.receive(2)[1].command == .ack)
                acknowledged += 1
            }
            try await victim.restart(tearing: &random)
        }
        let held = try await ([1, 2, 3] as [Int64]).asyncMap { user in
            let client = try await victim.login(user)
            let queue = try await allMessages(client).map(\.content)
            let group = try await allMessages(client, inGroup: 8).map(\.content)
            return (queue: queue, group: group)
        }
        // A third goes to user 2, a third to the normal group, a third to the super group's log.
        let total = (0..<next).last {
            held[0].queue.contains(content($0)) || held[0].group.contains(content($0))
        }
        let count = (total ?? -1) + 1
        #expect(count >= acknowledged)
        let inQueues = (0..<count).filter { $0 % 3 != 2 }.map(content)
        #expect(held[0].queue == inQueues, "the author's queue")
        #expect(held[1].queue == inQueues, "the receiver's queue")
        #expect(held[2].queue == (0..<count).filter { $0 % 3 == 1 }.map(content), "a member's queue")
        for user in held { #expect(user.group == (0..<count).filter { $0 % 3 == 2 }.map(content)) }
    }

    /// Sends one message of the load: to user 2, to group 7 or to super group 8.
    private func send(_ number: Int, by author: RawClient) async {
        switch number % 3 {
        case 0: _ = await author.sendIM(from: 1, to: 2, content(number))
        case 1: await author.send(.groupIM, .im(IMMessage(sender: 1, receiver: 7, content: content(number))))
        default: await author.send(.groupIM, .im(IMMessage(sender: 1, receiver: 8, content: content(number))))
        }
    }

    private func allMessages(_ client: RawClient, inGroup group: Int64) async throws -> [IMMessage] {
        var messages: [IMMessage] = []
        var key: Int64 = -1
        while true {
            let request = GroupSyncKey(groupID: group, key: key)
            let page = try await client.page(.syncGroup, .groupSyncKey(request))
            for packet in page {
                switch packet.body {
                case .im(let message): messages.append(message)
                case .groupSyncKey(let end) where packet.command == .syncGroupEnd: key = end.key
                default: break
                }
            }
            if page.last?.command != .syncGroupNotify { return messages }
        }
    }

    @Test func `a message resent across a restart is acknowledged again with the same place and stored once`()
        async throws
    {
        let victim = try await Victim(users: [1, 2])
        var places: [PacketBody] = []
        for round in 0..<3 {
            let author = try await victim.login(1)
            let sequence = await author.sendIM(from: 1, to: 2, content(7))
            let answers = try await author.receive(2)
            #expect(answers[1].body == .ack(Acknowledgement(sequence: sequence)))
            places.append(answers[0].body)
            // Once killed, once stopped in order.
            if round == 1 {
                victim.program.signal(SIGTERM)
                #expect(try await victim.program.waitForExit() == 0)
            }
            try await victim.restart()
        }
        #expect(Set(places.map { "\($0)" }).count == 1)
        #expect(try await allMessages(try await victim.login(2)).count == 1)
        #expect(try await allMessages(try await victim.login(1)).count == 1)
    }

    @Test func `an orderly stop acknowledges what was taken before it ends`() async throws {
        let server = try await TestServer(users: [1, 2])
        let author = try await server.login(1)
        for number in 0..<500 { _ = await author.sendIM(from: 1, to: 2, content(number)) }
        _ = try await author.receive(2)
        await server.stop()
        let answered = try await author.receiveUntilClosed().filter { $0.command == .ack }.count + 1
        let again = try await TestServer(users: [2], folder: server.folder)
        let stored = try await allMessages(try await again.login(2)).count
        #expect(answered == stored)
        await again.stop()
    }

    @Test func `a reader that stops reading loses pushes, never messages, and holds nobody up`() async throws
    {
        let server = try await TestServer(users: [1, 2, 3]) {
            $0.waitingPushesMax = 10
            $0.pageLimit = PageLimit(countMax: 100)
        }
        let slow = try await server.login(2)
        let author = try await server.login(1)
        let quick = try await server.login(3)
        slow.setReading(false)
        let text = String(repeating: "z", count: 30_000)
        let count = 600
        for number in 0..<count {
            _ = await author.sendIM(from: 1, to: 2, #"{"uuid":"\#(number)","text":"\#(text)"}"#)
        }
        for _ in 0..<count { #expect(try await author.receive(2)[1].command == .ack) }
        #expect(try await quick.receiveUntilPong().isEmpty)
        slow.setReading(true)
        let pushed = try await slow.receiveUntilPong()
        #expect(pushed.filter { $0.command == .im }.count < count)
        // The last notify tells of everything, METADATA stays next to its message, and no number is skipped.
        let last = pushed.last { $0.command == .syncNotify }
        for (index, packet) in pushed.enumerated() where packet.command == .metadata {
            #expect(pushed[index + 1].command == .im)
        }
        #expect(zip(pushed, pushed.dropFirst()).allSatisfy { $1.sequence == $0.sequence + 1 })
        let messages = try await allMessages(slow)
        #expect(messages.count == count)
        #expect(last != nil)
        await server.stop()
    }

    @Test func `a reader that never reads again is closed at the write deadline`() async throws {
        let server = try await TestServer(users: [1, 2]) { $0.deadlines.writeMilliseconds = 200 }
        let slow = try await server.login(2)
        let author = try await server.login(1)
        slow.setReading(false)
        let text = String(repeating: "z", count: 30_000)
        // Pushes go on all the time: that the queue grows must not count as progress.
        for _ in 0..<2_000 {
            _ = await author.sendIM(from: 1, to: 2, text)
            #expect(try await author.receive(2)[1].command == .ack)
            if server.log.lines.contains(where: { $0.fields.contains { $0.value == "write_timeout" } }) {
                break
            }
        }
        #expect(server.log.lines.contains { $0.fields.contains { $0.value == "write_timeout" } })
        #expect(try await author.receiveUntilPong().isEmpty)
        slow.close()
        await server.stop()
    }
}

extension Sequence {
    /// What the body makes of each element, one after the other.
    fileprivate func asyncMap<Value>(_ body: (Element) async throws -> Value) async rethrows -> [Value] {
        var values: [Value] = []
        for element in self { values.append(try await body(element)) }
        return values
    }
}
