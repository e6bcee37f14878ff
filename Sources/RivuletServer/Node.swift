import RivuletModel
import RivuletServerCore
import RivuletWire
import Synchronization
import UVKit

/// The node as the loops see it: the core behind a lock, the log and the accounts behind their threads.
///
/// A loop hands over what its connections received in one turn and performs what concerns its own connections; the
/// rest goes to where it belongs.
final class Node: Sendable {
    private let core: Mutex<NodeCore>
    let logThread = LogThread()
    let accountThread = AccountThread()
    let membershipThread = MembershipThread()
    let logger: ServerLogger
    let clock: @Sendable () -> WallTime
    private let workers = Mutex<[LoopBound<LoopWorker>]>([])

    /// With more messages waiting for their commit, connections are not read.
    static let waitingMessagesMax = 20_000

    init(limits: NodeCore.Limits, logger: ServerLogger, clock: @escaping @Sendable () -> WallTime) {
        core = Mutex(NodeCore(limits: limits))
        self.logger = logger
        self.clock = clock
    }

    /// Gives the core what is known at the start, before any connection.
    func setMemberships(_ known: Memberships) {
        core.withLock { $0 = NodeCore(limits: $0.limits, memberships: known) }
    }

    func setWorkers(_ made: [LoopBound<LoopWorker>]) {
        workers.withLock { $0 = made }
    }

    /// Whether connections should not be read for now.
    var isBusy: Bool {
        logThread.waitingMessageCount > Self.waitingMessagesMax
    }

    /// Gives the events to the core and sends every action on its way; called on a loop.
    ///
    /// - Returns: What the calling loop's own connections are to do.
    func handle(_ events: [NodeEvent], on worker: Int) -> [NodeAction] {
        let actions = core.withLock { $0.handle(events, at: clock()) }
        var own: [NodeAction] = []
        own.reserveCapacity(actions.count)
        var others: [Int: [NodeAction]] = [:]
        for action in actions {
            switch action {
            case .append(let batch, let entries): logThread.post(.append(batch, entries))
            case .load(let connection, let user, let key): logThread.post(.load(connection, user, after: key))
            case .reportKey(let user, let key): logThread.post(.reportKey(user, key))
            case .authenticate(let connection, let token):
                accountThread.post(AccountThread.Task(connection: connection, token: token))
            case .send(let connection, _, _), .close(let connection, _, _), .keepOpen(let connection),
                .useVersion(let connection, _):
                let owner = connection.worker
                if owner == worker { own.append(action) } else { others[owner, default: []].append(action) }
            }
        }
        for (owner, actions) in others { deliver(actions, to: owner) }
        return own
    }

    /// Brings events from another thread to a loop, which hands them to the core.
    func deliver(_ events: [NodeEvent], to worker: Int) {
        guard let bound = bound(worker) else { return }
        bound.loop.enqueue { bound.value.take(events) }
    }

    /// Brings events from another thread to a loop and calls back when the core has taken them, or when there is no
    /// loop any more.
    func deliver(_ events: [NodeEvent], to worker: Int, then done: @escaping @Sendable () -> Void) {
        guard let bound = bound(worker) else { return done() }
        let isTaken = bound.loop.enqueue {
            bound.value.takeNow(events)
            done()
        }
        if !isTaken { done() }
    }

    private func deliver(_ actions: [NodeAction], to worker: Int) {
        guard let bound = bound(worker) else { return }
        bound.loop.enqueue { bound.value.perform(actions) }
    }

    private func bound(_ worker: Int) -> LoopBound<LoopWorker>? {
        workers.withLock { $0.indices.contains(worker) ? $0[worker] : nil }
    }
}

extension ConnectionID {
    private static let workerBits: UInt64 = 8

    /// The id of a worker's nth connection.
    init(worker: Int, number: UInt64) {
        self.init(rawValue: number << Self.workerBits | UInt64(worker))
    }

    /// The index of the loop on which the connection lives.
    var worker: Int {
        Int(rawValue & (1 << Self.workerBits - 1))
    }

    /// How many workers ids can tell apart.
    static let workersMax = 256
}
