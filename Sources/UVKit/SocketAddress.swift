internal import CUV

/// A numeric internet address with a port.
public struct SocketAddress: Hashable, Sendable, CustomStringConvertible {
    /// The IPv4 or IPv6 address in its usual text form, without brackets.
    public let host: String
    /// The port.
    public let port: UInt16

    /// Makes an address from a numeric host; names are resolved with ``EventLoop/resolve(host:port:completion:)``.
    ///
    /// - Throws: `EINVAL` when `host` is not a numeric address.
    public init(host: String, port: UInt16) throws(UVError) {
        var storage = sockaddr_storage()
        try UVError.check(unsafe uvkit_parse_address(host, Int32(port), &storage), "parse address \(host)")
        self.host = host
        self.port = port
    }

    private init(trusted host: String, port: UInt16) {
        self.host = host
        self.port = port
    }

    /// Whether it is an IPv6 address.
    public var isIPv6: Bool {
        host.utf8.contains(UInt8(ascii: ":"))
    }

    /// `127.0.0.1:80` or `[::1]:80`.
    public var description: String {
        isIPv6 ? "[\(host)]:\(port)" : "\(host):\(port)"
    }

    /// Reads a socket address of the system; nil when it is neither IPv4 nor IPv6.
    static func read(_ address: UnsafePointer<sockaddr>) -> SocketAddress? {
        guard unsafe [AF_INET, AF_INET6].contains(Int32(address.pointee.sa_family)) else { return nil }
        // 64 bytes hold the longest IPv6 text (46 with its terminator).
        return unsafe withUnsafeTemporaryAllocation(of: CChar.self, capacity: 64) { buffer in
            guard let base = buffer.baseAddress else { return nil }
            let port = unsafe uvkit_describe_address(address, base, buffer.count)
            guard let port = UInt16(exactly: port) else { return nil }
            return unsafe SocketAddress(trusted: String(cString: base), port: port)
        }
    }

    static func read(_ storage: sockaddr_storage) -> SocketAddress? {
        var storage = storage
        return unsafe withUnsafePointer(to: &storage) { unsafe uvkit_address($0).flatMap { unsafe read($0) } }
    }

    /// The address as the system wants it.
    func storage() throws(UVError) -> sockaddr_storage {
        var storage = sockaddr_storage()
        try UVError.check(unsafe uvkit_parse_address(host, Int32(port), &storage), "parse address \(host)")
        return storage
    }
}
