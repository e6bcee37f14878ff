import EditLineKit
import Foundation
import RivuletArguments
import RivuletModel
import RivuletServer
import RivuletTestSupport
import RivuletTransport
import Testing

@testable import RivuletCommands

/// A real server on a free port of this machine, with tokens for the users 1 to 9.
private final class World: Sendable {
    let folder: TemporaryFolder
    let server: Server
    private let tokenFile: String

    init() async throws {
        folder = try TemporaryFolder()
        server = try await World.makeServer(folder.path, port: 0)
        tokenFile = folder.path + "/tokens"
        let tokens = Collector()
        let status = await RivuletProgram(context: World.context(tokens, folder.path))
            .run(["token", "create", "--users", "1-9", "--data", folder.path + "/server"])
        try #require(status == 0)
        try Data(tokens.output.utf8).write(to: URL(filePath: tokenFile))
    }

    static func makeServer(_ folder: String, port: UInt16) async throws -> Server {
        var configuration = ServerConfiguration(data: DataDirectory(path: folder + "/server"))
        configuration.listen = [ListenAddress(host: "127.0.0.1", port: port)]
        let server = Server(configuration)
        try await server.start()
        return server
    }

    static func context(_ collector: Collector, _ folder: String, input: Int32 = -1) -> CommandContext {
        CommandContext(
            console: collector.console, environment: ["XDG_DATA_HOME": folder, "TERM": "xterm"],
            time: plainFormatter.time, now: { Int64(Date().timeIntervalSince1970 * 1000) }, input: input,
            output: -1)
    }

    /// Runs a command as a user, from a store of that user's own.
    @discardableResult
    func run(
        _ words: [String], user: Int64, input: String = "", token: String? = nil, port: UInt16? = nil
    ) async throws -> (status: Int32, collector: Collector) {
        let collector = Collector()
        let ends = Pipe()
        try ends.fileHandleForWriting.write(contentsOf: Data(input.utf8))
        try ends.fileHandleForWriting.close()
        let descriptor = ends.fileHandleForReading.fileDescriptor
        let program = RivuletProgram(context: World.context(collector, folder.path, input: descriptor))
        let login = token.map { ["--token", $0] } ?? ["--token-file", tokenFile]
        let common = [
            "--user", "\(user)", "--server", "127.0.0.1:\(port ?? server.port)", "--store", store(user),
        ]
        var all = [words[0]] + common
        if words[0] != "history" { all += login }
        all += Array(words.dropFirst())
        // A busy machine must not fail what the default of ten seconds is not the point of.
        if words[0] == "send", !words.contains("--timeout") { all += ["--timeout", "100s"] }
        let status = await program.run(all)
        try ends.fileHandleForReading.close()
        return (status, collector)
    }

    func store(_ user: Int64) -> String { folder.path + "/store-\(user)" }

    func backend(_ user: Int64) throws -> IMBackend {
        let options = ClientOptions(
            user: UserID(user), server: Endpoint(host: "127.0.0.1", port: server.port),
            token: try TokenFile.read(tokenFile, user: UserID(user)), store: store(user),
            device: "test-\(user)")
        return IMBackend(options, now: { 0 })
    }
}

@Suite(.timeLimit(.minutes(3)))
struct EndToEndTests {
    @Test func `A sent message is acknowledged, received as JSON and kept by both sides`() async throws {
        let world = try await World()
        let text = "你好 \u{1B}[31m \"quoted\""
        let sent = try await world.run(["send", "--to", "8", text], user: 7)
        #expect(sent.status == 0)
        #expect(sent.collector.output == "✓ accepted\n")
        let tail = try await world.run(["tail", "--json", "--count", "1", "--timeout", "100s"], user: 8)
        #expect(tail.status == 0)
        let line = try #require(tail.collector.lines.first)
        let object = try #require(try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any])
        #expect(object["text"] as? String == text)
        #expect(object["sender"] as? Int == 7)
        #expect((object["uuid"] as? String)?.count == 36)
        for (user, peer) in [(Int64(7), "8"), (8, "7")] {
            let history = try await world.run(["history", "--with", peer], user: user)
            #expect(history.status == 0)
            #expect(history.collector.lines.first?.hasSuffix("7: 你好 ␛[31m \"quoted\"") == true)
        }
        await world.server.stop()
    }

    @Test func `A piped chat sends every line once and in order`() async throws {
        let world = try await World()
        let lines = (1...200).map { "line \($0)" }
        let chat = try await world.run(
            ["chat", "--with", "8", "--timeout", "100s"], user: 7, input: lines.joined(separator: "\n"))
        #expect(chat.status == 0)
        #expect(chat.collector.errors == [])
        let tail = try await world.run(["tail", "--count", "200", "--timeout", "100s"], user: 8)
        #expect(tail.status == 0)
        #expect(tail.collector.lines.map { String($0.dropFirst(20)) } == lines)
        await world.server.stop()
    }

    @Test func `Without a server a send fails in time, is kept, and goes out with the next command`()
        async throws
    {
        let world = try await World()
        let port = world.server.port
        await world.server.stop()
        let send = try await world.run(
            ["send", "--to", "8", "--timeout", "300ms", "kept"], user: 7, port: port)
        #expect(send.status == 1)
        #expect(send.collector.errors.first?.contains("kept in the store and sent the next time") == true)
        let second = try await World.makeServer(world.folder.path, port: port)
        let chat = try await world.run(["send", "--to", "8", "second"], user: 7, port: port)
        #expect(chat.status == 0)
        let tail = try await world.run(["tail", "--count", "2", "--timeout", "100s"], user: 8, port: port)
        #expect(tail.collector.lines.map { String($0.dropFirst(20)) } == ["kept", "second"])
        await second.stop()
    }

    @Test func `A wrong token is told in words, at once`() async throws {
        let world = try await World()
        for words in [["send", "--to", "8", "x"], ["tail"], ["chat", "--with", "8"]] {
            let result = try await world.run(words, user: 7, input: "x\n", token: "wrong")
            #expect(result.status == 1)
            #expect(result.collector.errors.first?.contains("the server refused the token") == true)
        }
        await world.server.stop()
    }

    @Test func `A second client on the same store is refused`() async throws {
        let world = try await World()
        let first = try world.backend(7)
        try await first.start()
        let result = try await world.run(["send", "--to", "8", "x"], user: 7)
        #expect(result.status == 1)
        #expect(result.collector.errors.first?.contains("another rivulet is connected as user 7") == true)
        await first.stop()
        #expect(try await world.run(["send", "--to", "8", "x"], user: 7).status == 0)
        await world.server.stop()
    }

    @Test func `A text that is too long fails with the reason`() async throws {
        let world = try await World()
        let result = try await world.run(
            ["send", "--to", "8", "-"], user: 7, input: String(repeating: "x", count: 40_000))
        #expect(result.status == 1)
        #expect(result.collector.errors.first?.contains("too long") == true)
        await world.server.stop()
    }

    @Test func `The demo answers each line through pipes and leaves nothing behind`() async throws {
        let collector = Collector()
        let ends = Pipe()
        try ends.fileHandleForWriting.write(contentsOf: Data("hello\n你好\n".utf8))
        try ends.fileHandleForWriting.close()
        let context = World.context(collector, "/nowhere", input: ends.fileHandleForReading.fileDescriptor)
        let before = Set(try FileManager.default.contentsOfDirectory(atPath: NSTemporaryDirectory()))
        let status = await RivuletProgram(context: context).run(["demo", "--pause", "1ms"])
        #expect(status == 0)
        #expect(collector.lines.count == 3)
        #expect(collector.lines.allSatisfy { $0.contains(" Mira: ") })
        let after = try FileManager.default.contentsOfDirectory(atPath: NSTemporaryDirectory())
        #expect(!after.contains { $0.hasPrefix("rivulet-demo-") && !before.contains($0) })
    }
}

extension TerminalTests {
    @Suite struct RealChatTests {
        @Test func `Two people chat on terminals through a real server that goes away for a while`()
            async throws
        {
            try #require(TerminalTests.isPrepared)
            let world = try await World()
            let port = world.server.port
            let terminals = [try PseudoTerminal(), try PseudoTerminal()]
            func chat(_ user: Int64, with peer: Int64, _ terminal: PseudoTerminal) throws -> InteractiveChat {
                let editor = try LineEditor(
                    program: "test", prompt: "\(peer)> ", input: terminal.slave, output: terminal.slave,
                    catchesSignals: false)
                return InteractiveChat(
                    backend: try world.backend(user), peer: UserID(peer), formatter: plainFormatter,
                    editor: editor)
            }
            let (seven, eight) = (try chat(7, with: 8, terminals[0]), try chat(8, with: 7, terminals[1]))
            async let first = seven.run()
            async let second = eight.run()
            for terminal in terminals { await terminal.wait { $0.contains("· connected") } }

            terminals[1].type("half a line")
            await terminals[1].wait { $0.last == "7> half a line" }
            terminals[0].type("hello\r")
            await terminals[0].wait { $0.contains { $0.hasSuffix("you: hello  ✓") } }
            await terminals[1].wait {
                $0.contains { $0.hasSuffix("7: hello") } && $0.last == "7> half a line"
            }

            await world.server.stop()
            for terminal in terminals { await terminal.wait { $0.contains { $0.hasPrefix("· offline") } } }
            terminals[0].type("while it was away\r")
            await terminals[0].wait { $0.contains { $0.hasSuffix("while it was away  sending…") } }
            let again = try await World.makeServer(world.folder.path, port: port)
            await terminals[0].wait { $0.contains { $0.contains("while it was away") && $0.hasSuffix("✓") } }
            await terminals[1].wait {
                $0.contains { $0.hasSuffix("7: while it was away") } && $0.last == "7> half a line"
            }
            terminals[1].type(" ends\r")
            await terminals[0].wait { $0.contains { $0.hasSuffix("8: half a line ends") } }

            for terminal in terminals { terminal.type("\u{4}") }
            #expect(try await first == 0)
            #expect(try await second == 0)
            await again.stop()
        }
    }
}
