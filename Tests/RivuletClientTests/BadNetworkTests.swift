import RivuletClient
import RivuletTransport
import RivuletWire
import Testing

@testable import RivuletClientCore

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

    /// Connections that break, fall silent on one side or both, dawdle and tear frames apart; then good ones.
    @Test(arguments: RoughProxy.Way.allCases, [1, 2] as [UInt64])
    func `two people talk through a rough network, and everything arrives once and in order`(
        way: RoughProxy.Way, seed: UInt64
    ) async throws {
        let server = try await ChatServer()
        let proxy = try await RoughProxy(to: server.port, way: way) { Self.fate(of: $0, seed: seed) }
        func configure(_ configuration: inout IMServiceConfiguration) {
            proxy.lead(&configuration)
            configuration.core.pingInterval = .milliseconds(300)
            configuration.core.pingReplyTimeout = .milliseconds(300)
            configuration.core.loginTimeout = .milliseconds(600)
        }
        let (storage7, storage8) = (makeStorage(), makeStorage())
        let service7 = try server.makeService(user: 7, storage: storage7, configure: configure)
        let service8 = try server.makeService(user: 8, storage: storage8, configure: configure)
        let (arrivals7, arrivals8) = (service7.messages(), service8.messages())
        let reports = (service7.sendReports(), service8.sendReports())
        service7.start()
        service8.start()
        for number in 1...40 {
            try service7.enqueue(peerMessage("a\(number)", from: 7, to: 8))
            try service8.enqueue(peerMessage("b\(number)", from: 8, to: 7))
        }
        _ = try await take(40, of: arrivals8)
        _ = try await take(40, of: arrivals7)
        for (stream, name) in [(reports.0, "a"), (reports.1, "b")] {
            var acknowledged: [String] = []
            for await report in stream where report.step == .acknowledged {
                acknowledged.append(report.entry.uuid ?? "")
                if acknowledged.count == 40 { break }
            }
            #expect(acknowledged == (1...40).map { "uuid-\(name)\($0)" }, "seed \(seed)")
        }
        await service7.stopAndWait()
        await service8.stopAndWait()
        #expect(storage8.contents(from: 7) == (1...40).map { content("a\($0)") }, "seed \(seed)")
        #expect(storage7.contents(from: 8) == (1...40).map { content("b\($0)") }, "seed \(seed)")
        #expect(proxy.connectionCount > Self.badConnectionCount, "the faults have struck")
        try await proxy.close()
        await server.stop()
    }

    private static let badConnectionCount = 6

    private static func fate(of number: Int, seed: UInt64) -> RoughProxy.Fate {
        var random = SplitMixGenerator(seed: seed &* 1_000 &+ UInt64(number))
        var fate = RoughProxy.Fate()
        fate.pieceBytesMax = Int.random(in: 1...400, using: &random)
        if number % 2 == 0 {
            fate.pieceBytesMax = max(20, fate.pieceBytesMax)
            fate.delay = .milliseconds(Int.random(in: 1...4, using: &random))
        }
        guard number < badConnectionCount else { return fate }
        let limit = Int.random(in: 1...1_500, using: &random)
        switch Int.random(in: 0...5, using: &random) {
        case 0: fate.end = .silence(afterBytes: limit)
        case 1: fate.end = .halfSilence(towardsServer: true, afterBytes: limit)
        case 2: fate.end = .halfSilence(towardsServer: false, afterBytes: limit)
        default: fate.end = .cut(afterBytes: limit)
        }
        return fate
    }
}
