import RivuletModel
import RivuletServer
import RivuletServerCore
import RivuletWire
import Testing

/// What must arrive, how often, and what the server tells by itself.
@Suite struct DeliveryTests {
    private func contents(_ packets: [Packet]) -> [String] {
        packets.compactMap { packet in
            switch packet.body {
            case .im(let message): message.content
            case .text(let text): text
            default: nil
            }
        }
    }

    private func queue(_ client: RawClient) async throws -> [Packet] {
        let packets = try await client.page(.sync, .syncKey(-1))
        // A round is written as one: what is pushed meanwhile stands before or after it.
        let begin = try #require(packets.firstIndex { $0.command == .syncBegin })
        let end = try #require(packets.firstIndex { $0.command == .syncEnd })
        return Array(packets[begin...end])
    }

    @Test func `two read receipts in one second both arrive`() async throws {
        let server = try await TestServer(
            users: [1, 2], time: ManualTime())
        let reader = try await server.login(2)
        let author = try await server.login(1)
        let receipts = ["A", "B"].map { #"{"readed":{"msgid":"\#($0)"}}"# } + [#"{"readed":{"msgid":"B"}}"#]
        for receipt in receipts { _ = await reader.sendIM(from: 2, to: 1, receipt) }
        _ = try await reader.receive(6)
        #expect(contents(try await author.receive(9)) == receipts)
        await server.stop()
    }

    @Test func `one content sent to two receivers arrives at both`() async throws {
        let server = try await TestServer(users: [1, 2, 3])
        let author = try await server.login(1)
        let content = #"{"uuid":"A","text":"to both"}"#
        for receiver in [2, 3] as [Int64] {
            _ = await author.sendIM(from: 1, to: receiver, content, number: 9)
        }
        _ = try await author.receive(4)
        for receiver in [2, 3] as [Int64] {
            #expect(contents(try await queue(server.login(receiver))) == [content])
        }
        await server.stop()
    }

    @Test(arguments: [#"{"uuid":"A","text":"once"}"#, "without a uuid"])
    func `a message sent three times, its ACK lost, is in each queue once`(content: String) async throws {
        let server = try await TestServer(users: [1, 2])
        try await server.server.apply([
            .createGroup(GroupID(7), app: 1, name: "", isSuper: false, owner: UserID(1), members: [UserID(2)])
        ])
        for _ in 0..<3 {
            // The connection breaks before the ACK is read.
            let author = try await server.login(1)
            author.setReading(false)
            _ = await author.sendIM(from: 1, to: 2, content, number: 4)
            await author.send(
                .groupIM, .im(IMMessage(sender: 1, receiver: 7, msgLocalID: 5, content: content)))
            author.shutdown()
            author.setReading(true)
            _ = try await author.receiveUntilClosed()
        }
        for user in [1, 2] as [Int64] {
            let held = contents(try await queue(server.login(user, device: "late")))
            #expect(held.filter { $0 == content }.count == 2, "one peer and one group message")
        }
        await server.stop()
    }

    @Test func `what the server posts is stored and notified, or live alone`() async throws {
        let server = try await TestServer(users: [1, 2])
        let client = try await server.login(1)
        let accounts = [Account(user: UserID(1)), Account(user: UserID(2))]
        try await server.server.post(.system("stored", to: accounts))
        try await server.server.post(.notification("live", to: accounts))
        let seen = try await client.receive(2)
        #expect(Set(seen.map(\.command)) == [.syncNotify, .notification])
        #expect(contents(try await queue(client)) == ["stored"])
        #expect(contents(try await queue(server.login(2))) == ["stored"])
        let error = await #expect(throws: ServerError.self) {
            try await server.server.post(.groupNotification("x", GroupID(4)))
        }
        #expect(error?.code == .noSuchGroup)
        let long = String(repeating: "x", count: ServerPost.textBytesMax + 1)
        await #expect(throws: ServerError.self) { try await server.server.post(.system(long, to: accounts)) }
        await server.stop()
        await #expect(throws: ServerError.self) { try await server.server.post(.system("x", to: accounts)) }
    }

    @Test func `members hear of a new group, and of leaving it`() async throws {
        let server = try await TestServer(users: [1, 2])
        let client = try await server.login(2)
        try await server.server.apply([
            .createGroup(
                GroupID(7), app: 1, name: "g", isSuper: false, owner: UserID(1), members: [UserID(2)]),
            .removeMember(GroupID(7), UserID(2)),
        ])
        #expect(try await client.receive(2).map(\.command) == [.syncNotify, .syncNotify])
        let held = try await queue(client)
        #expect(held.map(\.command) == [.syncBegin, .groupNotification, .groupNotification, .syncEnd])
        #expect(
            contents(held)[0].hasPrefix(#"{"create":{"group_id":7,"master":1,"name":"g","members":[1,2],"#))
        #expect(contents(held)[1].hasPrefix(#"{"quit_group":{"group_id":7,"member_id":2,"#))
        await server.stop()
    }

    @Test func `a burned message is gone from both queues, at once and after a restart`() async throws {
        let server = try await TestServer(users: [1, 2])
        let author = try await server.login(1)
        let reader = try await server.login(2)
        _ = await author.sendIM(from: 1, to: 2, #"{"uuid":"A","text":"secret","burn":{"seconds":1}}"#)
        _ = try await author.receive(2)
        _ = try await reader.receive(3)
        let burned = #"{"uuid":"B","burned":{"msgid":"A"}}"#
        _ = await reader.sendIM(from: 2, to: 1, burned)
        _ = try await reader.receive(2)
        #expect(contents(try await author.receive(3)) == [burned], "the author is told")
        #expect(contents(try await queue(reader)) == [burned])
        await server.stop()
        let again = try await TestServer(users: [1, 2], folder: server.folder)
        for user in [1, 2] as [Int64] {
            #expect(contents(try await queue(again.login(user))) == [burned])
        }
        await again.stop()
    }

    @Test func `who sends more than the limit is slowed down and loses nothing`() async throws {
        let server = try await TestServer(users: [1, 2]) {
            $0.limits.messagesPerUser = RateLimit(perSecond: 200, burst: 20)
        }
        let author = try await server.login(1)
        let other = try await server.login(2)
        for number in 0..<300 { _ = await author.sendIM(from: 1, to: 2, "\(number)") }
        #expect(
            try await other.receiveUntilPong().allSatisfy { $0.command != .ack }, "others are not held up")
        for _ in 0..<300 { #expect(try await author.receive(2)[1].command == .ack) }
        #expect(try server.server.statistics().counts.limited > 0)
        await server.stop()
    }

    @Test func `histories of chats hold what belongs to them, in pages, for those they belong to`()
        async throws
    {
        let server = try await TestServer(users: [1, 2, 3]) { $0.rules.announcesGroupChanges = false }
        try await server.server.apply([
            .createGroup(
                GroupID(7), app: 1, name: "", isSuper: false, owner: UserID(1), members: [UserID(2)]),
            .createGroup(GroupID(8), app: 1, name: "", isSuper: true, owner: UserID(1), members: [UserID(2)]),
        ])
        let author = try await server.login(1)
        for number in 0..<10 {
            _ = await author.sendIM(from: 1, to: 2, "two \(number)")
            _ = await author.sendIM(from: 1, to: 3, "three \(number)")
            for group in [7, 8] as [Int64] {
                await author.send(
                    .groupIM, .im(IMMessage(sender: 1, receiver: group, content: "\(group) \(number)")))
            }
        }
        _ = try await author.receive(80)
        let (one, two, three) = (
            Account(user: UserID(1)), Account(user: UserID(2)), Account(user: UserID(3))
        )
        func page(
            _ chat: HistoryChat, _ account: Account, _ place: HistoryPlace = .newest, limit: Int = 4
        ) async throws -> HistoryPage {
            try await server.server.history(of: chat, for: account, place, limit: limit)
        }
        for (account, peer) in [(one, two), (two, one)] {
            let newest = try await page(.peer(peer.user), account)
            #expect(newest.messages.map(\.content) == (6..<10).map { "two \($0)" })
            #expect(newest.hasMore)
            let first = try #require(newest.messages.first)
            let before = try await page(.peer(peer.user), account, .before(first.key), limit: 100)
            #expect(before.messages.map(\.content) == (0..<6).map { "two \($0)" })
            #expect(!before.hasMore)
            let after = try await page(.peer(peer.user), account, .after(first.key), limit: 2)
            #expect(after.messages.map(\.content) == ["two 7", "two 8"])
            #expect(after.hasMore)
        }
        #expect(try await page(.peer(one.user), three).messages.last?.content == "three 9")
        #expect(try await page(.peer(two.user), three).messages.isEmpty)
        for group in [7, 8] as [Int64] {
            #expect(
                try await page(.group(GroupID(group)), two).messages.map(\.content)
                    == (6..<10).map { "\(group) \($0)" })
            let error = await #expect(throws: ServerError.self) {
                try await page(.group(GroupID(group)), three)
            }
            #expect(error?.code == .notAMember)
        }
        await server.stop()
    }

    @Test func `old messages are removed while the server runs, and keys go on after it`() async throws {
        let time = ManualTime()
        let server = try await TestServer(users: [1, 2], time: time) { $0.retentionDays = 1 }
        let author = try await server.login(1)
        _ = await author.sendIM(from: 1, to: 2, "old")
        guard case .metadata(let old) = try await author.receive(2)[0].body else { return }
        time.advance(days: 2)
        _ = await author.sendIM(from: 1, to: 2, "new")
        guard case .metadata(let new) = try await author.receive(2)[0].body else { return }
        #expect(new.syncKey > old.syncKey)
        // The log removes when it is idle.
        var held: [String] = []
        for _ in 0..<400 where held != ["new"] {
            held = contents(try await queue(author))
            try await Task.sleep(for: .milliseconds(20))
        }
        #expect(held == ["new"])
        await server.stop()
    }
}
