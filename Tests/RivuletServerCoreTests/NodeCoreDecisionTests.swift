import RivuletModel
import RivuletServerCore
import RivuletWire
import Testing

/// Decisions that no other suite looks at, one test each; docs/server.md lists them all.
@Suite struct NodeCoreDecisionTests {
    var node = NodeDriver(rules: silent)

    private static var silent: NodeRules {
        var rules = NodeDriver.quietRules
        rules.announcesGroupChanges = false
        return rules
    }

    private static let (one, two) = (Account(user: UserID(1)), Account(user: UserID(2)))

    // MARK: Login

    /// Connects from an address and asks for a login; answers whether the directory is asked.
    private mutating func isLookedUp(
        _ number: UInt64, from address: PeerAddress, _ result: LoginResult
    ) throws -> Bool {
        let id = ConnectionID(rawValue: number)
        let asked = try node.feed([
            .opened(id, from: address), .received(id, Packet(.authToken, NodeDriver.token)),
        ])
        guard asked.contains(where: { if case .authenticate = $0 { true } else { false } }) else {
            return false
        }
        _ = try node.feed([.loginAnswered(id, result)])
        return true
    }

    @Test mutating func `a directory that cannot be asked is held against nobody, nor is an unknown address`()
        throws
    {
        var limits = NodeCore.Limits()
        limits.refusedLoginsPerAddress = RateLimit(perSecond: 1, burst: 2)
        node = NodeDriver(limits: limits)
        let known = PeerAddress(rawValue: "a")
        for number in 1...9 as ClosedRange<UInt64> {
            #expect(try isLookedUp(number, from: known, .unavailable))
            #expect(try isLookedUp(number + 20, from: .unknown, .refused))
        }
        #expect(try isLookedUp(50, from: known, .refused))
        #expect(try isLookedUp(51, from: known, .refused))
        #expect(try !isLookedUp(52, from: known, .refused))
    }

    @Test mutating func `the last refused login of a connection closes it without grace`() throws {
        var limits = NodeCore.Limits()
        limits.refusedLoginsMax = 3
        node = NodeDriver(limits: limits)
        let id = try node.connect()
        var graces: [Int64] = []
        for _ in 0..<3 {
            let actions = try node.feed([
                .received(id, Packet(.authToken, NodeDriver.token)), .loginAnswered(id, .refused),
            ])
            graces += actions.compactMap {
                if case .close(_, .loginRefused, let time) = $0 { time } else { nil }
            }
        }
        #expect(graces == [5000, 5000, 0])
    }

    @Test mutating func `an answer to a login that nobody waits for changes nothing`() throws {
        let anonymous = try node.connect()
        let user = try node.login(1)
        #expect(try node.feed([.loginAnswered(anonymous, .accepted(Self.two, .none))]).isEmpty)
        #expect(try node.feed([.loginAnswered(user, .accepted(Self.two, .none))]).isEmpty)
        #expect(try node.feed([.received(anonymous, Packet(.sync, .syncKey(0)))]).isEmpty)
        let actions = try node.feed([.received(user, NodeDriver.im(1, 2))])
        #expect(actions.sent(to: user).statuses == [.success], "still user 1")
        #expect(node.core.onlineUserCount == 1)
    }

    @Test(arguments: [
        Packet(.authToken, NodeDriver.token), Packet(.ack, .ack(Acknowledgement(sequence: 1))), Packet(.pong),
        Packet(.metadata, .metadata(Metadata(syncKey: 9, previousSyncKey: 0))),
        Packet(.leaveRoom, .roomID(4)), Packet(.enterRoom, .roomID(0)),
    ])
    mutating func `what is accepted and changes nothing has no answer`(packet: Packet) throws {
        let user = try node.login(1)
        #expect(try node.feed([.received(user, packet)]).isEmpty)
    }

    @Test mutating func `PING is answered before and after login`() throws {
        for id in [try node.connect(), try node.login(1)] {
            #expect(try node.feed([.received(id, Packet(.ping))]) == [.send(id, [Packet(.pong)], .reply)])
        }
    }

    @Test mutating func `other devices hear of a login only if the rules say so`() throws {
        let phone = try node.login(1, device: 5)
        let laptop = try node.connect()
        let told = try node.feed([
            .received(laptop, Packet(.authToken, NodeDriver.token)),
            .loginAnswered(laptop, .accepted(Self.one, DeviceNumber(rawValue: 6))),
        ])
        #expect(told.sent(to: phone).isEmpty)
    }

    @Test mutating func `connections whose address is unknown are not counted together`() throws {
        var limits = NodeCore.Limits()
        limits.connectionsPerAddressMax = 1
        node = NodeDriver(limits: limits)
        let events = (1...5 as ClosedRange<UInt64>).map { NodeEvent.opened(ConnectionID(rawValue: $0)) }
        #expect(try node.feed(events).closed.isEmpty)
    }

    // MARK: Messages

    @Test mutating func `a forged sender gets silence, and nothing is stored or relayed`() throws {
        let author = try node.login(1)
        let victim = try node.login(2)
        let listener = try node.login(3)
        let forged = [NodeDriver.im(2, 3), NodeDriver.rt(2, 3, "x"), NodeDriver.rt(2, 0, "x")]
        for packet in forged {
            let actions = try node.feed([.received(author, packet)])
            #expect(actions.isEmpty, "\(packet.command)")
        }
        for id in [victim, listener] {
            let synced = try node.feed([.received(id, Packet(.sync, .syncKey(-1)))]).sent(to: id)
            #expect(synced.map(\.command) == [.syncBegin, .syncEnd])
        }
    }

    @Test mutating func `of the flags of a client only TEXT is kept, live and stored`() throws {
        let author = try node.login(1, device: 5)
        let receiver = try node.login(2)
        for id in [author, receiver] { _ = try node.feed([.received(id, Packet(.enterRoom, .roomID(3)))]) }
        let all: PacketFlags = [.text, .isSelf, .push, .superGroup, .unpersistent]
        var packet = NodeDriver.im(1, 2)
        packet.flags = all
        let live = try node.feed([.received(author, packet)]).sent(to: receiver)
        #expect(live[1].flags == [.text, .push])
        let synced = try node.feed([.received(receiver, Packet(.sync, .syncKey(-1)))]).sent(to: receiver)
        #expect(synced[1].flags == .text)
        let room = Packet(
            .roomIM, .room(RoomMessage(sender: 1, receiver: 3, content: "x")), flags: all)
        #expect(try node.feed([.received(author, room)]).sent(to: receiver).map(\.flags) == [.text])
    }

    /// The device that reads again, and whether its own message comes back with SELF.
    @Test(arguments: [(5, true), (6, false), (0, false)] as [(Int64, Bool)])
    mutating func `a message comes back with SELF to the device that wrote it, and to no other`(
        device: Int64, isSelf: Bool
    ) throws {
        let author = try node.login(1, device: 5)
        _ = try node.feed([.received(author, NodeDriver.im(1, 2))])
        let web = try node.login(1, device: 0)
        _ = try node.feed([.received(web, NodeDriver.im(1, 2, "by no device"))])
        let reader = try node.login(1, device: device)
        let synced = try node.feed([.received(reader, Packet(.sync, .syncKey(-1)))]).sent(to: reader)
        #expect(synced.dropFirst().dropLast().map { $0.flags.contains(.isSelf) } == [isSelf, false])
        let receiver = try node.login(2, device: 5)
        let other = try node.feed([.received(receiver, Packet(.sync, .syncKey(-1)))]).sent(to: receiver)
        #expect(other.allSatisfy { !$0.flags.contains(.isSelf) }, "the number is another user's here")
    }

    @Test
    mutating func `a message that was stored is acknowledged again though its author is blocked by now`()
        throws
    {
        let author = try node.login(1)
        let receiver = try node.login(2)
        let (first, new) = (#"{"uuid":"A"}"#, #"{"uuid":"B"}"#)
        _ = try node.feed([.received(author, NodeDriver.im(1, 2, first))])
        try node.change(.setBlocked(by: Self.two, UserID(1), true))
        let again = try node.feed([
            .received(author, NodeDriver.im(1, 2, first)), .received(author, NodeDriver.im(1, 2, new)),
            .received(author, NodeDriver.im(1, 2, "without a uuid")),
        ])
        #expect(
            again.sent(to: author).statuses.sorted { $0.rawValue < $1.rawValue }
                == [.success, .senderBlocked, .senderBlocked])
        #expect(again.sent(to: receiver).isEmpty)
        #expect(try node.log.messages(in: queue(2), after: 0, limit: PageLimit()).messages.count == 1)
    }

    @Test mutating func `nobody is paused for longer than ten seconds`() throws {
        var limits = NodeCore.Limits()
        limits.messagesPerUser = RateLimit(perSecond: 1, burst: 20)
        node = NodeDriver(limits: limits)
        let author = try node.login(1)
        let actions = try node.feed((0..<100).map { _ in .received(author, NodeDriver.im(1, 2)) })
        let pauses = actions.compactMap { if case .pauseReading(_, let time) = $0 { time } else { nil } }
        #expect(pauses.count == 80)
        #expect(pauses.max() == 10_000)
    }

    @Test mutating func `a batch that fails closes each author's connection once, and none that is gone`()
        throws
    {
        let authors = [try node.login(1), try node.login(2), try node.login(3)]
        node.holdsLog = true
        let batch = try node.feed(
            zip([1, 2, 1, 3, 2] as [Int64], [0, 1, 0, 2, 1]).map { user, index in
                .received(authors[index], NodeDriver.im(user, 4))
            })
        #expect(batch.isEmpty)
        guard case .append(let id, _) = node.held.first else {
            Issue.record("\(node.held)")
            return
        }
        #expect(try node.feed([.closed(authors[2]), .appendFailed(id)]).closed == [authors[0], authors[1]])
        #expect(node.core.counts.failures == 5)
        #expect(try node.feed([.appendFailed(id)]).isEmpty, "once")
    }

    // MARK: Pages

    @Test mutating func `a page that is not the last is followed by a notify above its end`() throws {
        node.pageLimit = PageLimit(countMax: 2)
        let author = try node.login(1)
        for number in 0..<3 { _ = try node.feed([.received(author, NodeDriver.im(1, 2, "\(number)"))]) }
        let reader = try node.login(2)
        let first = try node.feed([.received(reader, Packet(.sync, .syncKey(-1)))]).sent(to: reader)
        #expect(first.map(\.command) == [.syncBegin, .im, .im, .syncEnd, .syncNotify])
        guard case .syncKey(let end) = first[3].body else { return }
        #expect(first[4].body == .syncKey(end + 1))
        let rest = try node.feed([.received(reader, Packet(.sync, .syncKey(end)))]).sent(to: reader)
        #expect(rest.map(\.command) == [.syncBegin, .im, .syncEnd])
    }

    // MARK: Rooms

    @Test mutating func `a room message reaches all connections but those of its author's device`() throws {
        let ids = try [(1, 5), (1, 5), (1, 6), (1, 0), (2, 5)].map { try node.login($0.0, device: $0.1) }
        // The second connection of device 5 would take the first one's place, so it stays outside.
        for id in ids where id != ids[1] {
            _ = try node.feed([
                .received(id, Packet(.enterRoom, .roomID(3))), .received(id, Packet(.enterRoom, .roomID(3))),
            ])
        }
        let packet = Packet(.roomIM, .room(RoomMessage(sender: 1, receiver: 3, content: "x")), sequence: 8)
        let actions = try node.feed([.received(ids[0], packet)])
        #expect(actions.sent(to: ids[0]) == [Packet.acknowledgement(of: 8)])
        #expect(ids.dropFirst().map { actions.sent(to: $0).count } == [0, 1, 1, 1], "each once")
    }

    @Test mutating func `two connections without a device may both be in a room`() throws {
        let author = try node.login(2)
        let tabs = [try node.login(1), try node.login(1)]
        for id in [author] + tabs { _ = try node.feed([.received(id, Packet(.enterRoom, .roomID(3)))]) }
        let packet = Packet(.roomIM, .room(RoomMessage(sender: 2, receiver: 3, content: "x")))
        let actions = try node.feed([.received(author, packet)])
        #expect(tabs.map { actions.sent(to: $0).count } == [1, 1])
    }

    @Test mutating func `who leaves a room hears and writes nothing there`() throws {
        let author = try node.login(1)
        let listener = try node.login(2)
        for id in [author, listener] { _ = try node.feed([.received(id, Packet(.enterRoom, .roomID(3)))]) }
        _ = try node.feed([.received(listener, Packet(.leaveRoom, .roomID(3)))])
        let packet = Packet(.roomIM, .room(RoomMessage(sender: 1, receiver: 3, content: "x")))
        #expect(try node.feed([.received(author, packet)]).sent(to: listener).isEmpty)
        let own = Packet(.roomIM, .room(RoomMessage(sender: 2, receiver: 3, content: "x")))
        #expect(try node.feed([.received(listener, own)]).sent(to: listener).statuses == [.notGroupMember])
        #expect(node.core.roomCount == 1)
    }

    @Test mutating func `a node may keep no history of rooms`() throws {
        var rules = NodeRules()
        rules.roomHistoryCountMax = 0
        node = NodeDriver(rules: rules)
        let author = try node.login(1)
        let packet = Packet(.roomIM, .room(RoomMessage(sender: 1, receiver: 3, content: "x")))
        _ = try node.feed([
            .received(author, Packet(.enterRoom, .roomID(3))), .received(author, packet),
        ])
        #expect(node.core.roomHistory(of: RoomID(3), limit: 9, at: node.now).isEmpty)
    }

    // MARK: Live

    @Test mutating func `typing that names another group than its receiver is for the user of that number`()
        throws
    {
        try node.makeGroup(7, 1, 2)
        let typist = try node.login(1)
        let (viewer, user) = (try node.login(2), try node.login(8))
        _ = try node.feed([.received(viewer, NodeDriver.group(2, 7))])
        let packet = NodeDriver.rt(1, 8, #"{"typing":{"on":1,"group":7}}"#)
        let actions = try node.feed([.received(typist, packet)])
        #expect(actions.sent(to: viewer).isEmpty)
        #expect(actions.sent(to: user) == [packet])
    }

    @Test mutating func `who may not write in a group types in silence, and a group of another app is none`()
        throws
    {
        try node.makeGroup(7, 1, 2, 3)
        try node.change(
            .createGroup(
                GroupID(9), app: 2, name: "", isSuper: false, owner: UserID(1), members: [UserID(2)]))
        let typist = try node.login(1)
        let muted = try node.login(3)
        let viewer = try node.login(2)
        _ = try node.feed([.received(viewer, NodeDriver.group(2, 7))])
        try node.change(.muteMember(GroupID(7), UserID(3), true))
        func typing(_ sender: Int64, _ group: Int64) -> Packet {
            NodeDriver.rt(sender, group, #"{"typing":{"on":1,"group":\#(group)}}"#)
        }
        #expect(try node.feed([.received(muted, typing(3, 7))]).isEmpty)
        #expect(try node.feed([.received(typist, typing(1, 9))]).isEmpty)
        try node.change(.removeMember(GroupID(7), UserID(2)))
        #expect(try node.feed([.received(typist, typing(1, 7))]).sent(to: viewer).isEmpty, "left meanwhile")
    }

    @Test mutating func `the states of many users come in frames that fit`() throws {
        let watcher = try node.login(1)
        let users = (1...500 as ClosedRange<Int64>).map { "\(Int64.max - $0)" }.joined(separator: ",")
        let watch = NodeDriver.rt(1, 0, #"{"presence":{"watch":[\#(users)]}}"#)
        let answers = try node.feed([.received(watcher, watch)]).sent(to: watcher)
        #expect(answers.count == 2)
        #expect(answers.contents.allSatisfy { $0.utf8.count < 32_000 })
        #expect(answers.contents.reduce(0) { $0 + $1.matches(of: /"uid"/).count } == 500)
    }

    // MARK: Changes and posts

    @Test mutating func `a change that cannot be is passed over, and those after it count`() throws {
        try node.change(
            .addMember(GroupID(7), UserID(2), .member),
            .createGroup(
                GroupID(7), app: 1, name: "", isSuper: false, owner: UserID(1), members: [UserID(2)]))
        let author = try node.login(1)
        let member = try node.login(2)
        let actions = try node.feed([.received(author, NodeDriver.group(1, 7))])
        #expect(actions.sent(to: member).count == 3)
    }

    @Test mutating func `changes are announced only if the rules say so`() throws {
        try node.makeGroup(7, 1, 2)
        #expect(try node.log.newestKey(of: queue(2)) == 0)
        node = NodeDriver(rules: NodeDriver.quietRules)
        try node.makeGroup(7, 1, 2)
        #expect(try node.log.newestKey(of: queue(2)) > 0)
    }

    @Test mutating func `what the server posts to a super group stands in the group's log, with a notify`()
        throws
    {
        try node.makeGroup(7, 1, 2, isSuper: true)
        let member = try node.login(2)
        let actions = try node.feed([.posted(PostID(rawValue: 1), .groupNotification("x", GroupID(7)))])
        #expect(actions.sent(to: member).map(\.command) == [.syncGroupNotify])
        #expect(try node.log.newestKey(of: .group(GroupID(7))) > 0)
        #expect(try node.log.newestKey(of: queue(2)) == 0)
    }
}

extension Packet {
    fileprivate static func acknowledgement(of sequence: Int32) -> Packet {
        Packet(.ack, .ack(Acknowledgement(sequence: sequence)))
    }
}
