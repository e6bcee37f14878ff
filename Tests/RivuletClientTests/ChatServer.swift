import RivuletClient
import RivuletClientCore
import RivuletModel
import RivuletServer
import RivuletServerCore
import RivuletTestSupport
import Synchronization
import Testing

/// A real server in this process that can be stopped and started again over the same data and port.
final class ChatServer: Sendable {
    private struct State {
        var server: Server
        var port: UInt16
    }

    private let folder: TemporaryFolder
    private let tokens: [Int64: String]
    private let state: Mutex<State>

    init(users: [Int64] = [7, 8]) async throws {
        folder = try TemporaryFolder()
        tokens = try Self.makeTokens(users, in: DataDirectory(path: folder.path))
        let server = Self.makeServer(folder: folder, port: 0)
        try await server.start()
        state = Mutex(State(server: server, port: server.port))
    }

    var port: UInt16 { state.withLock { $0.port } }

    func stop() async {
        await state.withLock { $0.server }.stop()
    }

    func restart() async throws {
        let server = Self.makeServer(folder: folder, port: port)
        try await server.start()
        state.withLock { $0.server = server }
    }

    func token(of user: Int64) throws -> String {
        try #require(tokens[user])
    }

    /// A service of a user; its times are short, so that tests of time-outs are.
    func makeService(
        user: Int64, storage: any ClientStorage, device: String = "device", port: UInt16? = nil,
        configure: (inout IMServiceConfiguration) -> Void = { _ in }
    ) throws -> IMService {
        var configuration = IMServiceConfiguration(
            endpoints: [ClientEndpoint(host: "127.0.0.1", port: port ?? self.port)],
            identity: ClientIdentity(uid: user, token: try token(of: user), deviceID: device))
        configuration.core.backoffMin = .milliseconds(20)
        configuration.core.backoffMax = .milliseconds(200)
        configuration.seed = UInt64(user)
        configure(&configuration)
        return IMService(configuration: configuration, storage: storage)
    }

    private static func makeServer(folder: TemporaryFolder, port: UInt16) -> Server {
        var configuration = ServerConfiguration(data: DataDirectory(path: folder.path))
        configuration.listen = [ListenAddress(host: "127.0.0.1", port: port)]
        return Server(configuration, logger: .silent)
    }

    private static func makeTokens(_ users: [Int64], in data: DataDirectory) throws -> [Int64: String] {
        let directory = try AccountDirectory(in: data)
        defer { directory.close() }
        var random = SystemRandomNumberGenerator()
        var tokens: [Int64: String] = [:]
        for user in users {
            tokens[user] =
                try directory.createToken(for: Account(user: UserID(user)), now: .current, using: &random)
                .token
        }
        return tokens
    }
}
