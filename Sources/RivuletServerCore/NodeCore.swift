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
        /// How many messages a user may send; who sends more is read more slowly; nil for no limit.
        public var messagesPerUser: RateLimit? = RateLimit(perSecond: 2000, burst: 20_000)
        /// How many messages a device may send.
        public var messagesPerDevice: RateLimit? = RateLimit(perSecond: 1000, burst: 10_000)
        /// How many live messages (RT) a connection may send; those above it are dropped.
        public var livePerConnection: RateLimit? = RateLimit(perSecond: 50, burst: 200)
        /// How many refused logins may come from an address; further ones are refused without being looked up.
        public var refusedLoginsPerAddress: RateLimit? = RateLimit(perSecond: 5, burst: 100)
        /// How many connections an address may have at a time; nil for no limit.
        public var connectionsPerAddressMax: Int?
        /// How many users a connection may watch for presence.
        public var watchedMax = 500

        /// Makes the default limits.
        public init() {}
    }

    /// A message whose batch is with the log.
    struct PendingMessage: Sendable {
        var origin: Origin
        var entry: LogEntry
        /// Whether live copies are pushed; otherwise receivers only hear that there is something.
        var isPushed = true
        /// The answer when the log does not know the message already, which its author may not write now.
        var refusal: (status: ACKStatus, flags: PacketFlags)?
    }

    /// To whom the answer to a message goes.
    enum Origin: Sendable {
        case client(ConnectionID, Int32)
        case post(PostID)
        case node
    }

    /// The limits the node keeps to.
    public let limits: Limits
    /// Who is in which group, and who may not write where.
    public internal(set) var memberships: Memberships
    /// What the server allows.
    public let rules: NodeRules
    let filter: ContentFilter?
    var clients: [ConnectionID: NodeClient] = [:]
    var connectionsOfUser: [Account: [ConnectionID]] = [:]
    var connectionCountOfAddress: [PeerAddress: Int] = [:]
    var rooms: [RoomID: [ConnectionID]] = [:]
    var roomHistories: [RoomID: RoomHistory] = [:]
    /// The number of the last message of a room, of any room.
    public internal(set) var lastRoomKey: Int64
    var presence = PresenceBook()
    var groupViews = GroupViews()
    /// The tokens revoked lately, for logins that were decided before.
    var revokedTokens: [TokenID] = []
    var userMeters = RateMeters<Account>()
    var deviceMeters = RateMeters<DeviceNumber>()
    var loginMeters = RateMeters<PeerAddress>()
    /// What happened so far, for those who watch the server.
    public internal(set) var counts = NodeCounts()
    var pendingBatches: [BatchID: [PendingMessage]] = [:]
    private var lastBatch: UInt64 = 0

    /// The messages taken in this call of ``handle(_:at:)``; they become one batch at its end.
    var taken: [PendingMessage] = []
    /// The actions of this call.
    var actions: [NodeAction] = []
    /// The time of this call.
    var now = WallTime(milliseconds: 0)

    /// Makes a node without connections.
    ///
    /// - Parameters:
    ///   - limits: The limits it keeps to.
    ///   - rules: What it allows.
    ///   - memberships: The groups, bans and friends at the start.
    ///   - filter: Looks at every message before it is taken.
    ///   - lastRoomKey: Messages of rooms get greater numbers than this.
    public init(
        limits: Limits = Limits(), rules: NodeRules = NodeRules(), memberships: Memberships = Memberships(),
        filter: ContentFilter? = nil, lastRoomKey: Int64 = 0
    ) {
        self.lastRoomKey = lastRoomKey
        self.limits = limits
        self.rules = rules
        self.memberships = memberships
        self.filter = filter
    }

    /// How many connections are open.
    public var connectionCount: Int {
        clients.count
    }

    /// How many users have at least one connection.
    public var onlineUserCount: Int {
        connectionsOfUser.count
    }

    /// How many rooms somebody is in.
    public var roomCount: Int {
        rooms.count
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
        case .opened(let connection, let address):
            open(connection, from: address)
        case .closed(let connection):
            forget(connection)
        case .loginAnswered(let connection, let result):
            finishLogin(of: connection, result)
        case .appendFailed(let batch):
            fail(batch)
        case .loaded(let connection, let page):
            answerSync(on: connection, with: page)
        case .loadFailed(let connection):
            answerFailedSync(on: connection)
        case .membershipsChanged(let changes, let time, let key):
            takeChanges(changes, at: time, after: key)
        case .tokenRevoked(let token):
            revoke(token)
        case .posted(let id, let post):
            take(post, id)
        }
    }

    // MARK: Shared by the commands

    mutating func send(_ packets: [Packet], to connection: ConnectionID, as delivery: Delivery = .reply) {
        actions.append(.send(connection, packets, delivery))
    }

    mutating func broadcast(_ packets: [Packet], to connections: [ConnectionID]) {
        guard !connections.isEmpty else { return }
        counts.pushes += UInt64(connections.count)
        actions.append(.broadcast(connections, packets))
    }

    /// The connections of a user that are to see a live copy: all but the author's own, and but those of the
    /// author's device.
    func audience(of user: Account, without author: LiveAuthor) -> [ConnectionID] {
        guard let connections = connectionsOfUser[user] else { return [] }
        guard user == author.account else { return connections }
        return connections.filter { candidate in
            guard candidate != author.connection, let client = clients[candidate] else { return false }
            return !client.device.isSameDevice(as: author.device)
        }
    }

    private mutating func open(_ connection: ConnectionID, from address: PeerAddress) {
        clients[connection] = NodeClient(address: address)
        guard address != .unknown else { return }
        connectionCountOfAddress[address, default: 0] += 1
        if let most = limits.connectionsPerAddressMax, connectionCountOfAddress[address, default: 0] > most {
            actions.append(.close(connection, .tooManyConnections, afterMilliseconds: 0))
        }
    }

    private mutating func forget(_ connection: ConnectionID) {
        guard let client = clients.removeValue(forKey: connection) else { return }
        if client.address != .unknown {
            let left = connectionCountOfAddress[client.address, default: 0] - 1
            connectionCountOfAddress[client.address] = left > 0 ? left : nil
        }
        leaveRoom(connection, client.room)
        guard client.isLoggedIn else { return }
        presence.forget(connection)
        connectionsOfUser[client.account]?.removeAll { $0 == connection }
        if connectionsOfUser[client.account]?.isEmpty == true {
            connectionsOfUser[client.account] = nil
            tellPresence(of: client.account)
        }
    }
}

/// From where a live copy comes, so that it does not go back there.
struct LiveAuthor {
    var account: Account
    var device: DeviceNumber
    var connection: ConnectionID?
}

/// What happened in a node since it was made.
public struct NodeCounts: Sendable, Hashable {
    /// Packets taken from clients.
    public var packets: UInt64 = 0
    /// Messages stored, each once.
    public var messages: UInt64 = 0
    /// Messages that had been stored before.
    public var duplicates: UInt64 = 0
    /// Messages refused with a status.
    public var refusals: UInt64 = 0
    /// Messages that the log could not store.
    public var failures: UInt64 = 0
    /// Live copies sent.
    public var pushes: UInt64 = 0
    /// Logins accepted.
    public var logins: UInt64 = 0
    /// Logins refused.
    public var refusedLogins: UInt64 = 0
    /// Packets that were dropped or made to wait because of a rate limit.
    public var limited: UInt64 = 0

    /// Makes counts of nothing.
    public init() {}
}

/// What an AUTH_TOKEN said, apart from the token.
struct LoginAttempt: Sendable {
    var version: UInt8
    var platform: PlatformID
    var deviceID: String
}

/// What the node knows of one connection.
struct NodeClient: Sendable {
    /// How far the login is.
    enum Phase: Sendable {
        case anonymous
        case authenticating(LoginAttempt, waiting: [Packet])
        case loggedIn
    }

    var phase = Phase.anonymous
    var account = Account(user: UserID(0))
    var device = DeviceNumber.none
    var token = TokenID.none
    var refusedLogins = 0
    let address: PeerAddress
    /// The room the connection is in; 0 for none.
    var room = RoomID(0)
    /// The SYNC and SYNC_GROUP requests not yet answered; the first one is with the log.
    var waitingSyncs: [PageRequest] = []
    var liveMeter = RateMeter()

    init(address: PeerAddress) {
        self.address = address
    }

    var isLoggedIn: Bool {
        if case .loggedIn = phase { return true }
        return false
    }
}
