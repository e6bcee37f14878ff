import RivuletClient
import RivuletClientCore
import RivuletModel
import RivuletStore
import RivuletTransport
import RivuletWire
import Testing

@testable import RivuletEngine
@testable import RivuletFlow

/// A server in memory that logs everybody in and keeps what it was sent to itself: nothing is acknowledged.
private actor SilentServer {
    static let address = Endpoint(host: "10.0.0.1", port: 1)
    nonisolated let transport: MemoryTransport
    /// The contents of the messages that came, in order.
    nonisolated let contents: AsyncStream<String>
    private nonisolated let feed: AsyncStream<String>.Continuation
    private nonisolated let owned: OwnedContext
    private var peer: MemoryPeer?
    private var decoder = PacketDecoder(role: .server, profile: .current)

    nonisolated var unownedExecutor: UnownedSerialExecutor {
        transport.context.asUnownedSerialExecutor()
    }

    init() async throws {
        owned = try OwnedContext()
        transport = MemoryTransport(context: owned.context)
        (contents, feed) = AsyncStream.makeStream()
        listen()
    }

    deinit {
        owned.stop()
    }

    private func listen() {
        transport.serve(Self.address) { [weak self] peer in
            // Invariant: the transport calls on the context that this actor lives on.
            nonisolated(unsafe) let peer = peer
            self?.assumeIsolated { $0.accepted(peer) }
        }
    }

    private func accepted(_ peer: MemoryPeer) {
        self.peer = peer
        decoder.reset()
        peer.handler = { [weak self] event in
            self?.assumeIsolated { server in
                if case .bytes(let bytes) = event { server.received(bytes) }
            }
        }
    }

    private func received(_ bytes: [UInt8]) {
        decoder.append(bytes)
        while case .packet(let packet)? = try? decoder.next() {
            switch (packet.command, packet.body) {
            case (.authToken, _): write(.authStatus, .authStatus(AuthenticationStatus(status: 0)))
            case (.sync, .syncKey(let key)):
                write(.syncBegin, .syncKey(key))
                write(.syncEnd, .syncKey(max(0, key)))
            case (.ping, _): write(.pong, .empty)
            case (.im, .im(let message)): feed.yield(message.content)
            default: break
            }
        }
    }

    private func write(_ command: Command, _ body: PacketBody) {
        let packet = Packet(command, body, sequence: 1, version: Profile.current.version)
        if let bytes = try? packet.pack(from: .server, profile: .current) { peer?.write(bytes) }
    }
}

@Suite("Deleting a message on its way", .timeLimit(.minutes(1)))
struct DeletionTests {
    private let ben = Session.peer(UserID(2))

    private func account(
        on server: SilentServer, _ store: any AccountStore = MemoryAccountStore(account: UserID(1)),
        listens: Bool = true
    ) -> ChatAccount {
        var service = IMServiceConfiguration(
            endpoints: [ClientEndpoint(host: listens ? "10.0.0.1" : "10.0.0.2", port: 1)],
            identity: ClientIdentity(uid: 1, token: "t", deviceID: "d"))
        // The server lives as long as its account.
        service.metrics = ClientMetrics { _, _ in withExtendedLifetime(server) {} }
        return ChatAccount(store: store, service: service, transport: server.transport)
    }

    /// The row of a message that was posted, once the store has it.
    private func row(_ uuid: String, _ account: ChatAccount, _ changes: AsyncStream<StoreChanges>)
        async throws
        -> Message
    {
        for await change in changes {
            if let message = change.inserted.first(where: { $0.uuid == uuid }) { return message }
        }
        return try #require(try await account.store.message(uuid: uuid))
    }

    private func outbox(_ account: ChatAccount) async throws -> [String?] {
        try await account.store.clientState().outbox.map(\.uuid)
    }

    @Test func `before any connection had it, it never goes out`() async throws {
        let server = try await SilentServer()
        let account = account(on: server, listens: false)
        let changes = account.changes()
        account.start()
        let uuid = try account.post(.text("regretted"), to: ben)
        let message = try await row(uuid, account, changes)
        #expect(try await outbox(account) == [uuid])
        try await account.delete(message)
        #expect(try await outbox(account) == [])
        #expect(try await account.history(ben).messages.isEmpty)
        // The client knows it no more, either.
        #expect(await account.service.withdrawSend(.uuid(uuid)) == .tooLate)
        await account.close()
    }

    @Test func `once a connection had it, a withdrawal follows it`() async throws {
        let server = try await SilentServer()
        let account = account(on: server)
        let changes = account.changes()
        account.start()
        let uuid = try account.post(.text("too late"), to: ben)
        let message = try await row(uuid, account, changes)
        var contents = server.contents.makeAsyncIterator()
        let first = try #require(await contents.next())
        #expect(first.contains("too late"))
        try await account.delete(message)
        let second = try #require(await contents.next())
        #expect(account.codec.decode(second).control == .revoke(target: uuid))
        #expect(try await account.history(ben).messages.isEmpty)
        // After a restart the withdrawal alone is left to be sent.
        #expect(try await outbox(account) == [nil])
        await account.close()
    }

    @Test func `what an earlier run queued is taken back, and withdrawn in case that run had sent it`()
        async throws
    {
        let store = MemoryAccountStore(account: UserID(1))
        let raw = #"{"text":"old","uuid":"old"}"#
        let body = IMMessage(sender: 1, receiver: 2, content: raw)
        let packet = Packet(.im, .im(body), sequence: 0, version: Profile.current.version)
        _ = try await store.apply([
            .send(
                QueuedMessage(
                    session: ben, raw: raw, content: ContentCodec().decode(raw),
                    send: StoredSend(
                        number: 1, uuid: "old", command: 4, flags: 0,
                        body: try packet.pack(from: .client, profile: .current), createdMilliseconds: 1)))
        ])
        let server = try await SilentServer()
        let account = account(on: server, store, listens: false)
        account.start()
        let message = try #require(try await store.message(uuid: "old"))
        // The outbox of the earlier run has been read when a message of this run is stored behind it.
        let changes = account.changes()
        _ = try await row(try account.post(.text("new"), to: ben), account, changes)
        try await account.delete(message)
        #expect(await account.service.withdrawSend(.uuid("old")) == .tooLate)
        #expect(try await account.history(ben).messages.map(\.content) == [.text("new")])
        while try await outbox(account).count < 2 { await Task.yield() }
        let left = try await outbox(account)
        #expect(left.last == .some(nil) && !left.contains("old"))
        await account.close()
    }

    @Test func `an account that is not started takes it out of the outbox`() async throws {
        let server = try await SilentServer()
        let account = account(on: server)
        let raw = #"{"text":"x","uuid":"x"}"#
        _ = try await account.store.apply([
            .send(
                QueuedMessage(
                    session: ben, raw: raw, content: account.codec.decode(raw),
                    send: StoredSend(
                        number: 1, uuid: "x", command: 4, flags: 0, body: [], createdMilliseconds: 1)))
        ])
        try await account.delete(try #require(try await account.store.message(uuid: "x")))
        #expect(try await outbox(account) == [])
        await account.close()
    }

    @Test @MainActor func `on screen the row goes, and nobody is told of a send that failed`() async throws {
        let server = try await SilentServer()
        let account = account(on: server, listens: false)
        account.start()
        let manager = DataManager(
            session: ben, engine: account.engine, now: { 1 }, makeUUID: ChatAccount.systemUUID)
        let listener = Listener()
        manager.delegate = listener
        let running = Task { await manager.run() }
        manager.open()
        let changes = account.changes()
        let sending = Task { try await manager.send(.text("regretted")) }
        var message: Message?
        for await change in changes {
            message = change.inserted.first
            break
        }
        let shown = try #require(manager.message(uuid: message?.uuid ?? ""))
        // The session must have heard that the engine has it.
        while manager.ledger[shown.id]?.engineID == nil { await Task.yield() }
        try await manager.delete(message: shown)
        await #expect(throws: (any Error).self) { try await sending.value }
        #expect(manager.message(shown.id) == nil)
        #expect(listener.failures == [])
        #expect(try await outbox(account) == [])
        running.cancel()
        await running.value
        await account.close()
    }
}

@MainActor private final class Listener: DataManagerDelegate {
    var failures: [MessageServiceCall] = []

    func dataManager(
        _ manager: DataManager, didFail call: MessageServiceCall, of message: Message, with error: any Error
    ) {
        failures.append(call)
    }
}
