/// The one-byte number that says what a packet is (docs/protocol.md, section 5).
///
/// The set is open: an app may use a free number through ``CommandRegistry``. Number 64 has two meanings, one per
/// ``Profile``; both names exist and are equal.
public struct Command: RawRepresentable, Hashable, Sendable {
    /// The number in byte 8 of the packet's header.
    public let rawValue: UInt8

    /// Makes the command with this number.
    public init(rawValue: UInt8) {
        self.rawValue = rawValue
    }

    /// 1, `MSG_HEARTBEAT`: a sign of life of the oldest clients, superseded by ``ping``.
    public static let heartbeat = Command(rawValue: 1)
    /// 2, `MSG_AUTH`: a login by user id alone; it proves nothing, so no server logs anyone in by it today.
    public static let auth = Command(rawValue: 2)
    /// 3, `MSG_AUTH_STATUS`: the answer to ``authToken``.
    public static let authStatus = Command(rawValue: 3)
    /// 4, `MSG_IM`: a message from one user to another.
    public static let im = Command(rawValue: 4)
    /// 5, `MSG_ACK`: names the sequence number of a packet that was received.
    public static let ack = Command(rawValue: 5)
    /// 6, `MSG_RST`: another login took over.
    public static let rst = Command(rawValue: 6)
    /// 7, `MSG_GROUP_NOTIFICATION`: a change of a group, as JSON.
    public static let groupNotification = Command(rawValue: 7)
    /// 8, `MSG_GROUP_IM`: a message to a group.
    public static let groupIM = Command(rawValue: 8)
    /// 9, `MSG_PEER_ACK`: a message reached the other user (seed era).
    public static let peerACK = Command(rawValue: 9)
    /// 10, `MSG_INPUTING`: a user is typing (seed era).
    public static let inputing = Command(rawValue: 10)
    /// 11, `MSG_SUBSCRIBE_ONLINE_STATE`: asks for the online state of users (seed era).
    public static let subscribeOnlineState = Command(rawValue: 11)
    /// 12, `MSG_ONLINE_STATE`: the online state of one user (seed era).
    public static let onlineState = Command(rawValue: 12)
    /// 13, `MSG_PING`.
    public static let ping = Command(rawValue: 13)
    /// 14, `MSG_PONG`.
    public static let pong = Command(rawValue: 14)
    /// 15, `MSG_AUTH_TOKEN`: the login.
    public static let authToken = Command(rawValue: 15)
    /// 16, `MSG_LOGIN_POINT`: the account also logged in elsewhere (seed era).
    public static let loginPoint = Command(rawValue: 16)
    /// 17, `MSG_RT`: a live message that is never stored.
    public static let rt = Command(rawValue: 17)
    /// 18, `MSG_ENTER_ROOM`.
    public static let enterRoom = Command(rawValue: 18)
    /// 19, `MSG_LEAVE_ROOM`.
    public static let leaveRoom = Command(rawValue: 19)
    /// 20, `MSG_ROOM_IM`: a message to a chat room.
    public static let roomIM = Command(rawValue: 20)
    /// 21, `MSG_SYSTEM`: a stored message of the operator.
    public static let system = Command(rawValue: 21)
    /// 22, `MSG_UNREAD_COUNT`: the client's unread total, for the badge.
    public static let unreadCount = Command(rawValue: 22)
    /// 23, `MSG_CUSTOMER_SERVICE`: customer messages of early 2016, with two layouts.
    public static let customerService = Command(rawValue: 23)
    /// 24, `MSG_CUSTOMER`: a customer's message to a shop (seed era).
    public static let customer = Command(rawValue: 24)
    /// 25, `MSG_CUSTOMER_SUPPORT`: a shop's message to a customer (seed era).
    public static let customerSupport = Command(rawValue: 25)
    /// 26, `MSG_SYNC`: asks for everything after a key.
    public static let sync = Command(rawValue: 26)
    /// 27, `MSG_SYNC_BEGIN`.
    public static let syncBegin = Command(rawValue: 27)
    /// 28, `MSG_SYNC_END`.
    public static let syncEnd = Command(rawValue: 28)
    /// 29, `MSG_SYNC_NOTIFY`: the queue holds something newer than this key.
    public static let syncNotify = Command(rawValue: 29)
    /// 30, `MSG_SYNC_GROUP`.
    public static let syncGroup = Command(rawValue: 30)
    /// 31, `MSG_SYNC_GROUP_BEGIN`.
    public static let syncGroupBegin = Command(rawValue: 31)
    /// 32, `MSG_SYNC_GROUP_END`.
    public static let syncGroupEnd = Command(rawValue: 32)
    /// 33, `MSG_SYNC_GROUP_NOTIFY`.
    public static let syncGroupNotify = Command(rawValue: 33)
    /// 34, `MSG_SYNC_KEY`: the client keeps everything up to this key.
    public static let syncKey = Command(rawValue: 34)
    /// 35, `MSG_GROUP_SYNC_KEY`.
    public static let groupSyncKey = Command(rawValue: 35)
    /// 36, `MSG_NOTIFICATION`: a live message of the operator.
    public static let notification = Command(rawValue: 36)
    /// 37, `MSG_METADATA`: the place in the queue of the packet that follows.
    public static let metadata = Command(rawValue: 37)
    /// 64 in the seed profile, `MSG_VOIP_CONTROL`: call signalling.
    public static let voipControl = Command(rawValue: 64)
    /// 64 in the current profile, `MSG_CUSTOMER_V2`: a customer-service message.
    public static let customerV2 = Command(rawValue: 64)
    /// 65, `MSG_VOIP_DATA`: only in an old calls test client.
    public static let voipData = Command(rawValue: 65)
}
