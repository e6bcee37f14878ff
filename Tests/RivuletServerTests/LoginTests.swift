import RivuletModel
import RivuletServer
import RivuletServerCore
import RivuletTestSupport
import RivuletWire
import Testing

/// Login over real sockets, after the shapes recorded from the public server (docs/protocol.md, section 23).
@Suite struct LoginTests {
    private func token(_ text: String, device: String = "dev-a") -> PacketBody {
        .authToken(AuthenticationToken(token: text, platformID: .iOS, deviceID: device))
    }

    @Test(arguments: [0, 1, 2, 7] as [UInt8])
    func `a good token is answered with status 0 in the login's version`(version: UInt8) async throws {
        let server = try await TestServer(users: [101])
        let client = try await RawClient.connect(port: server.port, version: version)
        await client.send(.authToken, token(try server.token(of: 101)))
        let answer = try await client.receive()
        #expect(
            answer
                == Packet(
                    .authStatus, .authStatus(AuthenticationStatus(status: 0)), sequence: 1, version: version))
        await server.stop()
    }

    @Test func `a bad token is refused in version 0, and a good one still works on the same connection`()
        async throws
    {
        let server = try await TestServer(users: [101])
        let client = try await RawClient.connect(port: server.port)
        await client.send(.authToken, token("no-such-token"))
        await client.send(.ping)
        await client.send(.authToken, token(try server.token(of: 101)))
        await client.send(.ping)
        let answers = try await client.receive(4)
        #expect(answers.map(\.command) == [.authStatus, .pong, .authStatus, .pong])
        #expect(answers.map(\.version) == [0, 0, 2, 2])
        #expect(answers.map(\.sequence) == [1, 2, 3, 4])
        #expect(answers[0].body == .authStatus(AuthenticationStatus(status: 1)))
        #expect(answers[2].body == .authStatus(AuthenticationStatus(status: 0)))
        await server.stop()
    }

    @Test func `a refused connection is closed after the grace, and the reason is logged`() async throws {
        let server = try await TestServer(users: []) { $0.limits.refusedLoginGraceMilliseconds = 50 }
        let client = try await RawClient.connect(port: server.port)
        await client.send(.authToken, token("no-such-token"))
        let packets = try await client.receiveUntilClosed()
        #expect(packets.map(\.command) == [.authStatus])
        #expect(server.log.lines.contains { $0.fields.contains { $0.value == "login_refused" } })
        await server.stop()
    }

    @Test func `guessing tokens on one connection ends at the limit`() async throws {
        let server = try await TestServer(users: []) { $0.limits.refusedLoginsMax = 3 }
        let client = try await RawClient.connect(port: server.port)
        for _ in 0..<10 { await client.send(.authToken, token("no-such-token")) }
        #expect(try await client.receiveUntilClosed().count == 3)
        await server.stop()
    }

    @Test func `a login is told to the user's other devices by NOTIFICATION`() async throws {
        let server = try await TestServer(users: [101, 102]) { $0.rules.tellsLogins = true }
        let phone = try await server.login(101, device: "phone")
        let other = try await server.login(102)
        let laptop = try await server.login(101, device: "laptop", platform: .linux)
        let told = try await phone.receive()
        #expect(told.command == .notification)
        guard case .text(let text) = told.body else { return }
        let ending = #","platform":\#(PlatformID.linux.rawValue),"device":"laptop"}}"#
        #expect(text.hasPrefix(#"{"login_point":{"time":"#) && text.hasSuffix(ending))
        for client in [laptop, other, phone] { #expect(try await client.receiveUntilPong().isEmpty) }
        await server.stop()
    }

    @Test func `UNREAD_COUNT outlives the server, and the next login resets it`() async throws {
        let server = try await TestServer(users: [101])
        let account = Account(user: UserID(101))
        let client = try await server.login(101)
        await client.send(.unreadCount, .unreadCount(7))
        _ = try await client.receiveUntilPong()
        #expect(try await server.server.unreadCount(of: account) == 7)
        await server.stop()
        let again = try await TestServer(users: [101], folder: server.folder)
        #expect(try await again.server.unreadCount(of: account) == 7)
        _ = try await again.login(101)
        #expect(try await again.server.unreadCount(of: account) == 0)
        await again.stop()
        let last = try await TestServer(users: [101], folder: server.folder)
        #expect(try await last.server.unreadCount(of: account) == 0)
        await last.stop()
        await #expect { _ = try await last.server.unreadCount(of: account) } throws: {
            ($0 as? ServerError)?.code == .notRunning
        }
    }

    @Test func `a second login is ignored`() async throws {
        let server = try await TestServer(users: [101, 102])
        let client = try await server.login(101)
        await client.send(.authToken, token(try server.token(of: 102)))
        #expect(try await client.receiveUntilPong().isEmpty)
        await server.stop()
    }

    @Test func `before login only PING is answered`() async throws {
        let server = try await TestServer(users: [101])
        let client = try await RawClient.connect(port: server.port)
        await client.send(.sync, .syncKey(0))
        await client.send(.unreadCount, .unreadCount(3))
        await client.send(.rt, .room(RTMessage(sender: 0, receiver: 101, content: "x")))
        _ = await client.sendIM(from: 0, to: 101, "x")
        #expect(try await client.receiveUntilPong().isEmpty)
        await server.stop()
    }

    @Test func `what follows a login in the same bytes is handled after it`() async throws {
        let server = try await TestServer(users: [101])
        let client = try await RawClient.connect(port: server.port)
        var encoder = PacketEncoder(role: .client, profile: .current)
        try encoder.append(Packet(.authToken, token(try server.token(of: 101)), sequence: 1))
        try encoder.append(Packet(.sync, .syncKey(0), sequence: 2))
        try encoder.append(Packet(.ping, sequence: 3))
        await client.send(encoder.takeBytes())
        let commands = try await client.receive(4).map(\.command)
        #expect(Set(commands) == [.authStatus, .syncBegin, .syncEnd, .pong])
        #expect(commands.first == .authStatus)
        await server.stop()
    }

    @Test func `pings are answered before and after login`() async throws {
        let server = try await TestServer(users: [101])
        let client = try await RawClient.connect(port: server.port)
        await client.send(.ping)
        #expect(try await client.receive() == Packet(.pong, sequence: 1, version: 0))
        await client.send(.authToken, token(try server.token(of: 101)))
        _ = try await client.receive()
        await client.send(.ping, version: 1)
        #expect(try await client.receive() == Packet(.pong, sequence: 3, version: 2))
        await client.send(.pong)
        #expect(try await client.receiveUntilPong().isEmpty)
        await server.stop()
    }

    @Test func `a silent connection is closed at the login deadline`() async throws {
        let server = try await TestServer(users: []) { $0.deadlines.loginMilliseconds = 60 }
        let client = try await RawClient.connect(port: server.port)
        #expect(try await client.receiveUntilClosed().isEmpty)
        await server.stop()
    }

    @Test func `trickling bytes does not extend the read deadline`() async throws {
        let server = try await TestServer(users: [101]) { $0.deadlines.readMilliseconds = 2000 }
        let client = try await server.login(101)
        let frame = try Packet(.sync, .syncKey(0)).pack(from: .client, profile: .current)
        let began = ContinuousClock.now
        for byte in frame.dropLast() {
            await client.send([byte])
            try await Task.sleep(for: .milliseconds(150))
        }
        #expect(try await client.receiveUntilClosed().isEmpty)
        #expect(ContinuousClock.now - began < .seconds(30))
        await server.stop()
    }
}
