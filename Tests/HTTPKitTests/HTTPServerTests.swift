import Foundation
import FoundationNetworking
import HTTPKit
import Synchronization
import Testing

@Suite(.timeLimit(.minutes(2))) struct HTTPServerTests {
    /// Answers with what it understood, as lines.
    private static let echo: HTTPServer.Handler = { request, responder in
        var lines = ["\(request.method) \(request.path)"]
        lines += request.segments.map { ["segments \($0)"] } ?? ["no segments"]
        lines += request.query.map { "query \($0.name)=\($0.value)" }
        lines.append("agent \(request.header("User-Agent") ?? "none")")
        lines.append("body \(String(decoding: request.body, as: UTF8.self))")
        responder.respond(.text(lines.joined(separator: "\n")))
    }

    private func serve(
        limits: HTTPLimits = HTTPLimits(), _ handler: @escaping HTTPServer.Handler = echo
    ) throws -> HTTPServer {
        try HTTPServer(host: "127.0.0.1", port: 0, limits: limits, handler: handler)
    }

    @Test func `a request reaches the handler with method, path, query, headers and body`() async throws {
        let server = try serve()
        defer { server.stop() }
        let url = try #require(
            URL(string: "http://127.0.0.1:\(server.port)/a%2Fb/caf%C3%A9?x=1&y=a%20b%2Bc&flag"))
        var request = URLRequest(url: url)
        request.httpMethod = "POST"
        request.httpBody = Data("hello".utf8)
        request.setValue("tester", forHTTPHeaderField: "User-Agent")
        let (data, response) = try await URLSession.shared.data(for: request)
        #expect((response as? HTTPURLResponse)?.statusCode == 200)
        #expect(
            String(decoding: data, as: UTF8.self) == """
                POST /a%2Fb/caf%C3%A9
                segments ["a/b", "café"]
                query x=1
                query y=a b+c
                query flag=
                agent tester
                body hello
                """)
    }

    @Test func `an asynchronous handler answers many clients at once`() async throws {
        let server = try HTTPServer(host: "127.0.0.1", port: 0) { request in
            await Task.yield()
            return .text("\(request.query("n") ?? "")")
        }
        defer { server.stop() }
        let port = server.port
        let answers = await withTaskGroup(of: String.self) { group in
            for number in 0..<40 {
                group.addTask {
                    guard let url = URL(string: "http://127.0.0.1:\(port)/?n=\(number)"),
                        let (data, _) = try? await URLSession.shared.data(from: url)
                    else { return "failed" }
                    return String(decoding: data, as: UTF8.self)
                }
            }
            return await group.reduce(into: Set<String>()) { $0.insert($1) }
        }
        #expect(answers == Set((0..<40).map(String.init)))
    }

    @Test func `an answer may come from another thread, and only the first one counts`() async throws {
        let server = try serve { _, responder in
            Thread.detachNewThread {
                responder.respond(.text("first"))
                responder.respond(.text("second"))
            }
        }
        defer { server.stop() }
        let answer = try RawHTTP.ask(
            "GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n", port: server.port)
        #expect(answer.hasSuffix("first"))
    }

    @Test func `a handler that forgets to answer is answered for`() throws {
        let server = try serve { _, _ in }
        defer { server.stop() }
        let answer = try RawHTTP.ask(
            "GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n", port: server.port)
        #expect(answer.hasPrefix("HTTP/1.1 500 "))
    }

    @Test func `two requests travel on one connection`() throws {
        let server = try serve()
        defer { server.stop() }
        let client = try RawHTTP(port: server.port)
        defer { client.close() }
        client.send(
            "GET /one HTTP/1.1\r\nHost: x\r\n\r\nGET /two HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
        let answer = client.readAll()
        #expect(answer.contains("GET /one"))
        #expect(answer.contains("GET /two"))
    }

    @Test(arguments: [
        "POST / HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Length: 1001\r\n\r\n",
        "POST / HTTP/1.1\r\nHost: x\r\nConnection: close\r\nTransfer-Encoding: chunked\r\n\r\n"
            + "3e9\r\n" + String(repeating: "a", count: 1001) + "\r\n0\r\n\r\n",
    ])
    func `a body that is too long is refused`(request: String) throws {
        var limits = HTTPLimits()
        limits.bodyBytesMax = 1000
        let server = try serve(limits: limits)
        defer { server.stop() }
        #expect(try RawHTTP.ask(request, port: server.port).hasPrefix("HTTP/1.1 413 "))
        let allowed = "POST / HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Length: 1000\r\n\r\n"
        let answer = try RawHTTP.ask(allowed + String(repeating: "b", count: 1000), port: server.port)
        #expect(answer.hasPrefix("HTTP/1.1 200 "))
    }

    @Test func `an endless body ends the connection`() throws {
        let server = try serve()
        defer { server.stop() }
        let client = try RawHTTP(port: server.port)
        defer { client.close() }
        client.send("POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n")
        let chunk = "2000\r\n" + String(repeating: "a", count: 0x2000) + "\r\n"
        for _ in 0..<100 { client.send(chunk) }
        #expect(!client.readAll().hasPrefix("HTTP/1.1 200"))
    }

    @Test func `headers that are too long are refused`() throws {
        var limits = HTTPLimits()
        limits.headerBytesMax = 8192
        let server = try serve(limits: limits)
        defer { server.stop() }
        let request = "GET / HTTP/1.1\r\nHost: x\r\nX: \(String(repeating: "y", count: 20_000))\r\n\r\n"
        let answer = try RawHTTP.ask(request, port: server.port)
        #expect(answer.isEmpty || answer.hasPrefix("HTTP/1.1 4"))
    }

    @Test(arguments: [
        "\r\n\r\n\r\n", "GET\r\n\r\n", "GET / HTTP/9.9\r\n\r\n", "\u{0}\u{1}\u{2}\r\n\r\n",
        "GET / HTTP/1.1\r\n\r\n", "GET /%zz HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n",
        "GET /?a=%zz HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n",
        "GET /%00 HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n",
        "GET /%ff?%ff=%fe HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n",
        "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: -1\r\nConnection: close\r\n\r\n",
        "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 99999999999999999999999\r\nConnection: close\r\n\r\n",
        "POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n\r\nzz\r\n\r\n",
        "GET http://[ HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n",
    ])
    func `a malformed request does no harm`(request: String) throws {
        let server = try serve()
        defer { server.stop() }
        let client = try RawHTTP(port: server.port)
        client.send(request)
        shutdown(client.descriptor, Int32(SHUT_WR))
        _ = client.readAll()
        client.close()
        let answer = try RawHTTP.ask(
            "GET /after HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n", port: server.port)
        #expect(answer.contains("GET /after"))
    }

    @Test(arguments: [1, 2, 3, 4, 5, 6, 7, 8] as [UInt64])
    func `random bytes do no harm`(seed: UInt64) throws {
        let server = try serve()
        defer { server.stop() }
        var state = seed
        for _ in 0..<20 {
            let client = try RawHTTP(port: server.port)
            let bytes = (0..<400).map { _ in
                state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
                return UInt8(truncatingIfNeeded: state >> 33)
            }
            client.send(Array("GET /".utf8) + bytes)
            client.close()
        }
        let answer = try RawHTTP.ask(
            "GET /after HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n", port: server.port)
        #expect(answer.contains("GET /after"))
    }

    @Test func `a request that trickles in for too long is broken off`() throws {
        var limits = HTTPLimits()
        limits.transferSeconds = 1
        let server = try serve(limits: limits)
        defer { server.stop() }
        let client = try RawHTTP(port: server.port)
        defer { client.close() }
        client.send("GET / HTTP/1.1\r\nHo")
        // Ends only because the server gives up: the reading side has no deadline that comes earlier.
        #expect(client.readAll().isEmpty)
    }

    @Test func `a silent connection is closed`() throws {
        var limits = HTTPLimits()
        limits.idleSeconds = 1
        let server = try serve(limits: limits)
        defer { server.stop() }
        let client = try RawHTTP(port: server.port)
        defer { client.close() }
        #expect(client.readAll().isEmpty)
    }

    @Test func `a client that goes away while its request is handled does no harm`() throws {
        let held = Mutex<[HTTPResponder]>([])
        let server = try serve { request, responder in
            if request.path == "/hold" {
                held.withLock { $0.append(responder) }
            } else {
                responder.respond(.text("fine"))
            }
        }
        defer { server.stop() }
        for _ in 0..<5 {
            let client = try RawHTTP(port: server.port)
            client.send("GET /hold HTTP/1.1\r\nHost: x\r\n\r\n")
            client.close()
        }
        while held.withLock({ $0.count }) < 5 { Thread.sleep(forTimeInterval: 0.001) }
        for responder in held.withLock({ $0 }) { responder.respond(.text("late")) }
        let answer = try RawHTTP.ask(
            "GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n", port: server.port)
        #expect(answer.hasSuffix("fine"))
    }

    @Test func `stopping answers what is being handled, and later answers are dropped`() throws {
        let held = Mutex<HTTPResponder?>(nil)
        let server = try serve { _, responder in held.withLock { $0 = responder } }
        let client = try RawHTTP(port: server.port)
        defer { client.close() }
        client.send("GET / HTTP/1.1\r\nHost: x\r\n\r\n")
        while held.withLock({ $0 == nil }) { Thread.sleep(forTimeInterval: 0.001) }
        #expect(server.pendingRequestCount == 1)
        server.stop()
        server.stop()
        held.withLock { $0 }?.respond(.text("late"))
        let answer = client.readAll()
        #expect(answer.isEmpty || answer.hasPrefix("HTTP/1.1 503 "))
        #expect(throws: (any Error).self) { try RawHTTP(port: server.port) }
    }

    @Test func `a taken address is named`() throws {
        let server = try serve()
        defer { server.stop() }
        #expect {
            _ = try HTTPServer(host: "127.0.0.1", port: server.port, handler: Self.echo)
        } throws: { ($0 as? HTTPServerError)?.isAddressInUse == true }
        #expect(throws: HTTPServerError.self) {
            try HTTPServer(host: "no number", port: 0, handler: Self.echo)
        }
    }

    @Test func `a header with a line break is left out instead of splitting the answer`() throws {
        let server = try serve { _, responder in
            responder.respond(
                HTTPResponse(status: 200, headers: ["X-Bad": "a\r\nX-Worse: b", "X-Good": "c"]))
        }
        defer { server.stop() }
        let answer = try RawHTTP.ask(
            "GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n", port: server.port)
        #expect(answer.contains("X-Good: c"))
        #expect(!answer.contains("X-Worse"))
    }
}
