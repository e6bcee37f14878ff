import Foundation
import RivuletModel
import RivuletServer
import RivuletServerCore
import RivuletTestSupport
import RivuletTransport
import RivuletWire
import Synchronization
import TLSKit
import Testing

/// Clients that reach the server over TLS.
@Suite(.timeLimit(.minutes(2))) struct TLSTests {
    /// Collects what a connection brings.
    private final class Collected: Sendable {
        private let state = Mutex<(decoder: PacketDecoder, commands: [Command], end: ConnectionEnd?)>(
            (PacketDecoder(role: .client, profile: .current), [], nil))

        func take(_ event: ConnectionEvent) {
            state.withLock { state in
                switch event {
                case .bytes(let bytes):
                    bytes.withUnsafeBytes { state.decoder.append($0) }
                    while let frame = try? state.decoder.next() {
                        if case .packet(let packet) = frame { state.commands.append(packet.command) }
                    }
                case .closed(let end): state.end = end
                default: break
                }
            }
        }

        /// Waits until a command has come or the connection is over.
        func wait(for command: Command) async throws -> (commands: [Command], end: ConnectionEnd?) {
            while true {
                let (commands, end) = state.withLock { ($0.commands, $0.end) }
                if commands.contains(command) || end != nil { return (commands, end) }
                try await Task.sleep(for: .milliseconds(2))
            }
        }
    }

    /// A connection that a test uses more than once.
    private final class Held: @unchecked Sendable {
        // Invariant: touched on the transport's context alone.
        var connection: (any Connection)?
    }

    private let authority: CertificateMaker
    private let certificate: CertificateMaker.Certificate

    init() throws {
        authority = try CertificateMaker()
        certificate = try authority.certificate(for: ["DNS:localhost"])
    }

    private func start() async throws -> TestServer {
        try await TestServer(users: [1]) {
            $0.listenTLS = [ListenAddress(host: "127.0.0.1", port: 0)]
            $0.tls = TLSFiles(certificate: certificate.certificateFile, key: certificate.keyFile)
        }
    }

    /// Logs in and asks for a PONG; answers what came.
    private func converse(
        _ server: TestServer, _ options: TransportOptions, port: UInt16, host: String = "localhost"
    ) async throws -> (commands: [Command], end: ConnectionEnd?) {
        let context = try OwnedContext(options: options)
        defer { context.stop() }
        let collected = Collected()
        let login = Packet(
            .authToken,
            .authToken(AuthenticationToken(token: try server.token(of: 1), platformID: .iOS, deviceID: "d")),
            sequence: 1, version: 2, flags: [])
        let ping = Packet(.ping, .empty, sequence: 2, version: 2, flags: [])
        let bytes =
            try login.pack(from: .client, profile: .current) + ping.pack(from: .client, profile: .current)
        context.context.enqueue {
            let connection = context.transport.connect(
                to: [Endpoint(host: "127.0.0.1", port: port)], of: Endpoint(host: host, port: port),
                handler: { collected.take($0) })
            connection.write(bytes)
        }
        return try await collected.wait(for: .pong)
    }

    @Test func `a login over TLS works as without, and twice with one session`() async throws {
        let server = try await start()
        let port = try #require(server.server.tlsAddresses.first).port
        let options = TransportOptions(tls: TLSClientOptions(authorityFile: authority.authorityFile))
        for _ in 0..<2 {
            let (commands, _) = try await converse(server, options, port: port)
            #expect(commands.contains(.authStatus))
            #expect(commands.contains(.pong))
        }
        // The plain port stands beside it.
        let (commands, _) = try await converse(server, TransportOptions(), port: server.port)
        #expect(commands.contains(.pong))
        await server.stop()
    }

    @Test func `a client of each port learns that it is at the other one`() async throws {
        let server = try await start()
        let port = try #require(server.server.tlsAddresses.first).port
        let plain = try await converse(server, TransportOptions(), port: port)
        #expect(plain.commands.isEmpty)
        #expect(plain.end != nil)
        let secured = TransportOptions(tls: TLSClientOptions(authorityFile: authority.authorityFile))
        let wrong = try await converse(server, secured, port: server.port)
        #expect(wrong.commands.isEmpty)
        #expect(wrong.end != nil)
        let other = try await converse(server, secured, port: port, host: "example.org")
        guard case .failed(let error) = other.end else {
            Issue.record("connected to another host")
            return
        }
        #expect(error.code == "TLS_WRONG_HOST")
        await server.stop()
    }

    @Test func `files that cannot be used are named before the server starts`() async throws {
        let other = try authority.certificate(for: ["DNS:localhost"])
        let folder = try TemporaryFolder()
        for (files, part) in [
            (nil, "--tls-cert"),
            (TLSFiles(certificate: "/nowhere.pem", key: certificate.keyFile), "/nowhere.pem"),
            (TLSFiles(certificate: certificate.certificateFile, key: other.keyFile), "does not belong"),
        ] as [(TLSFiles?, String)] {
            await #expect {
                _ = try await TestServer(users: [], folder: folder) {
                    $0.listenTLS = [ListenAddress(host: "127.0.0.1", port: 0)]
                    $0.tls = files
                }
            } throws: { error in
                (error as? ServerError)?.code == .badConfiguration
                    && (error as? ServerError)?.message.contains(part) == true
            }
        }
    }

    @Test func `a certificate read again is for new connections, and the old ones go on`() async throws {
        let folder = try TemporaryFolder()
        let (certificateFile, keyFile) = (folder.path(of: "cert.pem"), folder.path(of: "key.pem"))
        func install(_ made: CertificateMaker.Certificate) throws {
            for (from, to) in [(made.certificateFile, certificateFile), (made.keyFile, keyFile)] {
                try Data(contentsOf: URL(fileURLWithPath: from)).write(to: URL(fileURLWithPath: to))
            }
        }
        try install(certificate)
        let server = try await TestServer(users: [1]) {
            $0.listenTLS = [ListenAddress(host: "127.0.0.1", port: 0)]
            $0.tls = TLSFiles(certificate: certificateFile, key: keyFile)
        }
        let port = try #require(server.server.tlsAddresses.first).port
        let options = TransportOptions(tls: TLSClientOptions(authorityFile: authority.authorityFile))
        let context = try OwnedContext(options: options)
        defer { context.stop() }
        let collected = Collected()
        let login = Packet(
            .authToken,
            .authToken(AuthenticationToken(token: try server.token(of: 1), platformID: .iOS, deviceID: "d")),
            sequence: 1)
        let bytes = try login.pack(from: .client, profile: .current)
        let ping = try Packet(.ping, .empty, sequence: 2).pack(from: .client, profile: .current)
        let held = Held()
        context.context.enqueue {
            let made = context.transport.connect(
                to: [Endpoint(host: "127.0.0.1", port: port)], of: Endpoint(host: "localhost", port: port),
                handler: { collected.take($0) })
            made.write(bytes)
            held.connection = made
        }
        #expect(try await collected.wait(for: .authStatus).end == nil)

        try install(authority.certificate(for: ["DNS:elsewhere.example"]))
        try server.server.reloadCertificate()
        let moved = try await converse(server, options, port: port)
        guard case .failed(let error) = moved.end else {
            Issue.record("the old certificate is still given")
            return
        }
        #expect(error.code == "TLS_WRONG_HOST")
        context.context.enqueue { held.connection?.write(ping) }
        #expect(try await collected.wait(for: .pong).end == nil)

        // Files that cannot be used change nothing.
        try Data("no certificate".utf8).write(to: URL(fileURLWithPath: certificateFile))
        #expect { try server.server.reloadCertificate() } throws: {
            ($0 as? ServerError)?.code == .badConfiguration
        }
        let same = try await converse(server, options, port: port, host: "elsewhere.example")
        #expect(same.commands.contains(.pong))
        await server.stop()
        #expect { try server.server.reloadCertificate() } throws: {
            ($0 as? ServerError)?.code == .notRunning
        }
    }
}
