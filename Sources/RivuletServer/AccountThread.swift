import RivuletModel
import RivuletServerCore
import RivuletWire
import SQLiteKit

/// The thread on which logins are looked up.
final class AccountThread: Sendable {
    /// A login to decide.
    struct Task: Sendable {
        var connection: ConnectionID
        var token: AuthenticationToken
    }

    private let queue = WorkQueue<Task>()

    func start(
        in folder: DataDirectory, clock: @escaping @Sendable () -> WallTime, logger: ServerLogger,
        answer: @escaping @Sendable (ConnectionID, LoginResult) -> Void
    ) throws {
        try queue.start(
            named: "rivulet-accounts",
            makeState: { try AccountDirectory(in: folder) },
            work: { directory, tasks in
                for task in tasks {
                    answer(task.connection, Self.decide(task.token, directory, clock(), logger))
                }
                return nil
            },
            end: { $0.close() })
    }

    func post(_ task: Task) {
        queue.post(task)
    }

    func close() {
        queue.close()
        queue.waitUntilEnded()
    }

    private static func decide(
        _ login: AuthenticationToken, _ directory: AccountDirectory, _ now: WallTime, _ logger: ServerLogger
    ) -> LoginResult {
        do {
            guard let account = try directory.verify(login.token, now: now) else { return .refused }
            let device = try directory.deviceNumber(
                for: account, platform: login.platformID, deviceID: login.deviceID)
            return .accepted(account, device)
        } catch {
            logger.log(.error, "account lookup failed", [("error", String(describing: error))])
            return .unavailable
        }
    }
}
