import Foundation
import HTTPKit
import RivuletFlow
import RivuletHTTPEngine
import RivuletModel
import Synchronization
import Testing

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

private let ada = UserID(7)

/// A server that answers by a closure and keeps what it was asked.
private final class PlainServer: Sendable {
    /// What it was asked, and whom it keeps waiting.
    private final class Book: Sendable {
        private let state = Mutex<(requests: [HTTPKit.HTTPRequest], waiting: [HTTPResponder])>(([], []))
        var requests: [HTTPKit.HTTPRequest] { state.withLock { $0.requests } }

        func add(_ request: HTTPKit.HTTPRequest, keeping responder: HTTPResponder?) {
            state.withLock { state in
                state.requests.append(request)
                if let responder { state.waiting.append(responder) }
            }
        }
    }

    private let book: Book
    private let server: HTTPServer

    /// A closure that answers nil keeps the client waiting.
    init(_ answer: @escaping @Sendable (HTTPKit.HTTPRequest) -> HTTPKit.HTTPResponse?) throws {
        let book = Book()
        self.book = book
        var limits = HTTPLimits()
        limits.bodyBytesMax = 4 << 20
        server = try HTTPServer(host: "127.0.0.1", port: 0, limits: limits) { request, responder in
            let response = answer(request)
            book.add(request, keeping: response == nil ? responder : nil)
            if let response { responder.respond(response) }
        }
    }

    var requests: [HTTPKit.HTTPRequest] { book.requests }
    var url: URL { URL(string: "http://127.0.0.1:\(server.port)/api") ?? URL(filePath: "/") }
    func stop() { server.stop() }
}

@Suite("Requests over real sockets", .timeLimit(.minutes(1))) struct TransportTests {
    private func engine(
        _ server: PlainServer, transport: any HTTPTransport = URLSessionTransport(),
        _ change: (inout HTTPEngineOptions) -> Void = { _ in }
    ) -> HTTPEngine {
        var options = HTTPEngineOptions()
        options.authorization = { _ in "Bearer secret" }
        options.retryDelay = .milliseconds(1)
        change(&options)
        return HTTPEngine(
            user: ada, base: server.url, mapping: .rivuletHistory(user: ada), options: options,
            transport: transport)
    }

    @Test(arguments: [301, 302, 303, 307, 308])
    func `a redirect elsewhere is not followed, so the authorization stays here`(status: Int) async throws {
        let elsewhere = try PlainServer { _ in .text("stolen") }
        let target = elsewhere.url.absoluteString
        let server = try PlainServer { _ in HTTPResponse(status: status, headers: ["Location": target]) }
        let error = await #expect(throws: HTTPEngineError.self) {
            try await engine(server).perform(RivuletHTTPEngine.HTTPRequest("GET", "page"))
        }
        #expect(error?.code == .refused && error?.status == status)
        #expect(elsewhere.requests.isEmpty)
        #expect(server.requests.first?.header("authorization") == "Bearer secret")
        server.stop()
        elsewhere.stop()
    }

    @Test func `a redirect to the same place is followed, and not without end`() async throws {
        let server = try PlainServer { request in
            switch request.path {
            case "/api/old": HTTPResponse(status: 302, headers: ["Location": "/api/new"])
            case "/api/loop": HTTPResponse(status: 302, headers: ["Location": "/api/loop"])
            default: .text("here")
            }
        }
        let answer = try await engine(server).perform(RivuletHTTPEngine.HTTPRequest("GET", "old"))
        #expect(String(decoding: answer.body, as: UTF8.self) == "here")
        #expect(server.requests.last?.header("authorization") == "Bearer secret")
        let error = await #expect(throws: HTTPEngineError.self) {
            try await engine(server).perform(RivuletHTTPEngine.HTTPRequest("GET", "loop"))
        }
        #expect(error?.status == 302)
        #expect(server.requests.count == 2 + URLSessionTransport.redirectsMax + 1)
        server.stop()
    }

    @Test func `the progress of a long body is told until all of it is sent`() async throws {
        let server = try PlainServer { .text("\($0.body.count)") }
        let told = Mutex<[HTTPProgress]>([])
        let engine = engine(server) { options in
            options.progress = { uuid, part in if uuid == "u" { told.withLock { $0.append(part) } } }
        }
        let request = RivuletHTTPEngine.HTTPRequest("POST", "upload", body: Data(count: 1 << 20))
        let answer = try await engine.perform(request, progressOf: "u")
        #expect(String(decoding: answer.body, as: UTF8.self) == "\(1 << 20)")
        let parts = told.withLock { $0 }
        #expect(parts.last?.fraction == 1)
        #expect(zip(parts, parts.dropFirst()).allSatisfy { $0.sentBytes <= $1.sentBytes })
        server.stop()
    }

    @Test func `a server that does not answer in time is told from one that cannot be reached`() async throws
    {
        let server = try PlainServer { _ in nil }
        let engine = engine(server) { options in
            options.timeout = .milliseconds(200)
            options.retryCountMax = 1
        }
        let error = await #expect(throws: HTTPEngineError.self) {
            try await engine.perform(RivuletHTTPEngine.HTTPRequest("GET", "page"))
        }
        #expect(error?.code == .timedOut)
        // Asked again as often as the options say; what a busy machine did not get to in time is not counted.
        #expect(server.requests.count <= 2)
        server.stop()
    }

    @Test func `what fails for a moment is tried again`() async throws {
        let count = Mutex(0)
        let server = try PlainServer { _ in
            let number = count.withLock { count in
                count += 1
                return count
            }
            return number < 3 ? HTTPResponse(status: 503) : .text("at last")
        }
        let answer = try await engine(server).perform(RivuletHTTPEngine.HTTPRequest("GET", "page"))
        #expect(String(decoding: answer.body, as: UTF8.self) == "at last")
        #expect(server.requests.count == 3)
        server.stop()
    }

    @Test func `a request that is given up ends at once, also before it began`() async throws {
        let server = try PlainServer { _ in nil }
        let engine = engine(server)
        let task = Task { try await engine.perform(RivuletHTTPEngine.HTTPRequest("GET", "page")) }
        while server.requests.isEmpty { try await Task.sleep(for: .milliseconds(2)) }
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
        // Cancelled at any moment between its making and its first byte, every task ends.
        await withTaskGroup(of: Bool.self) { group in
            for _ in 0..<40 {
                let task = Task { try await engine.perform(RivuletHTTPEngine.HTTPRequest("GET", "page")) }
                group.addTask {
                    task.cancel()
                    do {
                        _ = try await task.value
                        return false
                    } catch {
                        return error is CancellationError
                    }
                }
            }
            for await wasCancelled in group { #expect(wasCancelled) }
        }
        server.stop()
    }

    @Test(arguments: 1...4 as ClosedRange<UInt64>)
    func `a request may be given up while its answer arrives`(seed: UInt64) async throws {
        let server = try PlainServer { _ in .text("here it is") }
        let engine = engine(server)
        await withTaskGroup(of: Bool.self) { group in
            for number in 0..<100 as Range<UInt64> {
                // Some of these moments are just when the answer ends, which once ended the program.
                let moment = Int64((seed &* 0x9E37_79B9 &+ number &* 0x85EB_CA6B) % 6_000)
                let task = Task { try await engine.perform(RivuletHTTPEngine.HTTPRequest("GET", "page")) }
                group.addTask {
                    try? await Task.sleep(for: .microseconds(moment))
                    task.cancel()
                    switch await task.result {
                    case .success(let answer): return answer.status == 200
                    case .failure(let error): return error is CancellationError
                    }
                }
            }
            for await isGood in group { #expect(isGood) }
        }
        server.stop()
    }

    @Test func `an answer beyond the bound is given up`() async throws {
        let server = try PlainServer { _ in .text(String(repeating: "x", count: 100_000)) }
        let small = URLSessionTransport(answerBytesMax: 50_000)
        let error = await #expect(throws: HTTPEngineError.self) {
            try await engine(server, transport: small).perform(RivuletHTTPEngine.HTTPRequest("GET", "page"))
        }
        #expect(error?.code == .tooLarge)
        server.stop()
    }
}
