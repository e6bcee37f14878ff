import RivuletServer
import RivuletServerCore
import RivuletTestSupport
import RivuletWire
import Testing

/// IM over real sockets, after the recorded scenarios 09, 10, 13 and 40 (docs/protocol.md, section 23).
@Suite struct PeerMessageTests {
    private func metadata(_ packet: Packet) throws -> Metadata {
        guard case .metadata(let metadata) = packet.body else {
            throw RawClient.Failure.timeout(seen: [packet])
        }
        return metadata
    }

    private func message(_ packet: Packet) throws -> IMMessage {
        guard case .im(let message) = packet.body else { throw RawClient.Failure.timeout(seen: [packet]) }
        return message
    }

    @Test
    func `the author gets METADATA and ACK, the receiver and the other device METADATA, PUSH and NOTIFY`()
        async throws
    {
        let server = try await TestServer(users: [101, 102])
        let author = try await server.login(101, device: "a")
        let second = try await server.login(101, device: "a2")
        let receiver = try await server.login(102)
        let sequence = await author.sendIM(from: 101, to: 102, #"{"text":"hi"}"#, number: 77, flags: .text)

        let answers = try await author.receive(2)
        #expect(answers.map(\.command) == [.metadata, .ack])
        #expect(answers.map(\.sequence) == [2, 3])
        #expect(answers[1].body == .ack(Acknowledgement(sequence: sequence)))
        let own = try metadata(answers[0])

        let pushed = try await receiver.receive(3)
        #expect(pushed.map(\.command) == [.metadata, .im, .syncNotify])
        #expect(pushed.map(\.sequence) == [2, 3, 4])
        #expect(pushed[1].flags == [.push, .text])
        let live = try message(pushed[1])
        #expect((live.sender, live.receiver, live.msgLocalID) == (101, 102, 77))
        #expect(live.timestamp > 1_700_000_000)
        let place = try metadata(pushed[0])
        #expect(place.previousSyncKey == 0)
        #expect(pushed[2].body == .syncKey(place.syncKey))

        let copy = try await second.receive(3)
        #expect(copy.map(\.command) == [.metadata, .im, .syncNotify])
        #expect(try metadata(copy[0]) == own)
        #expect(copy[2].body == .syncKey(own.syncKey))
        await server.stop()
    }

    @Test func `keys of one queue name the one before`() async throws {
        let server = try await TestServer(users: [109, 110])
        let author = try await server.login(109)
        let receiver = try await server.login(110)
        for content in ["one", "two", "three"] { _ = await author.sendIM(from: 109, to: 110, content) }
        var previous: Int64 = 0
        for content in ["one", "two", "three"] {
            let pushed = try await receiver.receive(3)
            let place = try metadata(pushed[0])
            #expect(place.previousSyncKey == previous)
            #expect(place.syncKey > previous)
            #expect(try message(pushed[1]).content == content)
            previous = place.syncKey
        }
        let own = try await author.receive(6)
        #expect(own.map(\.command) == [.metadata, .ack, .metadata, .ack, .metadata, .ack])
        #expect(try metadata(own[2]).previousSyncKey == metadata(own[0]).syncKey)
        await server.stop()
    }

    @Test(arguments: [0, 1, 2] as [UInt8], [0, 1, 2] as [UInt8])
    func `each end gets its login's version, whatever the frame's`(author: UInt8, receiver: UInt8)
        async throws
    {
        let server = try await TestServer(users: [103, 105])
        let from = try await server.login(103, version: author)
        let to = try await server.login(105, version: receiver)
        for version in [0, 1, 2] as [UInt8] {
            let body = IMMessage(
                sender: 103, receiver: 105, timestamp: 5, msgLocalID: 9, content: "v\(version)")
            await from.send(.im, .im(body), version: version)
            let answers = try await from.receive(2)
            #expect(answers.map(\.command) == [.metadata, .ack])
            #expect(answers.allSatisfy { $0.version == author })
            let pushed = try await to.receive(3)
            #expect(pushed.allSatisfy { $0.version == receiver })
            let live = try message(pushed[1])
            #expect(live.content == "v\(version)")
            #expect(live.msgLocalID == 9)
            #expect((live.timestamp == 0) == (receiver == 0))
        }
        await server.stop()
    }

    @Test func `a forged sender gets silence and nothing is stored`() async throws {
        let server = try await TestServer(users: [101, 102])
        let author = try await server.login(101)
        let receiver = try await server.login(102)
        _ = await author.sendIM(from: 102, to: 102, "forged")
        #expect(try await author.receiveUntilPong().isEmpty)
        await receiver.send(.sync, .syncKey(-1))
        #expect(try await receiver.receive(2).map(\.command) == [.syncBegin, .syncEnd])
        await server.stop()
    }

    @Test func `of the sender's flags only TEXT is kept`() async throws {
        let server = try await TestServer(users: [101, 102])
        let author = try await server.login(101)
        let receiver = try await server.login(102)
        _ = await author.sendIM(
            from: 101, to: 102, "x", flags: [.text, .isSelf, .push, .superGroup, .group, .unpersistent])
        #expect(try await receiver.receive(3)[1].flags == [.text, .push])
        await receiver.send(.sync, .syncKey(-1))
        #expect(try await receiver.receive(3)[1].flags == .text)
        await server.stop()
    }

    @Test func `a message to oneself is stored twice, acknowledged, and not pushed to the same device`()
        async throws
    {
        let server = try await TestServer(users: [101])
        let author = try await server.login(101, device: "a")
        let sameDevice = try await server.login(101, device: "a")
        let other = try await server.login(101, device: "b")
        _ = await author.sendIM(from: 101, to: 101, "note")
        #expect(try await author.receive(2).map(\.command) == [.metadata, .ack])
        #expect(try await other.receive(3).map(\.command) == [.metadata, .im, .syncNotify])
        #expect(try await sameDevice.receiveUntilPong().isEmpty)
        await author.send(.sync, .syncKey(-1))
        let synced = try await author.receive(4)
        #expect(synced.map(\.command) == [.syncBegin, .im, .im, .syncEnd])
        #expect(synced[1].flags == .isSelf)
        await server.stop()
    }

    @Test func `two web tabs of one user see each other's messages, since device number 0 is nobody's`()
        async throws
    {
        let server = try await TestServer(users: [101, 102])
        let first = try await server.login(101, platform: .web)
        let second = try await server.login(101, platform: .web)
        _ = await first.sendIM(from: 101, to: 102, "from a tab")
        #expect(try await first.receive(2).map(\.command) == [.metadata, .ack])
        #expect(try await second.receive(3).map(\.command) == [.metadata, .im, .syncNotify])
        await second.send(.sync, .syncKey(0))
        #expect(try await second.receive(3)[1].flags == [])
        await server.stop()
    }

    @Test func `every request that expects an answer gets one`() async throws {
        let server = try await TestServer(users: [101])
        let client = try await server.login(101)
        let group = await client.send(.groupIM, .im(IMMessage(sender: 101, receiver: 5, content: "x")))
        #expect(
            try await client.receive().body
                == .ack(Acknowledgement(sequence: group, status: .noSuchGroup)))
        await client.send(.syncGroup, .groupSyncKey(GroupSyncKey(groupID: 5, key: 9)))
        let answers = try await client.receive(2)
        #expect(answers.map(\.command) == [.syncGroupBegin, .syncGroupEnd])
        #expect(answers[1].body == .groupSyncKey(GroupSyncKey(groupID: 5, key: 9)))
        for (command, body) in [
            (Command.unreadCount, PacketBody.unreadCount(3)), (.ack, .ack(Acknowledgement(sequence: 1))),
            (.metadata, .metadata(Metadata(syncKey: 1, previousSyncKey: 0))), (.pong, .empty),
            (.groupSyncKey, .groupSyncKey(GroupSyncKey(groupID: 5, key: 9))),
        ] {
            await client.send(command, body)
        }
        #expect(try await client.receiveUntilPong().isEmpty)
        await server.stop()
    }

    @Test func `live messages reach the other user alone, and forged ones nobody`() async throws {
        let server = try await TestServer(users: [101, 102])
        let author = try await server.login(101)
        let receiver = try await server.login(102)
        await author.send(.rt, .room(RTMessage(sender: 102, receiver: 102, content: "forged")))
        await author.send(.rt, .room(RTMessage(sender: 101, receiver: 102, content: "live")))
        let live = try await receiver.receive()
        #expect(live.command == .rt)
        #expect(live.body == .room(RTMessage(sender: 101, receiver: 102, content: "live")))
        #expect(try await author.receiveUntilPong().isEmpty)
        await server.stop()
    }

    @Test func `a room relays to those inside and acknowledges the author`() async throws {
        let server = try await TestServer(users: [101, 102, 103])
        let author = try await server.login(101)
        let inside = try await server.login(102)
        let outside = try await server.login(103)
        for client in [author, inside] {
            await client.send(.enterRoom, .roomID(7))
            #expect(try await client.receiveUntilPong().isEmpty)
        }
        let sequence = await author.send(.roomIM, .room(RoomMessage(sender: 101, receiver: 7, content: "x")))
        #expect(try await author.receive().body == .ack(Acknowledgement(sequence: sequence)))
        #expect(try await inside.receive().command == .roomIM)
        let refused = await outside.send(
            .roomIM, .room(RoomMessage(sender: 103, receiver: 7, content: "not inside")))
        #expect(
            try await outside.receive().body
                == .ack(Acknowledgement(sequence: refused, status: .notGroupMember)))
        await author.send(.leaveRoom, .roomID(7))
        let late = await author.send(.roomIM, .room(RoomMessage(sender: 101, receiver: 7, content: "gone")))
        #expect(
            try await author.receive().body
                == .ack(Acknowledgement(sequence: late, status: .notGroupMember)))
        #expect(try await inside.receiveUntilPong().isEmpty)
        await server.stop()
    }
}
