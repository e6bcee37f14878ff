import RivuletClientCore
import RivuletWire
import Synchronization
import Testing

@testable import RivuletClient

/// A database of an app's own, which can refuse.
private final class OwnDatabase: IMPeerMessageHandler, IMGroupMessageHandler, IMSyncKeyHandler {
    private struct State {
        var calls: [String] = []
        var refusals = 0
    }

    private let state = Mutex(State())

    var calls: [String] { state.withLock { $0.calls } }

    func refuseNext(_ count: Int) { state.withLock { $0.refusals = count } }

    private func note(_ call: String) -> Bool {
        state.withLock { state in
            guard state.refusals == 0 else {
                state.refusals -= 1
                return false
            }
            state.calls.append(call)
            return true
        }
    }

    func handleMessage(_ message: IMMessage, uid: Int64) -> Bool { note("peer \(message.content) \(uid)") }
    func handleMessageACK(_ msgLocalID: Int32, uid: Int64) -> Bool { note("ack \(msgLocalID) \(uid)") }
    func handleMessageFailure(_ msgLocalID: Int32, uid: Int64) -> Bool {
        note("failure \(msgLocalID) \(uid)")
    }
    func handleMessage(_ message: IMMessage) -> Bool { note("group \(message.content) \(message.receiver)") }
    func handleMessageACK(_ msgLocalID: Int32, gid: Int64) -> Bool { note("group ack \(msgLocalID) \(gid)") }
    func handleMessageFailure(_ msgLocalID: Int32, gid: Int64) -> Bool {
        note("group failure \(msgLocalID) \(gid)")
    }
    func handleGroupNotification(_ text: String) -> Bool { note("notification \(text)") }
    func saveSyncKey(_ key: Int64) -> Bool { note("key \(key)") }
    func saveGroupSyncKey(_ key: Int64, gid: Int64) -> Bool { note("key \(key) of \(gid)") }
}

@Suite("Handlers in front of the storage", .timeLimit(.minutes(5)))
struct HandlerTests {
    private let base = MemoryClientStorage()
    private let box = HandlerBox()
    private let database = OwnDatabase()
    private let storage: HandlerStorage

    init() {
        storage = HandlerStorage(base: base, handlers: box)
        box.set(peer: database)
        box.set(group: database)
        box.set(syncKey: database)
    }

    private func message(_ command: Command, _ text: String, from sender: Int64 = 8) -> StorageChange {
        let body = IMMessage(sender: sender, receiver: sender == 7 ? 8 : 7, content: text)
        return .received(ReceivedMessage(command: command, body: .im(body), isOwn: sender == 7))
    }

    private func queued(_ command: Command, _ id: Int64) -> StorageChange {
        let body = IMMessage(sender: 7, receiver: 8, msgLocalID: Int32(id), content: "")
        return .queued(
            OutboxEntry(
                id: SendID(rawValue: id), uuid: nil, command: command, body: .im(body),
                createdMilliseconds: 0))
    }

    @Test func `every change reaches the described method, in order`() async throws {
        let changes: [StorageChange] = [
            message(.im, "a"), message(.im, "own", from: 7), message(.groupIM, "b"),
            .received(ReceivedMessage(command: .groupNotification, body: .text("{}"))),
            queued(.im, 1), queued(.im, 2), queued(.groupIM, 3), queued(.groupIM, 4),
            .acknowledged(SendID(rawValue: 1), place: nil), .refused(SendID(rawValue: 2), .senderBlocked),
            .acknowledged(SendID(rawValue: 3), place: nil), .failed(SendID(rawValue: 4), .unanswered),
            .peerKey(5), .groupKey(group: 9, key: 6),
        ]
        _ = try await storage.commit(StorageBatch(id: 1, changes: changes))
        #expect(
            database.calls == [
                "peer a 8", "peer own 8", "group b 7", "notification {}", "ack 1 8", "failure 2 8",
                "group ack 3 8", "group failure 4 8", "key 5", "key 6 of 9",
            ])
        #expect(base.commitCount == 1)
    }

    @Test func `not stored by the handler means not committed`() async {
        database.refuseNext(1)
        await #expect(throws: NotStoredByHandler.self) {
            try await storage.commit(StorageBatch(id: 1, changes: [message(.im, "a")]))
        }
        #expect(base.commitCount == 0)
        #expect(base.received.isEmpty)
    }

    @Test func `answers are told with the ids of entries from an earlier run`() async throws {
        let body = IMMessage(sender: 7, receiver: 8, msgLocalID: 33, content: "")
        let entry = OutboxEntry(
            id: SendID(rawValue: 3), uuid: nil, command: .im, body: .im(body), createdMilliseconds: 0)
        let old = HandlerStorage(
            base: MemoryClientStorage(restored: RestoredState(outbox: [entry])), handlers: box)
        _ = try await old.restore()
        _ = try await old.commit(
            StorageBatch(id: 1, changes: [.acknowledged(SendID(rawValue: 3), place: nil)]))
        #expect(database.calls == ["ack 33 8"])
    }

    @Test func `handlers are not kept alive`() async throws {
        let service = IMService()
        var handler: OwnDatabase? = OwnDatabase()
        service.peerMessageHandler = handler
        #expect(service.peerMessageHandler != nil)
        handler = nil
        #expect(service.peerMessageHandler == nil)
    }

    @Test func `a message that the handler refused comes again over a real server`() async throws {
        let server = try await ChatServer()
        let service7 = try server.makeService(user: 7, storage: makeStorage())
        let service8 = try server.makeService(user: 8, storage: makeStorage())
        try await service7.startAndSync()
        try await service8.startAndSync()
        database.refuseNext(2)
        service8.peerMessageHandler = database
        let arrivals = service8.messages()
        try await service7.send(peerMessage("stubborn", from: 7, to: 8))
        _ = try await take(1, of: arrivals)
        #expect(database.calls == ["peer \(content("stubborn")) 7"])
        await service7.stopAndWait()
        await service8.stopAndWait()
        await server.stop()
    }
}
