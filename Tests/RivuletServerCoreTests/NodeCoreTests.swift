import RivuletModel
import RivuletServerCore
import RivuletWire
import Testing

/// A node with a log in memory, driven step by step.
struct NodeDriver {
    var core: NodeCore
    let log = MemoryLog(lastKey: 100)
    var now = WallTime(milliseconds: 1_700_000_000_000)
    var pageLimit = PageLimit()
    /// Batches and loads stay with the driver until they are answered, when this is set.
    var holdsLog = false
    var held: [NodeAction] = []
    private var lastConnection: UInt64 = 0

    init(
        limits: NodeCore.Limits = NodeCore.Limits(), rules: NodeRules = NodeDriver.quietRules,
        filter: ContentFilter? = nil
    ) {
        core = NodeCore(limits: limits, rules: rules, filter: filter)
    }

    /// The rules of most tests, which look at messages alone.
    static var quietRules: NodeRules {
        var rules = NodeRules()
        rules.tellsLogins = false
        return rules
    }

    /// Feeds events and answers what the log and the directory are asked, until only answers to clients are left.
    mutating func feed(_ events: [NodeEvent]) throws -> [NodeAction] {
        var open = events
        var visible: [NodeAction] = []
        while !open.isEmpty {
            let actions = core.handle(open, at: now)
            open = []
            for action in actions {
                switch action {
                case .append, .load:
                    if holdsLog {
                        held.append(action)
                    } else if let event = try perform(action) {
                        open.append(event)
                    }
                case .reportKey(let queue, let reader, let key):
                    try log.report(key, of: queue, by: reader)
                case .reportUnread(let account, let count):
                    try log.setUnreadCount(count, of: account)
                default: visible.append(action)
                }
            }
        }
        return visible
    }

    /// Does what the log was asked to do.
    func perform(_ action: NodeAction) throws -> NodeEvent? {
        switch action {
        case .append(let batch, let entries):
            .appended(batch, try log.append(entries, at: now))
        case .load(let connection, let request):
            .loaded(connection, try log.page(request, limit: pageLimit))
        default: nil
        }
    }

    /// Does what the log was asked last.
    func performHeld() throws -> NodeEvent {
        let event = try held.last.flatMap { try perform($0) }
        return try #require(event)
    }

    mutating func connect() throws -> ConnectionID {
        lastConnection += 1
        let id = ConnectionID(rawValue: lastConnection)
        _ = try feed([.opened(id)])
        return id
    }

    mutating func login(
        _ user: Int64, device: Int64 = 0, version: UInt8 = 2, token: TokenID = .none
    ) throws -> ConnectionID {
        let id = try connect()
        _ = try feed([
            .received(id, Packet(.authToken, Self.token, version: version)),
            .loginAnswered(
                id, .accepted(Account(user: UserID(user)), DeviceNumber(rawValue: device), token)),
        ])
        return id
    }

    static let token = PacketBody.authToken(
        AuthenticationToken(token: "t", platformID: .iOS, deviceID: "d"))

    static func im(
        _ sender: Int64, _ receiver: Int64, _ content: String = "x", sequence: Int32 = 1, number: Int32 = 0
    ) -> Packet {
        Packet(
            .im, .im(IMMessage(sender: sender, receiver: receiver, msgLocalID: number, content: content)),
            sequence: sequence)
    }
}

/// The queue of a user of the default app.
func queue(_ user: Int64) -> QueueID {
    .user(Account(user: UserID(user)))
}

extension [NodeAction] {
    /// What is sent to a connection, in order.
    func sent(to id: ConnectionID) -> [Packet] {
        flatMap { action in
            switch action {
            case .send(id, let packets, _): packets
            case .broadcast(let ids, let packets) where ids.contains(id): packets
            default: [] as [Packet]
            }
        }
    }

    var closed: [ConnectionID] {
        compactMap { if case .close(let id, _, _) = $0 { id } else { nil as ConnectionID? } }
    }
}

@Suite struct NodeCoreLoginTests {
    var node = NodeDriver()

    @Test mutating func `a token is looked up once and answered with the result`() throws {
        let id = try node.connect()
        let asked = try node.feed([.received(id, Packet(.authToken, NodeDriver.token, version: 1))])
        guard case .authenticate(id, let token) = asked.first, asked.count == 1 else {
            Issue.record("\(asked)")
            return
        }
        #expect(token.token == "t")
        let answered = try node.feed([.loginAnswered(id, .accepted(Account(user: UserID(7)), .none))])
        #expect(
            answered == [
                .useVersion(id, 1),
                .send(id, [Packet(.authStatus, .authStatus(AuthenticationStatus(status: 0)))], .reply),
            ])
    }

    @Test(arguments: [LoginResult.refused, .unavailable])
    mutating func `a refused login is answered, and the connection closes after the grace`(
        result: LoginResult
    ) throws {
        let id = try node.connect()
        let actions = try node.feed([
            .received(id, Packet(.authToken, NodeDriver.token)), .loginAnswered(id, result),
        ]).dropFirst()
        #expect(
            Array(actions) == [
                .send(id, [Packet(.authStatus, .authStatus(AuthenticationStatus(status: 1)))], .reply),
                .close(id, .loginRefused, afterMilliseconds: 5000),
            ])
        let second = try node.feed([
            .received(id, Packet(.authToken, NodeDriver.token)),
            .loginAnswered(id, .accepted(Account(user: UserID(7)), .none)),
        ])
        #expect(second.contains(.keepOpen(id)))
    }

    @Test mutating func `what comes while the login is decided is handled after it, in order`() throws {
        let id = try node.connect()
        let before = try node.feed([
            .received(id, Packet(.authToken, NodeDriver.token)), .received(id, Packet(.sync, .syncKey(0))),
            .received(id, NodeDriver.im(7, 8, sequence: 3)), .received(id, Packet(.ping)),
        ])
        #expect(before.sent(to: id).isEmpty)
        let after = try node.feed([.loginAnswered(id, .accepted(Account(user: UserID(7)), .none))])
        #expect(
            after.sent(to: id).map(\.command) == [.authStatus, .pong, .syncBegin, .syncEnd, .metadata, .ack])
    }

    @Test mutating func `packets while a login is decided are bounded`() throws {
        var limits = NodeCore.Limits()
        limits.packetsWhileAuthenticatingMax = 3
        var node = NodeDriver(limits: limits)
        let id = try node.connect()
        let ping = NodeEvent.received(id, Packet(.ping))
        let actions = try node.feed([
            .received(id, Packet(.authToken, NodeDriver.token)), ping, ping, ping, ping,
        ])
        #expect(actions.closed == [id])
    }

    @Test mutating func `events about a connection that is gone change nothing`() throws {
        let id = try node.login(7)
        _ = try node.feed([.closed(id)])
        let actions = try node.feed([
            .received(id, Packet(.ping)), .loginAnswered(id, .refused), .closed(id), .loadFailed(id),
            .loaded(id, SyncPage(start: 0, messages: [], end: 0, hasMore: false)),
            .appendFailed(BatchID(rawValue: 9)), .appended(BatchID(rawValue: 9), []),
        ])
        #expect(actions.isEmpty)
        #expect(node.core.connectionCount == 0)
    }

    @Test(arguments: [
        Packet(.sync, .syncKey(0)), Packet(.unreadCount, .unreadCount(1)), NodeDriver.im(0, 1),
        Packet(.rt, .room(RTMessage(sender: 0, receiver: 1, content: ""))), Packet(.enterRoom, .roomID(1)),
        Packet(.syncKey, .syncKey(4)), Packet(.ack, .ack(Acknowledgement(sequence: 1))),
        Packet(.groupIM, .im(IMMessage(sender: 0, receiver: 1, content: ""))),
        Packet(.syncGroup, .groupSyncKey(GroupSyncKey(groupID: 1, key: 0))),
    ])
    mutating func `before login nothing but PING and AUTH_TOKEN has an effect`(packet: Packet) throws {
        let id = try node.connect()
        #expect(try node.feed([.received(id, packet)]).isEmpty)
    }
}

@Suite struct NodeCorePeerTests {
    var node = NodeDriver()

    @Test mutating func `nothing leaves before the log has committed`() throws {
        let author = try node.login(1)
        let receiver = try node.login(2)
        node.holdsLog = true
        #expect(try node.feed([.received(author, NodeDriver.im(1, 2))]).isEmpty)
        #expect(node.core.pendingBatchCount == 1)
        let event = try node.performHeld()
        let actions = try node.feed([event])
        #expect(actions.sent(to: author).map(\.command) == [.metadata, .ack])
        #expect(actions.sent(to: receiver).map(\.command) == [.metadata, .im, .syncNotify])
        #expect(node.core.pendingBatchCount == 0)
    }

    @Test mutating func `a batch that could not be stored is not acknowledged`() throws {
        let author = try node.login(1)
        let receiver = try node.login(2)
        node.holdsLog = true
        _ = try node.feed([.received(author, NodeDriver.im(1, 2))])
        let actions = try node.feed([.appendFailed(BatchID(rawValue: 1))])
        // The connection ends, so that nothing its author sends next overtakes what must be sent again.
        #expect(actions == [.close(author, .storageFailed, afterMilliseconds: 0)])
        #expect(actions.sent(to: receiver).isEmpty)
        #expect(node.core.pendingBatchCount == 0)
    }

    @Test mutating func `messages of one call make one batch`() throws {
        let first = try node.login(1)
        let second = try node.login(2)
        node.holdsLog = true
        _ = try node.feed([
            .received(first, NodeDriver.im(1, 2)), .received(second, NodeDriver.im(2, 1)),
            .received(first, NodeDriver.im(1, 3)),
        ])
        guard case .append(_, let entries) = node.held.first, node.held.count == 1 else {
            Issue.record("\(node.held)")
            return
        }
        #expect(entries.map(\.receiver) == [2, 1, 3])
        #expect(
            entries.map(\.queues) == [
                [queue(2), queue(1)], [queue(1), queue(2)], [queue(3), queue(1)],
            ])
        #expect(entries.allSatisfy { $0.timestamp == 1_700_000_000 })
    }

    @Test mutating func `an author who left meanwhile still reaches the receiver`() throws {
        let author = try node.login(1)
        let receiver = try node.login(2)
        node.holdsLog = true
        _ = try node.feed([.received(author, NodeDriver.im(1, 2)), .closed(author)])
        let event = try node.performHeld()
        let actions = try node.feed([event])
        #expect(actions.sent(to: author).isEmpty)
        #expect(actions.sent(to: receiver).count == 3)
    }

    @Test mutating func `a resent message is acknowledged again and pushed to nobody`() throws {
        let author = try node.login(1)
        let receiver = try node.login(2)
        let content = #"{"uuid":"A"}"#
        let first = try node.feed([.received(author, NodeDriver.im(1, 2, content, sequence: 4))])
        let second = try node.feed([.received(author, NodeDriver.im(1, 2, content, sequence: 9))])
        #expect(first.sent(to: receiver).count == 3)
        #expect(second.sent(to: receiver).isEmpty)
        #expect(second.sent(to: author).last?.body == .ack(Acknowledgement(sequence: 9)))
        #expect(second.sent(to: author).first == first.sent(to: author).first)
    }

    /// Who hears of a message from connection 0, by (user, device) of all connections.
    static let audiences: [(connections: [(user: Int64, device: Int64)], receiver: Int64, heard: Set<Int>)] =
        [
            ([(1, 5), (2, 6), (2, 7), (3, 8)], 2, [1, 2]),
            ([(1, 5), (1, 5), (1, 6), (2, 6)], 2, [2, 3]),
            ([(1, 0), (1, 0), (2, 0)], 2, [1, 2]),
            ([(1, 5), (1, 5), (1, 6)], 1, [2]),
            ([(1, 0), (1, 0)], 1, [1]),
            ([(1, 5)], 2, []),
        ]

    @Test(arguments: audiences.indices)
    mutating func `live copies reach every connection but those of the author's device`(index: Int) throws {
        let (connections, receiver, heard) = Self.audiences[index]
        let ids = try connections.map { try node.login($0.user, device: $0.device) }
        let actions = try node.feed([.received(ids[0], NodeDriver.im(1, receiver))])
        let listeners = ids.indices.dropFirst().filter { !actions.sent(to: ids[$0]).isEmpty }
        #expect(Set(listeners) == heard)
        #expect(actions.sent(to: ids[0]).map(\.command) == [.metadata, .ack])
    }

    @Test mutating func `copies of own devices carry the author's own key`() throws {
        let author = try node.login(1, device: 5)
        let other = try node.login(1, device: 6)
        let actions = try node.feed([.received(author, NodeDriver.im(1, 2))])
        #expect(actions.sent(to: other)[0].body == actions.sent(to: author)[0].body)
        #expect(actions.sent(to: other)[2].body == .syncKey(try node.log.newestKey(of: queue(1))))
    }
}

@Suite struct NodeCoreSyncTests {
    var node = NodeDriver()

    @Test mutating func `one page is read at a time, and each request is answered`() throws {
        let author = try node.login(1)
        let reader = try node.login(2)
        for number in 0..<3 { _ = try node.feed([.received(author, NodeDriver.im(1, 2, "\(number)"))]) }
        node.holdsLog = true
        let sync = NodeEvent.received(reader, Packet(.sync, .syncKey(-1)))
        _ = try node.feed([sync, sync, sync])
        for round in 1...3 {
            #expect(node.held.count == round)
            let event = try node.performHeld()
            let sent = try node.feed([event]).sent(to: reader)
            #expect(sent.map(\.command) == [.syncBegin, .im, .im, .im, .syncEnd])
        }
        #expect(node.held.count == 3)
    }

    @Test(arguments: [(0, 0), (-1, 0), (17, 17)] as [(Int64, Int64)])
    mutating func `a page that cannot be read ends the round where it began`(key: Int64, answer: Int64) throws
    {
        let reader = try node.login(2)
        node.holdsLog = true
        _ = try node.feed([.received(reader, Packet(.sync, .syncKey(key)))])
        let sent = try node.feed([.loadFailed(reader)]).sent(to: reader)
        #expect(sent == [Packet(.syncBegin, .syncKey(answer)), Packet(.syncEnd, .syncKey(answer))])
    }

    @Test mutating func `requests that wait are bounded`() throws {
        var limits = NodeCore.Limits()
        limits.waitingSyncsMax = 2
        var node = NodeDriver(limits: limits)
        let reader = try node.login(2)
        node.holdsLog = true
        let sync = NodeEvent.received(reader, Packet(.sync, .syncKey(-1)))
        #expect(try node.feed([sync, sync]).closed.isEmpty)
        #expect(try node.feed([sync]).closed == [reader])
    }
}

@Suite struct NodeCoreRoomTests {
    var node = NodeDriver()

    private mutating func send(_ packet: Packet, from id: ConnectionID) throws -> [NodeAction] {
        try node.feed([.received(id, packet)])
    }

    private static func message(_ sender: Int64, _ room: Int64) -> Packet {
        Packet(.roomIM, .room(RoomMessage(sender: sender, receiver: room, content: "x")), sequence: 3)
    }

    @Test
    mutating func `entering another room leaves the first, and leaving a room one is not in does nothing`()
        throws
    {
        let author = try node.login(1)
        let listener = try node.login(2)
        _ = try send(Packet(.enterRoom, .roomID(10)), from: listener)
        _ = try send(Packet(.enterRoom, .roomID(10)), from: author)
        _ = try send(Packet(.leaveRoom, .roomID(11)), from: listener)
        _ = try send(Packet(.enterRoom, .roomID(0)), from: listener)
        #expect(try send(Self.message(1, 10), from: author).sent(to: listener).count == 1)
        _ = try send(Packet(.enterRoom, .roomID(20)), from: listener)
        let actions = try send(Self.message(1, 10), from: author)
        #expect(actions.sent(to: listener).isEmpty)
        #expect(actions.sent(to: author).map(\.command) == [.ack])
    }

    @Test mutating func `a newer connection of the same device takes the older one's place`() throws {
        let author = try node.login(1)
        let old = try node.login(2, device: 5)
        let new = try node.login(2, device: 5)
        for id in [author, old, new] { _ = try send(Packet(.enterRoom, .roomID(10)), from: id) }
        let actions = try send(Self.message(1, 10), from: author)
        #expect(actions.sent(to: old).isEmpty)
        #expect(actions.sent(to: new).count == 1)
    }

    @Test mutating func `a closed connection is in no room`() throws {
        let author = try node.login(1)
        let listener = try node.login(2)
        for id in [author, listener] { _ = try send(Packet(.enterRoom, .roomID(10)), from: id) }
        _ = try node.feed([.closed(listener)])
        #expect(try send(Self.message(1, 10), from: author).sent(to: listener).isEmpty)
    }

    @Test mutating func `a forged sender is not relayed`() throws {
        let author = try node.login(1)
        let listener = try node.login(2)
        for id in [author, listener] { _ = try send(Packet(.enterRoom, .roomID(10)), from: id) }
        #expect(try send(Self.message(2, 10), from: author).isEmpty)
    }
}

@Suite struct OutgoingQueueTests {
    private let push = [Packet(.metadata), Packet(.im), Packet(.syncNotify)]

    @Test func `packets are numbered and stamped when they leave`() {
        var queue = OutgoingQueue()
        queue.version = 1
        queue.add([Packet(.ping), Packet(.pong)], .reply)
        queue.add([Packet(.ack)], .reply)
        #expect(queue.next()?.map(\.sequence) == [1, 2])
        queue.version = 2
        #expect(queue.next() == [Packet(.ack, sequence: 3, version: 2)])
        #expect(queue.next() == nil)
        #expect(queue.isEmpty)
    }

    @Test func `the oldest push is dropped whole, answers never`() {
        var queue = OutgoingQueue(pushesMax: 2)
        queue.add([Packet(.ack, sequence: 0)], .reply)
        for _ in 0..<5 { queue.add(push, .push) }
        queue.add([Packet(.pong)], .reply)
        var left: [[Packet]] = []
        while let packets = queue.next() { left.append(packets) }
        #expect(
            left.map { $0.map(\.command) } == [[.ack], push.map(\.command), push.map(\.command), [.pong]])
        #expect(left.joined().map(\.sequence) == Array(1...8))
        #expect(queue.droppedPushCount == 3)
        queue.add(push, .push)
        #expect(queue.next() != nil)
    }

    @Test func `each deadline ends a connection at its own time`() {
        var deadlines = ConnectionDeadlines(now: 0)
        var limits = ConnectionDeadlines.Limits()
        limits.readMilliseconds = 100
        limits.loginMilliseconds = 50
        limits.writeMilliseconds = 30
        #expect(deadlines.expired(now: 49, limits: limits) == nil)
        #expect(deadlines.expired(now: 50, limits: limits) == .loginTimeout)
        deadlines.isLoggedIn = true
        #expect(deadlines.expired(now: 99, limits: limits) == nil)
        #expect(deadlines.expired(now: 100, limits: limits) == .readTimeout)
        deadlines.frameCompleted(now: 90)
        #expect(deadlines.expired(now: 189, limits: limits) == nil)
        deadlines.unsentBytes(10, now: 100)
        deadlines.unsentBytes(20, now: 125)
        #expect(deadlines.expired(now: 129, limits: limits) == nil)
        #expect(deadlines.expired(now: 130, limits: limits) == .writeTimeout, "more to send is no progress")
        deadlines.unsentBytes(15, now: 129)
        #expect(deadlines.expired(now: 130, limits: limits) == nil)
        deadlines.unsentBytes(0, now: 140)
        #expect(deadlines.expired(now: 180, limits: limits) == nil)
        deadlines.close(.loginRefused, at: 150)
        #expect(deadlines.expired(now: 150, limits: limits) == .loginRefused)
        deadlines.keepOpen()
        #expect(deadlines.expired(now: 150, limits: limits) == nil)
    }
}
