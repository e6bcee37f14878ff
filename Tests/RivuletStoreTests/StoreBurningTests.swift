import Foundation
import RivuletModel
import RivuletStore
import Testing

private struct Burned: CustomContent {
    static let kind = MessageKind(rawValue: "burned")
    static let behavior = ContentBehavior.control
    var msgid: String
    var summary: String { "" }
    var effect: ContentEffect? { .erase(target: msgid) }
}

/// Messages that burn, through the public door for kinds.
@Suite("Store contract: burning")
struct StoreBurningTests {
    private let folder: TemporaryFolder
    private let codec: ContentCodec
    private static let ada = UserID(2)
    private static let secret = "quicksilver"
    private var path: String { folder.file("account.db") }

    init() throws {
        folder = try TemporaryFolder()
        var registry = ContentRegistry()
        try registry.register(Burned.self)
        codec = ContentCodec(registry: registry)
    }

    private func store(_ kind: StoreKind) throws -> any AccountStore {
        switch kind {
        case .sqlite: try SQLiteAccountStore(path: path, account: UserID(1), codec: codec)
        case .memory: MemoryAccountStore(account: UserID(1), codec: codec)
        }
    }

    private func incoming(_ json: String, from sender: UserID = ada, in session: Session = .peer(ada))
        -> StoreOperation
    {
        .receive(
            IncomingMessage(
                session: session, sender: sender, isOutgoing: sender == UserID(1), raw: json,
                content: codec.decode(json), timeMilliseconds: 1_000))
    }

    private func send(_ json: String, number: Int64, to session: Session = .peer(ada)) -> StoreOperation {
        let content = codec.decode(json)
        return .send(
            QueuedMessage(
                session: session, raw: json, content: content,
                send: StoredSend(
                    number: number, uuid: content.envelope.uuid, command: 4, flags: 0, body: Array(json.utf8),
                    createdMilliseconds: 1_000)))
    }

    private func burning(_ uuid: String, _ text: String = secret) -> String {
        #"{"burn":{"seconds":5},"text":"\#(text) for \#(uuid)","uuid":"\#(uuid)"}"#
    }

    private func burned(_ target: String, by reader: String = "") -> String {
        #"{"burned":{"msgid":"\#(target)"},"uuid":"b-\#(target)\#(reader)"}"#
    }

    private func filesHold(_ text: String) -> Bool {
        ["", "-wal", "-shm"].contains { suffix in
            FileManager.default.contents(atPath: path + suffix)?.range(of: Data(text.utf8)) != nil
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `the reader's word empties the message on both sides`(kind: StoreKind) async throws {
        let store = try store(kind)
        var changes = store.changes().makeAsyncIterator()
        _ = try await store.apply([incoming(burning("theirs")), send(burning("mine"), number: 1)])
        let theirs = try #require(try await store.message(uuid: "theirs"))
        #expect(theirs.burnSeconds == 5)
        #expect(theirs.content.text == "quicksilver for theirs")
        #expect(try await store.conversation(.peer(Self.ada))?.unreadCount == 1)
        // Never found, also while it can be read.
        #expect(try await store.search(SearchQuery("quicksilver")) == [])
        #expect(await changes.next()?.inserted.count == 2)
        // Here the user is the reader of the one and the author of the other.
        _ = try await store.apply([
            .acknowledge(send: 1, serverKey: 3, isPlaced: true), send(burned("theirs"), number: 2),
            incoming(burned("mine")),
        ])
        let change = try #require(await changes.next())
        #expect(change.updated.map(\.content) == [.erased, .erased])
        #expect(
            change.controls.map { $0.content.cast(to: Burned.self)?.msgid } == ["theirs", "mine"])
        for uuid in ["theirs", "mine"] {
            let shell = try #require(try await store.message(uuid: uuid))
            #expect(shell.content == .erased)
            #expect(try await store.rawContent(of: shell.id) == "")
        }
        #expect(try await store.conversation(.peer(Self.ada))?.unreadCount == 0)
        // It stays known.
        guard case .duplicate = try await store.apply([incoming(burning("theirs"))])[0] else {
            Issue.record("it came back")
            return
        }
        await store.close()
    }

    @Test(arguments: StoreKind.allCases)
    func `only author and reader can burn, and only what burns`(kind: StoreKind) async throws {
        let store = try store(kind)
        let group = Session.group(7)
        _ = try await store.apply([
            send(burning("mine"), number: 1), send(#"{"text":"plain","uuid":"plain"}"#, number: 2),
            incoming(burning("group"), in: group),
            incoming(burned("mine"), from: UserID(9), in: .peer(UserID(9))),
            incoming(burned("plain")), incoming(burned("group", by: "9"), from: UserID(9), in: group),
        ])
        for uuid in ["mine", "plain", "group"] {
            #expect(try await store.message(uuid: uuid)?.content != .erased, "\(uuid)")
        }
        // In a group every reader forgets for the own devices.
        _ = try await store.apply([send(burned("group"), number: 3, to: group)])
        #expect(try await store.message(uuid: "group")?.content == .erased)
    }

    @Test(arguments: StoreKind.allCases)
    func `word of a message that is still to come waits for it`(kind: StoreKind) async throws {
        let store = try store(kind)
        _ = try await store.apply([incoming(burned("m"), from: UserID(1)), incoming(burning("m"))])
        #expect(try await store.message(uuid: "m")?.content == .erased)
    }

    @Test(arguments: [1, 2, 3] as [UInt64])
    func `no byte of the text stays in the files, whatever stood around it`(seed: UInt64) async throws {
        var random = SplitMix(state: seed)
        let store = try SQLiteAccountStore(path: path, account: UserID(1), codec: codec)
        var number: Int64 = 0
        var names: [String] = []
        for round in 0..<30 {
            var operations: [StoreOperation] = []
            for _ in 0..<(Int(random.next() % 6) + 1) {
                number += 1
                // Some fill several pages.
                let long = String(repeating: "\(Self.secret) ", count: Int(random.next() % 900))
                switch random.next() % 4 {
                case 0:
                    names.append("in-\(number)")
                    operations.append(incoming(burning("in-\(number)", Self.secret + long)))
                case 1:
                    names.append("out-\(number)")
                    operations.append(send(burning("out-\(number)", Self.secret + long), number: number))
                case 2: operations.append(send(#"{"text":"plain \#(long.count)"}"#, number: number))
                default: operations.append(incoming(#"{"text":"plain","uuid":"p-\#(number)"}"#))
                }
            }
            if round % 3 == 0, number > 3 {
                operations.append(
                    .acknowledge(
                        send: Int64(random.next() % UInt64(number)), serverKey: nil, isPlaced: true))
            }
            _ = try await store.apply(operations)
        }
        #expect(filesHold(Self.secret))
        for name in names.shuffled(using: &random) {
            _ = try await store.apply([
                name.hasPrefix("in") ? incoming(burned(name), from: UserID(1)) : incoming(burned(name))
            ])
        }
        // With the store open, and after it was closed.
        #expect(!filesHold(Self.secret))
        await store.close()
        #expect(!filesHold(Self.secret))
        let again = try SQLiteAccountStore(path: path, account: UserID(1), codec: codec)
        #expect(try await again.message(uuid: names[0])?.content == .erased)
        #expect(try await again.integrityFindings() == [])
    }

    @Test func `what another process reads meanwhile is forgotten when it has ended`() async throws {
        let store = try SQLiteAccountStore(path: path, account: UserID(1), codec: codec)
        _ = try await store.apply([incoming(burning("m"))])
        // A crash right after the commit leaves the log as it is.
        let log = try #require(FileManager.default.contents(atPath: path + "-wal"))
        _ = try await store.apply([incoming(burned("m"), from: UserID(1))])
        await store.close()
        #expect(log.range(of: Data(Self.secret.utf8)) != nil)
        #expect(!filesHold(Self.secret))
    }
}
