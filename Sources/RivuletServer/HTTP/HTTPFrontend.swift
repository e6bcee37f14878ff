import HTTPKit
import RivuletModel
import RivuletServerCore
import Synchronization

/// The HTTP interface of a server: history for clients, health and counts for its operator.
///
/// | path | answers | needs |
/// |---|---|---|
/// | `/health` | whether messages can be stored | – |
/// | `/metrics` | counts for Prometheus | – |
/// | `/v1/client/sessions/peer/{uid}/messages` | a chat of the caller | a token |
/// | `/v1/client/sessions/group/{gid}/messages` | a group of the caller | a token, membership |
/// | `/v1/client/sessions/customer/{app}/{uid}/messages` | a chat of the caller | a token |
/// | `/v1/client/rooms/{id}/messages` | what the server keeps of a room | a token |
final class HTTPFrontend: Sendable {
    private let node: Node
    private let weakServer: WeakServer
    private let startedMilliseconds: Int64

    /// The most messages of one page (docs/extensions.md, section 4).
    static let pageCountMax = 200
    static let pageCountDefault = 50

    init(server: Server, node: Node) {
        self.node = node
        weakServer = WeakServer(value: server)
        startedMilliseconds = node.clock().milliseconds
    }

    /// Starts to listen at a numeric address.
    func listen(host: String, port: UInt16, limits: HTTPLimits) throws(HTTPServerError) -> HTTPServer {
        try HTTPServer(host: host, port: port, limits: limits) { [self] request in await answer(request) }
    }

    /// Answers a request, whatever it holds.
    func answer(_ request: HTTPRequest) async -> HTTPResponse {
        node.metrics.httpRequests.add(1, ordering: .relaxed)
        do {
            return try await route(request)
        } catch let refusal as HTTPRefusal {
            return HTTPReply.refusal(refusal)
        } catch {
            node.metrics.httpErrors.add(1, ordering: .relaxed)
            node.logger.log(.error, "HTTP request failed", [("error", String(describing: type(of: error)))])
            return HTTPReply.refusal(.unavailable)
        }
    }

    private func route(_ request: HTTPRequest) async throws -> HTTPResponse {
        guard let path = request.segments else { throw HTTPRefusal.badRequest("the path is not UTF-8") }
        switch path {
        case ["health"]:
            try Self.expectGet(request)
            return health()
        case ["metrics"]:
            try Self.expectGet(request)
            return metrics()
        default:
            break
        }
        guard path.starts(with: ["v1", "client"]) else { throw HTTPRefusal.notFound }
        let rest = Array(path.dropFirst(2))
        if rest.count == 4, rest[0] == "sessions", rest[3] == "messages", ["peer", "group"].contains(rest[1])
        {
            try Self.expectGet(request)
            let account = try await authorise(request)
            let number = try Self.number(rest[2])
            let chat: HistoryChat =
                rest[1] == "peer" ? .peer(UserID(number)) : .group(GroupID(number))
            return try await history(of: chat, for: account, request)
        }
        if rest.count == 5, rest[0] == "sessions", rest[1] == "customer", rest[4] == "messages" {
            try Self.expectGet(request)
            let account = try await authorise(request)
            let (app, user) = (try Self.number(rest[2]), try Self.number(rest[3]))
            return try await history(of: .customer(app: app, UserID(user)), for: account, request)
        }
        if rest.count == 3, rest[0] == "rooms", rest[2] == "messages" {
            try Self.expectGet(request)
            _ = try await authorise(request)
            return try roomHistory(RoomID(try Self.number(rest[1])), request)
        }
        throw HTTPRefusal.notFound
    }

    // MARK: For the operator

    private func health() -> HTTPResponse {
        guard !node.metrics.isStorageFailing.load(ordering: .relaxed) else {
            return HTTPReply.refusal(
                HTTPRefusal(status: 503, code: "storage_failing", message: "messages cannot be stored"))
        }
        return HTTPReply.json(["status": "ok"])
    }

    private func metrics() -> HTTPResponse {
        let text = node.metrics.text(
            waitingMessages: node.logThread.waitingMessageCount, startedMilliseconds: startedMilliseconds)
        return HTTPResponse(
            status: 200,
            headers: [
                "Content-Type": "text/plain; version=0.0.4; charset=utf-8", "Cache-Control": "no-store",
            ],
            body: Array(text.utf8))
    }

    // MARK: For clients

    /// The account of the caller.
    private func authorise(_ request: HTTPRequest) async throws -> Account {
        guard let header = request.header("authorization") else { throw HTTPRefusal.unauthorized }
        let words = header.split(separator: " ", omittingEmptySubsequences: true)
        guard words.count == 2, words[0].lowercased() == "bearer", words[1].utf8.count <= 255 else {
            throw HTTPRefusal.unauthorized
        }
        let (token, now) = (String(words[1]), node.clock())
        let account = try await node.accountThread.perform { try $0.verify(token, now: now) }
        guard let account else { throw HTTPRefusal.unauthorized }
        return account
    }

    private func history(
        of chat: HistoryChat, for account: Account, _ request: HTTPRequest
    ) async throws -> HTTPResponse {
        let (place, limit) = (try Self.place(request), try Self.limit(request))
        do {
            let page = try await server().history(of: chat, for: account, place, limit: limit)
            return HTTPReply.page(page)
        } catch let error as ServerError where error.code == .notAMember {
            throw HTTPRefusal.notMember
        }
    }

    private func roomHistory(_ room: RoomID, _ request: HTTPRequest) throws -> HTTPResponse {
        let limit = try Self.limit(request)
        var (before, after): (Int64?, Int64?)
        switch try Self.place(request) {
        case .newest: break
        case .before(let key): before = key
        case .after(let key): after = key
        }
        // One more than asked for tells whether there is more.
        let entries = try server().roomHistory(of: room, before: before, after: after, limit: limit + 1)
        let page = after == nil ? entries.suffix(limit) : entries.prefix(limit)
        return HTTPReply.page(Array(page), of: room, hasMore: entries.count > limit)
    }

    private func server() throws -> Server {
        guard let server = weakServer.value else { throw Server.notRunning }
        return server
    }

    // MARK: Reading a request

    private static func expectGet(_ request: HTTPRequest) throws {
        guard request.method == "GET" || request.method == "HEAD" else {
            throw HTTPRefusal.wrongMethod(allowed: "GET")
        }
    }

    private static func number(_ text: String) throws -> Int64 {
        guard let number = plainNumber(text), number > 0 else { throw HTTPRefusal.notFound }
        return number
    }

    /// Digits alone: `+1`, ` 1` and digits of other scripts are other names of nothing.
    private static func plainNumber(_ text: String) -> Int64? {
        guard !text.isEmpty, text.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else { return nil }
        return Int64(text)
    }

    /// Which part of the chat; without a key, the newest.
    private static func place(_ request: HTTPRequest) throws -> HistoryPlace {
        func key(_ name: String) throws -> Int64? {
            guard let text = request.query(name) else { return nil }
            guard let key = plainNumber(text) else {
                throw HTTPRefusal.badRequest("'\(name)' must be the id of a message")
            }
            return key
        }
        switch (try key("before"), try key("after")) {
        case (nil, nil): return .newest
        case (let key?, nil): return .before(key)
        case (nil, let key?): return .after(key)
        default: throw HTTPRefusal.badRequest("'before' and 'after' exclude each other")
        }
    }

    private static func limit(_ request: HTTPRequest) throws -> Int {
        guard let text = request.query("limit") else { return pageCountDefault }
        guard let limit = plainNumber(text), (1...Int64(pageCountMax)).contains(limit) else {
            throw HTTPRefusal.badRequest("'limit' must lie between 1 and \(pageCountMax)")
        }
        return Int(limit)
    }
}

/// A server that the interface serves without keeping it alive.
private struct WeakServer: Sendable {
    weak let value: Server?
}
