import RivuletClient
import RivuletClientCore
import RivuletTransport
import RivuletWire
import Testing

/// Services without a server: nobody listens at port 1.
@Suite("Sends that cannot be delivered", .timeLimit(.minutes(5)))
struct SendTests {
    private func makeService(storage: any ClientStorage = makeStorage()) -> IMService {
        var configuration = IMServiceConfiguration(
            endpoints: [ClientEndpoint(host: "127.0.0.1", port: 1)],
            identity: ClientIdentity(uid: 7, token: "token", deviceID: "device"))
        configuration.core.outboxCountMax = 3
        return IMService(configuration: configuration, storage: storage)
    }

    @Test func `a stopped service refuses at once`() async throws {
        let service = makeService()
        #expect(!service.sendPeerMessage(IMMessage(sender: 7, receiver: 8, content: "{}")))
        await #expect(throws: IMServiceError(.notStarted)) {
            try await service.send(peerMessage("x", from: 7, to: 8))
        }
    }

    @Test func `a service without a server does not start`() {
        let service = IMService()
        #expect(!service.start())
        #expect(service.connectionState == .unconnected)
    }

    @Test func `a cancelled task withdraws its message`() async throws {
        let storage = makeStorage()
        let service = makeService(storage: storage)
        service.start()
        let reports = service.sendReports()
        let task = Task { try await service.send(peerMessage("never", from: 7, to: 8)) }
        try await first(of: reports) { $0.step == .queued }
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
        try await first(of: reports) { $0.step == .cancelled }
        #expect(storage.restored.outbox.isEmpty)
        await service.stopAndWait()
    }

    @Test func `a task that is cancelled before it begins sends nothing`() async throws {
        let service = makeService()
        service.start()
        let task = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            try await service.send(peerMessage("never", from: 7, to: 8))
        }
        await #expect(throws: CancellationError.self) { try await task.value }
        #expect(!service.isPeerMessageSending(8, id: 0))
        await service.stopAndWait()
    }

    @Test func `a stop ends waiting sends and keeps their messages`() async throws {
        let storage = makeStorage()
        let service = makeService(storage: storage)
        service.start()
        let reports = service.sendReports()
        let task = Task { try await service.send(peerMessage("later", from: 7, to: 8)) }
        try await first(of: reports) { $0.step == .queued }
        await service.stopAndWait()
        await #expect(throws: IMServiceError(.stopped)) { try await task.value }
        #expect(storage.restored.outbox.map(\.uuid) == ["uuid-later"])
    }

    @Test func `a queued message can be withdrawn by its uuid, once`() async throws {
        let service = makeService()
        service.start()
        let reports = service.sendReports()
        try service.enqueue(peerMessage("no", from: 7, to: 8, id: 5))
        try await first(of: reports) { $0.step == .queued }
        #expect(service.isPeerMessageSending(8, id: 5))
        #expect(await service.cancelSend(.uuid("uuid-no")))
        #expect(await !service.cancelSend(.uuid("uuid-no")))
        try await first(of: reports) { $0.step == .cancelled }
        #expect(!service.isPeerMessageSending(8, id: 5))
        await service.stopAndWait()
    }

    @Test func `a full outbox and a message that is too long say so`() async throws {
        let service = makeService()
        service.start()
        for number in 1...3 { #expect(service.sendPeerMessage(im("\(number)"))) }
        #expect(!service.sendPeerMessage(im("4")))
        #expect(throws: IMServiceError(.outboxFull)) { try service.enqueue(.peer(im("4"))) }
        #expect(throws: IMServiceError(.notEncodable)) {
            try service.enqueue(.peer(im(String(repeating: "x", count: 40_000))))
        }
        await service.stopAndWait()
    }

    @Test func `live messages and rooms need a connection`() async throws {
        let service = makeService()
        service.start()
        #expect(!service.sendRTMessage(RTMessage(sender: 7, receiver: 8, content: "{}")))
        #expect(!service.sendRoomMessage(RoomMessage(sender: 7, receiver: 9, content: "{}")))
        await #expect(throws: IMServiceError(.notConnected)) {
            try await service.send(.room(RoomMessage(sender: 7, receiver: 9, content: "{}")))
        }
        await service.stopAndWait()
    }

    @Test func `a service that is let go ends its streams`() async throws {
        var service: IMService? = makeService()
        let states = try #require(service).connectionStates()
        service?.start()
        service = nil
        for await _ in states {}
    }

    @Test func `what cannot be restored is reported and asked again`() async throws {
        let service = makeService(storage: BrokenStorage())
        let notifications = service.notifications()
        service.start()
        try await first(of: notifications) { $0 == .diagnostic(ClientDiagnostic(.restoreFailed)) }
        try await first(of: notifications) { $0 == .diagnostic(ClientDiagnostic(.restoreFailed)) }
        await service.stopAndWait()
    }

    private func im(_ text: String) -> IMMessage {
        IMMessage(sender: 7, receiver: 8, content: text)
    }
}

private struct BrokenStorage: ClientStorage {
    struct Broken: Error {}

    func restore() async throws -> RestoredState { throw Broken() }
    func commit(_ batch: StorageBatch) async throws -> CommitOutcome { throw Broken() }
}
