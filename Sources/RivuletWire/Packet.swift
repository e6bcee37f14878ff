/// One frame of the protocol: a 12-byte header and a typed body (docs/protocol.md, sections 2 and 6).
///
/// It is the `Message` of the description (`cmd`, `seq`, `body`, `pack`, `unpack`); the message flow needs the word
/// *message* for what people read.
///
/// | offset | size | field |
/// |---:|---:|---|
/// | 0 | 4 | length of the body in bytes, signed, big-endian |
/// | 4 | 4 | ``sequence`` |
/// | 8 | 1 | ``command`` |
/// | 9 | 1 | ``version`` |
/// | 10 | 1 | ``flags`` |
/// | 11 | 1 | reserved: written 0, ignored when read |
public struct Packet: Sendable, Equatable {
    /// What the packet is.
    public var command: Command
    /// The sender's own number of this frame; an ACK names it.
    public var sequence: Int32
    /// Which layout the body has: 0, 1, or 2 (greater ones count as 2).
    public var version: UInt8
    /// Header byte 10.
    public var flags: PacketFlags
    /// The content of the frame.
    public var body: PacketBody

    /// Makes a packet; no check is made before it is packed.
    @inline(__always)
    @inlinable
    public init(
        _ command: Command, _ body: PacketBody = .empty, sequence: Int32 = 0, version: UInt8 = 2,
        flags: PacketFlags = []
    ) {
        self.command = command
        self.sequence = sequence
        self.version = version
        self.flags = flags
        self.body = body
    }
}

/// The typed body of a packet.
///
/// Which case belongs to which command stands in docs/protocol.md, section 6. The customer bodies are boxed, so that
/// a packet is never larger than one with a message in it.
public enum PacketBody: Sendable, Equatable {
    /// Nothing: HEARTBEAT, RST, PING, PONG.
    case empty
    /// AUTH.
    case auth(AuthenticationUser)
    /// AUTH_STATUS.
    case authStatus(AuthenticationStatus)
    /// IM and GROUP_IM.
    case im(IMMessage)
    /// ACK.
    case ack(Acknowledgement)
    /// GROUP_NOTIFICATION, SYSTEM and NOTIFICATION.
    case text(String)
    /// PEER_ACK.
    case peerACK(PeerAcknowledgement)
    /// INPUTING.
    case inputing(MessageInputing)
    /// SUBSCRIBE_ONLINE_STATE: user ids.
    case onlineStateSubscription([Int64])
    /// ONLINE_STATE.
    case onlineState(OnlineState)
    /// AUTH_TOKEN.
    case authToken(AuthenticationToken)
    /// LOGIN_POINT.
    case loginPoint(LoginPoint)
    /// RT and ROOM_IM.
    case room(RoomMessage)
    /// ENTER_ROOM and LEAVE_ROOM: the room's id.
    case roomID(Int64)
    /// UNREAD_COUNT.
    case unreadCount(Int32)
    /// CUSTOMER_SERVICE; the older of its two layouts is decoded only.
    indirect case customerService(CustomerServiceMessage)
    /// CUSTOMER and CUSTOMER_SUPPORT.
    indirect case customer(CustomerMessage)
    /// SYNC, SYNC_BEGIN, SYNC_END, SYNC_NOTIFY and SYNC_KEY.
    case syncKey(Int64)
    /// SYNC_GROUP, SYNC_GROUP_BEGIN, SYNC_GROUP_END, SYNC_GROUP_NOTIFY and GROUP_SYNC_KEY.
    case groupSyncKey(GroupSyncKey)
    /// METADATA.
    case metadata(Metadata)
    /// VOIP_CONTROL (64 in the seed profile) and VOIP_DATA.
    case voip(VOIPControl)
    /// CUSTOMER_V2 (64 in the current profile).
    indirect case customerV2(CustomerMessageV2)
    /// The body of a command that an app registered, as raw bytes; ``CommandRegistry`` gives it its type.
    case custom([UInt8])
}
