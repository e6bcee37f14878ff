import RivuletClient
import RivuletClientCore
import RivuletTransport
import Synchronization
import Testing
import UVKit

/// A way to a server on which each connection has a fate of its own, also as an HTTP or SOCKS 5 proxy.
final class RoughProxy: Sendable {
    /// How clients come to it.
    enum Way: String, CaseIterable, Sendable {
        case direct, http, socks5
    }

    /// What becomes of a connection.
    struct Fate: Sendable {
        enum End: Sendable {
            case never
            /// The connection breaks after so many bytes in either direction.
            case cut(afterBytes: Int)
            /// Nothing passes any more after so many bytes, and nobody is told.
            case silence(afterBytes: Int)
            /// The same in one direction alone.
            case halfSilence(towardsServer: Bool, afterBytes: Int)
        }

        /// The longest piece in which bytes are passed on.
        var pieceBytesMax = 65_536
        /// How long each piece waits.
        var delay = Duration.zero
        var end = End.never
    }

    private static let loop: EventLoop? = {
        do {
            let loop = try EventLoop()
            try loop.start()
            return loop
        } catch {
            return nil
        }
    }()

    private struct State {
        var connectionCount = 0
        var listener: Listener?
    }

    let way: Way
    let port: UInt16
    private let serverPort: UInt16
    private let fate: @Sendable (Int) -> Fate
    private let loop: EventLoop
    private let state: Mutex<State>

    /// Listens; `fate` is asked with the number of each connection, from 0.
    init(
        to serverPort: UInt16, way: Way = .direct, fate: @escaping @Sendable (Int) -> Fate
    ) async throws {
        let loop = try #require(Self.loop)
        let accept = Mutex<(@Sendable (TCPStream) -> Void)?>(nil)
        let listener = try await loop.perform {
            try Listener(on: SocketAddress(host: "127.0.0.1", port: 0), loop: loop) { client in
                accept.withLock { $0 }?(client)
            }
        }
        self.loop = loop
        self.way = way
        self.serverPort = serverPort
        self.fate = fate
        port = listener.address.port
        state = Mutex(State(listener: listener))
        accept.withLock { $0 = { [weak self] client in self?.accepted(client) } }
    }

    var connectionCount: Int { state.withLock { $0.connectionCount } }

    /// Lets a service go this way.
    func lead(_ configuration: inout IMServiceConfiguration) {
        switch way {
        case .direct: configuration.core.endpoints[0].port = port
        case .http, .socks5:
            configuration.transport.proxy = ProxyOptions(
                kind: way == .http ? .http : .socks5, endpoint: Endpoint(host: "127.0.0.1", port: port))
        }
    }

    func close() async throws {
        let listener = state.withLock { $0.listener }
        try await loop.perform { listener?.close() }
    }

    private func accepted(_ client: TCPStream) {
        let number = state.withLock { state in
            state.connectionCount += 1
            return state.connectionCount - 1
        }
        do {
            let server = try TCPStream.connect(
                to: SocketAddress(host: "127.0.0.1", port: serverPort), on: loop)
            try RoughLink(client: client, server: server, way: way, fate: fate(number)).start()
        } catch {
            client.close()
        }
    }
}

/// One connection, on the loop of its proxy; kept alive by the streams that call it.
private final class RoughLink {
    /// Bytes on their way in one direction.
    private final class Lane {
        let target: TCPStream
        let timer: Timer?
        var waiting: [[UInt8]] = []
        var isBlocked = false

        init(to target: TCPStream, delay: Duration) throws {
            self.target = target
            guard delay > .zero else {
                timer = nil
                return
            }
            let box = Box()
            timer = try Timer(on: target.loop) { box.lane?.passOne(delay) }
            box.lane = self
        }

        func pass(_ bytes: [UInt8], pieceBytesMax: Int, delay: Duration) {
            guard !isBlocked else { return }
            for start in stride(from: 0, to: bytes.count, by: pieceBytesMax) {
                let piece = Array(bytes[start..<min(start + pieceBytesMax, bytes.count)])
                if timer == nil { target.write(piece) } else { waiting.append(piece) }
            }
            if let timer, !timer.isArmed, !waiting.isEmpty { timer.arm(after: delay) }
        }

        private func passOne(_ delay: Duration) {
            guard !isBlocked, !waiting.isEmpty else { return }
            target.write(waiting.removeFirst())
            if !waiting.isEmpty { timer?.arm(after: delay) }
        }

        /// The timer must not keep the lane.
        private final class Box {
            weak var lane: Lane?
        }
    }

    private let client: TCPStream
    private let server: TCPStream
    private let fate: RoughProxy.Fate
    private var greeting: ProxyGreeting?
    private let up: Lane
    private let down: Lane
    private var byteCount = 0

    init(client: TCPStream, server: TCPStream, way: RoughProxy.Way, fate: RoughProxy.Fate) throws {
        self.client = client
        self.server = server
        self.fate = fate
        greeting = ProxyGreeting(way)
        up = try Lane(to: server, delay: fate.delay)
        down = try Lane(to: client, delay: fate.delay)
    }

    func start() {
        server.onOpened = { [self] in
            server.resumeReading()
            client.resumeReading()
        }
        client.onRead = { [self] bytes in fromClient([UInt8](bytes)) }
        server.onRead = { [self] bytes in pass([UInt8](bytes), isUp: false) }
        client.onClosed = { [self] _ in end() }
        server.onClosed = { [self] _ in end() }
    }

    private func fromClient(_ bytes: [UInt8]) {
        guard greeting != nil else { return pass(bytes, isUp: true) }
        guard let (answer, rest) = greeting?.take(bytes) else { return end() }
        // In two pieces, since answers may come so.
        if !answer.isEmpty {
            client.write(Array(answer.prefix(1)))
            client.write(Array(answer.dropFirst()))
        }
        guard let rest else { return }
        greeting = nil
        if !rest.isEmpty { pass(rest, isUp: true) }
    }

    private func pass(_ bytes: [UInt8], isUp: Bool) {
        let lane = isUp ? up : down
        switch fate.end {
        case .never: send(bytes, lane)
        case .cut(let limit):
            send(Array(bytes.prefix(max(0, limit - byteCount))), lane)
            byteCount += bytes.count
            if byteCount >= limit { end() }
        case .silence(let limit):
            send(Array(bytes.prefix(max(0, limit - byteCount))), lane)
            byteCount += bytes.count
            if byteCount >= limit {
                up.isBlocked = true
                down.isBlocked = true
            }
        case .halfSilence(let towardsServer, let limit):
            guard isUp == towardsServer else { return send(bytes, lane) }
            send(Array(bytes.prefix(max(0, limit - byteCount))), lane)
            byteCount += bytes.count
            if byteCount >= limit { lane.isBlocked = true }
        }
    }

    private func send(_ bytes: [UInt8], _ lane: Lane) {
        lane.pass(bytes, pieceBytesMax: fate.pieceBytesMax, delay: fate.delay)
    }

    private func end() {
        for lane in [up, down] {
            lane.isBlocked = true
            lane.timer?.close()
        }
        client.close()
        server.close()
    }
}

/// What a proxy answers before it passes bytes on.
private struct ProxyGreeting {
    private let isHTTP: Bool
    private var buffer: [UInt8] = []
    private var isGreeted = false

    init?(_ way: RoughProxy.Way) {
        guard way != .direct else { return nil }
        isHTTP = way == .http
    }

    /// Takes bytes of the client; nil when they make no sense.
    ///
    /// The rest, once there is one, is for the server.
    mutating func take(_ bytes: [UInt8]) -> (answer: [UInt8], rest: [UInt8]?)? {
        buffer += bytes
        return isHTTP ? takeHTTP() : takeSOCKS()
    }

    private mutating func takeHTTP() -> (answer: [UInt8], rest: [UInt8]?)? {
        guard let end = buffer.firstRange(of: [13, 10, 13, 10]) else { return ([], nil) }
        guard buffer.starts(with: "CONNECT ".utf8) else { return nil }
        return (Array("HTTP/1.1 200 Connection established\r\n\r\n".utf8), Array(buffer[end.upperBound...]))
    }

    private mutating func takeSOCKS() -> (answer: [UInt8], rest: [UInt8]?)? {
        guard buffer.first == 5 else { return nil }
        if !isGreeted {
            guard buffer.count >= 2, buffer.count >= 2 + Int(buffer[1]) else { return ([], nil) }
            buffer.removeFirst(2 + Int(buffer[1]))
            isGreeted = true
            return ([5, 0], nil)
        }
        // CONNECT to a name.
        guard buffer.count >= 5, buffer.count >= 7 + Int(buffer[4]) else { return ([], nil) }
        guard buffer[1] == 1, buffer[3] == 3 else { return nil }
        return ([5, 0, 0, 1, 0, 0, 0, 0, 0, 0], Array(buffer[(7 + Int(buffer[4]))...]))
    }
}
