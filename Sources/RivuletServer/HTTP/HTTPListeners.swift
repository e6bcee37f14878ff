import HTTPKit
import UVKit

/// The HTTP servers of a running server, one for each address.
struct HTTPListeners: Sendable {
    private var servers: [HTTPServer] = []
    private(set) var addresses: [ListenAddress] = []

    /// Listens at every configured address.
    ///
    /// - Throws: ``ServerError`` that names the address; then none is left listening.
    static func start(
        for server: Server, node: Node, resolvingOn loop: EventLoop
    ) async throws -> HTTPListeners {
        var listeners = HTTPListeners()
        let frontend = HTTPFrontend(server: server, node: node)
        do {
            for wanted in server.configuration.http {
                for address in try await AddressResolver.addresses(of: wanted, on: loop) {
                    try listeners.add(frontend, address, wanted)
                }
            }
        } catch {
            await listeners.stop()
            throw error
        }
        return listeners
    }

    private mutating func add(
        _ frontend: HTTPFrontend, _ address: SocketAddress, _ wanted: ListenAddress
    ) throws {
        do throws(HTTPServerError) {
            let server = try frontend.listen(host: address.host, port: address.port, limits: HTTPLimits())
            servers.append(server)
            addresses.append(ListenAddress(host: address.host, port: server.port))
        } catch {
            throw error.isAddressInUse
                ? ServerError(
                    .addressInUse,
                    "\(wanted) is in use by another program; name another address with --http",
                    underlying: error)
                : ServerError(
                    .addressUnusable, "cannot listen for HTTP on \(wanted): \(error)", underlying: error)
        }
    }

    /// Answers what is under way and stops.
    func stop() async {
        guard !servers.isEmpty else { return }
        let servers = servers
        await withCheckedContinuation { continuation in
            BlockingWork.run {
                for server in servers { server.stop() }
                continuation.resume()
            }
        }
    }
}
