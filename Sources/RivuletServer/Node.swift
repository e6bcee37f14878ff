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
    private let configuration: ServerConfiguration
    private let posts = Mutex<(last: UInt64, waiting: [PostID: @Sendable (PostOutcome) -> Void])>((0, [:]))
    let logThread = LogThread()
    let checkpointer: LogCheckpointer
    let accountThread = AccountThread()
    let membershipThread = MembershipThread()
    let metrics = ServerMetrics()
    let logger: ServerLogger
    let clock: @Sendable () -> WallTime
    private let workers = Mutex<[LoopBound<LoopWorker>]>([])

    /// With more messages waiting for their commit, connections are not read.
    static let waitingMessagesMax = 20_000

    init(
        _ configuration: ServerConfiguration, logger: ServerLogger, clock: @escaping @Sendable () -> WallTime
    ) {
        self.configuration = configuration
        checkpointer = LogCheckpointer(path: configuration.data.messagesPath)
        core = Mutex(NodeCore(limits: configuration.limits))
        self.logger = logger
        self.clock = clock
    }

    /// Gives the core what is known at the start, before any connection.
    ///
    /// - Parameters:
    ///   - known: Who is in which group.
    ///   - lastRoomKey: A number above every one that a message of a room was given.
    func begin(with known: Memberships, lastRoomKey: Int64) {
        let made = NodeCore(
            limits: configuration.limits, rules: configuration.rules, memberships: known,
            filter: configuration.contentFilter, lastRoomKey: lastRoomKey)
        core.withLock { $0 = made }
    }

    func setWorkers(_ made: [LoopBound<LoopWorker>]) {
        workers.withLock { $0 = made }
    }

    /// Ends the log; the last connection to a database moves everything into its file.
    func closeLog() {
        checkpointer.close()
        logThread.close()
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
            case .load(let connection, let request): logThread.post(.load(connection, request))
            case .reportKey(let queue, let reader, let key): logThread.post(.reportKey(queue, reader, key))
            case .reportUnread(let account, let count): logThread.post(.reportUnread(account, count))
            case .authenticate(let connection, let token):
                accountThread.post(.login(connection, token))
            case .posted(let id, let outcome): finish(id, outcome)
            case .broadcast(let connections, let packets):
                split(connections, packets, own: worker, &own, &others)
            case .send(let connection, _, _), .close(let connection, _, _), .keepOpen(let connection),
                .useVersion(let connection, _), .pauseReading(let connection, _):
                let owner = connection.worker
                if owner == worker { own.append(action) } else { others[owner, default: []].append(action) }
            }
        }
        for (owner, actions) in others { deliver(actions, to: owner) }
        return own
    }

    /// Divides a broadcast among the loops of its connections.
    private func split(
        _ connections: [ConnectionID], _ packets: [Packet], own worker: Int, _ own: inout [NodeAction],
        _ others: inout [Int: [NodeAction]]
    ) {
        guard connections.contains(where: { $0.worker != worker }) else {
            own.append(.broadcast(connections, packets))
            return
        }
        for (owner, part) in Dictionary(grouping: connections, by: \.worker) {
            let action = NodeAction.broadcast(part, packets)
            if owner == worker { own.append(action) } else { others[owner, default: []].append(action) }
        }
    }

    /// The number of the last message of a room.
    var lastRoomKey: Int64 {
        core.withLock { $0.lastRoomKey }
    }

    /// Asks the core something.
    func read<Value>(_ body: (borrowing NodeCore) -> Value) -> Value {
        core.withLock { body($0) }
    }

    // MARK: Posts

    /// Takes a post and calls back with what became of it.
    func post(_ post: ServerPost, then done: @escaping @Sendable (PostOutcome) -> Void) {
        let id = posts.withLock { posts in
            posts.last += 1
            let id = PostID(rawValue: posts.last)
            posts.waiting[id] = done
            return id
        }
        guard let bound = bound(0), bound.loop.enqueue({ bound.value.takeNow([.posted(id, post)]) }) else {
            finish(id, .failed)
            return
        }
    }

    private func finish(_ id: PostID, _ outcome: PostOutcome) {
        let done = posts.withLock { $0.waiting.removeValue(forKey: id) }
        done?(outcome)
    }

    /// Lets nobody wait for posts that will not be answered any more.
    func failPosts() {
        let waiting = posts.withLock { posts in
            defer { posts.waiting = [:] }
            return posts.waiting
        }
        for done in waiting.values { done(.failed) }
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
