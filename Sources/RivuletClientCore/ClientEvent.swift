public import RivuletWire

/// The number of a connection attempt; it grows by one with each ``ClientAction/open(_:_:address:)``.
///
/// What an old attempt still reports carries its own number, and the core ignores it.
public struct ConnectionEpoch: RawRepresentable, Hashable, Sendable, Comparable {
    /// The number; the first attempt has 1.
    public let rawValue: UInt64

    /// Makes the epoch with this number.
    public init(rawValue: UInt64) {
        self.rawValue = rawValue
    }

    /// Orders by time.
    public static func < (left: ConnectionEpoch, right: ConnectionEpoch) -> Bool {
        left.rawValue < right.rawValue
    }
}

/// The caller's own number of a send request; comes back in every ``SendReport`` about it.
public struct SendTicket: RawRepresentable, Hashable, Sendable {
    /// The number, unique within one run of the program.
    public let rawValue: UInt64

    /// Makes the ticket with this number.
    public init(rawValue: UInt64) {
        self.rawValue = rawValue
    }
}

/// A message to send, as the app asks for it.
public struct SendRequest: Sendable, Equatable {
    /// The caller's number of this request.
    public var ticket: SendTicket
    /// The identity of the message as it stands in its content, if it has one.
    public var uuid: String?
    /// IM, GROUP_IM, CUSTOMER_V2 or ROOM_IM; in the seed profile CUSTOMER and CUSTOMER_SUPPORT, too.
    public var command: Command
    /// The message; its case fits ``command``.
    public var body: PacketBody
    /// The header flags to send it with.
    public var flags: PacketFlags
    /// The time of this device's clock, in milliseconds since 1970.
    public var createdMilliseconds: Int64
    /// The app's own number of the message; IM and GROUP_IM carry it in their body, customer messages only here.
    public var msgLocalID: Int32 = 0
    /// Whether something must be uploaded before the message can be written.
    public var needsUpload = false

    /// Makes a request.
    public init(
        ticket: SendTicket, uuid: String? = nil, command: Command, body: PacketBody,
        flags: PacketFlags = [], createdMilliseconds: Int64 = 0
    ) {
        self.ticket = ticket
        self.uuid = uuid
        self.command = command
        self.body = body
        self.flags = flags
        self.createdMilliseconds = createdMilliseconds
    }
}

/// Names a send, by whichever name the caller knows.
public enum SendReference: Sendable, Hashable {
    /// The caller's own number of the request.
    case ticket(SendTicket)
    /// The client's number of the send.
    case id(SendID)
    /// The identity of the message.
    case uuid(String)
}

/// What withdrawing a send achieves.
public enum SendWithdrawal: Hashable, Sendable {
    /// The message never left this device, and never will.
    case withdrawn
    /// The message leaves this device no more, but an earlier run of the program may have written it to a connection.
    case uncertain
    /// The message was written to a connection, or none of this name waits: nothing changes.
    case tooLate
}

/// Why a connection ended, for logs; an open set.
public struct CloseReason: RawRepresentable, Hashable, Sendable {
    /// The stable name.
    public let rawValue: String

    /// Makes the reason with this name.
    public init(rawValue: String) {
        self.rawValue = rawValue
    }

    /// The server closed the connection.
    public static let endOfStream = CloseReason(rawValue: "end_of_stream")
    /// Nobody listens there.
    public static let refused = CloseReason(rawValue: "refused")
    /// The network reported an error.
    public static let failed = CloseReason(rawValue: "failed")
}

/// Something that happened, told to a ``ClientCore``.
public enum ClientEvent: Sendable, Equatable {
    /// The app wants the client to run as this user.
    case started(ClientIdentity)
    /// The app wants the client to rest; after the answer to this event no action follows.
    case stopped
    /// The app can be seen (again).
    case enteredForeground
    /// The app cannot be seen; the connection is given up.
    case enteredBackground
    /// The device gained or lost its network.
    case reachabilityChanged(Bool)

    /// The storage was read.
    case restored(RestoredState)
    /// The storage could not be read.
    case restoreFailed
    /// The storage applied this batch.
    case committed(batch: UInt64, CommitOutcome)
    /// The storage applied nothing of this batch.
    case commitFailed(batch: UInt64)

    /// A host has these numeric addresses, best first.
    case resolved(ClientEndpoint, addresses: [String])
    /// A host's addresses could not be found.
    case resolveFailed(ClientEndpoint)
    /// The connection stands.
    case opened(ConnectionEpoch)
    /// Bytes came in, cut anywhere.
    case received(ConnectionEpoch, [UInt8])
    /// The connection ended or could not be made.
    case closed(ConnectionEpoch, CloseReason)

    /// The app sends a message that the server acknowledges.
    case sendRequested(SendRequest)
    /// The app withdraws a message; without effect once it was written to a connection.
    case sendCancelled(SendReference)
    /// What a message waited for is uploaded; this body, which names it, takes the place of the first one.
    case uploadFinished(SendID, PacketBody)
    /// What a message waits for cannot be uploaded.
    case uploadFailed(SendID)
    /// The app sends something that is worth nothing later: RT, INPUTING, VOIP_CONTROL, UNREAD_COUNT.
    ///
    /// It is written when the client is logged in and dropped otherwise.
    case livePacketRequested(Packet)
    /// The app follows the queue of a super group from this key on; without effect in the seed profile.
    case superGroupAdded(Int64, key: Int64)
    /// The app follows a super group no longer, until the server names it.
    case superGroupRemoved(Int64)
    /// The app follows no super group any longer.
    case superGroupsRemoved
    /// The app opens a chat room; the client enters it again on every connection.
    case roomEntered(Int64)
    /// The app leaves a chat room; another room than the current one is ignored.
    case roomLeft(Int64)
    /// The token source answered, nil when it failed; or the app has a new token.
    case tokenProvided(String?)

    /// The moment of the last ``ClientAction/setDeadline(_:)`` is reached.
    case deadline
}
