import RivuletWire
import Synchronization
import Testing
import UVKit

/// A client that sends exactly what it is told and collects what comes, without any behaviour of its own.
final class RawClient: Sendable {
    enum Failure: Error {
        case timeout(seen: [Packet])
        case closed(seen: [Packet])
    }

    private struct State {
        var received: [Packet] = []
        var seen: [Packet] = []
        var isClosed = false
        var waiter: CheckedContinuation<Void, Never>?
        var decoder = PacketDecoder(role: .client, profile: .current)
        var sequence: Int32 = 0
    }

    /// One loop carries the clients of all tests.
    private static let loop: EventLoop? = {
        do {
            let loop = try EventLoop()
            try loop.start()
            return loop
        } catch {
            return nil
        }
    }()

    private let stream: TCPStream
    private let state = Mutex(State())
    let version: UInt8

    private init(_ stream: TCPStream, version: UInt8) {
        self.stream = stream
        self.version = version
    }

    static func connect(port: UInt16, version: UInt8 = 2) async throws -> RawClient {
        let loop = try #require(loop)
        return try await loop.perform {
            let stream = try TCPStream.connect(to: try SocketAddress(host: "127.0.0.1", port: port), on: loop)
            let client = RawClient(stream, version: version)
            stream.onOpened = { stream.resumeReading() }
            stream.onRead = { client.take($0) }
            stream.onClosed = { _ in client.end() }
            return client
        }
    }

    /// Connects and logs in.
    static func login(
        port: UInt16, token: String, device: String = "test", platform: PlatformID = .iOS, version: UInt8 = 2
    ) async throws -> RawClient {
        let client = try await connect(port: port, version: version)
        let login = AuthenticationToken(token: token, platformID: platform, deviceID: device)
        await client.send(.authToken, .authToken(login))
        let answer = try await client.receive()
        #expect(answer.body == .authStatus(AuthenticationStatus(status: 0)))
        return client
    }

    // MARK: Sending

    /// Sends a packet with the next number; answers the number.
    @discardableResult
    func send(
        _ command: Command, _ body: PacketBody = .empty, flags: PacketFlags = [], version: UInt8? = nil
    ) async -> Int32 {
        let sequence = state.withLock { state in
            state.sequence += 1
            return state.sequence
        }
        let packet = Packet(
            command, body, sequence: sequence, version: version ?? self.version, flags: flags)
        do {
            await send(try packet.pack(from: .client, profile: .current))
        } catch {
            Issue.record("\(error)")
        }
        return sequence
    }

    func sendIM(
        from sender: Int64, to receiver: Int64, _ content: String, number: Int32 = 0, flags: PacketFlags = []
    ) async -> Int32 {
        await send(
            .im,
            .im(IMMessage(sender: sender, receiver: receiver, msgLocalID: number, content: content)),
            flags: flags)
    }

    func send(_ bytes: [UInt8]) async {
        stream.loop.enqueue { self.stream.write(bytes) }
    }

    /// Stops or goes on reading, as a slow client does.
    func setReading(_ reads: Bool) {
        stream.loop.enqueue { reads ? self.stream.resumeReading() : self.stream.pauseReading() }
    }

    func close() {
        stream.loop.enqueue { self.stream.close() }
    }

    /// Ends this side; the other one may still send.
    func shutdown() {
        stream.loop.enqueue { self.stream.shutdown() }
    }

    // MARK: Receiving

    /// The next packet.
    func receive(within limit: Duration = .seconds(20)) async throws -> Packet {
        let deadline = ContinuousClock.now + limit
        while true {
            let (packet, isClosed) = state.withLock { state -> (Packet?, Bool) in
                state.received.isEmpty ? (nil, state.isClosed) : (state.received.removeFirst(), false)
            }
            if let packet { return packet }
            let seen = state.withLock { $0.seen }
            guard !isClosed else { throw Failure.closed(seen: seen) }
            guard ContinuousClock.now < deadline else { throw Failure.timeout(seen: seen) }
            await waitForChange(until: deadline)
        }
    }

    func receive(_ count: Int) async throws -> [Packet] {
        var packets: [Packet] = []
        for _ in 0..<count { packets.append(try await receive()) }
        return packets
    }

    /// What comes before the answer to a PING that is sent now: nothing, after something the server ignores.
    func receiveUntilPong() async throws -> [Packet] {
        await send(.ping)
        var packets: [Packet] = []
        while true {
            let packet = try await receive()
            if packet.command == .pong { return packets }
            packets.append(packet)
        }
    }

    /// Asks for a page of a queue; answers everything up to what follows its end.
    func page(_ command: Command, _ body: PacketBody) async throws -> [Packet] {
        await send(command, body)
        var packets: [Packet] = []
        while true {
            let packet = try await receive()
            packets.append(packet)
            // A notify that says "more" is written together with the end.
            guard packet.command != .syncEnd, packet.command != .syncGroupEnd else {
                return packets + (try await receiveUntilPong())
            }
        }
    }

    /// Waits until the server has closed the connection; answers what came before.
    func receiveUntilClosed() async throws -> [Packet] {
        var packets: [Packet] = []
        while true {
            do {
                packets.append(try await receive())
            } catch Failure.closed {
                return packets
            }
        }
    }

    private func waitForChange(until deadline: ContinuousClock.Instant) async {
        let alarm = Task {
            try await Task.sleep(until: deadline)
            wake()
        }
        await withCheckedContinuation { continuation in
            let isReady = state.withLock { state in
                guard state.received.isEmpty, !state.isClosed else { return true }
                state.waiter = continuation
                return false
            }
            if isReady { continuation.resume() }
        }
        alarm.cancel()
    }

    private func take(_ bytes: UnsafeRawBufferPointer) {
        let bytes = Array(bytes)
        state.withLock { state in
            state.decoder.append(bytes)
            do {
                while let frame = try state.decoder.next() {
                    guard case .packet(let packet) = frame else {
                        Issue.record("the server sent what a client skips: \(frame)")
                        continue
                    }
                    state.received.append(packet)
                    state.seen.append(packet)
                }
            } catch {
                Issue.record("the server sent what no client reads: \(error)")
            }
        }
        wake()
    }

    private func end() {
        state.withLock { $0.isClosed = true }
        wake()
    }

    private func wake() {
        let waiter = state.withLock { state in
            let waiter = state.waiter
            state.waiter = nil
            return waiter
        }
        waiter?.resume()
    }
}
