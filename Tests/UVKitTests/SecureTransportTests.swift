import RivuletTestSupport
import RivuletTransport
import Synchronization
import TLSKit
import Testing
import UVKit

/// One attempt to connect, and what became of it.
struct Attempt: Sendable {
    var options = TransportOptions()
    var addresses: [Endpoint]
    var server: Endpoint
    /// What is written at once, before the connection is open.
    var text = "hello"

    init(
        _ options: TransportOptions = TransportOptions(), to server: Endpoint, at addresses: [Endpoint]? = nil
    ) {
        self.options = options
        self.server = server
        self.addresses = addresses ?? [server]
    }

    /// Runs until the answer has come back or the connection is over; closes it then.
    func run(on loop: EventLoop, transport given: TCPTransport? = nil) async throws -> [ConnectionEvent] {
        let recorder = Recorder<ConnectionEvent>()
        try await loop.perform {
            let transport = try given ?? TCPTransport(loop: loop, options: options)
            let box = LoopBound<(connection: (any Connection)?, bytes: [UInt8])>((nil, []), loop: loop)
            box.value.connection = transport.connect(to: addresses, of: server) { event in
                recorder.append(event)
                guard case .bytes(let bytes) = event else { return }
                box.value.bytes += bytes
                if box.value.bytes.count >= text.utf8.count { box.value.connection?.close() }
            }
            box.value.connection?.write(Array(text.utf8))
        }
        let events = await recorder.wait { $0.contains { if case .closed = $0 { true } else { false } } }
        return events.filter { $0 != .drained }
    }
}

extension [ConnectionEvent] {
    /// Everything received, as text.
    var text: String {
        let bytes = reduce(into: [UInt8]()) { if case .bytes(let bytes) = $1 { $0 += bytes } }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// The code with which the connection failed; nil when it did not.
    var failure: String? {
        guard case .closed(.failed(let error)) = last else { return nil }
        return error.code
    }
}

/// A server that sends back what it gets.
func echo(on loop: EventLoop, host: String = "127.0.0.1", tls: TLSContext? = nil) async throws -> Endpoint {
    try await loop.perform {
        let listener = try Listener(on: SocketAddress(host: host, port: 0), loop: loop) { accepted in
            var stream: any ByteStream = accepted
            if let tls {
                guard let secured = try? TLSStream(accepting: accepted, context: tls) else {
                    return accepted.close()
                }
                stream = secured
            }
            stream.onRead = { [stream] bytes in stream.write([UInt8](bytes)) }
            stream.resumeReading()
        }
        return Endpoint(host: host, port: listener.address.port)
    }
}

@Suite(.timeLimit(.minutes(2))) struct SecureTransportTests {
    let authority: CertificateMaker

    init() throws {
        authority = try CertificateMaker()
    }

    private func serverContext(_ names: [String] = ["DNS:localhost"], days: Int = 2) throws -> TLSContext {
        let made = try authority.certificate(for: names, days: days)
        return try TLSContext(certificateFile: made.certificateFile, keyFile: made.keyFile)
    }

    private var trusting: TransportOptions {
        TransportOptions(tls: TLSClientOptions(authorityFile: authority.authorityFile))
    }

    @Test func `bytes written before the connection is open arrive over TLS`() async throws {
        let context = try serverContext()
        let events = try await withLoop { loop in
            let server = try await echo(on: loop, tls: context)
            return try await Attempt(
                trusting, to: Endpoint(host: "localhost", port: server.port), at: [server]
            ).run(on: loop)
        }
        #expect(events.first == .opened)
        #expect(events.text == "hello")
        #expect(events.last == .closed(.closedHere))
    }

    @Test func `what does not fit into one read passes whole in both directions`() async throws {
        let context = try serverContext()
        let events = try await withLoop { loop in
            let server = try await echo(on: loop, tls: context)
            var attempt = Attempt(
                trusting, to: Endpoint(host: "localhost", port: server.port), at: [server])
            attempt.text = String(repeating: "0123456789", count: 50_000)
            return try await attempt.run(on: loop)
        }
        #expect(events.text == String(repeating: "0123456789", count: 50_000))
    }

    @Test(arguments: [
        ("DNS:localhost", 2, "other.example", "TLS_WRONG_HOST"),
        ("DNS:localhost", -1, "localhost", "TLS_EXPIRED"),
    ])
    func `a server that cannot be trusted gets no byte`(
        name: String, days: Int, host: String, code: String
    ) async throws {
        let context = try serverContext([name], days: days)
        let events = try await withLoop { loop in
            let server = try await echo(on: loop, tls: context)
            return try await Attempt(
                trusting, to: Endpoint(host: host, port: server.port), at: [server]
            ).run(on: loop)
        }
        #expect(events.count == 1)
        #expect(events.failure == code)
    }

    @Test func `a server of an unknown authority, or with another key than the pinned one, is refused`()
        async throws
    {
        let context = try serverContext()
        let pin = try #require(TLSPin(digest: [UInt8](repeating: 1, count: 32)))
        var pinned = trusting
        pinned.tls?.pins = [pin]
        let stranger = try CertificateMaker()
        let other = TransportOptions(tls: TLSClientOptions(authorityFile: stranger.authorityFile))
        for (options, code) in [(pinned, "TLS_WRONG_PIN"), (other, "TLS_UNKNOWN_AUTHORITY")] {
            let events = try await withLoop { loop in
                let server = try await echo(on: loop, tls: context)
                return try await Attempt(
                    options, to: Endpoint(host: "localhost", port: server.port), at: [server]
                ).run(on: loop)
            }
            #expect(events.failure == code)
        }
    }

    @Test func `a server without TLS, and one that closes inside the handshake, fail with their reasons`()
        async throws
    {
        let codes = try await withLoop { loop in
            let plain = try await echo(on: loop)
            let torn = try await loop.perform {
                let listener = try Listener(on: SocketAddress(host: "127.0.0.1", port: 0), loop: loop) {
                    stream in
                    // The begin of a record that never ends.
                    stream.write([22, 3, 3, 0, 200, 2, 0, 0])
                    stream.shutdown()
                }
                return Endpoint(host: "127.0.0.1", port: listener.address.port)
            }
            var codes: [String?] = []
            for server in [plain, torn] {
                codes.append(
                    try await Attempt(
                        trusting, to: Endpoint(host: "localhost", port: server.port), at: [server]
                    ).run(on: loop).failure)
            }
            return codes
        }
        #expect(["TLS_NOT_TLS", "TLS_BROKEN_PROTOCOL"].contains(codes[0]))
        #expect(codes[1] == "TLS_TRUNCATED")
    }

    @Test func `authorities that cannot be read are named before any connection`() async throws {
        try await withLoop { loop in
            let options = TransportOptions(tls: TLSClientOptions(authorityFile: "/nowhere/ca.pem"))
            #expect {
                _ = try TCPTransport(loop: loop, options: options)
            } throws: { ($0 as? TransportError)?.code == "TLS_BAD_FILE" }
        }
    }

    @Test func `a reader that pauses slows a TLS sender down, and nothing is lost`() async throws {
        let context = try serverContext()
        let total = 4_000_000
        let received = Mutex(0)
        let sent = Recorder<Int>()
        let done = Recorder<Bool>()
        try await withLoop { loop in
            let port = try await loop.perform {
                let listener = try Listener(on: SocketAddress(host: "127.0.0.1", port: 0), loop: loop) {
                    accepted in
                    guard let stream = try? TLSStream(accepting: accepted, context: context) else { return }
                    stream.onRead = { _ in
                        // One byte asks for everything; what the system does not take shows as pending.
                        stream.write([UInt8](repeating: 7, count: total))
                        sent.append(stream.pendingWriteByteCount)
                    }
                    stream.resumeReading()
                }
                return listener.address.port
            }
            let box = try await loop.perform {
                let box = LoopBound<(any Connection)?>(nil, loop: loop)
                let transport = try TCPTransport(loop: loop, options: trusting)
                box.value = transport.connect(
                    to: [Endpoint(host: "127.0.0.1", port: port)], of: Endpoint(host: "localhost", port: port)
                ) { event in
                    switch event {
                    case .opened:
                        box.value?.setReading(false)
                        box.value?.write([1])
                    case .bytes(let bytes):
                        let count = received.withLock {
                            $0 += bytes.count
                            return $0
                        }
                        if count == total { done.append(true) }
                    default: break
                    }
                }
                return box
            }
            let pending = await sent.wait { !$0.isEmpty }
            #expect(pending[0] > 0)
            #expect(received.withLock { $0 } == 0)
            try await loop.perform { box.value?.setReading(true) }
            await done.wait { !$0.isEmpty }
        }
        #expect(received.withLock { $0 } == total)
    }
}
