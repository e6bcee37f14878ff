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
    private let rules: NodeRules
    private let clock: ShiftedClock
    private let state: Mutex<State>

    /// Starts a server with users, and staff who are users of another app.
    init(
        users: [Int64] = [7, 8], staff: [Int64] = [], staffApp: Int64 = 9,
        rules: (inout NodeRules) -> Void = { _ in }
    ) async throws {
        folder = try TemporaryFolder()
        clock = ShiftedClock()
        var allRules = NodeRules()
        if !staff.isEmpty { allRules.customerServiceApp = staffApp }
        rules(&allRules)
        self.rules = allRules
        let accounts =
            users.map { Account(user: UserID($0)) } + staff.map { Account(app: staffApp, user: UserID($0)) }
        tokens = try Self.makeTokens(accounts, in: DataDirectory(path: folder.path))
        let server = Self.makeServer(folder: folder, port: 0, rules: allRules, clock: clock)
        try await server.start()
        state = Mutex(State(server: server, port: server.port))
    }

    var port: UInt16 { state.withLock { $0.port } }
    /// The server that runs now.
    var server: Server { state.withLock { $0.server } }

    func stop() async {
        await server.stop()
    }

    func restart() async throws {
        let server = Self.makeServer(folder: folder, port: port, rules: rules, clock: clock)
        try await server.start()
        state.withLock { $0.server = server }
    }

    /// Lets the server's wall clock go forward.
    func passTime(milliseconds: Int64) {
        clock.shift(milliseconds)
    }

    /// A token that is good for so long by the server's clock.
    func makeToken(of user: Int64, lifetimeMilliseconds: Int64) throws -> String {
        let directory = try AccountDirectory(in: DataDirectory(path: folder.path))
        defer { directory.close() }
        var random = SystemRandomNumberGenerator()
        return try directory.createToken(
            for: Account(user: UserID(user)), lifetimeMilliseconds: lifetimeMilliseconds, now: clock.now,
            using: &random
        ).token
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

    private static func makeServer(
        folder: TemporaryFolder, port: UInt16, rules: NodeRules, clock: ShiftedClock
    ) -> Server {
        var configuration = ServerConfiguration(data: DataDirectory(path: folder.path))
        configuration.listen = [ListenAddress(host: "127.0.0.1", port: port)]
        configuration.rules = rules
        return Server(configuration, logger: .silent, clock: { clock.now })
    }

    private static func makeTokens(_ accounts: [Account], in data: DataDirectory) throws -> [Int64: String] {
        let directory = try AccountDirectory(in: data)
        defer { directory.close() }
        var random = SystemRandomNumberGenerator()
        var tokens: [Int64: String] = [:]
        for account in accounts {
            tokens[account.user.rawValue] =
                try directory.createToken(for: account, now: .current, using: &random).token
        }
        return tokens
    }
}

/// The system's wall clock, put forward as tests want.
private final class ShiftedClock: Sendable {
    private let shifted = Mutex<Int64>(0)

    var now: WallTime { WallTime(milliseconds: WallTime.current.milliseconds + shifted.withLock { $0 }) }

    func shift(_ milliseconds: Int64) {
        shifted.withLock { $0 += milliseconds }
    }
}
