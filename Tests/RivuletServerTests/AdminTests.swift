import Foundation
import RivuletModel
import RivuletServer
import RivuletServerCore
import RivuletTestSupport
import RivuletWire
import Testing

@testable import RivuletServer

/// The administration of a running server through its socket, and of a stopped one through its files.
@Suite(.timeLimit(.minutes(2))) struct AdminTests {
    let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
    }

    private var data: DataDirectory { DataDirectory(path: folder.path) }

    private func ask(_ request: AdminRequest) async throws -> AdminAnswer {
        try await ServerAdministration(of: data).perform(request)
    }

    /// Runs what blocks on a thread of its own: the tests' own threads are few, and the server needs one.
    private func blocking<Value: Sendable>(
        _ body: @escaping @Sendable () throws -> Value
    ) async throws -> Value {
        try await withCheckedThrowingContinuation { continuation in
            BlockingWork.run { continuation.resume(with: Result { try body() }) }
        }
    }

    /// The same story on a running and on a stopped server.
    private func tellStory() async throws {
        var answer = try await ask(
            .createGroup(id: nil, name: "Crew", owner: 1, members: [2, 3], isSuper: false))
        #expect(answer.ok)
        let group = try #require(answer.groups?.first)
        #expect(group.name == "Crew")
        #expect(group.owner == 1)
        #expect(group.members?.map(\.user) == [1, 2, 3])
        #expect(group.members?.map(\.role) == ["owner", "member", "member"])
        answer = try await ask(.createGroup(id: group.id, name: "x", owner: 1, members: [], isSuper: false))
        #expect(answer.error?.code == "group_exists")

        #expect(try await ask(.addMembers(group: group.id, users: [4, 5, 2])).changed == 2)
        #expect(try await ask(.removeMembers(group: group.id, users: [5])).changed == 1)
        #expect(try await ask(.setRole(group: group.id, user: 2, role: "admin")).changed == 1)
        #expect(try await ask(.setRole(group: group.id, user: 2, role: "king")).error?.code == "bad_role")
        #expect(
            try await ask(.setRole(group: group.id, user: 9, role: "admin")).error?.code == "not_a_member")
        #expect(try await ask(.muteGroup(id: group.id, isMuted: true)).changed == 1)
        #expect(try await ask(.muteMembers(group: group.id, users: [3, 4], isMuted: true)).changed == 2)
        #expect(try await ask(.setSuper(group: group.id, isSuper: true)).changed == 1)
        #expect(try await ask(.renameGroup(id: group.id, name: "Krew")).changed == 1)
        #expect(try await ask(.renameGroup(id: group.id, name: "a\nb")).error?.code == "bad_name")
        #expect(try await ask(.removeMembers(group: group.id, users: [1])).error?.code == "owner_needed")

        let shown = try #require(try await ask(.showGroup(id: group.id)).groups?.first)
        #expect(shown.isMuted)
        #expect(shown.isSuper)
        #expect(shown.name == "Krew")
        #expect(shown.members?.filter(\.isMuted).map(\.user) == [3, 4])
        #expect(try await ask(.listGroups(user: 4)).groups?.map(\.id) == [group.id])
        #expect(try await ask(.listGroups(user: 5)).groups == [])

        #expect(try await ask(.banFromRoom(room: 7, users: [1, 2], isBanned: true)).changed == 2)
        #expect(try await ask(.banFromRoom(room: 7, users: [1], isBanned: false)).changed == 1)
        #expect(try await ask(.banFromRoom(room: 0, users: [1], isBanned: true)).error?.code == "bad_number")
        #expect(try await ask(.listBans(room: nil)).rooms?.map(\.banned) == [[2]])

        #expect(
            try await ask(.setFriends(user: 1, others: [2, 3], isFriend: true, oneWay: false)).changed == 4)
        #expect(try await ask(.setFriends(user: 1, others: [1], isFriend: true, oneWay: true)).error != nil)
        #expect(try await ask(.setBlocked(user: 1, others: [9], isBlocked: true)).changed == 1)
        let lists = try await ask(.listFriends(user: 1))
        #expect(lists.friends == [2, 3])
        #expect(lists.blocked == [9])

        #expect(try await ask(.dissolveGroup(id: group.id)).changed == 1)
        #expect(try await ask(.showGroup(id: group.id)).error?.code == "no_such_group")
        #expect(try await ask(.addMembers(group: group.id, users: [1])).error?.code == "no_such_group")
    }

    @Test func `a running server is asked through its socket`() async throws {
        let server = try await TestServer(users: [], folder: folder)
        try await tellStory()
        await server.stop()
        #expect(!FileManager.default.fileExists(atPath: data.adminSocketPath))
        // What was changed is kept, and found again without the server.
        #expect(try await ask(.listFriends(user: 1)).friends == [2, 3])
    }

    @Test func `a stopped server's files are changed, and it knows of it when it starts`() async throws {
        try await tellStory()
        let server = try await TestServer(users: [], folder: folder)
        #expect(try await ask(.listFriends(user: 1)).friends == [2, 3])
        #expect(try await server.server.memberships().isBlocked(UserID(9), by: Account(user: UserID(1))))
        await server.stop()
    }

    @Test func `only the owner may use the socket`() async throws {
        let server = try await TestServer(users: [], folder: folder)
        let attributes = try FileManager.default.attributesOfItem(atPath: data.adminSocketPath)
        #expect((attributes[.posixPermissions] as? NSNumber)?.intValue == 0o600)
        await server.stop()
    }

    @Test func `the socket of a killed server does not stand in the way`() async throws {
        // Nobody listens on a socket whose maker is gone, but its file stays.
        do {
            let left = try UnixSocket.listen(at: data.adminSocketPath)
            _ = left
        }
        #expect(FileManager.default.fileExists(atPath: data.adminSocketPath))
        #expect(try await ask(.listGroups(user: nil)).groups == [])
        let server = try await TestServer(users: [], folder: folder)
        #expect(try await ask(.listGroups(user: nil)).groups == [])
        await server.stop()
    }

    @Test func `a folder whose path is too long for a socket's address works all the same`() async throws {
        let deep = folder.path(of: String(repeating: "d", count: 120))
        try FileManager.default.createDirectory(atPath: deep, withIntermediateDirectories: true)
        var configuration = ServerConfiguration(data: DataDirectory(path: deep))
        configuration.listen = [ListenAddress(host: "127.0.0.1", port: 0)]
        let server = Server(configuration)
        try await server.start()
        let administration = ServerAdministration(of: DataDirectory(path: deep))
        #expect(
            try await administration.perform(.banFromRoom(room: 1, users: [2], isBanned: true)).changed == 1)
        #expect(try await server.memberships().isBanned(Account(user: UserID(2)), from: RoomID(1)))
        await server.stop()
    }

    @Test(arguments: [
        "", "{", "null", "[]", "{}", #"{"listGroups":{}}"# + "x", #"{"destroyEverything":{}}"#,
        #"{"showGroup":{"id":"x"}}"#, #"{"showGroup":{"id":99999999999999999999}}"#, "\u{0}\u{ff}",
        #"{"showGroup":{"id":1},"dissolveGroup":{"id":1}}"#, String(repeating: "[", count: 2000),
    ])
    func `a line that is no request is answered, and the next one is heard`(line: String) async throws {
        let server = try await TestServer(users: [], folder: folder)
        let text = line + "\n" + #"{"listGroups":{}}"# + "\n"
        let answers = try await blocking { [data] in
            let socket = try UnixSocket.connect(to: data.adminSocketPath)
            socket.setPatience(seconds: 20)
            #expect(socket.write(Array(text.utf8)))
            var splitter = LineSplitter(bytesMax: 1_000_000)
            var answers: [AdminAnswer] = []
            while answers.count < 2, let bytes = socket.read(), let lines = splitter.take(bytes) {
                answers += try lines.map { try #require(AdminCoding.answer($0)) }
            }
            return answers
        }
        try #require(answers.count == 2)
        #expect(answers[0].error?.code == "bad_request")
        #expect(answers[1].groups == [])
        await server.stop()
    }

    @Test func `an endless line ends the connection`() async throws {
        let server = try await TestServer(users: [], folder: folder)
        let answer = try await blocking { [data] in
            let socket = try UnixSocket.connect(to: data.adminSocketPath)
            socket.setPatience(seconds: 20)
            let piece = [UInt8](repeating: UInt8(ascii: "x"), count: 65_536)
            for _ in 0..<64 { guard socket.write(piece) else { break } }
            var answer: [UInt8] = []
            while let bytes = socket.read() { answer += bytes }
            return answer
        }
        // The answer may be lost with the connection, since there were unread bytes.
        #expect(answer.isEmpty || AdminCoding.answer(answer)?.error?.code == "too_long")
        #expect(try await ask(.listGroups(user: nil)).ok)
        await server.stop()
    }

    @Test func `silent connections do not keep the server from stopping`() async throws {
        let server = try await TestServer(users: [], folder: folder)
        var silent: [UnixSocket] = []
        for _ in 0..<(AdminSocket.connectionsMax + 4) {
            silent.append(try UnixSocket.connect(to: data.adminSocketPath))
        }
        await server.stop()
        let first = silent[0]
        #expect(try await blocking { first.read() } == nil)
    }

    @Test(arguments: [true, false])
    func `tokens are made, listed and revoked, on a running server and on its files`(isRunning: Bool)
        async throws
    {
        let server = isRunning ? try await TestServer(users: [], folder: folder) : nil
        let made = try await ask(.createTokens(first: 7, last: 9, label: "l", lifetime: nil))
        #expect(made.tokens?.map(\.user) == [7, 8, 9])
        let secrets = try #require(made.tokens).compactMap(\.token)
        #expect(Set(secrets).count == 3)
        _ = try await ask(.createTokens(first: 7, last: 7, label: "", lifetime: 60_000))
        let list = try await ask(.listTokens(user: 7)).tokens ?? []
        #expect(list.count == 2)
        #expect(list.allSatisfy { $0.token == nil && $0.user == 7 && $0.revokedMilliseconds == nil })
        #expect(list.count { $0.expiresMilliseconds == $0.createdMilliseconds + 60_000 } == 1)
        let revoked = try await ask(.revokeTokens(tokens: [secrets[0], "typo", list[1].id]))
        #expect(revoked.unknownCount == 1)
        #expect(revoked.tokens?.count == 2)
        #expect(try await ask(.listTokens(user: 7)).tokens?.allSatisfy { !$0.isValid(at: 0) } == true)
        #expect(try await ask(.listTokens(user: nil)).tokens?.count == 4)
        for (first, last) in [(0, 1), (2, 1), (1, 100_001), (-1, .max)] as [(Int64, Int64)] {
            let refused = try await ask(.createTokens(first: first, last: last, label: "", lifetime: nil))
            #expect(refused.error?.code == "bad_range")
        }
        let long = String(repeating: "x", count: 256)
        #expect(
            try await ask(.createTokens(first: 1, last: 1, label: long, lifetime: nil)).error?.code
                == "bad_label")
        #expect(
            try await ask(.createTokens(first: 1, last: 1, label: "", lifetime: 0)).error?.code
                == "bad_lifetime")
        await server?.stop()
    }

    @Test func `revoking a token ends its connections and no others`() async throws {
        let server = try await TestServer(users: [1], folder: folder)
        let port = server.port
        let made = try await ask(.createTokens(first: 1, last: 2, label: "", lifetime: nil)).tokens ?? []
        try #require(made.count == 2)
        let token = try #require(made[0].token)
        let phone = try await RawClient.login(port: port, token: token, device: "phone")
        let laptop = try await RawClient.login(port: port, token: token, device: "laptop")
        let kept = try await server.login(1, device: "desk")
        #expect(try await ask(.revokeTokens(tokens: [made[0].id])).tokens?.count == 1)
        for client in [phone, laptop] { #expect(try await client.receiveUntilClosed().isEmpty) }
        #expect(try await kept.receiveUntilPong().isEmpty)
        let back = try await RawClient.connect(port: port)
        let login = AuthenticationToken(token: token, platformID: .iOS, deviceID: "phone")
        await back.send(.authToken, .authToken(login))
        #expect(try await back.receive().body == .authStatus(AuthenticationStatus(status: 1)))
        await server.stop()
    }

    @Test(arguments: 0..<64)
    func `lines are the same however the bytes are split`(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        let lines: [[UInt8]] = (0..<5).map { _ in
            (0..<Int.random(in: 0...20, using: &random)).map { _ in UInt8.random(in: 11...255, using: &random)
            }
        }
        var rest = lines.flatMap { $0 + [10 as UInt8] }[...]
        var splitter = LineSplitter(bytesMax: 20)
        var found: [[UInt8]] = []
        while !rest.isEmpty {
            let piece = rest.prefix(Int.random(in: 1...9, using: &random))
            rest = rest.dropFirst(piece.count)
            found += splitter.take(Array(piece)) ?? []
        }
        #expect(found == lines)
    }
}
