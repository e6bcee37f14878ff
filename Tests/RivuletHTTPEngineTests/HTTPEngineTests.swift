import Foundation
import RivuletFlow
import RivuletHTTPEngine
import RivuletModel
import Synchronization
import Testing

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

private let ada = UserID(7)
private let room = Session.room(12)

/// Answers by script and keeps what it was asked.
private final class ScriptedTransport: HTTPTransport {
    typealias Answer = @Sendable (URLRequest) throws -> HTTPAnswer
    private let state: Mutex<([Answer], [URLRequest])>

    init(_ answers: [Answer]) {
        state = Mutex((answers, []))
    }

    var requests: [URLRequest] { state.withLock { $0.1 } }

    func answer(
        to request: URLRequest, progress: @escaping @Sendable (HTTPProgress) -> Void
    ) async throws -> HTTPAnswer {
        let answer = state.withLock { state -> Answer? in
            state.1.append(request)
            return state.0.isEmpty ? nil : state.0.removeFirst()
        }
        if let body = request.httpBody {
            progress(HTTPProgress(sentBytes: Int64(body.count), totalBytes: Int64(body.count)))
        }
        guard let answer else { throw HTTPEngineError(.network) }
        return try answer(request)
    }
}

/// Sleeps not at all and keeps for how long it was asked to.
private final class InstantClock: Clock {
    struct Instant: InstantProtocol {
        var offset = Duration.zero
        func advanced(by duration: Duration) -> Instant { Instant(offset: offset + duration) }
        func duration(to other: Instant) -> Duration { other.offset - offset }
        static func < (left: Instant, right: Instant) -> Bool { left.offset < right.offset }
    }
    private let state = Mutex((Instant(), [Duration]()))
    var now: Instant { state.withLock { $0.0 } }
    var minimumResolution: Duration { .nanoseconds(1) }
    var sleeps: [Duration] { state.withLock { $0.1 } }
    func sleep(until deadline: Instant, tolerance: Duration?) async throws {
        try Task.checkCancellation()
        state.withLock { state in
            state.1.append(state.0.duration(to: deadline))
            state.0 = deadline
        }
        await Task.yield()
    }
}

private func ok(_ json: String) -> ScriptedTransport.Answer {
    { _ in HTTPAnswer(status: 200, body: Data(json.utf8)) }
}

private func status(_ status: Int, _ json: String = "", headers: [String: String] = [:])
    -> ScriptedTransport.Answer
{
    { _ in HTTPAnswer(status: status, headers: headers, body: Data(json.utf8)) }
}

private let page =
    #"{"items":[{"id":"5","uuid":"a","command":20,"sender":8,"receiver":12,"time_ms":9,"content":"{\"text\":\"hello\",\"uuid\":\"a\"}"},{"id":"6","sender":7,"time_ms":10,"content":"{\"text\":\"mine\",\"uuid\":\"b\"}"},{"id":"7","sender":8,"time_ms":11,"content":"{\"revoke\":{\"msgid\":\"a\"}}"},{"id":"x","sender":8,"time_ms":11,"content":"{}"}],"more":true}"#

private struct NewMessage: Codable {
    var uuid: String
    var text: String
}

@Suite struct `The HTTP engine` {
    private func make(
        _ answers: [ScriptedTransport.Answer], options: HTTPEngineOptions = HTTPEngineOptions(),
        clock: any Clock<Duration> = InstantClock()
    ) throws -> (HTTPEngine, ScriptedTransport) {
        var options = options
        options.random = { 0.5 }
        var mapping = HTTPMapping.rivuletHistory(user: ada)
        mapping.send = { message, session in
            try .json(
                "POST", "chats/\(session.id)",
                NewMessage(uuid: message.uuid ?? "", text: message.content.text ?? ""), isRepeatable: true)
        }
        mapping.readMessage = { answer, message in
            struct Receipt: Decodable { var key: Int64 }
            var message = message
            let key = try answer.decode(Receipt.self).key
            message.serverKey = key
            message.position = MessagePosition(key)
            return message
        }
        let transport = ScriptedTransport(answers)
        let base = try #require(URL(string: "https://chat.example.org/api"))
        return (
            HTTPEngine(
                user: ada, base: base, mapping: mapping, options: options, transport: transport,
                clock: clock),
            transport
        )
    }

    private var message: Message {
        Message(
            id: MessageID(1), session: room, sender: ada, isOutgoing: true, uuid: "u",
            position: MessagePosition(1), timeMilliseconds: 0, content: .text("hi"), state: .sending)
    }

    @Test func `a page of a room's history is asked for and read by the mapping`() async throws {
        let (engine, transport) = try make([ok(page), ok(#"{"items":[],"more":false}"#)])
        let first = try await engine.messages(
            in: room, anchorMessage: nil, direction: .older, limit: 500)
        // The withdrawal in the page is no row and takes effect.
        #expect(first.messages.map(\.content) == [.revoked, .text("mine")])
        #expect(first.messages.map(\.isOutgoing) == [false, true])
        #expect(first.messages.map(\.serverKey) == [5, 6])
        #expect(first.hasOlder && !first.hasNewer)
        let second = try await engine.messages(
            in: room, anchorMessage: first.messages[0], direction: .older, limit: 20)
        #expect(second.messages.isEmpty && !second.hasOlder)
        #expect(
            transport.requests.map { $0.url?.absoluteString } == [
                "https://chat.example.org/api/v1/client/rooms/12/messages?limit=200",
                "https://chat.example.org/api/v1/client/rooms/12/messages?limit=20&before=5",
            ])
    }

    @Test func `a stretch without messages of the chat is passed over, as the server says`() async throws {
        let (engine, transport) = try make([
            ok(#"{"items":[],"more":true,"next":"900"}"#), ok(#"{"items":[],"more":true,"next":"400"}"#),
            ok(page),
        ])
        let found = try await engine.messages(
            in: .peer(UserID(8)), anchorMessage: nil, direction: .older, limit: 20)
        #expect(found.messages.map(\.serverKey) == [5, 6])
        #expect(
            transport.requests.map { $0.url?.query } == [
                "limit=20", "limit=20&before=900", "limit=20&before=400",
            ])
    }

    @Test func `a message goes out with its name and comes back with its place`() async throws {
        let told = Mutex<[String: Double]>([:])
        var options = HTTPEngineOptions()
        options.progress = { uuid, part in told.withLock { $0[uuid] = part.fraction } }
        let (engine, transport) = try make([ok(#"{"key":44}"#)], options: options)
        let sent = try await engine.send(message: message, in: room)
        #expect(sent.serverKey == 44 && sent.position == MessagePosition(44) && sent.state == .accepted)
        let body = try #require(transport.requests[0].httpBody)
        #expect(try JSONDecoder().decode(NewMessage.self, from: body).uuid == "u")
        #expect(told.withLock { $0 } == ["u": 1])
    }

    @Test func `what passes is tried again, with growing waits that have a bound`() async throws {
        let clock = InstantClock()
        var options = HTTPEngineOptions()
        options.retryDelayMax = .seconds(20)
        let (engine, transport) = try make(
            [
                { _ in throw HTTPEngineError(.network) }, status(503, headers: ["Retry-After": "99"]),
                status(502), ok(#"{"key":1}"#),
            ], options: options, clock: clock)
        _ = try await engine.send(message: message, in: room)
        #expect(transport.requests.count == 4)
        #expect(clock.sleeps == [.milliseconds(250), .seconds(20), .seconds(1)])
    }

    @Test func `it gives up after so many attempts, and at once when repeating could do harm`()
        async throws
    {
        let (engine, transport) = try make(Array(repeating: status(503), count: 9))
        let error = await #expect(throws: HTTPEngineError.self) {
            try await engine.send(message: message, in: room)
        }
        #expect(error?.code == .unavailable && error?.status == 503)
        #expect(transport.requests.count == 4)
        let before = transport.requests.count
        await #expect(throws: HTTPEngineError.self) {
            try await engine.perform(HTTPRequest("POST", "pay"))
        }
        #expect(transport.requests.count == before + 1)
    }

    @Test func `a refused authorization is renewed once for each request`() async throws {
        var options = HTTPEngineOptions()
        options.authorization = { wasRefused in wasRefused ? "Bearer new" : "Bearer old" }
        let (engine, transport) = try make(
            [status(401), ok(#"{"key":1}"#), status(401), status(401)], options: options)
        _ = try await engine.send(message: message, in: room)
        #expect(
            transport.requests.map { $0.value(forHTTPHeaderField: "Authorization") } == [
                "Bearer old", "Bearer new",
            ])
        let error = await #expect(throws: HTTPEngineError.self) {
            try await engine.send(message: message, in: room)
        }
        #expect(error?.code == .unauthorized)
        #expect(transport.requests.count == 4)
    }

    @Test func `the server's words reach the message that failed, and no log`() async throws {
        let (engine, _) = try make([
            status(403, #"{"error":{"code":"muted","message":"You are muted until noon."}}"#)
        ])
        let error = await #expect(throws: HTTPEngineError.self) {
            try await engine.send(message: message, in: room)
        }
        #expect(error?.serverCode == "muted")
        #expect(error?.failureReason == "You are muted until noon.")
        #expect(error?.description == "HTTPEngineError(refused, status 403, muted)")
    }

    @Test(arguments: ["", "{", "[]", #"{"items":7}"#, #"{"items":[{"id":5}],"more":true}"#])
    func `an answer that makes no sense is a failure of the page`(body: String) async throws {
        let (engine, _) = try make([ok(body)])
        let failure = await #expect(throws: FlowFailure.self) {
            try await engine.messages(in: room, anchorMessage: nil, direction: .older, limit: 20)
        }
        #expect(failure?.code == "unreadable")
    }

    @Test func `a call without a request is refused as unsupported`() async throws {
        let (engine, transport) = try make([])
        for call in [engine.revoke(message:), engine.delete(message:)] {
            let error = await #expect(throws: InteractionError.self) { try await call(message) }
            #expect(error?.code == .unsupported)
        }
        #expect(engine.engine.controls == nil)
        #expect(transport.requests.isEmpty)
    }

    @Test func `new messages are asked for after the newest known, for as long as somebody listens`()
        async throws
    {
        var options = HTTPEngineOptions()
        options.pollInterval = .seconds(5)
        let newer =
            #"{"items":[{"id":"9","sender":8,"time_ms":11,"content":"{\"text\":\"news\",\"uuid\":\"n\"}"}],"more":false}"#
        let (engine, transport) = try make([ok(page), status(403), ok(newer)], options: options)
        var seen: [String] = []
        for await event in engine.events(in: room) {
            guard case .arrived(let messages) = event else { continue }
            seen += messages.map(\.content.summary)
            if seen.contains("news") { break }
        }
        #expect(seen == ["[Message withdrawn]", "mine", "news"])
        // A room is read towards the beginning alone; its newest page holds all that it has.
        #expect(transport.requests.dropFirst().allSatisfy { $0.url?.query == "limit=200" })
    }

    @Test func `what nobody listens to over the network is a network error`() async throws {
        let base = try #require(URL(string: "http://127.0.0.1:1"))
        var options = HTTPEngineOptions()
        options.retryCountMax = 0
        let engine = HTTPEngine(
            user: ada, base: base, mapping: .rivuletHistory(user: ada), options: options)
        let failure = await #expect(throws: FlowFailure.self) {
            try await engine.messages(in: room, anchorMessage: nil, direction: .older, limit: 20)
        }
        #expect(failure?.code == "network")
    }
}
