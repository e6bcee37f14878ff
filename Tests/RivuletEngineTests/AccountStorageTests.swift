import Foundation
import RivuletClientCore
import RivuletEngine
import RivuletModel
import RivuletStore
import RivuletWire
import Testing

/// A folder of its own for one test.
final class TestFolder: Sendable {
    let path: String

    init() throws {
        path =
            FileManager.default.temporaryDirectory
            .appendingPathComponent("rivulet-engine-\(UUID().uuidString)").path
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    }

    deinit {
        try? FileManager.default.removeItem(atPath: path)
    }

    func open() throws -> SQLiteAccountStore {
        try SQLiteAccountStore(path: path + "/account.db", account: UserID(1))
    }
}

@Suite("Account storage")
struct AccountStorageTests {
    let folder: TestFolder
    let store: SQLiteAccountStore
    let storage: AccountStorage

    init() throws {
        folder = try TestFolder()
        store = try folder.open()
        storage = AccountStorage(store: store)
    }

    static func peer(
        _ json: String, from sender: Int64 = 2, to receiver: Int64 = 1, seconds: Int32 = 100,
        key: Int64? = nil, fromThisDevice: Bool = false
    ) -> StorageChange {
        .received(
            ReceivedMessage(
                command: .im,
                body: .im(IMMessage(sender: sender, receiver: receiver, timestamp: seconds, content: json)),
                flags: fromThisDevice ? .isSelf : [],
                place: key.map { QueuePlace(queue: .peer, key: $0) }, isOwn: sender == 1,
                isFromThisDevice: fromThisDevice))
    }

    static func queued(_ json: String, uuid: String?, id: Int64, to receiver: Int64 = 2) -> StorageChange {
        .queued(
            OutboxEntry(
                id: SendID(rawValue: id), uuid: uuid, command: .im,
                body: .im(IMMessage(sender: 1, receiver: receiver, content: json)), flags: .text,
                createdMilliseconds: 50_000))
    }

    @discardableResult private func commit(_ changes: StorageChange...) async throws -> [Bool] {
        try await storage.commit(StorageBatch(id: 1, changes: changes)).isNew
    }

    private func flow(_ session: Session = .peer(UserID(2))) async throws -> [String] {
        try await store.page(PageQuery(session: session, limit: 1_000)).messages.map {
            $0.content.text ?? "<\($0.content.kind.rawValue)>"
        }
    }

    @Test func `a received message is new once`() async throws {
        let change = Self.peer(#"{"uuid":"a","text":"hi"}"#)
        #expect(try await commit(change, change) == [true, false])
        #expect(try await commit(change, Self.peer(#"{"uuid":"b","text":"there"}"#)) == [false, true])
        #expect(try await flow() == ["hi", "there"])
        let message = try #require(try await store.message(uuid: "a"))
        #expect(message.sender == UserID(2))
        #expect(message.timeMilliseconds == 100_000)
        #expect(!message.isOutgoing)
    }

    @Test func `a message is queued, restored after a crash and answered`() async throws {
        try await commit(Self.queued(#"{"uuid":"m","text":"mine"}"#, uuid: "m", id: 7))
        // No close: the process is gone.
        let again = AccountStorage(store: try folder.open())
        let state = try await again.restore()
        #expect(state.lastSendID == SendID(rawValue: 7))
        let entry = try #require(state.outbox.first)
        #expect(entry.uuid == "m")
        #expect(entry.command == .im)
        #expect(entry.body == .im(IMMessage(sender: 1, receiver: 2, content: #"{"uuid":"m","text":"mine"}"#)))
        #expect(entry.flags == .text)
        #expect(entry.createdMilliseconds == 50_000)
        _ = try await again.commit(
            StorageBatch(
                id: 1,
                changes: [.acknowledged(entry.id, place: QueuePlace(queue: .peer, key: 31)), .peerKey(31)]))
        let message = try #require(try await store.message(uuid: "m"))
        #expect(message.state == .accepted)
        #expect(message.serverKey == 31)
        #expect(try await again.restore() == RestoredState(peerKey: 31, lastSendID: SendID(rawValue: 7)))
    }

    @Test func `what was uploaded is restored after a crash as it will travel, and is shown so`() async throws
    {
        func entry(_ url: String) -> OutboxEntry {
            let json = #"{"uuid":"p","image2":{"url":"\#(url)","width":3,"height":2}}"#
            return OutboxEntry(
                id: SendID(rawValue: 4), uuid: "p", command: .im,
                body: .im(IMMessage(sender: 1, receiver: 2, content: json)), createdMilliseconds: 50_000)
        }
        try await commit(.queued(entry("file:1")))
        try await commit(.uploaded(entry("https:1")))
        let again = AccountStorage(store: try folder.open())
        #expect(try await again.restore().outbox == [entry("https:1")])
        let message = try #require(try await store.message(uuid: "p"))
        #expect(try await store.rawContent(of: message.id)?.contains("https:1") == true)
        #expect(message.state == .sending)
    }

    @Test func `a super group that was left is not restored`() async throws {
        try await commit(.groupKey(group: 5, key: 9), .groupKey(group: 6, key: 8), .groupRemoved(5))
        #expect(try await AccountStorage(store: try folder.open()).restore().groupKeys == [6: 8])
    }

    @Test func `a refused message says why`() async throws {
        try await commit(
            Self.queued(#"{"uuid":"m","text":"x"}"#, uuid: "m", id: 1),
            .refused(SendID(rawValue: 1), .senderBlocked),
            Self.queued(#"{"uuid":"n","text":"y"}"#, uuid: "n", id: 2),
            .failed(SendID(rawValue: 2), .unanswered))
        #expect(try await store.message(uuid: "m")?.state == .failed(reason: "the receiver has blocked you"))
        #expect(try await store.message(uuid: "n")?.state == .failed(reason: "the server did not answer"))
    }

    @Test func `the own copy repairs state and place`() async throws {
        try await commit(
            Self.queued(#"{"uuid":"m","text":"mine"}"#, uuid: "m", id: 1),
            .acknowledged(SendID(rawValue: 1), place: nil), Self.peer(#"{"uuid":"a","text":"theirs"}"#))
        #expect(try await flow() == ["theirs", "mine"])
        let copy = Self.peer(#"{"uuid":"m","text":"mine"}"#, from: 1, to: 2, fromThisDevice: true)
        #expect(try await commit(copy, Self.peer(#"{"uuid":"b","text":"later"}"#)) == [false, true])
        #expect(try await flow() == ["theirs", "mine", "later"])
    }

    @Test func `in the seed era the answer gives the place`() async throws {
        let storage = AccountStorage(store: store, profile: .seed)
        _ = try await storage.commit(
            StorageBatch(
                id: 1,
                changes: [
                    Self.queued(#"{"text":"mine"}"#, uuid: nil, id: 1),
                    .acknowledged(SendID(rawValue: 1), place: nil), Self.peer(#"{"text":"later"}"#),
                ]))
        #expect(try await flow() == ["mine", "later"])
    }

    @Test func `a message from another device of the user is an own one and not unread`() async throws {
        try await commit(Self.peer(#"{"uuid":"m","text":"from my phone"}"#, from: 1, to: 2))
        let message = try #require(try await store.message(uuid: "m"))
        #expect(message.isOutgoing)
        #expect(message.state == .accepted)
        #expect(message.session == .peer(UserID(2)))
        #expect(try await store.unreadTotal() == 0)
    }

    @Test func `a revoke reaches its target`() async throws {
        try await commit(
            Self.peer(#"{"uuid":"a","text":"oops"}"#), Self.peer(#"{"revoke":{"msgid":"a"}}"#))
        #expect(try await flow() == ["<revoked>"])
    }

    @Test func `group messages, notifications and private answers go to the group`() async throws {
        let group = IMMessage(sender: 2, receiver: 50, timestamp: 9, content: #"{"uuid":"g","text":"all"}"#)
        let notification = #"{"add_member":{"group_id":50,"member_id":3,"timestamp":8,"name":"\"Ada\""}}"#
        let changes: [StorageChange] = [
            .received(ReceivedMessage(command: .groupIM, body: .im(group))),
            .received(ReceivedMessage(command: .groupNotification, body: .text(notification))),
            .received(ReceivedMessage(command: .groupNotification, body: .text(notification))),
            Self.peer(#"{"uuid":"p","text":"only you","group_id":50}"#),
        ]
        #expect(
            try await storage.commit(StorageBatch(id: 1, changes: changes)).isNew == [
                true, true, false, true,
            ])
        #expect(try await flow(.group(50)) == ["all", "<notification>", "only you"])
        let messages = try await store.page(PageQuery(session: .group(50))).messages
        #expect(
            messages[1].content
                == .groupNotification(
                    GroupNotification(groupID: 50, time: 8, change: .memberAdded(UserID(3), name: #""Ada""#)))
        )
        #expect(messages[1].timeMilliseconds == 8_000)
    }

    @Test func `words of the operator are text`() async throws {
        let changes = ["Maintenance \"tonight\"\n", #"{"uuid":"s","text":"json"}"#, #"{"odd":1}"#].map {
            StorageChange.received(ReceivedMessage(command: .system, body: .text($0)))
        }
        _ = try await storage.commit(StorageBatch(id: 1, changes: changes))
        #expect(
            try await flow(Session(kind: .system, id: 0)) == [
                "Maintenance \"tonight\"\n", "json", "<unknown>",
            ])
    }

    @Test func `customer messages belong to the other side`() async throws {
        let body = CustomerMessageV2(
            senderAppID: 9, sender: 2, receiverAppID: 8, receiver: 1, content: #"{"uuid":"c","text":"help"}"#)
        _ = try await storage.commit(
            StorageBatch(
                id: 1, changes: [.received(ReceivedMessage(command: .customerV2, body: .customerV2(body)))]))
        #expect(try await flow(Session(kind: .customer, id: 2, appID: 9)) == ["help"])
    }

    @Test func `a sync round of 5,000 messages is one transaction and survives abandoning`() async throws {
        let changes = (0..<5_000).map { Self.peer(#"{"uuid":"u\#($0)","text":"message \#($0)"}"#) }
        let outcome = try await storage.commit(StorageBatch(id: 1, changes: changes + [.peerKey(5_000)]))
        #expect(outcome.isNew == Array(repeating: true, count: 5_000))
        let again = try folder.open()
        var all: [String] = []
        var place = PageQuery.Place.oldest
        while true {
            let page = try await again.page(PageQuery(session: .peer(UserID(2)), place: place, limit: 700))
            all += page.messages.compactMap(\.content.text)
            guard page.hasNewer, let last = page.messages.last else { break }
            place = .after(last.position)
        }
        #expect(all == (0..<5_000).map { "message \($0)" })
        #expect(try await again.clientState().peerKey == 5_000)
        let repeated = try await AccountStorage(store: again).commit(StorageBatch(id: 1, changes: changes))
        #expect(repeated.isNew == Array(repeating: false, count: 5_000))
    }

    @Test func `two connections write and read one file without being refused`() async throws {
        let other = AccountStorage(store: try folder.open())
        try await withThrowingTaskGroup(of: Void.self) { group in
            for (name, storage) in [("a", storage), ("b", other)] {
                group.addTask {
                    for index in 0..<100 {
                        _ = try await storage.commit(
                            StorageBatch(
                                id: UInt64(index),
                                changes: [Self.peer(#"{"uuid":"\#(name)\#(index)","text":"x"}"#)]))
                        _ = try await storage.store.conversations(limit: 10, offset: 0)
                    }
                }
            }
            try await group.waitForAll()
        }
        #expect(try await flow().count == 200)
        #expect(try await store.unreadTotal() == 200)
    }

    @Test func `a damaged file is refused or kept aside`() async throws {
        let path = folder.path + "/broken.db"
        try Data(repeating: 0x5A, count: 10_000).write(to: URL(fileURLWithPath: path))
        let error = #expect(throws: StoreError.self) {
            _ = try SQLiteAccountStore(path: path, account: UserID(1))
        }
        #expect(error?.code == .damaged)
        let fresh = try SQLiteAccountStore(path: path, account: UserID(1), damagePolicy: .keepAside)
        #expect(fresh.damagedFile == path + ".damaged-1")
        #expect(try Data(contentsOf: URL(fileURLWithPath: path + ".damaged-1")).count == 10_000)
        #expect(try await fresh.clientState() == StoredClientState())
        _ = try await AccountStorage(store: fresh).commit(
            StorageBatch(id: 1, changes: [Self.peer(#"{"uuid":"a","text":"back"}"#)]))
        #expect(try await fresh.message(uuid: "a")?.content.text == "back")
    }

    @Test func `another user's file and a newer file are refused`() async throws {
        let path = folder.path + "/account.db"
        let foreign = #expect(throws: StoreError.self) {
            _ = try SQLiteAccountStore(path: path, account: UserID(2), damagePolicy: .keepAside)
        }
        #expect(foreign?.code == .foreignFile)
        #expect(FileManager.default.fileExists(atPath: path))
    }

    @Test func `a kept message that cannot be read is marked as failed`() async throws {
        let json = #"{"uuid":"m","text":"x"}"#
        let send = StoredSend(
            number: 3, uuid: "m", command: 4, flags: 0, body: [1, 2], createdMilliseconds: 0)
        _ = try await store.apply([
            .send(
                QueuedMessage(
                    session: .peer(UserID(2)), raw: json, content: ContentCodec().decode(json), send: send))
        ])
        #expect(try await storage.restore().outbox == [])
        #expect(try await store.message(uuid: "m")?.state.isFailed == true)
        #expect(try await storage.restore().lastSendID == SendID(rawValue: 3))
    }
}
