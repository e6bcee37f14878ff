import Foundation
import FoundationNetworking
import RivuletModel
import RivuletServer
import RivuletServerCore
import RivuletTestSupport
import RivuletWire
import Testing

/// The HTTP interface over real sockets.
@Suite(.timeLimit(.minutes(2))) struct HTTPTests {
    struct Answer: Sendable {
        var status: Int
        var body: String
        var json: JSONObject?
    }

    /// The parts of an answer that the tests look at.
    struct JSONObject: Decodable, Sendable {
        struct Item: Decodable, Sendable {
            var id: String
            var uuid: String?
            var command: Int
            var sender: Int64
            var receiver: Int64
            var time_ms: Int64
            var content: String
        }

        struct Failure: Decodable, Sendable {
            var code: String
            var message: String
        }

        var items: [Item]?
        var more: Bool?
        var error: Failure?
        var status: String?
    }

    static func get(
        _ path: String, of server: TestServer, token: String? = nil, method: String = "GET"
    ) async throws -> Answer {
        let port = try #require(server.server.httpAddresses.first).port
        var request = URLRequest(url: try #require(URL(string: "http://127.0.0.1:\(port)\(path)")))
        request.httpMethod = method
        if let token { request.setValue("Bearer \(token)", forHTTPHeaderField: "Authorization") }
        let (data, response) = try await URLSession.shared.data(for: request)
        return Answer(
            status: (response as? HTTPURLResponse)?.statusCode ?? 0,
            body: String(decoding: data, as: UTF8.self),
            json: try? JSONDecoder().decode(JSONObject.self, from: data))
    }

    static func start(users: [Int64]) async throws -> TestServer {
        try await TestServer(users: users) {
            $0.http = [ListenAddress(host: "localhost", port: 0)]
        }
    }

    private func send(_ texts: [String], _ client: RawClient, from author: Int64, to peer: Int64) async throws
    {
        for text in texts {
            let content = #"{"uuid":"u-\#(text)","text":"\#(text)"}"#
            _ = await client.sendIM(from: author, to: peer, content)
            while try await client.receive().command != .ack {}
        }
    }

    @Test func `a chat is read page by page in both directions`() async throws {
        let server = try await Self.start(users: [1, 2, 3])
        let (one, three) = (try await server.login(1), try await server.login(3))
        try await send(["a", "b", "c"], one, from: 1, to: 2)
        try await send(["x"], three, from: 3, to: 1)
        try await send(["d", "e"], one, from: 1, to: 2)
        let path = "/v1/client/sessions/peer/2/messages"
        let token = try server.token(of: 1)

        let all = try await Self.get(path, of: server, token: token)
        #expect(all.status == 200)
        let items = try #require(all.json?.items)
        #expect(items.map(\.uuid) == ["u-a", "u-b", "u-c", "u-d", "u-e"])
        #expect(items.first?.content == #"{"uuid":"u-a","text":"a"}"#)
        #expect(items.allSatisfy { $0.sender == 1 && $0.receiver == 2 && $0.command == 4 })
        #expect(all.json?.more == false)

        var older = try await Self.get(path + "?limit=2", of: server, token: token)
        #expect(older.json?.items?.map(\.uuid) == ["u-d", "u-e"])
        #expect(older.json?.more == true)
        older = try await Self.get(
            path + "?limit=2&before=\(try #require(older.json?.items?.first).id)", of: server, token: token)
        #expect(older.json?.items?.map(\.uuid) == ["u-b", "u-c"])
        older = try await Self.get(path + "?limit=2&before=\(items[1].id)", of: server, token: token)
        #expect(older.json?.items?.map(\.uuid) == ["u-a"])
        #expect(older.json?.more == false)

        let newer = try await Self.get(path + "?limit=2&after=\(items[1].id)", of: server, token: token)
        #expect(newer.json?.items?.map(\.uuid) == ["u-c", "u-d"])
        #expect(newer.json?.more == true)

        // The other side sees the same messages under keys of its own queue.
        let other = try await Self.get(
            "/v1/client/sessions/peer/1/messages", of: server, token: try server.token(of: 2))
        #expect(other.json?.items?.map(\.uuid) == ["u-a", "u-b", "u-c", "u-d", "u-e"])
        await server.stop()
    }

    @Test func `only the caller's own chats can be read`() async throws {
        let server = try await Self.start(users: [1, 2, 3])
        try await send(["secret"], try await server.login(1), from: 1, to: 2)
        for peer in [1, 2, 3] {
            let answer = try await Self.get(
                "/v1/client/sessions/peer/\(peer)/messages", of: server, token: try server.token(of: 3))
            #expect(answer.status == 200)
            #expect(!answer.body.contains("secret"))
        }
        await server.stop()
    }

    @Test(arguments: [nil, "", "wrong", "rvt_aaaaaaaa_aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", "a b c"])
    func `without a valid token nothing is answered`(token: String?) async throws {
        let server = try await Self.start(users: [1])
        for path in ["sessions/peer/1/messages", "sessions/group/1/messages", "rooms/1/messages"] {
            let answer = try await Self.get("/v1/client/" + path, of: server, token: token)
            #expect(answer.status == 401)
            #expect(answer.json?.error?.code == "unauthorized")
        }
        await server.stop()
    }

    @Test func `a revoked token ends at once`() async throws {
        let server = try await Self.start(users: [1])
        let token = try server.token(of: 1)
        let directory = try AccountDirectory(in: DataDirectory(path: server.folder.path))
        try directory.revokeToken(token, now: .current)
        directory.close()
        #expect(
            try await Self.get("/v1/client/sessions/peer/1/messages", of: server, token: token).status == 401)
        await server.stop()
    }

    @Test(arguments: [
        ("/", "GET", 404, "not_found"), ("/v1/client", "GET", 404, "not_found"),
        ("/v1/client/sessions/peer/x/messages", "GET", 404, "not_found"),
        ("/v1/client/sessions/peer/0/messages", "GET", 404, "not_found"),
        ("/v1/client/sessions/peer/99999999999999999999/messages", "GET", 404, "not_found"),
        ("/v1/client/sessions/peer/1/messages?limit=0", "GET", 400, "bad_request"),
        ("/v1/client/sessions/peer/1/messages?limit=201", "GET", 400, "bad_request"),
        ("/v1/client/sessions/peer/1/messages?limit=-1", "GET", 400, "bad_request"),
        ("/v1/client/sessions/peer/1/messages?before=x", "GET", 400, "bad_request"),
        ("/v1/client/sessions/peer/1/messages?before=1&after=2", "GET", 400, "bad_request"),
        ("/v1/client/sessions/peer/1/messages", "DELETE", 405, "method_not_allowed"),
        ("/health", "POST", 405, "method_not_allowed"), ("/%ff", "GET", 400, "bad_request"),
    ])
    func `what is not understood is refused with a code`(
        path: String, method: String, status: Int, code: String
    ) async throws {
        let server = try await Self.start(users: [1])
        let answer = try await Self.get(path, of: server, token: try server.token(of: 1), method: method)
        #expect(answer.status == status)
        #expect(answer.json?.error?.code == code)
        #expect(answer.json?.error?.message.isEmpty == false)
        await server.stop()
    }

    @Test(arguments: [false, true])
    func `a group is read by its members alone`(isSuper: Bool) async throws {
        let server = try await Self.start(users: [1, 2, 3])
        try await server.server.apply([
            .createGroup(
                GroupID(9), app: 1, name: "Crew", isSuper: isSuper, owner: UserID(1), members: [UserID(2)])
        ])
        let one = try await server.login(1)
        for text in ["a", "b"] {
            let message = IMMessage(
                sender: 1, receiver: 9, msgLocalID: 1, content: #"{"uuid":"u-\#(text)","text":"x"}"#)
            _ = await one.send(.groupIM, .im(message))
            while try await one.receive().command != .ack {}
        }
        let path = "/v1/client/sessions/group/9/messages"
        for user in [1, 2] as [Int64] {
            let answer = try await Self.get(path, of: server, token: try server.token(of: user))
            // Between the messages stand the notifications of the group itself.
            let messages = answer.json?.items?.filter { $0.command == 8 }
            #expect(messages?.map(\.uuid) == ["u-a", "u-b"])
            #expect(answer.json?.items?.allSatisfy { $0.receiver == 9 } == true)
        }
        for path in [path, "/v1/client/sessions/group/10/messages"] {
            let answer = try await Self.get(path, of: server, token: try server.token(of: 3))
            #expect(answer.status == 403)
            #expect(answer.json?.error?.code == "not_a_member")
        }
        await server.stop()
    }

    @Test func `a room's recent messages are read page by page`() async throws {
        let server = try await Self.start(users: [1, 2])
        let one = try await server.login(1)
        _ = await one.send(.enterRoom, .roomID(5))
        for text in ["a", "b", "c"] {
            _ = await one.send(
                .roomIM,
                .room(RoomMessage(sender: 1, receiver: 5, content: #"{"uuid":"u-\#(text)","text":"x"}"#)))
            while try await one.receive().command != .ack {}
        }
        let token = try server.token(of: 2)
        let newest = try await Self.get("/v1/client/rooms/5/messages?limit=2", of: server, token: token)
        #expect(newest.json?.items?.map(\.uuid) == ["u-b", "u-c"])
        #expect(newest.json?.more == true)
        let id = try #require(newest.json?.items?.first).id
        let older = try await Self.get("/v1/client/rooms/5/messages?before=\(id)", of: server, token: token)
        #expect(older.json?.items?.map(\.uuid) == ["u-a"])
        #expect(older.json?.more == false)
        let empty = try await Self.get("/v1/client/rooms/6/messages", of: server, token: token)
        #expect(empty.json?.items?.isEmpty == true)
        let forward = try await Self.get(
            "/v1/client/rooms/5/messages?after=1&limit=2", of: server, token: token)
        #expect(forward.json?.items?.map(\.uuid) == ["u-a", "u-b"])
        #expect(forward.json?.more == true)
        let rest = try await Self.get("/v1/client/rooms/5/messages?after=\(id)", of: server, token: token)
        #expect(rest.json?.items?.map(\.uuid) == ["u-c"])
        #expect(rest.json?.more == false)
        let both = try await Self.get(
            "/v1/client/rooms/5/messages?after=1&before=2", of: server, token: token)
        #expect(both.status == 400)
        await server.stop()
    }

    @Test func `who polls a room by key misses nothing over a restart, even when the clock was set back`()
        async throws
    {
        let time = ManualTime()
        let folder = try TemporaryFolder()
        var last = "0"
        for (round, days) in ([0, 0, -3, 1] as [Int64]).enumerated() {
            time.advance(days: days)
            let server = try await TestServer(users: [1], folder: folder, time: time) {
                $0.http = [ListenAddress(host: "127.0.0.1", port: 0)]
            }
            let author = try await server.login(1)
            _ = await author.send(.enterRoom, .roomID(5))
            for part in ["a", "b"] {
                await author.send(
                    .roomIM,
                    .room(RoomMessage(sender: 1, receiver: 5, content: #"{"uuid":"\#(round)\#(part)"}"#)))
                #expect(try await author.receive().command == .ack)
            }
            let news = try await Self.get(
                "/v1/client/rooms/5/messages?after=\(last)", of: server,
                token: try server.token(of: 1))
            #expect(news.json?.items?.map(\.uuid) == ["\(round)a", "\(round)b"])
            let ids = try #require(news.json?.items?.compactMap { Int64($0.id) })
            #expect(ids.allSatisfy { $0 > Int64(last) ?? .max && $0 < 1 << 53 })
            last = try #require(news.json?.items?.last?.id)
            await server.stop()
        }
    }

    @Test func `health and counts tell how the server is, and nothing of what was said`() async throws {
        let server = try await Self.start(users: [1, 2])
        try await send(["secret"], try await server.login(1), from: 1, to: 2)
        let health = try await Self.get("/health", of: server)
        #expect(health.status == 200)
        #expect(health.json?.status == "ok")
        let metrics = try await Self.get("/metrics", of: server)
        #expect(metrics.status == 200)
        for line in [
            "rivulet_connections 1", "rivulet_connections_total{result=\"accepted\"} 1",
            "rivulet_logins_total{result=\"accepted\"} 1", "rivulet_messages_total{result=\"stored\"} 1",
            "rivulet_commits_total 1", "rivulet_storage_errors_total 0", "rivulet_http_requests_total 2",
        ] {
            #expect(metrics.body.split(separator: "\n").contains(Substring(line)), "\(line) is missing")
        }
        #expect(!metrics.body.contains("secret"))
        // The text format: each sample follows its HELP and TYPE.
        for line in metrics.body.split(separator: "\n") where !line.hasPrefix("#") {
            #expect(line.wholeMatch(of: /rivulet_[a-z_]+(\{result="[a-z]+"\})? [0-9]+/) != nil)
        }
        await server.stop()
    }

    @Test func `a taken HTTP port is named, and nothing of the server is left running`() async throws {
        let first = try await Self.start(users: [])
        let taken = try #require(first.server.httpAddresses.first)
        let folder = try TemporaryFolder()
        for _ in 0..<2 {
            await #expect {
                _ = try await TestServer(users: [], folder: folder) { $0.http = [taken] }
            } throws: { ($0 as? ServerError)?.code == .addressInUse }
        }
        await #expect {
            _ = try await TestServer(users: [], folder: folder) {
                $0.http = [ListenAddress(host: "no-such-host.invalid", port: 0)]
            }
        } throws: { ($0 as? ServerError)?.code == .addressUnusable }
        await first.stop()
    }
}
