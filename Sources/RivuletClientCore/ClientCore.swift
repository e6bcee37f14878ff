public import RivuletWire

/// The client's behaviour as a value: told what happened, it answers what to do.
///
/// It opens no socket, reads no clock and touches no file; a shell (`IMService` in RivuletClient) performs the actions
/// and reports what became of them. So each rule below is tested as a table, and short sequences of events are tried
/// one and all.
///
/// ```swift
/// var core = ClientCore(configuration: configuration, seed: 1)
/// var actions = core.handle(.started(identity), at: .start)            // [.restore]
/// actions = core.handle(.restored(RestoredState()), at: .start)        // [.resolve(endpoint), …]
/// ```
///
/// ## The connection
///
/// The client *wants* a connection while it is started, restored, reachable, in the foreground and not kicked.
///
/// | state | event | next state and actions |
/// |---|---|---|
/// | down | a connection is wanted | resolving: resolve; or opening when the addresses are known |
/// | resolving | resolved | opening: open the first address |
/// | resolving | resolve failed, time-out | the next endpoint; after the last one waiting |
/// | opening | opened | logging in: write AUTH_TOKEN |
/// | opening | closed, time-out | the next address, then the next endpoint; after the last one waiting |
/// | logging in | AUTH_STATUS 0 | online: ENTER_ROOM, UNREAD_COUNT, SYNC, SYNC_GROUP, then the outbox; the back-off is reset |
/// | logging in | AUTH_STATUS ≠ 0 | close, ask for a token, waiting |
/// | logging in | closed, time-out | waiting; the next endpoint comes first |
/// | online | closed, no byte after a PING, no ACK, malformed header | close, waiting |
/// | logging in, online | commit failed | close, waiting, and the commit is tried again |
/// | logging in, online | RST | close, kicked: nothing until stopped and started |
/// | waiting | deadline | resolving or opening; awaiting a token while one is asked for |
/// | awaiting a token | token provided, time-out | resolving or opening |
/// | any | a connection is no longer wanted | close, down |
///
/// The delay of the n-th wait is drawn between `backoffMin` and min(`backoffMax`, `backoffMin` · 2ⁿ).
///
/// ## Receiving
///
/// A stored packet becomes a change of a batch. When the batch is committed, and only then, its packets are
/// acknowledged, its keys reported and its messages announced, in the order of arrival. One batch is with the storage
/// at a time; what arrives meanwhile becomes the next one. Live packets keep their place between stored ones. When a
/// commit fails, the connection is closed and what was received and not yet committed is forgotten: the server has
/// it still.
///
/// ## Sync (current profile; docs/protocol.md, section 11)
///
/// | event | effect |
/// |---|---|
/// | login, or a notify above the key while no round runs | SYNC(key); the round runs |
/// | a notify while a round runs | remembered as pending |
/// | a packet without PUSH while a round runs | collected |
/// | SYNC_END(k) | the collected packets and, if it differs, key k become part of one batch; pending above k starts the next round once everything is committed |
/// | nothing of the round for `roundGuard` | the round may start again, later and later |
/// | METADATA, PUSH whose previous key is the key, no round runs | handled at once; the key moves |
/// | any other PUSH | ignored, the notify that follows brings it |
///
/// ## Sending
///
/// | stage | event | next |
/// |---|---|---|
/// | – | send requested | storing: the entry is part of a batch |
/// | storing | committed | waiting, in the order of the requests |
/// | waiting | online, and fewer than `inFlightCountMax` are written | written, with a fresh sequence number, then one PING |
/// | written | ACK 0, ACK ≠ 0 | ending: acknowledged or refused is part of a batch |
/// | written | connection lost | waiting |
/// | written, the third time without an answer on a live connection | ACK time-out | ending: failed |
/// | waiting for an upload | finished | storing: the new body is part of a batch |
/// | waiting for an upload | failed | ending: failed |
/// | storing, waiting and never written | cancelled | ending: cancelled |
/// | ending | committed | gone; the report is given |
///
/// A message that waits for an upload keeps back the later ones of its conversation, and no other.
///
/// Messages of a room are not kept: they are written at once or fail, and fail when the connection ends.
public struct ClientCore: Sendable {
    /// The times, limits and servers it was made with.
    public let configuration: ClientCoreConfiguration

    var random: SplitMixGenerator
    var registry: CommandRegistry
    var identity: ClientIdentity?

    // What the app and the device want.
    var isStarted = false
    var isInBackground = false
    var isReachable = true
    var isKicked = false
    var restoration = Restoration.needed
    var requestsBeforeRestoration: [SendRequest] = []
    /// The keys of groups that the app follows, nil for those that it follows no longer.
    var groupsBeforeRestoration: [Int64: Int64?] = [:]
    var areGroupsRemovedBeforeRestoration = false

    // The connection.
    var link = Link.down
    var state = ConnectionState.unconnected
    var epoch = ConnectionEpoch(rawValue: 0)
    var route = Route()
    var failures = 0
    var refusals = 0
    var isTokenAsked = false
    var decoder: PacketDecoder
    var encoder: PacketEncoder
    var sequence: Int32 = 0
    var heartbeat = Heartbeat()
    var pace = HeartbeatPace()
    var status = StatusBook()
    var isReadingPaused = false
    var room: Int64?
    var unreadCount: Int32?

    // Messages.
    var metadata: (sequence: Int32, keys: Metadata)?
    var queues: [MessageQueue: QueueState] = [.peer: QueueState(key: nil)]
    /// The queues of which a round runs.
    var runningRounds: [MessageQueue] = []
    /// The queues that are to be asked, in order; each once.
    var waitingRounds: [MessageQueue] = []
    /// How many bytes the rounds that run hold.
    var collectedByteCount = 0
    var outbox = Outbox()
    /// The uploads that the shell was asked for.
    var uploads: Set<SendID> = []
    var commits = CommitPipeline()

    // The answer to the event at hand.
    var now = ClientInstant.start
    var actions: [ClientAction] = []
    var notifications: [ClientNotification] = []
    var announcedDeadline: ClientInstant?

    /// Makes a client that rests.
    ///
    /// - Parameters:
    ///   - configuration: The servers, times and limits.
    ///   - registry: The command numbers that the app added.
    ///   - seed: The start of the core's own chance; give each client another one, so that a crowd does not
    ///     reconnect in step.
    public init(
        configuration: ClientCoreConfiguration, registry: CommandRegistry = CommandRegistry(), seed: UInt64
    ) {
        self.configuration = configuration
        self.registry = registry
        random = SplitMixGenerator(seed: seed)
        decoder = PacketDecoder(role: .client, profile: configuration.profile, registry: registry)
        encoder = PacketEncoder(role: .client, profile: configuration.profile, registry: registry)
    }

    /// Tells what happened and answers what to do, in order.
    ///
    /// While the client is stopped the answer is empty; what the event means for the next start is remembered, and
    /// messages and reports of the last batch are told then.
    public mutating func handle(_ event: ClientEvent, at now: ClientInstant) -> [ClientAction] {
        self.now = now
        let wasStarted = isStarted
        apply(event)
        settle()
        return takeActions(wasStarted: wasStarted)
    }

    /// Whether it was started and not stopped since.
    public var isRunning: Bool {
        isStarted
    }

    /// Whether it is logged in.
    public var isOnline: Bool {
        link.isOnline
    }

    private mutating func apply(_ event: ClientEvent) {
        switch event {
        case .started, .stopped, .enteredForeground, .enteredBackground, .reachabilityChanged,
            .tokenProvided:
            applyWish(event)
        case .restored, .restoreFailed, .committed, .commitFailed:
            applyStorageAnswer(event)
        case .resolved, .resolveFailed, .opened, .received, .closed:
            applyNetworkEvent(event)
        case .sendRequested, .sendCancelled, .uploadFinished, .uploadFailed, .livePacketRequested,
            .superGroupAdded, .superGroupRemoved, .superGroupsRemoved, .roomEntered, .roomLeft:
            applyRequest(event)
        case .deadline:
            applyDeadline()
        }
    }

    /// Does what became possible: the next batch, the next rounds, the next messages.
    private mutating func settle() {
        advanceCommits()
        pauseOrResumeReading()
        startPendingRounds()
        startUploads()
        transmitOutbox()
    }

    private mutating func takeActions(wasStarted: Bool) -> [ClientAction] {
        guard isStarted || wasStarted else {
            actions = []
            _ = encoder.takeBytes()
            // What a batch that ended after the stop brought is told after the next start.
            notifications.removeAll { !$0.isWorthKeeping }
            return []
        }
        flushBytes()
        announceStatus()
        if !notifications.isEmpty {
            actions.append(.notify(notifications))
            notifications = []
        }
        let deadline = isStarted ? nearestDeadline : nil
        if deadline != announcedDeadline {
            announcedDeadline = deadline
            actions.append(.setDeadline(deadline))
        }
        defer { actions = [] }
        return actions
    }
}

extension ClientCore {
    /// How far the storage's memory has been read.
    enum Restoration: Sendable, Equatable {
        case needed
        case underway
        case retryAt(ClientInstant)
        case done
    }

    /// Where the connection stands; the deadline of each state, where it has one.
    enum Link: Sendable, Equatable {
        case down
        case waiting(until: ClientInstant)
        case awaitingToken(until: ClientInstant)
        case resolving(until: ClientInstant)
        case opening(until: ClientInstant)
        case loggingIn(until: ClientInstant)
        case online

        var isOnline: Bool { self == .online }

        /// Whether the shell holds a connection or makes one.
        var holdsConnection: Bool {
            switch self {
            case .opening, .loggingIn, .online: true
            case .down, .waiting, .awaitingToken, .resolving: false
            }
        }

        var deadline: ClientInstant? {
            switch self {
            case .down, .online: nil
            case .waiting(let until), .awaitingToken(let until), .resolving(let until),
                .opening(let until), .loggingIn(let until):
                until
            }
        }
    }

    /// Puts a packet of this client's own number behind those that leave with the answer to the event at hand.
    ///
    /// - Returns: Its sequence number, nil when the server would refuse the packet.
    @discardableResult
    mutating func write(_ command: Command, _ body: PacketBody, flags: PacketFlags = []) -> Int32? {
        sequence = sequence == .max ? 1 : sequence + 1
        let packet = Packet(
            command, body, sequence: sequence, version: configuration.profile.version, flags: flags)
        do {
            try encoder.append(packet)
            return sequence
        } catch {
            report(ClientDiagnostic(.notEncodable, wireError: error))
            return nil
        }
    }

    /// Turns the packets written so far into an action, so that they keep their place before the next one.
    mutating func flushBytes() {
        guard encoder.byteCount > 0 else { return }
        actions.append(.write(epoch, encoder.takeBytes()))
    }

    mutating func report(_ diagnostic: ClientDiagnostic) {
        if diagnostic.code.endsConnection { status.failure = diagnostic }
        notifications.append(.diagnostic(diagnostic))
    }

    mutating func report(_ newState: ConnectionState) {
        guard newState != state else { return }
        state = newState
        notifications.append(.stateChanged(newState))
    }
}
