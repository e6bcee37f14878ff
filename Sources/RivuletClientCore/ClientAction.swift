public import RivuletWire

/// Something to do, told by a ``ClientCore``; a shell performs the actions in order.
public enum ClientAction: Sendable, Equatable {
    /// Read the storage and answer with ``ClientEvent/restored(_:)`` or ``ClientEvent/restoreFailed``.
    case restore
    /// Find the addresses of a host and answer with ``ClientEvent/resolved(_:addresses:)`` or
    /// ``ClientEvent/resolveFailed(_:)``.
    case resolve(ClientEndpoint)
    /// Connect to this numeric address at the endpoint's port.
    case open(ConnectionEpoch, ClientEndpoint, address: String)
    /// Write bytes to the connection.
    case write(ConnectionEpoch, [UInt8])
    /// Give the connection up, also while it is being made. Its end need not be reported.
    case close(ConnectionEpoch)
    /// Stop or continue to read from the connection, because the storage cannot follow; reading is on at first.
    case setReading(ConnectionEpoch, Bool)
    /// Apply a batch; the next one comes after ``ClientEvent/committed(batch:_:)`` or
    /// ``ClientEvent/commitFailed(batch:)``.
    case commit(StorageBatch)
    /// Tell observers, in this order.
    case notify([ClientNotification])
    /// Upload what this message needs; answer with ``ClientEvent/uploadFinished(_:_:)`` or
    /// ``ClientEvent/uploadFailed(_:)``. After a stop and a start it is asked for again.
    case upload(OutboxEntry)
    /// The upload for this message is no longer needed.
    case cancelUpload(SendID)
    /// Get a new token, since the server refused the last one this many times in a row.
    case askToken(refusals: Int)
    /// Wake the core at this moment; replaces the last one, nil means never.
    case setDeadline(ClientInstant?)
}

/// The state of the connection, as apps see it; an open set (docs/protocol.md, section 8).
public struct ConnectionState: RawRepresentable, Hashable, Sendable, CustomStringConvertible {
    /// The number; 0 to 4 are the described ones.
    public let rawValue: Int

    /// Makes the state with this number.
    public init(rawValue: Int) {
        self.rawValue = rawValue
    }

    /// 0: no connection; none is wanted, or a retry is scheduled.
    public static let unconnected = ConnectionState(rawValue: 0)
    /// 1: a connection is being made.
    public static let connecting = ConnectionState(rawValue: 1)
    /// 2: the connection stands and the login is on its way.
    public static let connected = ConnectionState(rawValue: 2)
    /// 3: the connection could not be made; a retry is scheduled.
    public static let connectFail = ConnectionState(rawValue: 3)
    /// 4: the server refused the token; a retry is scheduled.
    public static let authenticationFail = ConnectionState(rawValue: 4)
    /// 5: logged in (not described; the described clients stay at 2).
    public static let authenticated = ConnectionState(rawValue: 5)
    /// 6: another login took this one's place; only a stop and a start connect again.
    public static let kicked = ConnectionState(rawValue: 6)

    /// A name for logs.
    public var description: String {
        switch self {
        case .unconnected: "unconnected"
        case .connecting: "connecting"
        case .connected: "connected"
        case .connectFail: "connectFail"
        case .authenticationFail: "authenticationFail"
        case .authenticated: "authenticated"
        case .kicked: "kicked"
        default: "state \(rawValue)"
        }
    }
}

/// What a ``ClientCore`` tells observers.
public enum ClientNotification: Sendable, Equatable {
    /// The connection's state changed.
    case stateChanged(ConnectionState)
    /// The state, the time of the next try or the reason of the last failure changed; comes behind the state.
    case statusChanged(ConnectionStatus)
    /// A new message is stored.
    case message(ReceivedMessage)
    /// Something came that is not stored: RT, ROOM_IM, NOTIFICATION, INPUTING, PEER_ACK, an app's own command, …
    case livePacket(Packet)
    /// A send came a step further.
    case sendChanged(SendReport)
    /// Everything that the server had for this queue when it answered is stored.
    ///
    /// More may be waiting: the next round then starts by itself.
    case roundFinished(MessageQueue)
    /// Something worth a line in a log happened.
    case diagnostic(ClientDiagnostic)

    /// Whether it is told late rather than never.
    var isWorthKeeping: Bool {
        switch self {
        case .message, .sendChanged: true
        case .stateChanged, .statusChanged, .livePacket, .roundFinished, .diagnostic: false
        }
    }
}

/// The fate of a send, step by step.
public struct SendReport: Sendable, Equatable {
    /// How far a send is.
    public enum Step: Sendable, Equatable {
        /// The message is stored and will survive a restart; the only step that is not the last.
        case queued
        /// The server has it.
        case acknowledged
        /// The server refused it with this status.
        case refused(ACKStatus)
        /// The client gave it up.
        case failed(SendFailure)
        /// It was withdrawn before it was written.
        case cancelled

        /// Whether nothing follows.
        public var isLast: Bool {
            self != .queued
        }
    }

    /// The message.
    public var entry: OutboxEntry
    /// The caller's number of the request; nil when an earlier run of the program made it.
    public var ticket: SendTicket?
    /// How far it is.
    public var step: Step

    /// Makes a report.
    public init(entry: OutboxEntry, ticket: SendTicket?, step: Step) {
        self.entry = entry
        self.ticket = ticket
        self.step = step
    }
}

/// A line for a log: what happened and its numbers, never contents or tokens.
public struct ClientDiagnostic: Sendable, Equatable {
    /// What happened; the raw value is stable.
    public struct Code: RawRepresentable, Hashable, Sendable {
        /// The stable name.
        public let rawValue: String

        /// Makes the code with this name.
        public init(rawValue: String) {
            self.rawValue = rawValue
        }

        /// A host's addresses were not found.
        public static let resolveFailed = Code(rawValue: "resolve_failed")
        /// A connection could not be made.
        public static let connectFailed = Code(rawValue: "connect_failed")
        /// A connection ended by itself.
        public static let connectionLost = Code(rawValue: "connection_lost")
        /// The login got no answer in time.
        public static let loginTimedOut = Code(rawValue: "login_timed_out")
        /// The server refused the token.
        public static let loginRefused = Code(rawValue: "login_refused")
        /// Another login took over.
        public static let kicked = Code(rawValue: "kicked")
        /// No byte came after a PING.
        public static let pingTimedOut = Code(rawValue: "ping_timed_out")
        /// A message was not acknowledged in time.
        public static let acknowledgementTimedOut = Code(rawValue: "acknowledgement_timed_out")
        /// A sync round stood still.
        public static let roundTimedOut = Code(rawValue: "round_timed_out")
        /// The server sent bytes that are no packets.
        public static let malformedFrame = Code(rawValue: "malformed_frame")
        /// A packet's body could not be read and was passed over.
        public static let unreadableBody = Code(rawValue: "unreadable_body")
        /// The storage could not be read.
        public static let restoreFailed = Code(rawValue: "restore_failed")
        /// The storage did not apply a batch.
        public static let commitFailed = Code(rawValue: "commit_failed")
        /// More messages wait for the storage than memory should hold; reading pauses.
        public static let storageTooSlow = Code(rawValue: "storage_too_slow")
        /// A packet of the app cannot be encoded and was not sent.
        public static let notEncodable = Code(rawValue: "not_encodable")
        /// The login cannot be encoded: its token or device id is too long.
        public static let loginNotEncodable = Code(rawValue: "login_not_encodable")
    }

    /// What happened.
    public var code: Code
    /// The fault of a packet, when there was one.
    public var wireError: WireError?
    /// Why the connection ended, when it did.
    public var closeReason: CloseReason?

    /// Makes a diagnostic.
    public init(_ code: Code, wireError: WireError? = nil, closeReason: CloseReason? = nil) {
        self.code = code
        self.wireError = wireError
        self.closeReason = closeReason
    }
}
