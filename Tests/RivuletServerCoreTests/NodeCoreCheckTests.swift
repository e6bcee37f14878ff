import RivuletModel
import RivuletServerCore
import RivuletWire
import Testing

/// Friends, blacklists, limits and the filter.
@Suite struct NodeCoreCheckTests {
    /// Who is in whose list, which checks are on, and the answer to a message from 1 to 2.
    static let checks: [(changes: [MembershipChange], friends: Bool, blacklist: Bool, status: ACKStatus)] = {
        let (one, two) = (Account(user: UserID(1)), Account(user: UserID(2)))
        let knows = MembershipChange.setFriend(of: one, UserID(2), true)
        let isKnown = MembershipChange.setFriend(of: two, UserID(1), true)
        let isBlocked = MembershipChange.setBlocked(by: two, UserID(1), true)
        return [
            ([], false, true, .success),
            ([], true, true, .receiverNotFriend),
            ([isKnown, isBlocked], true, true, .receiverNotFriend),
            ([knows], true, true, .senderNotFriend),
            ([knows, isBlocked], true, true, .senderNotFriend),
            ([knows, isKnown], true, true, .success),
            ([knows, isKnown, isBlocked], true, true, .senderBlocked),
            ([isBlocked], false, true, .senderBlocked),
            ([isBlocked], false, false, .success),
            ([.setBlocked(by: one, UserID(2), true)], false, true, .success),
        ]
    }()

    @Test(arguments: checks.indices)
    func `friendship and blacklist are checked in the order 1, 2, 3`(index: Int) throws {
        let (changes, friends, blacklist, status) = Self.checks[index]
        var rules = NodeRules()
        rules.checksFriends = friends
        rules.checksBlacklist = blacklist
        var node = NodeDriver(rules: rules)
        for change in changes { try node.change(change) }
        let author = try node.login(1)
        let receiver = try node.login(2)
        let actions = try node.feed([.received(author, NodeDriver.im(1, 2, sequence: 6))])
        #expect(actions.sent(to: author).last?.body == .ack(Acknowledgement(sequence: 6, status: status)))
        #expect(actions.sent(to: receiver).isEmpty == (status != .success))
        let live = try node.feed([.received(author, NodeDriver.rt(1, 2, "x"))])
        #expect(live.sent(to: receiver).isEmpty == (status != .success))
        let note = try node.feed([.received(author, NodeDriver.im(1, 1))])
        #expect(note.sent(to: author).statuses == [.success], "nobody is a stranger to oneself")
    }

    @Test func `who sends too much is read more slowly and loses nothing`() throws {
        var limits = NodeCore.Limits()
        limits.messagesPerUser = RateLimit(perSecond: 10, burst: 3)
        limits.messagesPerDevice = nil
        var node = NodeDriver(limits: limits)
        let author = try node.login(1)
        let other = try node.login(1)
        func pauses(_ actions: [NodeAction]) -> [Int64] {
            actions.compactMap { if case .pauseReading(_, let time) = $0 { time } else { nil } }
        }
        let within = try node.feed((0..<3).map { _ in .received(author, NodeDriver.im(1, 2)) })
        #expect(pauses(within).isEmpty)
        let above = try node.feed([
            .received(author, NodeDriver.im(1, 2)), .received(other, NodeDriver.im(1, 2)),
        ])
        #expect(pauses(above) == [100, 200], "the user's connections count together")
        #expect(above.sent(to: author).statuses == [.success])
        node.now.milliseconds += 1000
        #expect(pauses(try node.feed([.received(author, NodeDriver.im(1, 2))])).isEmpty)
        node.now.milliseconds -= 3_600_000
        #expect(
            pauses(try node.feed([.received(author, NodeDriver.im(1, 2))])).allSatisfy { $0 <= 1000 },
            "a clock set back silences nobody for long")
    }

    @Test func `a device has a limit of its own`() throws {
        var limits = NodeCore.Limits()
        limits.messagesPerUser = nil
        limits.messagesPerDevice = RateLimit(perSecond: 10, burst: 1)
        var node = NodeDriver(limits: limits)
        let phone = try node.login(1, device: 5)
        let desktop = try node.login(1, device: 6)
        let web = try node.login(1, device: 0)
        let one = { NodeEvent.received($0, NodeDriver.im(1, 2)) }
        func isPaused(_ actions: [NodeAction]) -> Bool {
            actions.contains { if case .pauseReading = $0 { true } else { false } }
        }
        #expect(!isPaused(try node.feed([one(phone), one(desktop), one(web), one(web)])))
        #expect(isPaused(try node.feed([one(phone)])))
    }

    @Test func `live messages above the limit are dropped`() throws {
        var limits = NodeCore.Limits()
        limits.livePerConnection = RateLimit(perSecond: 10, burst: 2)
        var node = NodeDriver(limits: limits)
        let author = try node.login(1)
        let receiver = try node.login(2)
        let live = NodeEvent.received(author, NodeDriver.rt(1, 2, "x"))
        #expect(try node.feed([live, live, live, live]).sent(to: receiver).count == 2)
        node.now.milliseconds += 100
        #expect(try node.feed([live, live]).sent(to: receiver).count == 1)
        #expect(node.core.counts.limited == 3)
    }

    @Test func `an address that guesses tokens is refused without being looked up`() throws {
        var limits = NodeCore.Limits()
        limits.refusedLoginsPerAddress = RateLimit(perSecond: 1, burst: 2)
        var node = NodeDriver(limits: limits)
        func tries(_ number: UInt64, from address: String) throws -> Bool {
            let id = ConnectionID(rawValue: number)
            let asked = try node.feed([
                .opened(id, from: PeerAddress(rawValue: address)),
                .received(id, Packet(.authToken, NodeDriver.token)),
            ])
            guard asked.contains(where: { if case .authenticate = $0 { true } else { false } }) else {
                #expect(asked.sent(to: id).map(\.command) == [.authStatus])
                return false
            }
            _ = try node.feed([.loginAnswered(id, .refused)])
            return true
        }
        #expect(try tries(1, from: "a"))
        #expect(try tries(2, from: "a"))
        #expect(try !tries(3, from: "a"))
        #expect(try tries(4, from: "b"))
        node.now.milliseconds += 1000
        #expect(try tries(5, from: "a"))
        #expect(try !tries(6, from: "a"))
    }

    @Test func `an address has so many connections and no more`() throws {
        var limits = NodeCore.Limits()
        limits.connectionsPerAddressMax = 2
        var node = NodeDriver(limits: limits)
        let address = PeerAddress(rawValue: "a")
        let ids = (1...4 as ClosedRange<UInt64>).map { ConnectionID(rawValue: $0) }
        #expect(
            try node.feed([.opened(ids[0], from: address), .opened(ids[1], from: address)]).closed.isEmpty)
        #expect(try node.feed([.opened(ids[2], from: address)]).closed == [ids[2]])
        _ = try node.feed([.closed(ids[2]), .closed(ids[0])])
        #expect(try node.feed([.opened(ids[3], from: address)]).closed.isEmpty)
    }

    @Test func `a filter keeps, replaces and refuses, in every kind of message`() throws {
        let filter: ContentFilter = { message in
            switch message.content {
            case "bad": .refuse(.senderBlocked)
            case "rude": .replace("****")
            default: .keep
            }
        }
        var node = NodeDriver(filter: filter)
        try node.makeGroup(7, 1, 2)
        let author = try node.login(1)
        let receiver = try node.login(2)
        for id in [author, receiver] { _ = try node.feed([.received(id, Packet(.enterRoom, .roomID(3)))]) }
        let makers: [@Sendable (String) -> Packet] = [
            { NodeDriver.im(1, 2, $0) }, { NodeDriver.group(1, 7, $0) },
            { Packet(.roomIM, .room(RoomMessage(sender: 1, receiver: 3, content: $0))) },
            {
                Packet(
                    .customerV2,
                    .customerV2(
                        CustomerMessageV2(
                            senderAppID: 1, sender: 1, receiverAppID: 1, receiver: 2, content: $0)))
            },
        ]
        for make in makers {
            for (content, expected, status) in [
                ("fine", ["fine"], .success), ("rude", ["****"], .success), ("bad", [], .senderBlocked),
            ] as [(String, [String], ACKStatus)] {
                let actions = try node.feed([.received(author, make(content))])
                #expect(actions.sent(to: receiver).contents == expected)
                #expect(actions.sent(to: author).statuses == [status])
            }
        }
    }

    @Test(arguments: [
        (#"{"text":"a darn thing","uuid":"darn"}"#, #"{"text":"a **** thing","uuid":"darn"}"#),
        (#"{"uuid":"1","text":"DARNdarnit"}"#, #"{"uuid":"1","text":"********it"}"#),
        (#"{"text":"坏词好"}"#, #"{"text":"**好"}"#),
        (#"{"text":"nice"}"#, #"{"text":"nice"}"#),
        (#"{"text":"d\u0061rn \"it\""}"#, #"{"text":"**** \"it\""}"#),
        (#"{"text":"\u0061 \/"}"#, #"{"text":"\u0061 \/"}"#),
        (#"{"image":"darn"}"#, #"{"image":"darn"}"#),
        ("darn", "darn"), ("", ""), (#"{"text":4}"#, #"{"text":4}"#),
    ])
    func `the word filter replaces words in the text and nothing else`(content: String, result: String) {
        #expect(WordFilter(["darn", "坏词", ""]).replacing(in: content) == result)
    }
}

/// Customer messages, rooms, presence and the rest that only lives.
@Suite struct NodeCoreLiveTests {
    var node = NodeDriver()

    private func customer(
        _ app: Int64, _ sender: Int64, to other: Int64, _ receiver: Int64, sequence: Int32 = 2
    ) -> Packet {
        Packet(
            .customerV2,
            .customerV2(
                CustomerMessageV2(
                    senderAppID: app, sender: sender, receiverAppID: other, receiver: receiver, content: "x")),
            sequence: sequence)
    }

    private mutating func login(_ user: Int64, app: Int64) throws -> ConnectionID {
        let id = try node.connect()
        _ = try node.feed([
            .received(id, Packet(.authToken, NodeDriver.token, version: 2)),
            .loginAnswered(id, .accepted(Account(app: app, user: UserID(user)), .none)),
        ])
        return id
    }

    @Test mutating func `a customer message stands in the queues of two apps`() throws {
        let author = try login(5, app: 1)
        let receiver = try login(5, app: 2)
        let actions = try node.feed([.received(author, customer(1, 5, to: 2, 5))])
        #expect(actions.sent(to: author).map(\.command) == [.metadata, .ack])
        #expect(actions.sent(to: receiver).map(\.command) == [.metadata, .customerV2, .syncNotify])
        let synced = try node.feed([.received(receiver, Packet(.sync, .syncKey(-1)))])
        guard case .customerV2(let message) = synced.sent(to: receiver)[1].body else {
            Issue.record("\(synced)")
            return
        }
        #expect((message.senderAppID, message.receiverAppID, message.receiver) == (1, 2, 5))
        #expect(message.timestamp == node.now.timestamp)
        #expect(try node.feed([.received(author, customer(2, 5, to: 1, 5))]).isEmpty, "a forged app")
        #expect(try node.feed([.received(author, customer(1, 6, to: 2, 5))]).isEmpty, "a forged sender")
    }

    @Test(
        arguments: [(1, 2, 1, 0), (1, 2, 2, 0), (1, 2, 3, 68), (1, 1, nil, 0)]
            as [(Int64, Int64, Int64?, UInt8)])
    mutating func `one side is the customer-service app, when there is one`(
        app: Int64, other: Int64, service: Int64?, status: UInt8
    ) throws {
        var rules = NodeRules()
        rules.customerServiceApp = service
        node = NodeDriver(rules: rules)
        let author = try login(5, app: app)
        let actions = try node.feed([.received(author, customer(app, 5, to: other, 6))])
        #expect(actions.sent(to: author).statuses == [ACKStatus(rawValue: status)])
    }

    private func room(_ sender: Int64, _ room: Int64, _ content: String = "x") -> Packet {
        Packet(.roomIM, .room(RoomMessage(sender: sender, receiver: room, content: content)), sequence: 3)
    }

    @Test mutating func `whoever is banned from a room may listen and not write`() throws {
        let author = try node.login(1)
        let listener = try node.login(2)
        for id in [author, listener] { _ = try node.feed([.received(id, Packet(.enterRoom, .roomID(9)))]) }
        try node.change(.banFromRoom(RoomID(9), Account(user: UserID(1)), true))
        let refused = try node.feed([.received(author, room(1, 9))])
        #expect(refused.sent(to: author).statuses == [.memberMuted])
        #expect(refused.sent(to: listener).isEmpty)
        #expect(try node.feed([.received(listener, room(2, 9))]).sent(to: author).contents == ["x"])
        try node.change(.banFromRoom(RoomID(9), Account(user: UserID(1)), false))
        #expect(try node.feed([.received(author, room(1, 9))]).sent(to: listener).count == 1)
    }

    @Test mutating func `a message to a room from outside is answered`() throws {
        let author = try node.login(1)
        #expect(try node.feed([.received(author, room(1, 9))]).sent(to: author).statuses == [.notGroupMember])
        #expect(try node.feed([.received(author, room(1, 0))]).sent(to: author).statuses == [.notGroupMember])
    }

    @Test mutating func `a room keeps its last messages, bounded in number, bytes and age`() throws {
        var rules = NodeRules()
        rules.roomHistoryCountMax = 5
        rules.roomHistoryBytesMax = 20
        rules.roomHistoryMilliseconds = 1000
        rules.roomHistoriesMax = 2
        node = NodeDriver(rules: rules)
        let author = try node.login(1)
        func write(_ content: String, in id: Int64) throws {
            _ = try node.feed([
                .received(author, Packet(.enterRoom, .roomID(id))), .received(author, room(1, id, content)),
            ])
        }
        func kept(_ id: Int64, before: Int64? = nil, limit: Int = 10) -> [String] {
            node.core.roomHistory(of: RoomID(id), before: before, limit: limit, at: node.now).map(\.content)
        }
        for number in 0..<8 { try write("\(number)", in: 9) }
        #expect(kept(9) == ["3", "4", "5", "6", "7"])
        #expect(kept(9, limit: 2) == ["6", "7"])
        let newest = try #require(node.core.roomHistory(of: RoomID(9), limit: 1, at: node.now).first?.key)
        #expect(kept(9, before: newest, limit: 2) == ["5", "6"])
        let oldest = node.core.roomHistory(of: RoomID(9), before: newest, limit: 10, at: node.now)[1].key
        #expect(
            node.core.roomHistory(of: RoomID(9), after: oldest, limit: 2, at: node.now).map(\.content)
                == ["5", "6"])
        try write("twelve bytes", in: 9)
        try write("twelve bytez", in: 9)
        #expect(kept(9) == ["twelve bytez"])
        node.now.milliseconds += 1001
        #expect(kept(9).isEmpty)
        for id in 10...12 as ClosedRange<Int64> { node.now.milliseconds += 1; try write("x", in: id) }
        #expect((kept(10), kept(11), kept(12)) == ([], ["x"], ["x"]), "the quietest room is forgotten")
    }

    @Test mutating func `numbers of room messages follow the clock, and never go back with it`() throws {
        let last = RoomKey.first(at: node.now) + 5
        node.core = NodeCore(lastRoomKey: last)
        let author = try node.login(1)
        _ = try node.feed([.received(author, Packet(.enterRoom, .roomID(9)))])
        for step in [0, 0, 1, -3_600_000, 3_600_001, -80_000_000, 80_000_000] as [Int64] {
            node.now.milliseconds += step
            _ = try node.feed([.received(author, room(1, 9)), .received(author, room(1, 9))])
        }
        node.now.milliseconds = 0
        let keys = node.core.roomHistory(of: RoomID(9), limit: 100, at: node.now).map(\.key)
        #expect(keys.first == last + 1)
        #expect(zip(keys, keys.dropFirst()).allSatisfy { $0 < $1 })
        #expect(keys.count == 14)
        #expect(keys.contains(RoomKey.first(at: WallTime(milliseconds: 1_700_000_000_002))))
        for time in [.min, -1, 0, 1 << 43, .max] as [Int64] {
            #expect((0..<1 << 53).contains(RoomKey.first(at: WallTime(milliseconds: time))))
        }
    }

    @Test mutating func `UNREAD_COUNT is kept until the next login`() throws {
        let account = Account(user: UserID(1))
        let id = try node.login(1)
        _ = try node.feed([.received(id, Packet(.unreadCount, .unreadCount(4)))])
        #expect(try node.log.unreadCount(of: account) == 4)
        _ = try node.feed([.received(id, Packet(.unreadCount, .unreadCount(-4)))])
        #expect(try node.log.unreadCount(of: account) == 0)
        _ = try node.feed([.received(id, Packet(.unreadCount, .unreadCount(4)))])
        _ = try node.login(1)
        #expect(try node.log.unreadCount(of: account) == 0)
    }

    @Test
    mutating func `the other devices of a user are told of a login, the device itself and strangers are not`()
        throws
    {
        var rules = NodeRules()
        rules.checksFriends = true
        node = NodeDriver(rules: rules)
        let (phone, other) = (try node.login(1, device: 5), try node.login(2, device: 6))
        let laptop = try node.connect()
        let token = AuthenticationToken(
            token: "t", platformID: .linux, deviceID: "a \"b\"" + String(repeating: "x", count: 300))
        _ = try node.feed([.received(laptop, Packet(.authToken, .authToken(token)))])
        let told = try node.feed([
            .loginAnswered(laptop, .accepted(Account(user: UserID(1)), DeviceNumber(rawValue: 7)))
        ])
        let text = """
            {"login_point":{"time":\(node.now.timestamp),"platform":\(PlatformID.linux.rawValue),\
            "device":"a \\"b\\"\(String(repeating: "x", count: 95))"}}
            """
        #expect(told.sent(to: phone) == [Packet(.notification, .text(text))])
        #expect(told.sent(to: laptop).map(\.command) == [.authStatus])
        #expect(told.sent(to: other).isEmpty)
        let again = try node.connect()
        _ = try node.feed([.received(again, Packet(.authToken, NodeDriver.token))])
        let back = try node.feed([
            .loginAnswered(again, .accepted(Account(user: UserID(1)), DeviceNumber(rawValue: 7)))
        ])
        #expect(back.sent(to: laptop).isEmpty, "its own device comes back")
        #expect(back.sent(to: phone).count == 1)
    }

    @Test mutating func `a revoked token ends its connections, and a login that is under way with it`() throws
    {
        let (bad, good) = (TokenID(rawValue: "rvt_bad"), TokenID(rawValue: "rvt_good"))
        let first = try node.login(1, token: bad)
        let second = try node.login(1, token: good)
        let third = try node.login(2, token: bad)
        let anonymous = try node.connect()
        let late = try node.connect()
        _ = try node.feed([.received(late, Packet(.authToken, NodeDriver.token))])
        let ended = try node.feed([.tokenRevoked(bad), .tokenRevoked(.none)])
        #expect(
            ended == [
                .close(first, .tokenRevoked, afterMilliseconds: 0),
                .close(third, .tokenRevoked, afterMilliseconds: 0),
            ])
        let answer = try node.feed([
            .loginAnswered(late, .accepted(Account(user: UserID(3)), .none, bad))
        ])
        #expect(
            answer.sent(to: late).map(\.body) == [.authStatus(AuthenticationStatus(status: 1))])
        let ping = try node.feed([.received(second, Packet(.ping)), .received(anonymous, Packet(.ping))])
        #expect(ping.sent(to: second).count == 1 && ping.sent(to: anonymous).count == 1)
    }

    @Test mutating func `who watches a user is told when the user comes and goes`() throws {
        let watcher = try node.login(1)
        let present = try node.login(2)
        let watch = NodeDriver.rt(1, 0, #"{"presence":{"watch":[2,3]}}"#)
        let answer = try node.feed([.received(watcher, watch)]).sent(to: watcher)
        #expect(answer.map(\.command) == [.rt])
        #expect(answer.contents == [#"{"presence":{"states":[{"uid":2,"online":1},{"uid":3,"online":0}]}}"#])
        let second = try node.connect()
        _ = try node.feed([.received(second, Packet(.authToken, NodeDriver.token))])
        let came = try node.feed([.loginAnswered(second, .accepted(Account(user: UserID(3)), .none))])
        #expect(came.sent(to: watcher).contents == [#"{"presence":{"states":[{"uid":3,"online":1}]}}"#])
        let third = try node.connect()
        _ = try node.feed([.received(third, Packet(.authToken, NodeDriver.token))])
        let more = try node.feed([.loginAnswered(third, .accepted(Account(user: UserID(3)), .none))])
        #expect(more.sent(to: watcher).isEmpty, "one more device is no news")
        #expect(try node.feed([.closed(second)]).sent(to: watcher).isEmpty)
        let left = try node.feed([.closed(third)]).sent(to: watcher).contents
        #expect(
            left == [#"{"presence":{"states":[{"uid":3,"online":0,"last_ms":\#(node.now.milliseconds)}]}}"#])

        let other = NodeDriver.rt(1, 0, #"{"presence":{"watch":[]}}"#)
        _ = try node.feed([.received(watcher, other)])
        #expect(try node.feed([.closed(present)]).sent(to: watcher).isEmpty, "the lease was given back")
    }

    @Test mutating func `presence tells nothing to those who are blocked, and ends with the connection`()
        throws
    {
        let watcher = try node.login(1)
        let watched = try node.login(2)
        try node.change(.setBlocked(by: Account(user: UserID(2)), UserID(1), true))
        let watch = NodeDriver.rt(1, 0, #"{"presence":{"watch":[2]}}"#)
        #expect(
            try node.feed([.received(watcher, watch)]).sent(to: watcher).contents
                == [#"{"presence":{"states":[{"uid":2,"online":0}]}}"#])
        _ = try node.feed([.closed(watcher)])
        #expect(try node.feed([.closed(watched)]).isEmpty)
        let nothing = try node.login(4)
        for content in ["", "{}", #"{"presence":{}}"#, #"{"presence":{"watch":7}}"#, "\u{0}"] {
            #expect(try node.feed([.received(nothing, NodeDriver.rt(4, 0, content))]).isEmpty)
        }
    }

    @Test mutating func `so many users are watched and no more`() throws {
        var limits = NodeCore.Limits()
        limits.watchedMax = 3
        node = NodeDriver(limits: limits)
        let watcher = try node.login(1)
        let watch = NodeDriver.rt(1, 0, #"{"presence":{"watch":[2,3,4,5]}}"#)
        _ = try node.feed([.received(watcher, watch)])
        let fifth = try node.connect()
        _ = try node.feed([.received(fifth, Packet(.authToken, NodeDriver.token))])
        let came = try node.feed([.loginAnswered(fifth, .accepted(Account(user: UserID(5)), .none))])
        #expect(came.sent(to: watcher).isEmpty)
    }

    @Test mutating func `typing in a group reaches members who looked at it in the last minute`() throws {
        try node.makeGroup(7, 1, 2, 3, 4)
        let typist = try node.login(1)
        let writer = try node.login(2)
        let reader = try node.login(3)
        let absent = try node.login(4)
        let stranger = try node.login(5)
        _ = try node.feed([
            .received(writer, NodeDriver.group(2, 7)),
            .received(reader, NodeDriver.im(3, 2, #"{"readed":{"msgid":"A"},"group_id":7}"#)),
            .received(stranger, NodeDriver.im(5, 5, #"{"read_mark":{"kind":"group","id":7}}"#)),
        ])
        let typing = NodeEvent.received(
            typist, NodeDriver.rt(1, 7, #"{"typing":{"on":1,"group":7}}"#))
        let actions = try node.feed([typing])
        #expect(actions.sent(to: writer).map(\.command) == [.rt])
        #expect(actions.sent(to: reader).map(\.command) == [.rt])
        for id in [typist, absent, stranger] { #expect(actions.sent(to: id).isEmpty) }
        let forged = NodeEvent.received(
            stranger, NodeDriver.rt(5, 7, #"{"typing":{"on":1,"group":7}}"#))
        #expect(try node.feed([forged]).isEmpty, "only members type")
        node.now.milliseconds += 60_001
        _ = try node.feed([
            .received(
                absent, NodeDriver.im(4, 4, #"{"uuid":"1","read_mark":{"kind":"group","id":7,"msgid":"A"}}"#))
        ])
        let later = try node.feed([typing])
        #expect(later.sent(to: absent).map(\.command) == [.rt])
        #expect(later.sent(to: writer).isEmpty)
    }

    @Test mutating func `typing and delivery to one user are relayed as they came`() throws {
        let author = try node.login(1)
        let receiver = try node.login(2)
        for content in [#"{"typing":{"on":1}}"#, #"{"delivered":{"msgids":["A"]}}"#] {
            let actions = try node.feed([.received(author, NodeDriver.rt(1, 2, content))])
            #expect(actions.sent(to: receiver) == [NodeDriver.rt(1, 2, content)])
            #expect(actions.sent(to: author).isEmpty)
        }
    }
}
