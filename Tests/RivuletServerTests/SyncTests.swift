import RivuletServer
import RivuletServerCore
import RivuletTestSupport
import RivuletWire
import Testing

/// Offline messages over real sockets, after the recorded scenarios 14 and 46 (docs/protocol.md, section 23).
@Suite struct SyncTests {
    private func key(_ packet: Packet) throws -> Int64 {
        guard case .syncKey(let key) = packet.body else { throw RawClient.Failure.timeout(seen: [packet]) }
        return key
    }

    /// One round from BEGIN to END, and NOTIFY if it follows.
    private func round(_ client: RawClient, after key: Int64) async throws -> (
        begin: Int64, contents: [String], end: Int64, frames: [Packet]
    ) {
        await client.send(.sync, .syncKey(key))
        let begin = try await client.receive()
        #expect(begin.command == .syncBegin)
        var frames: [Packet] = []
        while true {
            let packet = try await client.receive()
            if packet.command == .syncEnd {
                let contents = frames.compactMap { frame in
                    if case .im(let message) = frame.body { message.content } else { nil as String? }
                }
                return (try self.key(begin), contents, try self.key(packet), frames)
            }
            frames.append(packet)
        }
    }

    @Test func `zero, old, huge and negative keys are answered as the public server does`() async throws {
        let server = try await TestServer(users: [111, 112])
        let author = try await server.login(111, device: "dev-a")
        for index in 0..<3 {
            _ = await author.sendIM(from: 111, to: 112, "offline \(index)", number: 1 + Int32(index))
        }
        _ = try await author.receive(6)

        let reader = try await server.login(112)
        let all = ["offline 0", "offline 1", "offline 2"]
        let first = try await round(reader, after: 0)
        #expect(first.contents == all)
        #expect(first.begin == 0)
        #expect(first.frames.allSatisfy { $0.flags == [] })
        let newest = first.end

        await reader.send(.syncKey, .syncKey(newest))
        let reported = try await round(reader, after: 0)
        #expect((reported.contents, reported.end) == ([], newest))
        #expect(reported.begin == newest)
        let same = try await round(reader, after: newest)
        #expect((same.contents, same.end) == ([], newest))
        #expect(try await round(reader, after: newest - 1).contents == ["offline 2"])
        let huge = try await round(reader, after: 1 << 40)
        #expect((huge.contents, huge.end) == ([], newest))
        #expect(try await round(reader, after: -1).contents == all)

        await reader.send(.syncKey, .syncKey(1))
        #expect(try await round(reader, after: 0).contents == [])

        let own = try await round(author, after: 0)
        #expect(own.contents == all)
        #expect(own.frames.allSatisfy { $0.flags == .isSelf })
        let second = try await server.login(111, device: "dev-a2")
        #expect(try await round(second, after: 0).frames.allSatisfy { $0.flags == [] })
        await server.stop()
    }

    @Test func `a reported key above everything is lowered by a true one`() async throws {
        let server = try await TestServer(users: [111, 112])
        let author = try await server.login(111)
        let reader = try await server.login(112)
        _ = await author.sendIM(from: 111, to: 112, "one")
        _ = try await author.receive(2)
        _ = try await reader.receive(3)
        let newest = try await round(reader, after: -1).end
        await reader.send(.syncKey, .syncKey(1 << 50))
        _ = try await round(reader, after: 0)
        await reader.send(.syncKey, .syncKey(newest))
        _ = await author.sendIM(from: 111, to: 112, "two")
        _ = try await author.receive(2)
        #expect(try await reader.receive(3).last?.command == .syncNotify)
        let after = try await round(reader, after: 0)
        #expect((after.begin, after.contents) == (newest, ["two"]))
        await server.stop()
    }

    @Test(arguments: [1000, 7])
    func `five thousand messages of a user who was away arrive once, in order, in pages`(page: Int)
        async throws
    {
        let count = page == 7 ? 100 : 5000
        let server = try await TestServer(users: [131, 132]) { $0.pageLimit = PageLimit(countMax: page) }
        let author = try await server.login(131)
        for index in 0..<count { _ = await author.sendIM(from: 131, to: 132, "m\(index)") }
        for _ in 0..<count { #expect(try await author.receive(2)[1].command == .ack) }

        let reader = try await server.login(132)
        var contents: [String] = []
        var key: Int64 = 0
        var rounds = 0
        while true {
            let (_, page, end, _) = try await round(reader, after: key)
            contents += page
            rounds += 1
            if contents.count == count { break }
            #expect(try await reader.receive().body == .syncKey(end + 1), "a page that is not the last")
            key = end
        }
        #expect(contents == (0..<count).map { "m\($0)" })
        #expect(rounds == (count + page - 1) / page)
        #expect(try await reader.receiveUntilPong().isEmpty)
        await server.stop()
    }

    @Test func `pages are bounded by bytes, too`() async throws {
        let server = try await TestServer(users: [131, 132]) {
            $0.pageLimit = PageLimit(countMax: 1000, bytesMax: 50_000)
        }
        let author = try await server.login(131)
        let text = String(repeating: "x", count: 20_000)
        for _ in 0..<5 { _ = await author.sendIM(from: 131, to: 132, text) }
        _ = try await author.receive(10)
        let reader = try await server.login(132)
        let first = try await round(reader, after: 0)
        #expect(first.contents.count == 2)
        #expect(try await reader.receive().body == .syncKey(first.end + 1))
        await server.stop()
    }

    @Test func `too many requests at once end the connection, and only that one`() async throws {
        let server = try await TestServer(users: [131, 132]) { $0.limits.waitingSyncsMax = 4 }
        let greedy = try await server.login(131)
        let other = try await server.login(132)
        let frame = try Packet(.sync, .syncKey(-1)).pack(from: .client, profile: .current)
        await greedy.send(Array(repeatElement(frame, count: 1000).joined()))
        _ = try await greedy.receiveUntilClosed()
        #expect(try await other.receiveUntilPong().isEmpty)
        await server.stop()
    }
}
