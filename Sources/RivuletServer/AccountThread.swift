import RivuletModel
import RivuletServerCore
import RivuletWire
import SQLiteKit

/// The thread on which logins are looked up.
final class AccountThread: Sendable {
    /// Something to look up.
    enum Task: Sendable {
        /// A login to decide.
        case login(ConnectionID, AuthenticationToken)
        /// Something else; the closure answers whoever asked.
        case perform(@Sendable (AccountDirectory) -> Void)
    }

    private let queue = WorkQueue<Task>()

    func start(
        in folder: DataDirectory, clock: @escaping @Sendable () -> WallTime, metrics: ServerMetrics,
        logger: ServerLogger, answer: @escaping @Sendable (ConnectionID, LoginResult) -> Void
    ) throws {
        try queue.start(
            named: "rivulet-accounts",
            makeState: { try AccountDirectory(in: folder) },
            work: { directory, tasks in
                for task in tasks {
                    switch task {
                    case .login(let connection, let token):
                        let result = Self.decide(token, directory, clock(), logger)
                        metrics.count(result)
                        answer(connection, result)
                    case .perform(let body): body(directory)
                    }
                }
                return nil
            },
            end: { $0.close() })
    }

    /// Adds a task; false when the accounts are closed.
    @discardableResult
    func post(_ task: Task) -> Bool {
        queue.post(task)
    }

    /// Does something with the directory on its thread.
    ///
    /// - Throws: What the body throws; ``ServerError`` with `notRunning` when the accounts are closed.
    func perform<Value: Sendable>(
        _ body: @escaping @Sendable (AccountDirectory) throws -> Value
    ) async throws -> Value {
        try await withCheckedThrowingContinuation { continuation in
            let isTaken = post(
                .perform { directory in
                    continuation.resume(with: Result { try body(directory) })
                })
            if !isTaken { continuation.resume(throwing: Server.notRunning) }
        }
    }

    func close() {
        queue.close()
        queue.waitUntilEnded()
    }

    private static func decide(
        _ login: AuthenticationToken, _ directory: AccountDirectory, _ now: WallTime, _ logger: ServerLogger
    ) -> LoginResult {
        do {
            guard let token = try directory.validRecord(of: login.token, now: now) else { return .refused }
            let device = try directory.deviceNumber(
                for: token.account, platform: login.platformID, deviceID: login.deviceID)
            return .accepted(token.account, device, TokenID(rawValue: token.id))
        } catch {
            logger.log(.error, "account lookup failed", [("error", String(describing: error))])
            return .unavailable
        }
    }
}
