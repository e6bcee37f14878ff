import RivuletClient
import RivuletClientCore
import RivuletModel
import RivuletServer
import RivuletServerCore
import RivuletTestSupport
import RivuletTransport
import TLSKit
import Testing

/// A service whose way to the server is more than plain TCP.
@Suite(.timeLimit(.minutes(2))) struct TransportOptionsTests {
    let folder: TemporaryFolder
    let authority: CertificateMaker

    init() throws {
        folder = try TemporaryFolder()
        authority = try CertificateMaker()
    }

    private func startServer() async throws -> Server {
        let made = try authority.certificate(for: ["DNS:localhost"])
        var configuration = ServerConfiguration(data: DataDirectory(path: folder.path))
        configuration.listen = []
        // IPv4 alone: where `localhost` has an IPv6 address, too, that one refuses.
        configuration.listenTLS = [ListenAddress(host: "127.0.0.1", port: 0)]
        configuration.tls = TLSFiles(certificate: made.certificateFile, key: made.keyFile)
        let server = Server(configuration)
        try await server.start()
        return server
    }

    private func makeService(
        _ user: Int64, _ server: Server, storage: any ClientStorage, pins: Set<TLSPin> = []
    ) throws -> IMService {
        let port = try #require(server.tlsAddresses.first).port
        var configuration = IMServiceConfiguration(
            endpoints: [
                // Nobody listens at port 1: the service goes on to the next server.
                ClientEndpoint(host: "127.0.0.1", port: 1), ClientEndpoint(host: "localhost", port: port),
            ],
            identity: ClientIdentity(
                uid: user, token: try server.makeToken(for: UserID(user)), deviceID: "d"))
        configuration.core.backoffMin = .milliseconds(20)
        configuration.core.backoffMax = .milliseconds(200)
        configuration.transport.tls = TLSClientOptions(authorityFile: authority.authorityFile, pins: pins)
        return IMService(configuration: configuration, storage: storage)
    }

    @Test func `two people chat over TLS, at the second of two servers`() async throws {
        let server = try await startServer()
        let (storage7, storage8) = (makeStorage(), makeStorage())
        let service7 = try makeService(7, server, storage: storage7)
        let service8 = try makeService(8, server, storage: storage8)
        try await service7.startAndSync()
        try await service8.startAndSync()
        let arrivals = service8.messages()
        try await service7.send(peerMessage("a", from: 7, to: 8))
        _ = try await take(1, of: arrivals)
        #expect(storage8.contents(from: 7) == [content("a")])
        await service7.stopAndWait()
        await service8.stopAndWait()
        await server.stop()
    }

    @Test func `a server with another key than the pinned one is never logged in to, and the reason is told`()
        async throws
    {
        let server = try await startServer()
        let pin = try #require(TLSPin(digest: [UInt8](repeating: 1, count: 32)))
        let service = try makeService(7, server, storage: makeStorage(), pins: [pin])
        let notifications = service.notifications()
        service.start()
        try await first(of: notifications) { notification in
            guard case .diagnostic(let diagnostic) = notification else { return false }
            return diagnostic.closeReason?.rawValue == "tls_wrong_pin"
        }
        await service.stopAndWait()
        await server.stop()
    }
}
