import RivuletModel
import RivuletServer
import RivuletServerCore
import RivuletTestSupport
import RivuletWire
import Synchronization
import Testing

/// A server in this process on a folder of its own, with tokens for the users a test needs.
final class TestServer: Sendable {
    let folder: TemporaryFolder
    let server: Server
    let log = CollectedLog()
    private let tokens: [Int64: String]

    /// Starts a server whose users have these numbers.
    init(
        users: [Int64], folder: TemporaryFolder? = nil,
        time: ManualTime? = nil,
        configure: (inout ServerConfiguration) -> Void = { _ in }
    ) async throws {
        let folder = try folder ?? TemporaryFolder()
        self.folder = folder
        tokens = try Self.makeTokens(users, in: DataDirectory(path: folder.path))
        var configuration = ServerConfiguration(data: DataDirectory(path: folder.path))
        configuration.listen = [ListenAddress(host: "127.0.0.1", port: 0)]
        // Most tests look at messages alone.
        configuration.rules.tellsLogins = false
        configure(&configuration)
        server = Server(configuration, logger: log.logger, clock: { time?.now ?? .current })
        try await server.start()
    }

    var port: UInt16 { server.port }

    func token(of user: Int64) throws -> String {
        try #require(tokens[user])
    }

    func login(
        _ user: Int64, device: String = "test", platform: PlatformID = .iOS, version: UInt8 = 2
    ) async throws -> RawClient {
        try await RawClient.login(
            port: port, token: try token(of: user), device: device, platform: platform, version: version)
    }

    func stop() async {
        await server.stop()
    }

    static func makeTokens(_ users: [Int64], in data: DataDirectory) throws -> [Int64: String] {
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

/// A wall clock that a test moves.
final class ManualTime: Sendable {
    private let milliseconds = Mutex<Int64>(1_700_000_000_000)

    var now: WallTime { WallTime(milliseconds: milliseconds.withLock { $0 }) }

    func advance(days: Int64) {
        milliseconds.withLock { $0 += days * 86_400_000 }
    }
}

/// What a server logged.
final class CollectedLog: Sendable {
    private let collected = Mutex<[LogRecordLine]>([])

    var lines: [LogRecordLine] { collected.withLock { $0 } }

    var logger: ServerLogger {
        ServerLogger(level: .info) { [self] line in collected.withLock { $0.append(line) } }
    }
}
