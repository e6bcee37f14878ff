import Foundation
import RivuletClient
import RivuletWire
import Synchronization
import Testing

/// An app's own kind is handled and shown like a built-in one.
private final class Album: NudgeHandler {
    private let isOpen = Mutex(true)
    private let kept = Mutex<[Nudge]>([])

    var nudges: [Nudge] { kept.withLock { $0 } }

    func close() { isOpen.withLock { $0 = false } }

    func handleNudge(_ nudge: Nudge) -> Bool {
        kept.withLock { $0.append(nudge) }
        return isOpen.withLock { $0 }
    }
}

@MainActor
private final class Window: NudgeObserver {
    private(set) var shakes: [Nudge] = []
    func onNudge(_ nudge: Nudge) { shakes.append(nudge) }
}

@MainActor
@Suite("The examples of the documentation", .timeLimit(.minutes(2)))
struct ExampleTests {
    @Test(arguments: Profile.allCases)
    func `a command of the app's own has its handler, observer, send and stream`(profile: Profile)
        async throws
    {
        var registry = CommandRegistry()
        try registry.register(Nudge.self, for: .nudge)
        let server = try await ScriptedServer(profile: profile, registry: registry)
        let service = server.makeService()
        let (album, window) = (Album(), Window())
        service.setNudgeHandler(album)
        service.addNudgeObserver(window)
        service.addNudgeObserver(window)
        let nudges = service.nudges()
        try await service.startAndLogIn()
        #expect(service.sendNudge(to: 8))
        for await packet in server.packets where packet.command == .nudge {
            #expect(try registry.body(of: packet, as: Nudge.self) == Nudge(sender: 7, receiver: 8))
            break
        }

        let nudge = Nudge(sender: 8, receiver: 7)
        let body = PacketBody.custom(try nudge.bodyBytes())
        await server.send(.nudge, body)
        #expect(try await take(1, of: nudges) == [nudge])
        album.close()
        await server.send(.nudge, body)
        // A frame that is no nudge is skipped by the decoder and leaves the connection alone.
        await server.send(bytes: [0, 0, 0, 1, 0, 0, 0, 99, 100, 2, 0, 0, 1])
        let ends = service.rtMessages()
        await server.send(.rt, .room(RTMessage(sender: 8, receiver: 7, content: "end")))
        _ = try await take(1, of: ends)
        await service.stopAndWait()
        #expect(album.nudges == [nudge, nudge])
        #expect(window.shakes == [nudge])
    }

    @Test func `neither is kept alive, and a removed observer is told nothing`() async throws {
        var registry = CommandRegistry()
        try registry.register(Nudge.self, for: .nudge)
        let server = try await ScriptedServer(profile: .current, registry: registry)
        let service = server.makeService()
        var album: Album? = Album()
        weak let goneAlbum = album
        let (removed, window) = (Window(), Window())
        if let album { service.setNudgeHandler(album) }
        service.addNudgeObserver(removed)
        service.addNudgeObserver(window)
        service.removeNudgeObserver(removed)
        album = nil
        #expect(goneAlbum == nil)
        let nudges = service.nudges()
        try await service.startAndLogIn()
        await server.send(.nudge, .custom(try Nudge(sender: 8, receiver: 7).bodyBytes()))
        _ = try await take(1, of: nudges)
        await service.stopAndWait()
        #expect(window.shakes.count == 1 && removed.shakes.isEmpty)
    }

    @Test func `the tutorial's program sends its first message to a real server`() async throws {
        let server = try await ChatServer()
        let friend = try server.makeService(user: 8, storage: makeStorage())
        let arrivals = friend.peerMessages()
        try await friend.startAndSync()
        let lines = try await sendFirstMessage(
            host: "127.0.0.1", port: server.port, user: 7, token: try server.token(of: 7), to: 8)
        let message = try await take(1, of: arrivals)
        #expect(message.first?.content.contains("hello") == true)
        #expect(
            lines.prefix(4) == [
                "-- connecting", "-- connected", "-- authenticated", "-- 8 will get message 1",
            ])
        await friend.stopAndWait()
        await server.stop()
    }

    @Test(arguments: ["FirstMessage", "NewKinds"])
    func `the code of an article is the code that these tests compile`(article: String) throws {
        let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent()
        let text = try String(
            contentsOf: root.appending(path: "Sources/RivuletClient/RivuletClient.docc/\(article).md"),
            encoding: .utf8)
        let folder = root.appending(path: "Tests/RivuletClientTests")
        let compiled = try ["Examples/FirstMessage", "Examples/NudgeExample", "ExampleTests"].map { name in
            try String(contentsOf: folder.appending(path: name + ".swift"), encoding: .utf8)
        }.joined().split(separator: "\n").map { $0.trimmingCharacters(in: .whitespaces) }.joined(
            separator: "\n")
        let blocks = text.components(separatedBy: "```swift\n").dropFirst().compactMap {
            $0.components(separatedBy: "```").first
        }
        #expect(!blocks.isEmpty)
        for block in blocks {
            let code = block.split(separator: "\n").map { $0.trimmingCharacters(in: .whitespaces) }
                .joined(separator: "\n")
            #expect(compiled.contains(code), "\(article): not in the examples:\n\(code)")
        }
    }
}
