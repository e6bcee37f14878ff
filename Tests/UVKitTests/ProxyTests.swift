import RivuletTestSupport
import RivuletTransport
import TLSKit
import Testing
import UVKit

/// A proxy that answers as its script says, and then connects to a fixed target.
///
/// Each step waits until that many bytes have come, hands them to the test and answers.
struct ScriptedProxy: Sendable {
    struct Step: Sendable {
        /// The bytes to wait for: their number, or nil for those up to an empty line.
        var count: Int?
        var answer: [UInt8]
    }

    var steps: [Step]
    var target: Endpoint?

    func start(on loop: EventLoop, _ heard: Recorder<[UInt8]>) async throws -> Endpoint {
        try await loop.perform {
            let listener = try Listener(on: SocketAddress(host: "127.0.0.1", port: 0), loop: loop) { client in
                serve(client, loop, heard)
            }
            return Endpoint(host: "127.0.0.1", port: listener.address.port)
        }
    }

    private func serve(_ client: TCPStream, _ loop: EventLoop, _ heard: Recorder<[UInt8]>) {
        var left = steps
        var buffer: [UInt8] = []
        client.onRead = { bytes in
            buffer += bytes
            while let step = left.first {
                let end = step.count ?? buffer.firstRange(of: [13, 10, 13, 10])?.upperBound
                guard let end, buffer.count >= end else { return }
                heard.append(Array(buffer[..<end]))
                buffer.removeFirst(end)
                left.removeFirst()
                client.write(step.answer)
            }
            guard let target else { return client.close() }
            client.pauseReading()
            guard let address = try? SocketAddress(host: target.host, port: target.port),
                let server = try? TCPStream.connect(to: address, on: loop)
            else { return client.close() }
            server.write(buffer)
            server.onOpened = { server.resumeReading() }
            server.onRead = { client.write($0) }
            client.onRead = { server.write($0) }
            client.onClosed = { _ in server.close() }
            client.resumeReading()
        }
        client.resumeReading()
    }
}

@Suite(.timeLimit(.minutes(2))) struct ProxyTests {
    private static let name = Endpoint(host: "im.example.org", port: 23000)

    /// Connects to a name that only the proxy could know; answers the events and what the proxy heard.
    private func connect(
        _ kind: ProxyOptions.Kind, _ steps: [ScriptedProxy.Step], user: String? = nil,
        password: String? = nil,
        reachesServer: Bool = true
    ) async throws -> (events: [ConnectionEvent], heard: [[UInt8]]) {
        let heard = Recorder<[UInt8]>()
        let events = try await withLoop { loop in
            let server = try await echo(on: loop)
            let proxy = try await ScriptedProxy(steps: steps, target: reachesServer ? server : nil).start(
                on: loop, heard)
            let options = TransportOptions(
                proxy: ProxyOptions(kind: kind, endpoint: proxy, user: user, password: password))
            return try await Attempt(options, to: Self.name).run(on: loop)
        }
        return (events, heard.elements)
    }

    @Test func `HTTP CONNECT opens the way to a name that the proxy looks up`() async throws {
        let (events, heard) = try await connect(
            .http, [.init(answer: Array("HTTP/1.1 200 Connection established\r\nVia: x\r\n\r\n".utf8))])
        #expect(events.text == "hello")
        #expect(
            String(decoding: heard[0], as: UTF8.self)
                == "CONNECT im.example.org:23000 HTTP/1.1\r\nHost: im.example.org:23000\r\n\r\n")
    }

    @Test func `HTTP CONNECT carries user and password`() async throws {
        let (events, heard) = try await connect(
            .http, [.init(answer: Array("HTTP/1.0 200 OK\r\n\r\n".utf8))], user: "ada", password: "pass word")
        #expect(events.text == "hello")
        #expect(
            String(decoding: heard[0], as: UTF8.self).contains(
                "\r\nProxy-Authorization: Basic YWRhOnBhc3Mgd29yZA==\r\n"))
    }

    @Test(arguments: [
        ("HTTP/1.1 407 Proxy Authentication Required\r\n\r\n", "PROXY_AUTHENTICATION"),
        ("HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\n\r\n", "PROXY_REFUSED"),
        ("HTTP/1.1 502 Bad\r\n\r\n", "PROXY_REFUSED"), ("SSH-2.0-OpenSSH\r\n\r\n", "PROXY_PROTOCOL"),
        ("HTTP/1.1 abc\r\n\r\n", "PROXY_PROTOCOL"), ("HTTP/1.1\r\n\r\n", "PROXY_PROTOCOL"),
        ("HTTP/1.1 +20 x\r\n\r\n", "PROXY_PROTOCOL"),
        ("HTTP/1.1 200 OK\r\nX: " + String(repeating: "y", count: 20_000), "PROXY_PROTOCOL"),
    ])
    func `an HTTP proxy that refuses, or is none, is told apart`(answer: String, code: String) async throws {
        let (events, _) = try await connect(.http, [.init(answer: Array(answer.utf8))])
        #expect(events.count == 1)
        #expect(events.failure == code)
    }

    @Test func `SOCKS 5 opens the way, without and with user and password`() async throws {
        let opened: [UInt8] = [5, 0, 0, 1, 127, 0, 0, 1, 0, 80]
        let request: [UInt8] = [5, 1, 0, 3, 14] + Array("im.example.org".utf8) + [0x59, 0xD8]
        var (events, heard) = try await connect(
            .socks5, [.init(count: 3, answer: [5, 0]), .init(count: request.count, answer: opened)])
        #expect(events.text == "hello")
        #expect(heard == [[5, 1, 0], request])
        (events, heard) = try await connect(
            .socks5,
            [
                .init(count: 4, answer: [5, 2]), .init(count: 9, answer: [1, 0]),
                .init(count: request.count, answer: [5, 0, 0, 3, 2, 97, 98, 0, 80]),
            ], user: "ada", password: "pwd")
        #expect(events.text == "hello")
        #expect(heard == [[5, 2, 0, 2], [1, 3] + Array("ada".utf8) + [3] + Array("pwd".utf8), request])
    }

    @Test(
        arguments: [
            ([5, 0xFF], [], "PROXY_AUTHENTICATION"), ([4, 0], [], "PROXY_PROTOCOL"),
            (Array("HTTP/1.1 400".utf8), [], "PROXY_PROTOCOL"),
            ([5, 0], [5, 5, 0, 1, 0, 0, 0, 0, 0, 0], "PROXY_REFUSED"),
            ([5, 0], [5, 99], "PROXY_REFUSED"), ([5, 0], [5, 0, 0, 9, 1, 2], "PROXY_PROTOCOL"),
            ([5, 2], [], "PROXY_AUTHENTICATION"), ([5, 0], [7], "PROXY_PROTOCOL"),
        ] as [([UInt8], [UInt8], String)])
    func `a SOCKS proxy that refuses, or is none, is told apart`(
        method: [UInt8], answer: [UInt8], code: String
    ) async throws {
        let (events, _) = try await connect(
            .socks5, [.init(count: 3, answer: method), .init(count: 21, answer: answer)])
        #expect(events.failure == code)
    }

    @Test(arguments: ProxyOptions.Kind.allCases)
    func `a proxy that closes at once, and one that is not there, fail with a reason`(
        kind: ProxyOptions.Kind
    ) async throws {
        let (events, _) = try await connect(kind, [], reachesServer: false)
        #expect(events.failure == "PROXY_PROTOCOL")
        let refused = try await withLoop { loop in
            let closed = try await loop.perform {
                let listener = try Listener(on: SocketAddress(host: "127.0.0.1", port: 0), loop: loop) { _ in
                }
                listener.close()
                return Endpoint(host: "127.0.0.1", port: listener.address.port)
            }
            let options = TransportOptions(proxy: ProxyOptions(kind: kind, endpoint: closed))
            return try await Attempt(options, to: Self.name).run(on: loop)
        }
        #expect(refused.failure == "ECONNREFUSED")
    }

    @Test(arguments: ["bad host", "a\r\nX: y", "\u{0}"])
    func `a name that would change the request is not sent`(host: String) async throws {
        let events = try await withLoop { loop in
            let proxy = try await ScriptedProxy(steps: []).start(on: loop, Recorder())
            let options = TransportOptions(proxy: ProxyOptions(kind: .http, endpoint: proxy))
            return try await Attempt(options, to: Endpoint(host: host, port: 1)).run(on: loop)
        }
        #expect(events.failure == "PROXY_BAD_TARGET")
    }

    @Test func `TLS goes through a proxy, and the server's first bytes may come with its answer`()
        async throws
    {
        let authority = try CertificateMaker()
        let made = try authority.certificate(for: ["DNS:im.example.org"])
        let context = try TLSContext(certificateFile: made.certificateFile, keyFile: made.keyFile)
        let events = try await withLoop { loop in
            let server = try await echo(on: loop, tls: context)
            let proxy = try await ScriptedProxy(
                steps: [.init(answer: Array("HTTP/1.1 200 OK\r\n\r\n".utf8))], target: server
            ).start(on: loop, Recorder())
            let options = TransportOptions(
                tls: TLSClientOptions(authorityFile: authority.authorityFile),
                proxy: ProxyOptions(kind: .http, endpoint: proxy))
            return try await Attempt(options, to: Self.name).run(on: loop)
        }
        #expect(events.first == .opened)
        #expect(events.text == "hello")
        let (early, _) = try await connect(
            .http, [.init(answer: Array("HTTP/1.1 200 OK\r\n\r\nhello".utf8))])
        #expect(early.text.hasPrefix("hello"))
    }

    @Test(
        arguments: [
            ("http://proxy.example:3128", "http://proxy.example:3128", nil, nil),
            ("HTTP://proxy.example/", "http://proxy.example:8080", nil, nil),
            ("socks5://ada:p@ss:w@[::1]:9", "socks5://[::1]:9", "ada", "p@ss:w"),
            ("socks5h://ada@host", "socks5://host:1080", "ada", ""),
        ] as [(String, String, String?, String?)])
    func `a proxy is read from its address`(text: String, shown: String, user: String?, password: String?)
        throws
    {
        let options = try #require(ProxyOptions(text))
        #expect(options.description == shown)
        #expect(options.user == user)
        #expect(options.password == password)
    }

    @Test(arguments: [
        "", "host:1", "ftp://host", "http://", "http://host:x", "http://:1", "http://@host", "://",
    ])
    func `what is no proxy is refused`(text: String) {
        #expect(ProxyOptions(text) == nil)
    }
}

@Suite(.timeLimit(.minutes(2))) struct AddressRaceTests {
    @Test func `a dead address does not keep the next one waiting`() async throws {
        let events = try await withLoop { loop in
            let server = try await echo(on: loop)
            let closed = try await loop.perform {
                let listener = try Listener(on: SocketAddress(host: "127.0.0.1", port: 0), loop: loop) { _ in
                }
                listener.close()
                return Endpoint(host: "127.0.0.1", port: listener.address.port)
            }
            // The delay is so long that only the failure can have started the second attempt.
            let options = TransportOptions(attemptDelay: .seconds(3600))
            return try await Attempt(options, to: server, at: [closed, server]).run(on: loop)
        }
        #expect(events.text == "hello")
    }

    @Test func `an address that does not answer gets company by the next one`() async throws {
        let events = try await withLoop { loop in
            let server = try await echo(on: loop)
            // A full queue: the system lets later connections to it wait.
            let silent = try await loop.perform {
                let listener = try Listener(
                    on: SocketAddress(host: "127.0.0.1", port: 0), loop: loop, backlog: 0
                ) { _ in }
                listener.pauseAccepting()
                for _ in 0..<3 { _ = try TCPStream.connect(to: listener.address, on: loop) }
                return Endpoint(host: "127.0.0.1", port: listener.address.port)
            }
            let options = TransportOptions(attemptDelay: .milliseconds(20))
            return try await Attempt(options, to: server, at: [silent, server]).run(on: loop)
        }
        #expect(events.text == "hello")
    }

    @Test func `when all addresses fail the last reason is told, once`() async throws {
        let events = try await withLoop { loop in
            let closed = try await loop.perform {
                let listener = try Listener(on: SocketAddress(host: "127.0.0.1", port: 0), loop: loop) { _ in
                }
                listener.close()
                return Endpoint(host: "127.0.0.1", port: listener.address.port)
            }
            return try await Attempt(to: closed, at: [closed, closed, closed]).run(on: loop)
        }
        #expect(events.count == 1)
        #expect(events.failure == "ECONNREFUSED")
    }

    @Test func `a connection closed while it is being made says so once`() async throws {
        let recorder = Recorder<ConnectionEvent>()
        try await withLoop { loop in
            let server = try await echo(on: loop)
            try await loop.perform {
                let connection = TCPTransport(loop: loop).connect(to: server) { recorder.append($0) }
                connection.close()
                connection.close()
            }
            await recorder.wait { !$0.isEmpty }
            // Whatever else would come, comes before the answer to a later connection.
            _ = try await Attempt(to: server).run(on: loop)
        }
        #expect(recorder.elements == [.closed(.closedHere)])
    }

    @Test func `a host with addresses of both families is reached at the one that serves`() async throws {
        let events = try await withLoop { loop in
            let server = try await echo(on: loop)
            let addresses = [
                Endpoint(host: "::1", port: server.port), Endpoint(host: "127.0.0.1", port: server.port),
            ]
            return try await Attempt(to: Endpoint(host: "localhost", port: server.port), at: addresses).run(
                on: loop)
        }
        #expect(events.text == "hello")
    }
}
