import RivuletClient
import RivuletClientCore
import RivuletTransport
import RivuletWire

/// A server that does what the test says, over a network in memory: it logs everyone in, answers PING and SYNC,
/// accepts what it is sent, and sends what it is told to.
actor ScriptedServer {
    /// A packet to send.
    struct Script: Sendable {
        var command: Command
        var body: PacketBody
        var flags: PacketFlags = []
        var version: UInt8?
    }

    nonisolated let transport: MemoryTransport
    /// Everything that clients send, PING and ACK included.
    nonisolated let packets: AsyncStream<Packet>
    private nonisolated let feed: AsyncStream<Packet>.Continuation
    private nonisolated let owned: OwnedContext
    private let profile: Profile
    private let registry: CommandRegistry
    private var peer: MemoryPeer?
    private var decoder: PacketDecoder
    private var sequence: Int32 = 0
    private var statuses: [ACKStatus] = []
    private var loginStatuses: [Int32] = []
    private var isSilent = false
    private(set) var connectionCount = 0

    nonisolated var unownedExecutor: UnownedSerialExecutor {
        transport.context.asUnownedSerialExecutor()
    }

    static let address = Endpoint(host: "10.0.0.1", port: 1)

    init(profile: Profile, registry: CommandRegistry = CommandRegistry()) async throws {
        owned = try OwnedContext()
        transport = MemoryTransport(context: owned.context)
        (packets, feed) = AsyncStream.makeStream()
        self.profile = profile
        self.registry = registry
        decoder = PacketDecoder(role: .server, profile: profile, registry: registry)
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

    /// A service of user 7 that is connected to this server.
    nonisolated func makeService(
        storage: any ClientStorage = MemoryClientStorage(),
        configure: (inout IMServiceConfiguration) -> Void = { _ in }
    ) -> IMService {
        var configuration = IMServiceConfiguration(
            endpoints: [ClientEndpoint(host: Self.address.host, port: Self.address.port)],
            identity: ClientIdentity(uid: 7, token: "token", deviceID: "device"), profile: profile)
        configuration.registry = registry
        // The server lives as long as its service, also when the test needs it no more.
        configuration.metrics = ClientMetrics { _, _ in withExtendedLifetime(self) {} }
        configuration.core.backoffMin = .milliseconds(5)
        configuration.core.backoffMax = .milliseconds(20)
        configure(&configuration)
        return IMService(configuration: configuration, storage: storage, transport: transport)
    }

    // MARK: What the test says

    /// Sends packets, each with its own number.
    func send(_ scripts: [Script]) {
        for script in scripts { write(script.command, script.body, script.flags, version: script.version) }
    }

    func send(_ command: Command, _ body: PacketBody = .empty, flags: PacketFlags = []) {
        write(command, body, flags)
    }

    /// Sends bytes as they are.
    func send(bytes: [UInt8]) {
        peer?.write(bytes)
    }

    /// Answers the next messages with these statuses instead of success.
    func answer(_ statuses: ACKStatus...) {
        self.statuses = statuses
    }

    /// Answers the next logins with these statuses instead of success.
    func answerLogins(_ statuses: Int32...) {
        loginStatuses = statuses
    }

    /// Acknowledges no message from now on.
    func keepSilent() {
        isSilent = true
    }

    /// Ends the list of packets, so that a test can read all of it.
    nonisolated func endPackets() {
        feed.finish()
    }

    func breakConnection() {
        peer?.breakConnection()
    }

    func stopListening() {
        transport.stopServing(Self.address)
    }

    // MARK: Connections

    private func accepted(_ peer: MemoryPeer) {
        self.peer = peer
        connectionCount += 1
        sequence = 0
        decoder.reset()
        peer.handler = { [weak self] event in
            self?.assumeIsolated { server in
                if case .bytes(let bytes) = event { server.received(bytes) }
            }
        }
    }

    private func received(_ bytes: [UInt8]) {
        decoder.append(bytes)
        do {
            while let frame = try decoder.next() {
                guard case .packet(let packet) = frame else { continue }
                feed.yield(packet)
                answer(packet)
            }
        } catch {
            peer?.close()
        }
    }

    private func answer(_ packet: Packet) {
        switch (packet.command, packet.body) {
        case (.authToken, _):
            let status = loginStatuses.isEmpty ? 0 : loginStatuses.removeFirst()
            write(.authStatus, .authStatus(AuthenticationStatus(status: status)))
        case (.ping, _): write(.pong, .empty)
        case (.sync, .syncKey(let key)):
            write(.syncBegin, .syncKey(key))
            write(.syncEnd, .syncKey(max(0, key)))
        case (.syncGroup, .groupSyncKey(let key)):
            write(.syncGroupBegin, .groupSyncKey(key))
            write(.syncGroupEnd, .groupSyncKey(key))
        case (.im, _), (.groupIM, _), (.roomIM, _), (_, .customer), (_, .customerV2):
            guard !isSilent else { return }
            let status = statuses.isEmpty ? ACKStatus.success : statuses.removeFirst()
            write(.ack, .ack(Acknowledgement(sequence: packet.sequence, status: status)))
        default: break
        }
    }

    private func write(
        _ command: Command, _ body: PacketBody, _ flags: PacketFlags = [], version: UInt8? = nil
    ) {
        sequence += 1
        let packet = Packet(
            command, body, sequence: sequence, version: version ?? profile.version, flags: flags)
        do {
            peer?.write(try packet.pack(from: .server, profile: profile, registry: registry))
        } catch {
            peer?.close()
        }
    }
}

extension IMService {
    /// Starts and returns when it is logged in.
    func startAndLogIn() async throws {
        let states = connectionStates()
        start()
        try await first(of: states) { $0 == .authenticated }
    }
}
