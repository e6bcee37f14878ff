import RivuletModel
import RivuletWire

/// The server's whole decision making, as one value without sockets, files and clocks.
///
/// It is fed batches of events and answers with actions. An ACK and every push of a stored message leave only when
/// the log reported the batch that holds it, so that an ACK means *committed*.
///
/// ```swift
/// var core = NodeCore()
/// _ = core.handle([.opened(id)], at: now)
/// let actions = core.handle([.received(id, Packet(.ping))], at: now)    // [.send(id, [PONG], .reply)]
/// ```
///
/// A connection passes through these states:
///
/// | state | AUTH_TOKEN | other packets |
/// |---|---|---|
/// | anonymous | ask the directory → authenticating | PING is answered, the rest dropped |
/// | authenticating | kept in order until the answer | kept in order until the answer |
/// | logged in | ignored | handled |
public struct NodeCore: Sendable {
    /// The limits of one node.
    public struct Limits: Sendable, Hashable {
        /// The most packets kept for a connection while its login is being decided.
        public var packetsWhileAuthenticatingMax = 4096
        /// The most SYNC requests of one connection waiting for the log.
        public var waitingSyncsMax = 64
        /// How many refused logins a connection may try before it is closed without grace.
        public var refusedLoginsMax = 5
        /// How long a connection stays open after a refused login, in milliseconds.
        public var refusedLoginGraceMilliseconds: Int64 = 5000

        /// Makes the default limits.
        public init() {}
    }

    /// A message whose batch is with the log.
    struct PendingMessage: Sendable {
        var connection: ConnectionID
        var sequence: Int32
        var entry: LogEntry
    }

    /// The limits the node keeps to.
    public let limits: Limits
    /// Who is in which group, and who may not write where.
    public internal(set) var memberships: Memberships
    var clients: [ConnectionID: NodeClient] = [:]
    var connectionsOfUser: [UserID: [ConnectionID]] = [:]
    var rooms: [Int64: [ConnectionID]] = [:]
    var pendingBatches: [BatchID: [PendingMessage]] = [:]
    private var lastBatch: UInt64 = 0

    /// The messages taken in this call of ``handle(_:at:)``; they become one batch at its end.
    var taken: [PendingMessage] = []
    /// The actions of this call.
    var actions: [NodeAction] = []
    /// The time of this call.
    var now = WallTime(milliseconds: 0)

    /// Makes a node without connections.
    public init(limits: Limits = Limits(), memberships: Memberships = Memberships()) {
        self.limits = limits
        self.memberships = memberships
    }

    /// How many connections are open.
    public var connectionCount: Int {
        clients.count
    }

    /// How many batches the log has not answered yet.
    public var pendingBatchCount: Int {
        pendingBatches.count
    }

    /// Takes what happened, in order, and answers what is to be done, in order.
    public mutating func handle(_ events: [NodeEvent], at now: WallTime) -> [NodeAction] {
        self.now = now
        for event in events {
            handle(event)
        }
        if !taken.isEmpty {
            lastBatch += 1
            let batch = BatchID(rawValue: lastBatch)
            actions.append(.append(batch, taken.map(\.entry)))
            pendingBatches[batch] = taken
            taken.removeAll()
        }
        let result = actions
        actions = []
        return result
    }

    private mutating func handle(_ event: NodeEvent) {
        switch event {
        case .received(let connection, let packet):
            receive(packet, on: connection)
        case .appended(let batch, let outcomes):
            finish(batch, outcomes)
        case .opened(let connection):
            clients[connection] = NodeClient()
        case .closed(let connection):
            forget(connection)
        case .loginAnswered(let connection, let result):
            finishLogin(of: connection, result)
        case .appendFailed(let batch):
            // No ACK leaves: the clients send again, and the uuid keeps the message single.
            pendingBatches[batch] = nil
        case .loaded(let connection, let page):
            answerSync(on: connection, with: page)
        case .loadFailed(let connection):
            answerFailedSync(on: connection)
        case .membershipsChanged(let changes, let time):
            takeChanges(changes, at: time)
        }
    }

    // MARK: Shared by the commands

    mutating func send(_ packets: [Packet], to connection: ConnectionID, as delivery: Delivery = .reply) {
        actions.append(.send(connection, packets, delivery))
    }

    /// The connections of a user that are to see a live copy: all but the author's own, and but those of the
    /// author's device.
    func audience(
        of user: UserID, without author: UserID, on connection: ConnectionID, device: DeviceNumber
    ) -> [ConnectionID] {
        guard let connections = connectionsOfUser[user] else { return [] }
        guard user == author else { return connections }
        return connections.filter { candidate in
            guard candidate != connection, let client = clients[candidate] else { return false }
            return !client.device.isSameDevice(as: device)
        }
    }

    private mutating func forget(_ connection: ConnectionID) {
        guard let client = clients.removeValue(forKey: connection) else { return }
        leaveRoom(connection, client.room)
        guard client.isLoggedIn else { return }
        connectionsOfUser[client.account.user]?.removeAll { $0 == connection }
        if connectionsOfUser[client.account.user]?.isEmpty == true {
            connectionsOfUser[client.account.user] = nil
        }
    }
}

/// What the node knows of one connection.
struct NodeClient: Sendable {
    /// How far the login is.
    enum Phase: Sendable {
        case anonymous
        case authenticating(version: UInt8, waiting: [Packet])
        case loggedIn
    }

    var phase = Phase.anonymous
    var account = Account(user: UserID(0))
    var device = DeviceNumber.none
    var refusedLogins = 0
    /// The room the connection is in; 0 for none.
    var room: Int64 = 0
    /// The keys of SYNC requests not yet answered; the first one is with the log.
    var waitingSyncs: [Int64] = []

    var isLoggedIn: Bool {
        if case .loggedIn = phase { return true }
        return false
    }
}
