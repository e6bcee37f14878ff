public import UVKit

/// The transport over real TCP sockets.
public struct TCPTransport: ClientTransport {
    private let loop: EventLoop

    /// Makes a transport whose connections live on `loop`.
    public init(loop: EventLoop) {
        self.loop = loop
    }

    /// The event loop.
    public var context: any SerialContext { loop }

    /// Looks the host up; a numeric one is answered without the network.
    public func resolve(
        _ endpoint: Endpoint, completion: @escaping (Result<[Endpoint], TransportError>) -> Void
    ) {
        loop.resolve(host: endpoint.host, port: endpoint.port) { result in
            completion(
                result
                    .map { $0.map { Endpoint(host: $0.host, port: $0.port) } }
                    .mapError { TransportError($0) })
        }
    }

    /// Connects with TCP_NODELAY.
    public func connect(
        to address: Endpoint, handler: @escaping (ConnectionEvent) -> Void
    ) -> any Connection {
        do throws(UVError) {
            let numeric = try SocketAddress(host: address.host, port: address.port)
            return TCPConnection(stream: try TCPStream.connect(to: numeric, on: loop), handler: handler)
        } catch {
            loop.atEndOfTurn { handler(.closed(.failed(TransportError(error)))) }
            return DeadConnection()
        }
    }
}

private final class TCPConnection: Connection {
    private let stream: TCPStream
    private var isOpen = false
    private var isReading = true

    init(stream: TCPStream, handler: @escaping (ConnectionEvent) -> Void) {
        self.stream = stream
        // The stream holds the connection through these callbacks and lets go of it when closed.
        stream.onOpened = {
            self.opened()
            handler(.opened)
        }
        stream.onRead = { bytes in handler(.bytes([UInt8](bytes))) }
        stream.onDrained = { handler(.drained) }
        stream.onClosed = { reason in
            switch reason {
            case .closedHere, .loopStopped: handler(.closed(.closedHere))
            case .endOfStream: handler(.closed(.closedByPeer))
            case .failed(let error): handler(.closed(.failed(TransportError(error))))
            }
        }
    }

    private func opened() {
        isOpen = true
        // Without it small frames may wait 40 ms; a connection that cannot have it is slower, not broken.
        try? stream.setNoDelay(true)
        if isReading { stream.resumeReading() }
    }

    func write(_ bytes: [UInt8]) {
        stream.write(bytes)
    }

    var pendingWriteByteCount: Int { stream.pendingWriteByteCount }

    func setReading(_ isOn: Bool) {
        isReading = isOn
        guard isOpen else { return }
        if isOn { stream.resumeReading() } else { stream.pauseReading() }
    }

    func close() {
        stream.close()
    }
}

/// What a failed attempt leaves behind.
private final class DeadConnection: Connection {
    func write(_ bytes: [UInt8]) {}
    var pendingWriteByteCount: Int { 0 }
    func setReading(_ isOn: Bool) {}
    func close() {}
}

extension TransportError {
    init(_ error: UVError) {
        self.init(code: error.code.rawValue, message: error.description)
    }
}
