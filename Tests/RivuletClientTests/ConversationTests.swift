import RivuletClient
import RivuletClientCore
import RivuletWire
import Testing

@Suite("Two services over a real server", .timeLimit(.minutes(5)))
struct ConversationTests {
    @Test func `two people chat and each message arrives once and in order`() async throws {
        let server = try await ChatServer()
        let (storage7, storage8) = (makeStorage(), makeStorage())
        let service7 = try server.makeService(user: 7, storage: storage7)
        let service8 = try server.makeService(user: 8, storage: storage8)
        try await service7.startAndSync()
        try await service8.startAndSync()
        let (arrivals7, arrivals8) = (service7.messages(), service8.messages())
        for number in 1...20 {
            try await service7.send(peerMessage("a\(number)", from: 7, to: 8))
            try await service8.send(peerMessage("b\(number)", from: 8, to: 7))
        }
        _ = try await take(20, of: arrivals7)
        _ = try await take(20, of: arrivals8)
        #expect(storage8.contents(from: 7) == (1...20).map { content("a\($0)") })
        #expect(storage7.contents(from: 8) == (1...20).map { content("b\($0)") })
        #expect(storage7.restored.outbox.isEmpty)
        await service7.stopAndWait()
        await service8.stopAndWait()
        await server.stop()
    }

    @Test func `a burst without waiting keeps its order`() async throws {
        let server = try await ChatServer()
        let storage8 = makeStorage()
        let service7 = try server.makeService(user: 7, storage: makeStorage())
        let service8 = try server.makeService(user: 8, storage: storage8)
        try await service8.startAndSync()
        let arrivals = service8.messages()
        service7.start()
        for number in 1...500 { try service7.enqueue(peerMessage("\(number)", from: 7, to: 8)) }
        _ = try await take(500, of: arrivals)
        #expect(storage8.contents(from: 7) == (1...500).map { content("\($0)") })
        await service7.stopAndWait()
        await service8.stopAndWait()
        await server.stop()
    }

    @Test func `a restart of the server loses and doubles nothing`() async throws {
        let server = try await ChatServer()
        let storage8 = makeStorage()
        let service7 = try server.makeService(user: 7, storage: makeStorage())
        let service8 = try server.makeService(user: 8, storage: storage8)
        try await service7.startAndSync()
        try await service8.startAndSync()
        let arrivals = service8.messages()
        try await service7.send(peerMessage("before", from: 7, to: 8))
        let states = service7.connectionStates()
        await server.stop()
        try await first(of: states) { $0 != .authenticated }
        try service7.enqueue(peerMessage("while away 1", from: 7, to: 8))
        try service7.enqueue(peerMessage("while away 2", from: 7, to: 8))
        try await server.restart()
        try await service7.send(peerMessage("after", from: 7, to: 8))
        _ = try await take(4, of: arrivals)
        let expected = ["before", "while away 1", "while away 2", "after"].map(content)
        #expect(storage8.contents(from: 7) == expected)
        await service7.stopAndWait()
        await service8.stopAndWait()
        await server.stop()
    }

    @Test func `five thousand messages that were missed come in pages, once and in order`() async throws {
        let server = try await ChatServer()
        let service7 = try server.makeService(user: 7, storage: makeStorage())
        service7.start()
        let reports = service7.sendReports()
        for number in 1...5000 { try service7.enqueue(peerMessage("\(number)", from: 7, to: 8)) }
        // The stream may lose its oldest elements; the last one is never among them.
        try await first(of: reports) { $0.step == .acknowledged && $0.entry.uuid == "uuid-5000" }
        let storage8 = makeStorage()
        let service8 = try server.makeService(user: 8, storage: storage8)
        let rounds = service8.notifications()
        service8.start()
        for await notification in rounds where notification == .roundFinished(.peer) {
            if storage8.received.count >= 5000 { break }
        }
        #expect(storage8.contents(from: 7) == (1...5000).map { content("\($0)") })
        #expect(storage8.commitCount >= 5, "each page is a batch")
        await service7.stopAndWait()
        await service8.stopAndWait()
        await server.stop()
    }

    @Test
    func `a service that is made anew over the same storage sends what was left and asks for nothing twice`()
        async throws
    {
        let server = try await ChatServer()
        let (storage7, storage8) = (makeStorage(), makeStorage())
        let service8 = try server.makeService(user: 8, storage: storage8)
        try await service8.startAndSync()
        let arrivals = service8.messages()
        let offline = try server.makeService(user: 7, storage: storage7, port: 1)
        offline.start()
        let reports = offline.sendReports()
        try offline.enqueue(peerMessage("left behind", from: 7, to: 8))
        try await first(of: reports) { $0.step == .queued }
        await offline.stopAndWait()
        #expect(storage7.restored.outbox.count == 1)
        let service7 = try server.makeService(user: 7, storage: storage7)
        service7.start()
        _ = try await take(1, of: arrivals)
        #expect(storage8.contents(from: 7) == [content("left behind")])
        await service7.stopAndWait()
        await service8.stopAndWait()
        await server.stop()
    }

    @Test func `another device of the same user sees what this one sends`() async throws {
        let server = try await ChatServer()
        let (storage7, storage70) = (makeStorage(), makeStorage())
        let service7 = try server.makeService(user: 7, storage: storage7, device: "phone")
        let service70 = try server.makeService(user: 7, storage: storage70, device: "desk")
        try await service7.startAndSync()
        try await service70.startAndSync()
        let arrivals = service70.messages()
        try await service7.send(peerMessage("hello", from: 7, to: 8))
        let copies = try await take(1, of: arrivals)
        #expect(copies.first?.isOwn == true)
        #expect(copies.first?.isFromThisDevice == false)
        await service7.stopAndWait()
        await service70.stopAndWait()
        await server.stop()
    }

    @Test func `a refused token asks the token source and logs in with its answer`() async throws {
        let server = try await ChatServer()
        let good = try server.token(of: 7)
        let service = try server.makeService(user: 7, storage: makeStorage()) { configuration in
            configuration.identity.token = "stale"
            configuration.tokenSource = { _ in good }
        }
        let states = service.connectionStates()
        service.start()
        var seen: [ConnectionState] = []
        for await state in states {
            seen.append(state)
            if state == .authenticated { break }
        }
        #expect(seen.contains(.authenticationFail))
        #expect(service.token == good, "the next start uses it, too")
        await service.stopAndWait()
        await server.stop()
    }

    @Test func `a failed commit is made good by another round`() async throws {
        let server = try await ChatServer()
        let storage8 = makeStorage()
        let service7 = try server.makeService(user: 7, storage: makeStorage())
        let service8 = try server.makeService(user: 8, storage: storage8)
        try await service7.startAndSync()
        try await service8.startAndSync()
        let arrivals = service8.messages()
        storage8.failNextCommits(2)
        try await service7.send(peerMessage("1", from: 7, to: 8))
        try await service7.send(peerMessage("2", from: 7, to: 8))
        _ = try await take(2, of: arrivals)
        #expect(storage8.contents(from: 7) == [content("1"), content("2")])
        await service7.stopAndWait()
        await service8.stopAndWait()
        await server.stop()
    }
}
