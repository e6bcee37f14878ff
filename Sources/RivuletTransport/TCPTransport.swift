internal import TLSKit
public import UVKit

/// The transport over real sockets: TCP, with TLS and through a proxy as its options say.
public struct TCPTransport: ClientTransport {
    private let loop: EventLoop
    private let options: TransportOptions
    private let tls: TLSContext?

    /// Makes a transport of plain TCP whose connections live on `loop`.
    public init(loop: EventLoop) {
        self.loop = loop
        options = TransportOptions()
        tls = nil
    }

    /// Makes a transport whose connections live on `loop`.
    ///
    /// - Throws: ``TransportError`` when the authorities to trust cannot be read.
    public init(loop: EventLoop, options: TransportOptions) throws(TransportError) {
        self.loop = loop
        self.options = options
        tls = try options.makeTLSContext()
    }

    /// The event loop.
    public var context: any SerialContext { loop }

    /// All addresses of a connection are tried at once.
    public var racesAddresses: Bool { true }

    /// Looks the host up; a numeric one is answered without the network, and any behind a proxy is left to the proxy.
    public func resolve(
        _ endpoint: Endpoint, completion: @escaping (Result<[Endpoint], TransportError>) -> Void
    ) {
        guard options.proxy == nil else {
            return loop.atEndOfTurn { completion(.success([endpoint])) }
        }
        loop.resolve(host: endpoint.host, port: endpoint.port) { result in
            completion(
                result
                    .map { $0.map { Endpoint(host: $0.host, port: $0.port) } }
                    .mapError { TransportError($0) })
        }
    }

    /// Connects to the first address that answers, with TCP_NODELAY, and then does what the options ask for.
    public func connect(
        to addresses: [Endpoint], of server: Endpoint, handler: @escaping (ConnectionEvent) -> Void
    ) -> any Connection {
        let connection = ClientConnection(
            to: server, options: options, tls: tls, loop: loop, handler: handler)
        connection.begin(addresses)
        return connection
    }
}

extension TransportError {
    init(_ error: UVError) {
        self.init(code: error.code.rawValue, message: error.description)
    }
}
