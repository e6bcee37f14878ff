/// A server as a person names it: a host, by name or number, and a port.
public struct Endpoint: Hashable, Sendable, CustomStringConvertible {
    /// The name or the numeric address, without brackets.
    public var host: String
    /// The port.
    public var port: UInt16

    /// Makes an endpoint.
    public init(host: String, port: UInt16) {
        self.host = host
        self.port = port
    }

    /// Reads `host`, `host:port`, `[v6]` or `[v6]:port`; nil for anything else.
    ///
    /// A bare IPv6 address, which has more than one colon, is taken as a host without a port.
    public init?(_ text: String, defaultPort: UInt16) {
        var host = Substring(text)
        var port = defaultPort
        if text.hasPrefix("[") {
            guard let end = text.firstIndex(of: "]") else { return nil }
            host = text[text.index(after: text.startIndex)..<end]
            let rest = text[text.index(after: end)...]
            if !rest.isEmpty {
                guard rest.first == ":", let number = UInt16(rest.dropFirst()) else { return nil }
                port = number
            }
        } else if text.filter({ $0 == ":" }).count == 1, let colon = text.firstIndex(of: ":") {
            guard let number = UInt16(text[text.index(after: colon)...]) else { return nil }
            host = text[..<colon]
            port = number
        }
        guard !host.isEmpty, !host.contains(where: { $0.isWhitespace || $0 == "/" }) else { return nil }
        self.init(host: String(host), port: port)
    }

    /// `host:port`, an IPv6 host in brackets.
    public var description: String {
        host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)"
    }
}

/// Why something of a transport failed.
public struct TransportError: Error, Hashable, Sendable, CustomStringConvertible {
    /// What went wrong, for programs; an open set, named as the system names it, such as `ECONNREFUSED`.
    public let code: String
    /// What went wrong, for people.
    public let message: String

    /// Makes an error.
    public init(code: String, message: String) {
        self.code = code
        self.message = message
    }

    /// The message.
    public var description: String { message }
}

/// Why a connection is over.
public enum ConnectionEnd: Hashable, Sendable {
    /// This side closed it.
    case closedHere
    /// The other side closed it in an orderly way.
    case closedByPeer
    /// It could not be made, or broke.
    case failed(TransportError)
}

/// What happened to a connection.
public enum ConnectionEvent: Hashable, Sendable {
    /// It is made; bytes can flow.
    case opened
    /// The other side sent these bytes; where they are split means nothing.
    case bytes([UInt8])
    /// All bytes written so far were handed on after some had to wait.
    case drained
    /// It is over; nothing follows.
    case closed(ConnectionEnd)
}

/// One connection of a client; used on the context of its transport only.
public protocol Connection: AnyObject {
    /// Sends bytes after all earlier ones; dropped when the connection is over.
    func write(_ bytes: [UInt8])
    /// How many written bytes still wait.
    var pendingWriteByteCount: Int { get }
    /// Stops or continues the delivery of bytes; delivery is on from the start.
    func setReading(_ isOn: Bool)
    /// Ends the connection at once; ``ConnectionEvent/closed(_:)`` follows in a later turn.
    func close()
}

/// How a client reaches a server: real sockets, or an imitation for tests.
///
/// All methods must be called on ``context``, and all callbacks come there, never from inside the call that caused them.
/// A connection lives until it is closed; its handler is released after ``ConnectionEvent/closed(_:)``, which comes once.
public protocol ClientTransport: Sendable {
    /// Where everything happens.
    var context: any SerialContext { get }

    /// Finds the addresses of an endpoint: endpoints whose host is numeric, in order of preference.
    ///
    /// `completion` is called exactly once.
    func resolve(_ endpoint: Endpoint, completion: @escaping (Result<[Endpoint], TransportError>) -> Void)

    /// Begins to connect to a server at one of the addresses that ``resolve(_:completion:)`` gave; failure is told as a
    /// closed event.
    ///
    /// - Parameters:
    ///   - addresses: In order of preference; at least one.
    ///   - server: As it was resolved; its name is what a certificate must be for.
    ///   - handler: Told what happens.
    /// - Returns: The connection, which is not open yet.
    func connect(
        to addresses: [Endpoint], of server: Endpoint, handler: @escaping (ConnectionEvent) -> Void
    ) -> any Connection

    /// Whether ``connect(to:of:handler:)`` tries all addresses by itself; false when it takes the first one alone.
    var racesAddresses: Bool { get }
}

extension ClientTransport {
    /// False: a caller tries one address after the other.
    public var racesAddresses: Bool { false }

    /// Begins to connect to a numeric address, which is also the server's name.
    public func connect(
        to address: Endpoint, handler: @escaping (ConnectionEvent) -> Void
    ) -> any Connection {
        connect(to: [address], of: address, handler: handler)
    }
}
