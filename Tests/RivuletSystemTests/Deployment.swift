import Foundation
import RivuletTestSupport

/// A `rivuletd` with its folder, and clients of it, all real processes.
final class Deployment {
    let folder: TemporaryFolder
    private(set) var server: Program
    /// The address that the server chose; a restart takes the same one.
    let address: String

    init(_ arguments: [String] = []) async throws {
        folder = try TemporaryFolder()
        (server, address) = try await Self.start(at: "127.0.0.1:0", folder: folder, arguments)
    }

    /// Ends the server without warning, as a power cut would.
    func killServer() async throws {
        server.signal(SIGKILL)
        try await server.waitForExit()
    }

    /// Starts the server again on the same folder and port.
    func restartServer() async throws {
        (server, _) = try await Self.start(at: address, folder: folder, [])
    }

    /// Makes a token with the command that an operator would use.
    func token(for user: Int) async throws -> String {
        let program = try Program(
            "rivulet", ["token", "create", "--user", "\(user)", "--data", folder.path(of: "server")])
        try await program.waitForExit()
        guard let token = program.lines.last(where: { !$0.isEmpty }) else {
            throw Program.Failure(description: "rivulet token create printed nothing")
        }
        return token
    }

    /// Starts `rivulet COMMAND` for a user, whose store stays in the deployment's folder.
    func client(
        _ command: String, user: Int, token: String, _ arguments: [String] = [], terminal: Bool = false
    ) throws -> Program {
        try place.client(command, user: user, token: token, arguments, terminal: terminal)
    }

    /// What a client needs to know; may go to other tasks.
    var place: ClientPlace { ClientPlace(address: address, folder: folder) }

    private static func start(
        at address: String, folder: TemporaryFolder, _ arguments: [String]
    ) async throws -> (Program, String) {
        let server = try Program(
            "rivuletd", ["--listen", address, "--data", folder.path(of: "server")] + arguments)
        let line = try await server.waitForLine(containing: "listening on ")
        let words = line.split(separator: " ")
        guard let bound = words.last(where: { $0.contains("127.0.0.1:") }) else {
            throw Program.Failure(description: "no address in: \(line)")
        }
        return (server, String(bound))
    }
}

/// Where the server is, and where clients keep their stores.
struct ClientPlace: Sendable {
    let address: String
    let folder: TemporaryFolder

    /// Starts `rivulet COMMAND` for a user, whose store stays in the folder.
    func client(
        _ command: String, user: Int, token: String, _ arguments: [String] = [], terminal: Bool = false
    ) throws -> Program {
        try Program(
            "rivulet",
            [
                command, "--user", "\(user)", "--server", address, "--store",
                folder.path(of: "client-\(user)"),
            ] + arguments,
            environment: ["RIVULET_TOKEN": token, "TERM": "xterm"], terminal: terminal)
    }
}
