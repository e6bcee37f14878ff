import RivuletClient
import RivuletClientCore
import RivuletWire
import Testing

@Suite("A bad network", .timeLimit(.minutes(5)))
struct BadNetworkTests {
    @Test func `a connection that went silent without an end is noticed and replaced`() async throws {
        let server = try await ChatServer()
        let proxy = try await Proxy(to: server.port)
        let service = try server.makeService(user: 7, storage: makeStorage(), port: proxy.port) {
            $0.core.pingInterval = .milliseconds(200)
            $0.core.pingReplyTimeout = .milliseconds(300)
        }
        try await service.startAndSync()
        let notifications = service.notifications()
        proxy.set(.silent)
        try await first(of: notifications) { $0 == .diagnostic(ClientDiagnostic(.pingTimedOut)) }
        try await first(of: notifications) { $0 == .stateChanged(.authenticated) }
        #expect(proxy.connectionCount >= 2)
        await service.stopAndWait()
        try await proxy.close()
        await server.stop()
    }

    @Test func `a message sent into silence arrives over the next connection, once`() async throws {
        let server = try await ChatServer()
        let proxy = try await Proxy(to: server.port)
        let storage8 = makeStorage()
        let service8 = try server.makeService(user: 8, storage: storage8)
        try await service8.startAndSync()
        let arrivals = service8.messages()
        let service7 = try server.makeService(user: 7, storage: makeStorage(), port: proxy.port) {
            $0.core.pingReplyTimeout = .milliseconds(300)
        }
        try await service7.startAndSync()
        proxy.set(.silent)
        try await service7.send(peerMessage("into silence", from: 7, to: 8))
        _ = try await take(1, of: arrivals)
        #expect(storage8.contents(from: 7) == [content("into silence")])
        await service7.stopAndWait()
        await service8.stopAndWait()
        try await proxy.close()
        await server.stop()
    }

    /// Byte counts at which the connection of the sender breaks: inside headers, bodies, and between frames.
    @Test(arguments: [1, 5, 12, 13, 30, 60, 97, 140, 200])
    func `a connection cut inside a frame loses and doubles nothing`(bytes: Int) async throws {
        let server = try await ChatServer()
        let proxy = try await Proxy(to: server.port)
        let (storage7, storage8) = (makeStorage(), makeStorage())
        let service8 = try server.makeService(user: 8, storage: storage8, port: proxy.port)
        let service7 = try server.makeService(user: 7, storage: storage7, port: proxy.port)
        try await service8.startAndSync()
        try await service7.startAndSync()
        let arrivals = service8.messages()
        proxy.set(
            bytes % 2 == 0 ? .cutting(afterBytesToClient: bytes) : .cuttingUpstream(afterBytesToServer: bytes)
        )
        for number in 1...5 { try service7.enqueue(peerMessage("\(number)", from: 7, to: 8)) }
        _ = try await take(5, of: arrivals)
        #expect(storage8.contents(from: 7) == (1...5).map { content("\($0)") })
        await service7.stopAndWait()
        await service8.stopAndWait()
        try await proxy.close()
        await server.stop()
    }
}
