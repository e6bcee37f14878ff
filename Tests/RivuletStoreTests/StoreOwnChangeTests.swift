import RivuletModel
import RivuletStore
import Testing

/// One user's devices and a reader, with a server that puts changes of one message in order.
private struct Devices {
    /// A change as the server has it.
    struct Change {
        var device: Int
        var raw: String
        var time: Int64
    }

    static let author = UserID(1)
    static let reader = UserID(2)
    let codec = ContentCodec()
    /// Two devices of the author.
    let stores: [any AccountStore]
    let readers: any AccountStore
    private var random: SplitMix
    private var order: [Change] = []
    /// How much of the order each device has.
    private var received = [0, 0]
    private var pending: [[(send: Int64, change: Change)]] = [[], []]
    private var lastSend: Int64 = 1
    private var time: Int64 = 2_000
    private(set) var lastText: String?
    private(set) var refusedCount = 0

    init(seed: UInt64, stores: [any AccountStore], readers: any AccountStore) async throws {
        random = SplitMix(state: seed)
        self.stores = stores
        self.readers = readers
        let raw = #"{"text":"first","uuid":"m"}"#
        for store in stores {
            _ = try await store.apply([.receive(incoming(raw, isOutgoing: true, time: 1_000))])
        }
        _ = try await readers.apply([.receive(incoming(raw, isOutgoing: false, time: 1_000))])
    }

    private func incoming(_ raw: String, isOutgoing: Bool, time: Int64) -> IncomingMessage {
        IncomingMessage(
            session: .peer(isOutgoing ? Self.reader : Self.author), sender: Self.author,
            isOutgoing: isOutgoing,
            raw: raw, content: codec.decode(raw), timeMilliseconds: time)
    }

    private mutating func chance(_ oneIn: UInt64) -> Bool { random.next() % oneIn == 0 }

    mutating func step() async throws {
        let device = chance(2) ? 0 : 1
        switch random.next() % 5 {
        case 0, 1: try await change(on: device)
        case 2: try await takeNext(of: device)
        default: try await sync(device)
        }
    }

    private mutating func change(on device: Int) async throws {
        lastSend += 1
        time += 10
        let uuid = "c\(lastSend)"
        let raw =
            switch random.next() % 4 {
            case 0: #"{"uuid":"\#(uuid)","reaction":{"msgid":"m","emoji":"👍","on":\#(random.next() % 2)}}"#
            case 1: #"{"uuid":"\#(uuid)","reaction":{"msgid":"m","emoji":"🎉","on":\#(random.next() % 2)}}"#
            default: #"{"uuid":"\#(uuid)","edit":{"msgid":"m","text":"\#(lastSend) by \#(device)"}}"#
            }
        let send = StoredSend(
            number: lastSend, uuid: uuid, command: 4, flags: 0, body: [], createdMilliseconds: time)
        _ = try await stores[device].apply([
            .send(
                QueuedMessage(session: .peer(Self.reader), raw: raw, content: codec.decode(raw), send: send))
        ])
        pending[device].append((lastSend, Change(device: device, raw: raw, time: time)))
    }

    /// The server takes the first change that waits on a device, or refuses it; its answer may get lost.
    private mutating func takeNext(of device: Int) async throws {
        guard !pending[device].isEmpty else { return }
        let (send, change) = pending[device].removeFirst()
        // Whether a refused reaction is undone is not looked at here.
        if chance(6), case .edit? = codec.decode(change.raw).control {
            refusedCount += 1
            _ = try await stores[device].apply([.fail(send: send, reason: "no")])
            return
        }
        order.append(change)
        if case .edit(let edit)? = codec.decode(change.raw).control, case .replace(let text) = edit.change {
            lastText = text
        }
        let continues = received[device] == order.count - 1
        if continues, !chance(3) { received[device] += 1 } else if chance(4) { return }
        let isPlaced = received[device] == order.count
        _ = try await stores[device].apply([
            .acknowledge(send: send, serverKey: isPlaced ? Int64(order.count) : nil, isPlaced: isPlaced)
        ])
    }

    private mutating func sync(_ device: Int) async throws {
        guard received[device] < order.count else { return }
        let change = order[received[device]]
        received[device] += 1
        let copy = StoreOperation.receive(incoming(change.raw, isOutgoing: true, time: change.time))
        _ = try await stores[device].apply(chance(5) ? [copy, copy] : [copy])
    }

    /// Everything reaches the server, and everybody.
    mutating func settle() async throws {
        for device in [0, 1] {
            while !pending[device].isEmpty { try await takeNext(of: device) }
        }
        for device in [0, 1] {
            while received[device] < order.count { try await sync(device) }
        }
        for change in order {
            _ = try await readers.apply([.receive(incoming(change.raw, isOutgoing: false, time: change.time))]
            )
        }
    }
}

@Suite("Two devices that change one message at once")
struct StoreOwnChangeTests {
    private func check(_ seed: UInt64, _ stores: [any AccountStore], _ readers: any AccountStore) async throws
    {
        var devices = try await Devices(seed: seed, stores: stores, readers: readers)
        for _ in 0..<40 { try await devices.step() }
        try await devices.settle()
        let expected = try #require(try await readers.message(uuid: "m"))
        #expect(expected.content == .text(devices.lastText ?? "first"))
        for store in stores {
            let message = try #require(try await store.message(uuid: "m"))
            #expect(message.content == expected.content)
            #expect(Set(message.reactions.map(\.emoji)) == Set(expected.reactions.map(\.emoji)))
            #expect(message.isEdited == expected.isEdited)
        }
    }

    @Test(arguments: 1...150 as ClosedRange<UInt64>)
    func `the last in the server's order counts, on every device`(seed: UInt64) async throws {
        let stores = (0..<2).map { _ in MemoryAccountStore(account: UserID(1)) }
        try await check(seed, stores, MemoryAccountStore(account: UserID(2)))
    }

    @Test(arguments: 1...4 as ClosedRange<UInt64>)
    func `it does so in files, too`(seed: UInt64) async throws {
        let folder = try TemporaryFolder()
        let stores = try (0..<2).map {
            try SQLiteAccountStore(path: folder.file("\($0).db"), account: UserID(1))
        }
        try await check(
            seed, stores, try SQLiteAccountStore(path: folder.file("r.db"), account: UserID(2)))
        for store in stores { await store.close() }
    }

    private func edit(_ fixture: StoreFixture, _ text: String, _ uuid: String, send: Int64) throws
        -> StoreOperation
    {
        let edit = ControlContent.edit(EditContent(target: "m", change: .replace(text)))
        return .send(
            fixture.outgoing(
                json: try fixture.codec.encode(edit, envelope: ContentEnvelope(uuid: uuid)), send: send))
    }

    private func otherDevice(_ fixture: StoreFixture, _ text: String, _ uuid: String) throws -> StoreOperation
    {
        .receive(
            try fixture.control(
                .edit(EditContent(target: "m", change: .replace(text))), uuid: uuid, from: StoreFixture.me))
    }

    private func sent(_ kind: StoreKind) async throws -> StoreFixture {
        let fixture = try StoreFixture(kind)
        try await fixture.apply(
            .send(try fixture.outgoing("first", uuid: "m", send: 1)),
            .acknowledge(send: 1, serverKey: 1, isPlaced: true))
        return fixture
    }

    @Test(arguments: StoreKind.allCases)
    func `what is on its way stays on screen, until the server has put it in order`(kind: StoreKind)
        async throws
    {
        let fixture = try await sent(kind)
        try await fixture.apply(try edit(fixture, "here", "e1", send: 2))
        try await fixture.apply(try otherDevice(fixture, "there", "x1"))
        #expect(try await fixture.flow() == ["here"])
        // The other device's change came first in the server's order, so this one's is the last.
        try await fixture.apply(.acknowledge(send: 2, serverKey: 3, isPlaced: true))
        #expect(try await fixture.flow() == ["here"])
        try await fixture.apply(try otherDevice(fixture, "there again", "x2"))
        #expect(try await fixture.flow() == ["there again"])
        let id = try #require(try await fixture.message("m")).id
        #expect(try await fixture.store.earlierTexts(of: id) == ["first", "there", "here"])
    }

    @Test(arguments: StoreKind.allCases)
    func `a refused change gives way to what it hid`(kind: StoreKind) async throws {
        let fixture = try await sent(kind)
        try await fixture.apply(try edit(fixture, "one", "e1", send: 2))
        try await fixture.apply(.fail(send: 2, reason: "no"))
        #expect(try await fixture.flow() == ["first"])
        #expect(try await fixture.message("m")?.isEdited == false)
        try await fixture.apply(
            try edit(fixture, "one", "e2", send: 3), try edit(fixture, "two", "e3", send: 4))
        try await fixture.apply(try otherDevice(fixture, "there", "x1"))
        try await fixture.apply(.fail(send: 3, reason: "no"))
        #expect(try await fixture.flow() == ["two"])
        try await fixture.apply(.cancel(send: 4))
        #expect(try await fixture.flow() == ["there"])
        #expect(try await fixture.message("m")?.isEdited == true)
    }

    @Test(arguments: StoreKind.allCases)
    func `the earlier of two own changes shows again when the later one is refused`(kind: StoreKind)
        async throws
    {
        let fixture = try await sent(kind)
        try await fixture.apply(
            try edit(fixture, "one", "e1", send: 2), try edit(fixture, "two", "e2", send: 3))
        try await fixture.apply(.fail(send: 3, reason: "no"))
        #expect(try await fixture.flow() == ["one"])
        try await fixture.apply(.acknowledge(send: 2, serverKey: 2, isPlaced: true))
        #expect(try await fixture.flow() == ["one"])
    }

    @Test(arguments: StoreKind.allCases)
    func `a stranger's change of the text neither shows nor waits`(kind: StoreKind) async throws {
        let fixture = try await sent(kind)
        try await fixture.apply(try edit(fixture, "here", "e1", send: 2))
        try await fixture.apply(
            .receive(
                try fixture.control(
                    .edit(EditContent(target: "m", change: .replace("forged"))), uuid: "x1", from: UserID(9)))
        )
        try await fixture.apply(.fail(send: 2, reason: "no"))
        #expect(try await fixture.flow() == ["first"])
    }

    @Test(arguments: StoreKind.allCases)
    func `a change on its way brings nothing back that was withdrawn or deleted`(kind: StoreKind)
        async throws
    {
        let fixture = try await sent(kind)
        try await fixture.apply(try edit(fixture, "here", "e1", send: 2))
        try await fixture.apply(
            .receive(try fixture.control(.revoke(target: "m"), from: StoreFixture.me)),
            .acknowledge(send: 2, serverKey: 2, isPlaced: true))
        #expect(try await fixture.flow() == ["<revoked>"])
    }

    @Test(arguments: StoreKind.allCases)
    func `a change that a page of history brings never undoes a later one`(kind: StoreKind) async throws {
        let fixture = try StoreFixture(kind)
        func edit(_ text: String, _ uuid: String) throws -> IncomingMessage {
            try fixture.control(.edit(EditContent(target: "o", change: .replace(text))), uuid: uuid)
        }
        // The newest page has the last change, the one before it the message and two earlier changes.
        try await fixture.apply(.insertHistory([try edit("third", "e3")]))
        try await fixture.apply(
            .insertHistory([
                try fixture.text("zeroth", uuid: "o"), try edit("first", "e1"), try edit("second", "e2"),
            ]))
        #expect(try await fixture.flow() == ["third"])
        let other = try StoreFixture(kind)
        try await other.apply(
            .insertHistory([
                try fixture.text("zeroth", uuid: "o"), try edit("first", "e1"), try edit("second", "e2"),
            ]))
        #expect(try await other.flow() == ["second"])
    }

    @Test(arguments: StoreKind.allCases)
    func `deleting or clearing takes what is unsent out of the outbox`(kind: StoreKind) async throws {
        let fixture = try StoreFixture(kind)
        try await fixture.apply(
            .send(try fixture.outgoing("one", uuid: "1", send: 1)),
            .send(try fixture.outgoing("two", uuid: "2", send: 2)))
        let id = try #require(try await fixture.message("1")).id
        try await fixture.apply(.delete(id))
        #expect(try await fixture.store.clientState().outbox.map(\.uuid) == ["2"])
        // The client may still say what became of it.
        try await fixture.apply(
            .acknowledge(send: 1, serverKey: 5, isPlaced: true), .fail(send: 1, reason: "no"),
            .cancel(send: 1), .receive(try fixture.text("one", uuid: "1", from: StoreFixture.me)))
        #expect(try await fixture.flow() == ["two"])
        try await fixture.apply(.clear(.peer(StoreFixture.ada)))
        #expect(try await fixture.store.clientState().outbox.isEmpty)
    }
}
