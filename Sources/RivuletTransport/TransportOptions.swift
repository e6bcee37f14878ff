public import TLSKit

/// How connections to servers are made.
public struct TransportOptions: Hashable, Sendable {
    /// What is demanded of a server over TLS; nil for plain TCP.
    public var tls: TLSClientOptions?
    /// Through whom connections go; nil for straight to the server.
    public var proxy: ProxyOptions?
    /// How long an address may take before the next one is tried beside it (RFC 8305, section 5).
    public var attemptDelay: Duration

    /// Makes options; by default plain TCP, straight to the server.
    public init(
        tls: TLSClientOptions? = nil, proxy: ProxyOptions? = nil,
        attemptDelay: Duration = .milliseconds(250)
    ) {
        self.tls = tls
        self.proxy = proxy
        self.attemptDelay = attemptDelay
    }

    /// Tells whether a transport can follow the options, which is to say whether the files in them can be used.
    ///
    /// - Throws: ``TransportError`` that names the file.
    public func check() throws(TransportError) {
        _ = try makeTLSContext()
    }

    func makeTLSContext() throws(TransportError) -> TLSContext? {
        guard let tls else { return nil }
        do throws(TLSError) {
            return try TLSContext(client: tls)
        } catch {
            throw TransportError(code: error.code.rawValue, message: error.message)
        }
    }
}

/// A proxy on the way to every server; it also looks the server's name up.
public struct ProxyOptions: Hashable, Sendable, CustomStringConvertible {
    /// The language that a proxy speaks.
    public enum Kind: String, Hashable, Sendable, CaseIterable {
        /// HTTP's CONNECT (RFC 9110, section 9.3.6).
        case http
        /// SOCKS version 5 (RFC 1928), with user and password (RFC 1929) if there are any.
        case socks5
    }

    /// What the proxy speaks.
    public var kind: Kind
    /// Where the proxy is.
    public var endpoint: Endpoint
    /// Who asks, for proxies that want to know.
    public var user: String?
    /// The user's password.
    public var password: String?

    /// Makes options.
    public init(kind: Kind, endpoint: Endpoint, user: String? = nil, password: String? = nil) {
        self.kind = kind
        self.endpoint = endpoint
        self.user = user
        self.password = password
    }

    /// Reads `http://HOST:PORT` or `socks5://HOST:PORT`, with `USER:PASSWORD@` before the host if wanted; nil for
    /// anything else.
    ///
    /// The ports 8080 and 1080 may be left out; `socks5h` is another name of `socks5`.
    public init?(_ text: String) {
        guard let colon = text.range(of: "://") else { return nil }
        switch text[..<colon.lowerBound].lowercased() {
        case "http": kind = .http
        case "socks5", "socks5h": kind = .socks5
        default: return nil
        }
        var rest = text[colon.upperBound...]
        if let at = rest.lastIndex(of: "@") {
            let parts = rest[..<at].split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
            guard let name = parts.first, !name.isEmpty else { return nil }
            user = String(name)
            password = parts.count > 1 ? String(parts[1]) : ""
            rest = rest[rest.index(after: at)...]
        }
        if rest.hasSuffix("/") { rest = rest.dropLast() }
        guard let found = Endpoint(String(rest), defaultPort: kind == .http ? 8080 : 1080) else { return nil }
        endpoint = found
    }

    /// Kind and place; never the password.
    public var description: String {
        "\(kind.rawValue)://\(endpoint)"
    }
}

extension String {
    fileprivate func range(of part: String) -> Range<Index>? {
        ranges(of: part).first
    }
}
