internal import Foundation
internal import RivuletArguments
internal import RivuletModel
internal import RivuletServer
internal import RivuletServerCore
internal import RivuletTransport

/// `rivulet demo`: a server, a partner and a chat, with nothing to set up.
enum DemoCommand {
    static let guest = UserID(1)
    static let partner = UserID(2)
    static let visitor = UserID(3)

    static let spec = CommandSpec(
        "demo", summary: "Try a chat: starts a server of its own and somebody who answers.",
        discussion: """
            Everything lives in a temporary folder and is removed at the end. Another terminal can join with the \
            command that is shown.
            """,
        options: [
            Option(
                "--port", "-p", value: "PORT", default: "0", help: "The server's port; 0 chooses a free one."),
            Option(
                "--pause", value: "TIME", default: "700ms",
                help: "How long the partner thinks before answering."),
        ])

    static func run(_ arguments: Arguments, _ context: CommandContext) async throws -> Int32 {
        let port = try arguments.required("--port", as: UInt16.self)
        let pause = try arguments.required("--pause", as: Duration.self)
        let folder = try DemoFolder()
        defer { folder.remove() }
        var configuration = ServerConfiguration(data: DataDirectory(path: folder.path + "/server"))
        configuration.listen = [ListenAddress(host: "127.0.0.1", port: port)]
        let server = Server(configuration)
        do {
            try await server.start()
        } catch let error as ServerError where error.code == .addressInUse {
            throw CommandError("port \(port) is in use by another program; name another one with --port")
        }
        do {
            let status = try await chat(server, folder, pause, context)
            await server.stop()
            return status
        } catch {
            await server.stop()
            throw error
        }
    }

    private static func chat(
        _ server: Server, _ folder: DemoFolder, _ pause: Duration, _ context: CommandContext
    ) async throws -> Int32 {
        let endpoint = Endpoint(host: "127.0.0.1", port: server.port)
        let tokens = try makeTokens(folder, context)
        func backend(_ user: UserID) -> IMBackend {
            let options = ClientOptions(
                user: user, server: endpoint, token: tokens[user] ?? "", store: folder.path + "/client",
                device: "demo-\(user.rawValue)")
            return IMBackend(options, now: context.now)
        }
        let mira = backend(partner)
        let partnerTask = Task { try await DemoPartner.run(mira, guest: guest, pause: pause) }
        let join = """
            to join from another terminal: RIVULET_TOKEN=\(tokens[visitor] ?? "") rivulet chat --user \
            \(visitor.rawValue) --with \(guest.rawValue) --server \(endpoint)
            """
        let demo = ChatCommand.Demo(partnerName: DemoPartner.name, greeting: join)
        let result: Result<Int32, any Error>
        do {
            result = .success(
                try await ChatCommand.chat(
                    with: backend(guest), peer: partner, timeout: .seconds(30), demo: demo, context: context))
        } catch {
            result = .failure(error)
        }
        partnerTask.cancel()
        // Cancelled or failed, she is gone; a failure of hers was seen as silence in the chat.
        _ = await partnerTask.result
        return try result.get()
    }

    private static func makeTokens(
        _ folder: DemoFolder, _ context: CommandContext
    ) throws -> [UserID: String] {
        let directory = try AccountDirectory(in: DataDirectory(path: folder.path + "/server"))
        defer { directory.close() }
        var generator = SystemRandomNumberGenerator()
        var tokens: [UserID: String] = [:]
        for user in [guest, partner, visitor] {
            tokens[user] = try directory.createToken(
                for: Account(user: user), label: "demo", now: WallTime(milliseconds: context.now()),
                using: &generator
            ).token
        }
        return tokens
    }
}

/// A folder that is removed when it is needed no more.
struct DemoFolder: Sendable {
    let path: String

    init() throws {
        path = NSTemporaryDirectory() + "rivulet-demo-" + UUID().uuidString.lowercased()
        do {
            try FileManager.default.createDirectory(
                atPath: path, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        } catch {
            throw CommandError("cannot make the temporary folder \(path); set TMPDIR to one that is writable")
        }
    }

    func remove() {
        do {
            try FileManager.default.removeItem(atPath: path)
        } catch {
            // What is left lies in the system's temporary folder, which the system empties.
        }
    }
}
