import TLSKit
import UVKit

/// One connection to a server: the race of its addresses, then the proxy, then TLS, then bytes.
///
/// What is written before all that is done waits here.
final class ClientConnection: Connection {
    private enum Phase {
        case starting
        case racing(AddressRace)
        case asking(TCPStream)
        case securing(TLSStream)
        case open(any ByteStream)
        case over
    }

    private let server: Endpoint
    private let options: TransportOptions
    private let tls: TLSContext?
    private let loop: EventLoop
    private var handler: ((ConnectionEvent) -> Void)?
    private var phase = Phase.starting
    private var waiting: [[UInt8]] = []
    private var isReading = true

    init(
        to server: Endpoint, options: TransportOptions, tls: TLSContext?, loop: EventLoop,
        handler: @escaping (ConnectionEvent) -> Void
    ) {
        self.server = server
        self.options = options
        self.tls = tls
        self.loop = loop
        self.handler = handler
    }

    /// Begins; the callbacks of what is under way hold this object until the end.
    func begin(_ addresses: [Endpoint]) {
        guard let proxy = options.proxy else { return race(addresses) }
        loop.resolve(host: proxy.endpoint.host, port: proxy.endpoint.port) { result in
            guard case .starting = self.phase else { return }
            switch result {
            case .success(let addresses):
                self.race(addresses.map { Endpoint(host: $0.host, port: $0.port) })
            case .failure(let error):
                self.end(
                    .failed(TransportError(code: error.code.rawValue, message: "proxy \(proxy): \(error)")))
            }
        }
    }

    private func race(_ addresses: [Endpoint]) {
        let numeric = addresses.compactMap { try? SocketAddress(host: $0.host, port: $0.port) }
        guard !numeric.isEmpty else {
            let error = TransportError(code: "EINVAL", message: "\(server) has no numeric address")
            return loop.atEndOfTurn { self.end(.failed(error)) }
        }
        phase = .racing(
            AddressRace(numeric, delay: options.attemptDelay, on: loop) { result in
                switch result {
                case .success(let stream): self.connected(stream)
                case .failure(let error): self.end(.failed(TransportError(error)))
                }
            })
    }

    private func connected(_ stream: TCPStream) {
        guard case .racing = phase else { return stream.close() }
        // Without it small frames may wait 40 ms; a connection that cannot have it is slower, not broken.
        try? stream.setNoDelay(true)
        if let proxy = options.proxy { ask(proxy, over: stream) } else { secure(stream, received: []) }
    }

    // MARK: Proxy

    private func ask(_ proxy: ProxyOptions, over stream: TCPStream) {
        phase = .asking(stream)
        var handshake = ProxyHandshake(proxy, to: server)
        stream.onClosed = { reason in
            let reason: CloseReason = reason == .endOfStream ? .failed(Self.proxyGone) : reason
            self.end(ConnectionEnd(reason))
        }
        let perform: (ProxyHandshake.Step) -> Void = { step in
            switch step {
            case .send(let bytes):
                if !bytes.isEmpty { stream.write(bytes) }
            case .open(let rest):
                stream.onRead = nil
                stream.onClosed = nil
                self.secure(stream, received: rest)
            case .failed(let error):
                stream.onRead = nil
                stream.onClosed = nil
                stream.close()
                self.end(.failed(error))
            }
        }
        stream.onRead = { bytes in perform(handshake.receive([UInt8](bytes))) }
        stream.resumeReading()
        perform(handshake.start())
    }

    private static let proxyGone = UVError(
        code: UVError.Code(rawValue: "PROXY_PROTOCOL"), message: "the proxy closed the connection",
        operation: "proxy")

    // MARK: TLS

    private func secure(_ stream: TCPStream, received: [UInt8]) {
        guard let tls else { return open(stream, received: received) }
        do throws(TLSError) {
            let secured = try TLSStream(
                to: server.host, port: server.port, over: stream, context: tls, received: received)
            phase = .securing(secured)
            secured.onOpened = { self.open(secured, received: []) }
            secured.onClosed = { reason in self.end(ConnectionEnd(reason)) }
        } catch {
            stream.close()
            end(.failed(TransportError(code: error.code.rawValue, message: error.message)))
        }
    }

    // MARK: Open

    private func open(_ stream: any ByteStream, received: [UInt8]) {
        phase = .open(stream)
        stream.onRead = { bytes in self.handler?(.bytes([UInt8](bytes))) }
        stream.onDrained = { self.handler?(.drained) }
        stream.onClosed = { reason in self.end(ConnectionEnd(reason)) }
        handler?(.opened)
        guard !stream.isClosing else { return }
        var written: [[UInt8]] = []
        swap(&written, &waiting)
        for bytes in written { stream.write(bytes) }
        if !received.isEmpty { handler?(.bytes(received)) }
        guard !stream.isClosing else { return }
        if isReading { stream.resumeReading() } else { stream.pauseReading() }
    }

    // MARK: Connection

    func write(_ bytes: [UInt8]) {
        switch phase {
        case .open(let stream): stream.write(bytes)
        case .over: break
        default: waiting.append(bytes)
        }
    }

    var pendingWriteByteCount: Int {
        if case .open(let stream) = phase { return stream.pendingWriteByteCount }
        return waiting.reduce(0) { $0 + $1.count }
    }

    func setReading(_ isOn: Bool) {
        isReading = isOn
        guard case .open(let stream) = phase else { return }
        if isOn { stream.resumeReading() } else { stream.pauseReading() }
    }

    func close() {
        switch phase {
        case .starting:
            phase = .over
            loop.atEndOfTurn { self.end(.closedHere) }
        case .racing(let race):
            race.cancel()
            phase = .over
            loop.atEndOfTurn { self.end(.closedHere) }
        case .asking(let stream): stream.close()
        case .securing(let stream): stream.close()
        case .open(let stream): stream.close()
        case .over: break
        }
    }

    private func end(_ end: ConnectionEnd) {
        phase = .over
        waiting = []
        guard let handler else { return }
        self.handler = nil
        handler(.closed(end))
    }
}

extension ConnectionEnd {
    init(_ reason: CloseReason) {
        switch reason {
        case .closedHere, .loopStopped: self = .closedHere
        case .endOfStream: self = .closedByPeer
        case .failed(let error): self = .failed(TransportError(error))
        }
    }
}
