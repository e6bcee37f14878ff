import UVKit

/// Turns a host name to listen on into the numeric addresses behind it.
enum AddressResolver {
    /// The addresses; a numeric host is its own.
    ///
    /// With port 0 it is the first address alone, since the system would choose another port for each.
    ///
    /// - Throws: ``ServerError`` for a name that nobody knows.
    static func addresses(of wanted: ListenAddress, on loop: EventLoop) async throws -> [SocketAddress] {
        if let numeric = try? SocketAddress(host: wanted.host, port: wanted.port) { return [numeric] }
        let result = try await withCheckedThrowingContinuation { continuation in
            let isQueued = loop.enqueue {
                loop.resolve(host: wanted.host, port: wanted.port) { continuation.resume(returning: $0) }
            }
            if !isQueued { continuation.resume(throwing: Server.notRunning) }
        }
        switch result {
        case .success(let addresses) where !addresses.isEmpty:
            return wanted.port == 0 ? Array(addresses.prefix(1)) : addresses
        case .success:
            throw ServerError(.addressUnusable, "the host \(wanted.host) has no address to listen on")
        case .failure(let error):
            throw ServerError(
                .addressUnusable,
                "the host \(wanted.host) is unknown (\(error.message)); check the name in \(wanted)",
                underlying: error)
        }
    }
}
