import RivuletModel
import RivuletServer
import RivuletServerCore
import RivuletWire
import Testing

/// Every row of the table of docs/protocol.md, section 12, over real sockets.
@Suite struct CommandRowTests {
    private func text(_ content: String) -> PacketBody {
        .im(IMMessage(sender: 101, receiver: 102, content: content))
    }

    private static func group(
        _ id: Int64, isSuper: Bool = false, _ users: Int64...
    ) -> MembershipChange {
        .createGroup(
            GroupID(id), app: 1, name: "g", isSuper: isSuper, owner: UserID(users[0]),
            members: users.map { UserID($0) })
    }

    /// A server without notices of changes, so that queues hold nothing but what a test sends.
    private func start(
        _ users: [Int64], _ configure: @escaping (inout ServerConfiguration) -> Void = { _ in }
    ) async throws -> TestServer {
        try await TestServer(users: users) {
            $0.rules.announcesGroupChanges = false
            configure(&$0)
        }
    }

    private func status(_ packet: Packet) -> ACKStatus? {
        if case .ack(let ack) = packet.body { ack.status } else { nil }
    }

    @Test func `any before login: silence but for PING and AUTH_TOKEN`() async throws {
        let server = try await start([101])
        let client = try await RawClient.connect(port: server.port)
        let commands: [(Command, PacketBody)] = [
            (.im, text("x")), (.groupIM, text("x")), (.sync, .syncKey(0)), (.unreadCount, .unreadCount(1)),
            (.rt, .room(RTMessage(sender: 0, receiver: 101, content: "x"))), (.enterRoom, .roomID(1)),
            (.roomIM, .room(RoomMessage(sender: 0, receiver: 1, content: "x"))), (.leaveRoom, .roomID(1)),
            (.syncKey, .syncKey(9)), (.groupSyncKey, .groupSyncKey(GroupSyncKey(groupID: 1, key: 1))),
            (.syncGroup, .groupSyncKey(GroupSyncKey(groupID: 1, key: 1))),
            (.ack, .ack(Acknowledgement(sequence: 1))),
            (
                .customerV2,
                .customerV2(
                    CustomerMessageV2(
                        senderAppID: 0, sender: 0, receiverAppID: 1, receiver: 101, content: "x"))
            ),
        ]
        for (command, body) in commands { await client.send(command, body) }
        #expect(try await client.receiveUntilPong().isEmpty)
        let login = AuthenticationToken(
            token: try server.token(of: 101), platformID: .iOS, deviceID: "d")
        await client.send(.authToken, .authToken(login))
        #expect(try await client.receive().body == .authStatus(AuthenticationStatus(status: 0)))
        await server.stop()
    }

    @Test func `IM: friends and blacklist are answered 1, 2, 3, in this order`() async throws {
        let server = try await start([101, 102]) { $0.rules.checksFriends = true }
        let author = try await server.login(101)
        let receiver = try await server.login(102)
        let (one, two) = (Account(user: UserID(101)), Account(user: UserID(102)))
        let steps: [([MembershipChange], ACKStatus)] = [
            ([.setBlocked(by: two, UserID(101), true)], .receiverNotFriend),
            ([.setFriend(of: one, UserID(102), true)], .senderNotFriend),
            ([.setFriend(of: two, UserID(101), true)], .senderBlocked),
        ]
        for (changes, expected) in steps {
            try await server.server.apply(changes)
            let sequence = await author.send(.im, text("x"))
            #expect(
                try await author.receive().body
                    == .ack(Acknowledgement(sequence: sequence, status: expected)))
        }
        try await server.server.apply([.setBlocked(by: two, UserID(101), false)])
        await author.send(.im, text("at last"))
        #expect(try await author.receive(2).map(\.command) == [.metadata, .ack])
        #expect(try await receiver.receive(3)[1].body != .empty)
        await server.stop()
    }

    @Test func `IM: the filter sees the content, and the time is the server's`() async throws {
        let server = try await start([101, 102]) { $0.contentFilter = WordFilter(["darn"]).filter }
        let author = try await server.login(101)
        let receiver = try await server.login(102)
        let early = IMMessage(sender: 101, receiver: 102, timestamp: 5, content: #"{"text":"darn it"}"#)
        await author.send(.im, .im(early))
        guard case .im(let message) = try await receiver.receive(3)[1].body else { return }
        #expect(message.content == #"{"text":"**** it"}"#)
        #expect(message.timestamp > 1_700_000_000)
        await server.stop()
    }

    @Test func `GROUP_IM: missing group 65, stranger 64, muted member 67, muted group 66`() async throws {
        let server = try await start([101, 102, 103])
        try await server.server.apply([Self.group(7, 102, 103)])
        let author = try await server.login(101)
        let member = try await server.login(103)
        func answer(_ client: RawClient, _ sender: Int64, to group: Int64) async throws -> ACKStatus? {
            await client.send(.groupIM, .im(IMMessage(sender: sender, receiver: group, content: "x")))
            let first = try await client.receive()
            return status(first.command == .metadata ? try await client.receive() : first)
        }
        #expect(try await answer(author, 101, to: 8) == .noSuchGroup)
        #expect(try await answer(author, 101, to: 7) == .notGroupMember)
        try await server.server.apply([.addMember(GroupID(7), UserID(101), .member)])
        #expect(try await answer(author, 101, to: 7) == .success)
        #expect(try await member.receive(3).map(\.command) == [.metadata, .groupIM, .syncNotify])
        try await server.server.apply([.muteMember(GroupID(7), UserID(101), true)])
        #expect(try await answer(author, 101, to: 7) == .memberMuted)
        try await server.server.apply([
            .muteMember(GroupID(7), UserID(101), false), .muteGroup(GroupID(7), true),
        ])
        #expect(try await answer(author, 101, to: 7) == .groupMuted)
        await author.send(.groupIM, .im(IMMessage(sender: 103, receiver: 7, content: "forged")))
        #expect(try await author.receiveUntilPong().isEmpty)
        #expect(try await member.receiveUntilPong().isEmpty)
        await server.stop()
    }

    @Test func `GROUP_IM of a normal group, as recorded in scenario 17`() async throws {
        let server = try await start([101, 102, 103])
        try await server.server.apply([Self.group(3120, 101, 102, 103)])
        let author = try await server.login(101, device: "a")
        let second = try await server.login(101, device: "a2")
        let member = try await server.login(102)
        await author.send(.groupIM, .im(IMMessage(sender: 101, receiver: 3120, content: "group hi")))
        let answers = try await author.receive(2)
        #expect(answers.map(\.command) == [.metadata, .ack])
        #expect(answers[1].flags == [])
        for client in [second, member] {
            let pushed = try await client.receive(3)
            #expect(pushed.map(\.command) == [.metadata, .groupIM, .syncNotify])
            #expect(pushed[1].flags == .push)
        }
        let late = try await server.login(103)
        await late.send(.sync, .syncKey(0))
        let synced = try await late.receive(3)
        #expect(synced.map(\.command) == [.syncBegin, .groupIM, .syncEnd])
        #expect(synced[1].flags == [])
        await server.stop()
    }

    @Test func `GROUP_IM of a super group, SYNC_GROUP and GROUP_SYNC_KEY, as recorded in scenario 19`()
        async throws
    {
        let server = try await start([101, 102, 104])
        try await server.server.apply([Self.group(3121, isSuper: true, 101, 102)])
        let author = try await server.login(101)
        let member = try await server.login(102)
        await author.send(.groupIM, .im(IMMessage(sender: 101, receiver: 3121, content: "super hi")))
        let answers = try await author.receive(2)
        #expect(answers.map(\.command) == [.metadata, .ack])
        #expect(answers[1].flags == .superGroup)
        let pushed = try await member.receive(3)
        #expect(pushed.map(\.command) == [.metadata, .groupIM, .syncGroupNotify])
        #expect(pushed[1].flags == [.push, .superGroup])
        guard case .groupSyncKey(let notify) = pushed[2].body else { return }

        func sync(_ client: RawClient, _ key: Int64) async throws -> [Packet] {
            try await client.page(.syncGroup, .groupSyncKey(GroupSyncKey(groupID: 3121, key: key)))
        }
        #expect(try await sync(member, 0).map(\.command) == [.syncGroupBegin, .groupIM, .syncGroupEnd])
        #expect(try await sync(author, 0)[1].flags == .isSelf)
        await member.send(.groupSyncKey, .groupSyncKey(notify))
        #expect(try await sync(member, 0).map(\.command) == [.syncGroupBegin, .syncGroupEnd])
        #expect(try await sync(member, notify.key).map(\.command) == [.syncGroupBegin, .syncGroupEnd])
        #expect(try await sync(member, -1).count == 3)
        let stranger = try await server.login(104)
        #expect(try await sync(stranger, 0).map(\.command) == [.syncGroupBegin, .syncGroupEnd])
        await server.stop()
    }

    @Test func `a super group is read in pages, by notify`() async throws {
        let server = try await start([101, 102]) { $0.pageLimit = PageLimit(countMax: 10) }
        try await server.server.apply([Self.group(7, isSuper: true, 101, 102)])
        let author = try await server.login(101)
        for number in 0..<25 {
            await author.send(.groupIM, .im(IMMessage(sender: 101, receiver: 7, content: "\(number)")))
        }
        _ = try await author.receive(50)
        let member = try await server.login(102)
        var (key, contents, rounds): (Int64, [String], Int) = (-1, [], 0)
        while rounds < 10 {
            rounds += 1
            let page = try await member.page(
                .syncGroup, .groupSyncKey(GroupSyncKey(groupID: 7, key: key)))
            contents += page.compactMap {
                if case .im(let message) = $0.body { message.content } else { nil }
            }
            for case .groupSyncKey(let end) in page.filter({ $0.command == .syncGroupEnd }).map(\.body) {
                key = end.key
            }
            guard page.last?.command == .syncGroupNotify else { break }
        }
        #expect(rounds == 3)
        #expect(contents == (0..<25).map { "\($0)" })
        await server.stop()
    }

    @Test func `CUSTOMER_V2: stored for both when one side is the service, a forged one gets silence`()
        async throws
    {
        let server = try await start([101, 102]) { $0.rules.customerServiceApp = 9 }
        let author = try await server.login(101)
        func send(_ app: Int64, _ sender: Int64, to other: Int64) async -> Int32 {
            await author.send(
                .customerV2,
                .customerV2(
                    CustomerMessageV2(
                        senderAppID: app, sender: sender, receiverAppID: other, receiver: 102, content: "x")))
        }
        _ = await send(1, 101, to: 9)
        #expect(try await author.receive(2).map(\.command) == [.metadata, .ack])
        let refused = await send(1, 101, to: 1)
        #expect(
            try await author.receive().body
                == .ack(Acknowledgement(sequence: refused, status: ACKStatus(rawValue: 68))))
        _ = await send(1, 102, to: 9)
        _ = await send(9, 101, to: 1)
        #expect(try await author.receiveUntilPong().isEmpty)
        let synced = try await author.page(.sync, .syncKey(-1))
        #expect(synced.map(\.command) == [.syncBegin, .customerV2, .syncEnd])
        #expect(synced[1].flags == .isSelf)
        await server.stop()
    }

    @Test func `RT: live, never acknowledged, and a forged sender reaches nobody`() async throws {
        let server = try await start([101, 102])
        let author = try await server.login(101)
        let receiver = try await server.login(102)
        await author.send(.rt, .room(RTMessage(sender: 102, receiver: 102, content: "forged")))
        await author.send(.rt, .room(RTMessage(sender: 101, receiver: 102, content: "live")))
        #expect(try await author.receiveUntilPong().isEmpty)
        #expect(
            try await receiver.receive().body == .room(RTMessage(sender: 101, receiver: 102, content: "live"))
        )
        await receiver.send(.sync, .syncKey(-1))
        #expect(try await receiver.receive(2).map(\.command) == [.syncBegin, .syncEnd])
        await server.stop()
    }

    @Test func `ROOM_IM, ENTER_ROOM, LEAVE_ROOM: one room per connection, bans, and who hears`() async throws
    {
        let server = try await start([101, 102, 103])
        let author = try await server.login(101, device: "a")
        let sameDevice = try await server.login(101, device: "a")
        let other = try await server.login(101, device: "b")
        let listener = try await server.login(102)
        for client in [author, other, listener] {
            await client.send(.enterRoom, .roomID(7))
            await client.send(.enterRoom, .roomID(0))
            await client.send(.leaveRoom, .roomID(8))
            #expect(try await client.receiveUntilPong().isEmpty)
        }
        func write(_ client: RawClient, _ sender: Int64) async throws -> ACKStatus? {
            await client.send(.roomIM, .room(RoomMessage(sender: sender, receiver: 7, content: "x")))
            return status(try await client.receive())
        }
        #expect(try await write(author, 101) == .success)
        for client in [other, listener] { #expect(try await client.receive().command == .roomIM) }
        #expect(try await sameDevice.receiveUntilPong().isEmpty)

        await sameDevice.send(.enterRoom, .roomID(7))
        #expect(try await sameDevice.receiveUntilPong().isEmpty)
        #expect(try await write(author, 101) == .notGroupMember, "the newer connection took the place")
        await listener.send(.enterRoom, .roomID(8))
        #expect(try await listener.receiveUntilPong().isEmpty)
        #expect(try await write(listener, 102) == .notGroupMember, "entering another leaves the first")
        try await server.server.apply([.banFromRoom(RoomID(7), Account(user: UserID(101)), true)])
        #expect(try await write(sameDevice, 101) == .memberMuted)
        sameDevice.close()
        _ = try await sameDevice.receiveUntilClosed()
        await other.send(.leaveRoom, .roomID(7))
        #expect(try await write(other, 101) == .notGroupMember)
        #expect(try server.server.roomHistory(of: RoomID(7), limit: 10).map(\.content) == ["x"])
        await server.stop()
    }

    @Test func `SYNC_KEY is saved only when it is greater, and has no answer`() async throws {
        let server = try await start([101, 102])
        let author = try await server.login(101)
        for content in ["a", "b"] { await author.send(.im, text(content)) }
        _ = try await author.receive(4)
        let receiver = try await server.login(102)
        await receiver.send(.sync, .syncKey(0))
        let first = try await receiver.receive(4)
        guard case .syncKey(let key) = first[3].body else { return }
        for reported in [key, 1, 0, -7] { await receiver.send(.syncKey, .syncKey(reported)) }
        #expect(try await receiver.receiveUntilPong().isEmpty)
        await receiver.send(.sync, .syncKey(0))
        #expect(try await receiver.receive(2).map(\.body) == [.syncKey(key), .syncKey(key)])
        await server.stop()
    }

    @Test func `ACK, METADATA, PONG, UNREAD_COUNT, CUSTOMER and CUSTOMER_SUPPORT have no answer`()
        async throws
    {
        let server = try await start([101])
        let client = try await server.login(101)
        let commands: [(Command, PacketBody)] = [
            (.ack, .ack(Acknowledgement(sequence: 1))), (.pong, .empty), (.unreadCount, .unreadCount(3)),
            (.metadata, .metadata(Metadata(syncKey: 1, previousSyncKey: 0))),
        ]
        for (command, body) in commands { await client.send(command, body) }
        for command in [24, 25] as [UInt8] {
            let header = [0, 0, 0, 36, 0, 0, 0, 9, command, 2, 0, 0] as [UInt8]
            await client.send(header + [UInt8](repeating: 0, count: 36))
        }
        #expect(try await client.receiveUntilPong().isEmpty)
        await server.stop()
    }

    @Test func `a disconnect leaves the room and ends what is watched`() async throws {
        let server = try await start([101, 102, 103])
        let watcher = try await server.login(101)
        let watched = try await server.login(102)
        await watcher.send(
            .rt, .room(RTMessage(sender: 101, receiver: 0, content: #"{"presence":{"watch":[102]}}"#)))
        #expect(try await watcher.receive().command == .rt)
        await watched.send(.enterRoom, .roomID(7))
        #expect(try await watched.receiveUntilPong().isEmpty)
        watched.close()
        guard case .room(let told) = try await watcher.receive().body else { return }
        #expect(told.content.hasPrefix(#"{"presence":{"states":[{"uid":102,"online":0,"last_ms":"#))
        #expect(try server.server.statistics().rooms == 0)
        #expect(try server.server.statistics().connections == 1)
        await server.stop()
    }

    @Test func `several connections of a user and of a device may be there at once`() async throws {
        let server = try await start([101, 102])
        let same = [
            try await server.login(102, device: "a"), try await server.login(102, device: "a"),
            try await server.login(102, device: "b"),
        ]
        let author = try await server.login(101)
        await author.send(.im, text("to all"))
        for client in same { #expect(try await client.receive(3)[1].command == .im) }
        await server.stop()
    }
}
