import RivuletClient
import RivuletClientCore
import RivuletTransport
import RivuletWire
import Testing

/// A service whose clock stands still, and a server that can stop to answer without an end.
private final class StillWorld {
    let context = ManualContext()
    let service: IMService
    private let desk: Desk

    /// The server's side, on the context.
    final class Desk {
        var peer: MemoryPeer?
        var decoder = PacketDecoder(role: .server, profile: .current)
        var sequence: Int32 = 0
        var isSilent = false
        var isAcknowledging = true
        var connectionCount = 0
        var packets: [Packet] = []

        func accept(_ peer: MemoryPeer) {
            self.peer = peer
            decoder.reset()
            sequence = 0
            connectionCount += 1
            peer.handler = { [self] event in
                if case .bytes(let bytes) = event { receive(bytes) }
            }
        }

        private func receive(_ bytes: [UInt8]) {
            decoder.append(bytes)
            do {
                while case .packet(let packet)? = try decoder.next() {
                    packets.append(packet)
                    if !isSilent { answer(packet) }
                }
            } catch {
                Issue.record("the client wrote what a server refuses: \(error)")
            }
        }

        private func answer(_ packet: Packet) {
            switch (packet.command, packet.body) {
            case (.authToken, _): write(.authStatus, .authStatus(AuthenticationStatus(status: 0)))
            case (.ping, _): write(.pong, .empty)
            case (.sync, .syncKey(let key)): write(.syncEnd, .syncKey(max(0, key)))
            case (.im, _) where isAcknowledging:
                write(.ack, .ack(Acknowledgement(sequence: packet.sequence)))
            default: break
            }
        }

        private func write(_ command: Command, _ body: PacketBody) {
            sequence += 1
            do {
                peer?.write(
                    try Packet(command, body, sequence: sequence, version: 2).pack(
                        from: .server, profile: .current))
            } catch {
                Issue.record("the test's packet cannot be packed: \(error)")
            }
        }
    }

    init() {
        let desk = Desk()
        self.desk = desk
        let transport = MemoryTransport(context: context)
        context.run {
            transport.serve(Endpoint(host: "10.0.0.1", port: 1)) { desk.accept($0) }
        }
        var configuration = IMServiceConfiguration(
            endpoints: [ClientEndpoint(host: "10.0.0.1", port: 1)],
            identity: ClientIdentity(uid: 7, token: "token", deviceID: "device"))
        configuration.seed = 1
        service = IMService(configuration: configuration, storage: makeStorage(), transport: transport)
    }

    var state: ConnectionState { service.connectionState }

    /// Reads or changes what the server has.
    func server<Result>(_ body: (Desk) -> Result) -> Result {
        context.run { body(desk) }
    }

    func count(_ command: Command) -> Int {
        server { desk in desk.packets.count { $0.command == command } }
    }

    /// Turns the context until something is so; the storage answers from elsewhere.
    func turn(until isSo: () -> Bool) async {
        while true {
            context.runUntilIdle()
            if isSo() { return }
            await Task.yield()
        }
    }

    /// Lets time pass until it is logged in again; the delay is drawn, and never above a minute.
    func passBackoff() async {
        context.advance(by: .seconds(60))
        await turn { state == .authenticated }
    }
}

@Suite("A silent connection is noticed in the stated time", .timeLimit(.minutes(1)))
struct DeadlineTests {
    private func world() async -> StillWorld {
        let world = StillWorld()
        world.service.start()
        await world.turn { world.state == .authenticated && world.count(.sync) == 1 }
        return world
    }

    @Test func `a quiet one with the PING after 180 s, by 3.1 s later`() async throws {
        let world = await world()
        world.server { $0.isSilent = true }
        world.context.advance(by: .seconds(179))
        #expect(world.count(.ping) == 0)
        world.context.advance(by: .seconds(1) + .milliseconds(1))
        #expect(world.count(.ping) == 1)
        world.context.advance(by: .milliseconds(3_097))
        #expect(world.state == .authenticated)
        world.context.advance(by: .milliseconds(5))
        #expect(world.state == .unconnected)
        #expect(world.service.connectionStatus.reason == .pingTimedOut)
        world.server { $0.isSilent = false }
        await world.passBackoff()
        #expect(world.server(\.connectionCount) == 2)
    }

    @Test func `one that lives is not taken for a dead one`() async throws {
        let world = await world()
        for hour in 1...3 {
            world.context.advance(by: .seconds(3_600) + .milliseconds(1))
            #expect(world.state == .authenticated)
            #expect(world.count(.ping) == hour * 20)
        }
        #expect(world.server(\.connectionCount) == 1)
    }

    @Test func `one with a message on it within 3.1 s, and the message goes again with its uuid`()
        async throws
    {
        let world = await world()
        world.server { $0.isSilent = true }
        try world.service.enqueue(peerMessage("into silence", from: 7, to: 8))
        await world.turn { world.count(.im) == 1 }
        #expect(world.count(.ping) == 1, "a message asks for a sign of life")
        world.context.advance(by: .milliseconds(3_090))
        #expect(world.state == .authenticated)
        world.context.advance(by: .milliseconds(20))
        #expect(world.state == .unconnected)
        world.server { $0.isSilent = false }
        await world.passBackoff()
        await world.turn { world.count(.im) == 2 }
        let bodies = world.server { desk in desk.packets.filter { $0.command == .im }.map(\.body) }
        #expect(bodies[0] == bodies[1])
    }

    @Test func `one that answers PINGs and no message within 10 s`() async throws {
        let world = await world()
        world.server { $0.isAcknowledging = false }
        try world.service.enqueue(peerMessage("unanswered", from: 7, to: 8))
        await world.turn { world.count(.im) == 1 }
        world.context.advance(by: .milliseconds(9_990))
        #expect(world.state == .authenticated)
        world.context.advance(by: .milliseconds(20))
        #expect(world.state == .unconnected)
        world.server { $0.isAcknowledging = true }
        await world.passBackoff()
        await world.turn { world.count(.im) == 2 }
        await world.turn { !world.service.isPeerMessageSending(8, id: 0) }
    }

    @Test func `a login that nobody answers within 10 s`() async throws {
        let world = StillWorld()
        world.server { $0.isSilent = true }
        world.service.start()
        await world.turn { world.count(.authToken) == 1 }
        world.context.advance(by: .milliseconds(9_990))
        #expect(world.state == .connected)
        world.context.advance(by: .milliseconds(20))
        #expect(world.state == .unconnected)
    }
}
