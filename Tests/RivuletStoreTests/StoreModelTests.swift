import Foundation
import RivuletModel
import RivuletStore
import Testing

/// Random transactions on the file and on the model in memory, which must agree after each, whatever happens to the
/// process and the file in between.
@Suite("Store against its model")
struct StoreModelTests {
    static let seeds: [UInt64] = [1, 2, 3, 0xC0FFEE, 0x5EED]

    /// Everything that a reader can see of a store.
    struct Sight: Equatable {
        var conversations: [Conversation]
        var flows: [[Message]]
        var state: StoredClientState
        var found: [[MessageID]]

        init(_ store: any AccountStore) async throws {
            conversations = try await store.conversations(limit: 100, offset: 0)
            flows = []
            for session in RandomOperations.sessions {
                flows.append(try await store.page(PageQuery(session: session, limit: 1_000)).messages)
            }
            state = try await store.clientState()
            found = []
            for text in ["word", "京", "北京 word", "changed"] {
                found.append(try await store.search(SearchQuery(text, limit: 500)).map(\.id))
            }
        }
    }

    @Test(arguments: seeds) func `the file agrees with the model, also after crashes`(seed: UInt64)
        async throws
    {
        let folder = try TemporaryFolder()
        let path = folder.file("account.db")
        var random = RandomOperations(seed: seed)
        var store = try SQLiteAccountStore(path: path, account: UserID(1))
        let model = MemoryAccountStore(account: UserID(1))
        for round in 0..<60 {
            let batch = random.batch()
            let outcomes = try await store.apply(batch)
            #expect(try await model.apply(batch) == outcomes, "round \(round)")
            if random.chance(5) {
                // The process is gone: nothing is closed, the file is opened anew.
                store = try SQLiteAccountStore(path: path, account: UserID(1))
            }
            if random.chance(4) || round == 59 {
                #expect(try await Sight(store) == Sight(model), "round \(round)")
            }
        }
        await store.close()
        #expect(try await Sight(SQLiteAccountStore(path: path, account: UserID(1))) == Sight(model))
    }

    @Test(arguments: seeds) func `the changes that are told lead from one state to the next`(
        seed: UInt64
    ) async throws {
        let folder = try TemporaryFolder()
        var random = RandomOperations(seed: seed)
        let store = try SQLiteAccountStore(path: folder.file("account.db"), account: UserID(1))
        let stream = store.changes()
        for _ in 0..<60 { _ = try await store.apply(random.batch()) }
        var flows: [MessageID: Message] = [:]
        await store.close()
        var expected = 1
        for await changes in stream {
            #expect(changes.number == UInt64(expected))
            expected += 1
            for message in changes.inserted {
                #expect(flows.updateValue(message, forKey: message.id) == nil)
            }
            for message in changes.updated {
                #expect(flows.updateValue(message, forKey: message.id) != nil)
            }
            for id in changes.deleted { #expect(flows.removeValue(forKey: id) != nil) }
        }
        let again = try SQLiteAccountStore(path: folder.file("account.db"), account: UserID(1))
        for session in RandomOperations.sessions {
            let told = flows.values.filter { $0.session == session }.sorted { $0.position < $1.position }
            #expect(try await again.page(PageQuery(session: session, limit: 1_000)).messages == told)
        }
    }

    @Test(arguments: seeds) func `a torn log loses the newest transactions as a whole`(seed: UInt64)
        async throws
    {
        let folder = try TemporaryFolder()
        let path = folder.file("account.db")
        var random = RandomOperations(seed: seed)
        let store = try SQLiteAccountStore(path: path, account: UserID(1))
        let model = MemoryAccountStore(account: UserID(1))
        var states = [try await Sight(model)]
        for _ in 0..<25 {
            let batch = random.batch()
            _ = try await store.apply(batch)
            _ = try await model.apply(batch)
            states.append(try await Sight(model))
        }
        let log = try Data(contentsOf: URL(fileURLWithPath: path + "-wal"))
        let file = try Data(contentsOf: URL(fileURLWithPath: path))
        var last = states.count - 1
        // Cut shorter and shorter, at any byte, with rubbish behind the cut.
        for cut in (0..<12).map({ _ in random.number(log.count) }).sorted(by: >) {
            let torn = folder.file("torn-\(cut).db")
            try file.write(to: URL(fileURLWithPath: torn))
            try (log[..<cut] + Data(repeating: 0xEE, count: 100)).write(
                to: URL(fileURLWithPath: torn + "-wal"))
            let sight = try await Sight(SQLiteAccountStore(path: torn, account: UserID(1)))
            let index = try #require(states.lastIndex(of: sight), "a state that never was, cut at \(cut)")
            #expect(index <= last)
            last = index
        }
    }
}

/// Operations that collide as often as possible: few conversations, few uuids.
struct RandomOperations {
    static let sessions: [Session] = [.peer(UserID(2)), .group(7), .peer(UserID(3))]
    private var generator: SplitMix
    private let codec = ContentCodec()
    private var sends: Int64 = 0

    init(seed: UInt64) {
        generator = SplitMix(state: seed)
    }

    mutating func number(_ bound: Int) -> Int {
        Int(generator.next() % UInt64(max(1, bound)))
    }

    mutating func chance(_ oneIn: Int) -> Bool {
        number(oneIn) == 0
    }

    mutating func batch() -> [StoreOperation] {
        (0...number(8)).map { _ in operation() }
    }

    private mutating func operation() -> StoreOperation {
        let session = Self.sessions[number(3)]
        switch number(24) {
        case 0..<8: return .receive(message(in: session))
        case 8: return .insertHistory((0..<number(4)).map { _ in message(in: session) })
        case 9..<12: return .send(outgoing(in: session))
        case 12, 13: return .acknowledge(send: someSend(), serverKey: Int64(number(100)), isPlaced: chance(2))
        case 14: return .fail(send: someSend(), reason: "no")
        case 15: return .cancel(send: someSend())
        case 16: return .deliver(uuids: [uuid(), uuid()])
        case 17: return .setKey(group: chance(2) ? 7 : nil, key: Int64(number(50)))
        case 18: return .delete(MessageID((1 << 40) + Int64(number(80)) - 20))
        case 19: return chance(4) ? .clear(session) : .setDraft(session, chance(2) ? "draft" : nil)
        case 20: return .markRead(session, upTo: chance(2) ? nil : MessageID((1 << 40) + Int64(number(60))))
        case 21: return .setPinned(session, chance(2))
        case 22: return .setHidden(session, chance(2))
        default: return .save(message(in: session))
        }
    }

    private mutating func uuid() -> String { "u\(number(60))" }

    private mutating func someSend() -> Int64 { Int64(number(Int(sends) + 2)) }

    private mutating func message(in session: Session) -> IncomingMessage {
        let sender = UserID(Int64(1 + number(3)))
        let raw = content()
        return IncomingMessage(
            session: session, sender: sender, isOutgoing: sender == UserID(1), raw: raw,
            content: codec.decode(raw), timeMilliseconds: Int64(number(1_000)),
            serverKey: chance(2) ? Int64(number(100)) : nil, localNumber: Int64(number(3)))
    }

    private mutating func outgoing(in session: Session) -> QueuedMessage {
        sends += 1
        let raw = content()
        let decoded = codec.decode(raw)
        return QueuedMessage(
            session: session, raw: raw, content: decoded,
            send: StoredSend(
                number: sends, uuid: decoded.envelope.uuid, command: 4, flags: 1, body: [UInt8(sends & 255)],
                createdMilliseconds: Int64(number(1_000))))
    }

    private mutating func content() -> String {
        let target = uuid()
        switch number(14) {
        case 0: return #"{"revoke":{"msgid":"\#(target)"}}"#
        case 1: return #"{"uuid":"\#(uuid())","edit":{"msgid":"\#(target)","text":"changed \#(number(9))"}}"#
        case 2:
            return #"{"uuid":"\#(uuid())","reaction":{"msgid":"\#(target)","emoji":"👍","on":\#(number(2))}}"#
        case 3: return #"{"readed":{"msgid":"\#(target)"}}"#
        case 4: return #"{"uuid":"\#(uuid())","pin":{"msgid":"\#(target)","on":\#(number(2))}}"#
        case 5: return #"{"uuid":"\#(uuid())","read_mark":{"kind":"group","id":7,"msgid":"\#(target)"}}"#
        case 6: return #"{"text":"word without uuid \#(number(3))"}"#
        case 7: return "rubbish \(number(5))"
        case 8: return #"{"uuid":"\#(uuid())","text":"at me","at":[1],"at_name":["me"]}"#
        default: return #"{"uuid":"\#(uuid())","text":"word 北京 \#(number(1_000))"}"#
        }
    }
}

/// A small generator whose whole state is its seed.
struct SplitMix: RandomNumberGenerator {
    var state: UInt64

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var value = state
        value = (value ^ (value >> 30)) &* 0xBF58_476D_1CE4_E5B9
        value = (value ^ (value >> 27)) &* 0x94D0_49BB_1331_11EB
        return value ^ (value >> 31)
    }
}
