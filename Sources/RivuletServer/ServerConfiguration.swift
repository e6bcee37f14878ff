public import RivuletServerCore

/// Where a server listens: a host name or address and a port.
public struct ListenAddress: Sendable, Hashable, CustomStringConvertible {
    /// An address such as `127.0.0.1`, `::1` or `0.0.0.0`.
    public var host: String
    /// The port; 0 lets the system choose.
    public var port: UInt16

    /// Makes an address.
    public init(host: String, port: UInt16) {
        self.host = host
        self.port = port
    }

    /// Reads `HOST:PORT`, with brackets around an IPv6 address; nil for anything else.
    public init?(_ text: String) {
        guard let colon = text.lastIndex(of: ":"), let port = UInt16(text[text.index(after: colon)...]) else {
            return nil
        }
        var host = String(text[..<colon])
        if host.hasPrefix("["), host.hasSuffix("]") {
            host = String(host.dropFirst().dropLast())
        } else if host.contains(":") {
            return nil
        }
        guard !host.isEmpty else { return nil }
        self.init(host: host, port: port)
    }

    /// The form that ``init(_:)`` reads.
    public var description: String {
        host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)"
    }
}

/// The PEM files that a server shows to its clients.
public struct TLSFiles: Sendable, Hashable {
    /// The certificate and, after it, those of its signers.
    public var certificate: String
    /// The private key, without a passphrase.
    public var key: String

    /// Names the files.
    public init(certificate: String, key: String) {
        self.certificate = certificate
        self.key = key
    }
}

/// What can be set about a server; every member has a default but the folder.
public struct ServerConfiguration: Sendable {
    /// The port of the public server, and ours when none is named.
    public static let defaultPort: UInt16 = 23000

    /// Where the server keeps everything.
    public var data: DataDirectory
    /// Where it listens.
    public var listen = [ListenAddress(host: "127.0.0.1", port: ServerConfiguration.defaultPort)]
    /// Where it listens for clients over TLS; needs ``tls``.
    public var listenTLS: [ListenAddress] = []
    /// The certificate for ``listenTLS``.
    public var tls: TLSFiles?
    /// Where it listens for HTTP: the history calls of docs/extensions.md, section 4, `/health` and `/metrics`.
    public var http: [ListenAddress] = []
    /// How many event loops share the connections.
    public var loops = 1
    /// How much one page of a sync holds.
    public var pageLimit = PageLimit()
    /// How many connections are accepted at a time; nil leaves a reserve of what the system allows.
    public var connectionsMax: Int?
    /// When silence ends a connection.
    public var deadlines = ConnectionDeadlines.Limits()
    /// The limits of the node.
    public var limits = NodeCore.Limits()
    /// What the server allows.
    public var rules = NodeRules()
    /// Looks at every message before it is taken, such as a `WordFilter`.
    public var contentFilter: ContentFilter?
    /// After how many days messages are removed; nil keeps them for ever.
    public var retentionDays: Int?
    /// How many live copies wait for a slow reader before the oldest is dropped.
    public var waitingPushesMax = 300

    /// Makes the default configuration of a server on this folder.
    public init(data: DataDirectory) {
        self.data = data
    }
}
