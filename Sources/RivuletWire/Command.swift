/// The one-byte number that says what a packet is (docs/protocol.md, section 5).
///
/// The set is open: an app may use a free number through ``CommandRegistry``. Number 64 has two meanings, one per
/// ``Profile``; both names exist and are equal.
public struct Command: RawRepresentable, Hashable, Sendable {
    /// The number in byte 8 of the packet's header.
    public let rawValue: UInt8

    /// Makes the command with this number.
    @inlinable
    public init(rawValue: UInt8) {
        self.rawValue = rawValue
    }

    /// 1, `MSG_HEARTBEAT`: a sign of life of the oldest clients, superseded by ``ping``.
    @inlinable public static var heartbeat: Command { Command(rawValue: 1) }
    /// 2, `MSG_AUTH`: a login by user id alone; it proves nothing, so no server logs anyone in by it today.
    @inlinable public static var auth: Command { Command(rawValue: 2) }
    /// 3, `MSG_AUTH_STATUS`: the answer to ``authToken``.
    @inlinable public static var authStatus: Command { Command(rawValue: 3) }
    /// 4, `MSG_IM`: a message from one user to another.
    @inlinable public static var im: Command { Command(rawValue: 4) }
    /// 5, `MSG_ACK`: names the sequence number of a packet that was received.
    @inlinable public static var ack: Command { Command(rawValue: 5) }
    /// 6, `MSG_RST`: another login took over.
    @inlinable public static var rst: Command { Command(rawValue: 6) }
    /// 7, `MSG_GROUP_NOTIFICATION`: a change of a group, as JSON.
    @inlinable public static var groupNotification: Command { Command(rawValue: 7) }
    /// 8, `MSG_GROUP_IM`: a message to a group.
    @inlinable public static var groupIM: Command { Command(rawValue: 8) }
    /// 9, `MSG_PEER_ACK`: a message reached the other user (seed era).
    @inlinable public static var peerACK: Command { Command(rawValue: 9) }
    /// 10, `MSG_INPUTING`: a user is typing (seed era).
    @inlinable public static var inputing: Command { Command(rawValue: 10) }
    /// 11, `MSG_SUBSCRIBE_ONLINE_STATE`: asks for the online state of users (seed era).
    @inlinable public static var subscribeOnlineState: Command { Command(rawValue: 11) }
    /// 12, `MSG_ONLINE_STATE`: the online state of one user (seed era).
    @inlinable public static var onlineState: Command { Command(rawValue: 12) }
    /// 13, `MSG_PING`.
    @inlinable public static var ping: Command { Command(rawValue: 13) }
    /// 14, `MSG_PONG`.
    @inlinable public static var pong: Command { Command(rawValue: 14) }
    /// 15, `MSG_AUTH_TOKEN`: the login.
    @inlinable public static var authToken: Command { Command(rawValue: 15) }
    /// 16, `MSG_LOGIN_POINT`: the account also logged in elsewhere (seed era).
    @inlinable public static var loginPoint: Command { Command(rawValue: 16) }
    /// 17, `MSG_RT`: a live message that is never stored.
    @inlinable public static var rt: Command { Command(rawValue: 17) }
    /// 18, `MSG_ENTER_ROOM`.
    @inlinable public static var enterRoom: Command { Command(rawValue: 18) }
    /// 19, `MSG_LEAVE_ROOM`.
    @inlinable public static var leaveRoom: Command { Command(rawValue: 19) }
    /// 20, `MSG_ROOM_IM`: a message to a chat room.
    @inlinable public static var roomIM: Command { Command(rawValue: 20) }
    /// 21, `MSG_SYSTEM`: a stored message of the operator.
    @inlinable public static var system: Command { Command(rawValue: 21) }
    /// 22, `MSG_UNREAD_COUNT`: the client's unread total, for the badge.
    @inlinable public static var unreadCount: Command { Command(rawValue: 22) }
    /// 23, `MSG_CUSTOMER_SERVICE`: customer messages of early 2016, with two layouts.
    @inlinable public static var customerService: Command { Command(rawValue: 23) }
    /// 24, `MSG_CUSTOMER`: a customer's message to a shop (seed era).
    @inlinable public static var customer: Command { Command(rawValue: 24) }
    /// 25, `MSG_CUSTOMER_SUPPORT`: a shop's message to a customer (seed era).
    @inlinable public static var customerSupport: Command { Command(rawValue: 25) }
    /// 26, `MSG_SYNC`: asks for everything after a key.
    @inlinable public static var sync: Command { Command(rawValue: 26) }
    /// 27, `MSG_SYNC_BEGIN`.
    @inlinable public static var syncBegin: Command { Command(rawValue: 27) }
    /// 28, `MSG_SYNC_END`.
    @inlinable public static var syncEnd: Command { Command(rawValue: 28) }
    /// 29, `MSG_SYNC_NOTIFY`: the queue holds something newer than this key.
    @inlinable public static var syncNotify: Command { Command(rawValue: 29) }
    /// 30, `MSG_SYNC_GROUP`.
    @inlinable public static var syncGroup: Command { Command(rawValue: 30) }
    /// 31, `MSG_SYNC_GROUP_BEGIN`.
    @inlinable public static var syncGroupBegin: Command { Command(rawValue: 31) }
    /// 32, `MSG_SYNC_GROUP_END`.
    @inlinable public static var syncGroupEnd: Command { Command(rawValue: 32) }
    /// 33, `MSG_SYNC_GROUP_NOTIFY`.
    @inlinable public static var syncGroupNotify: Command { Command(rawValue: 33) }
    /// 34, `MSG_SYNC_KEY`: the client keeps everything up to this key.
    @inlinable public static var syncKey: Command { Command(rawValue: 34) }
    /// 35, `MSG_GROUP_SYNC_KEY`.
    @inlinable public static var groupSyncKey: Command { Command(rawValue: 35) }
    /// 36, `MSG_NOTIFICATION`: a live message of the operator.
    @inlinable public static var notification: Command { Command(rawValue: 36) }
    /// 37, `MSG_METADATA`: the place in the queue of the packet that follows.
    @inlinable public static var metadata: Command { Command(rawValue: 37) }
    /// 64 in the seed profile, `MSG_VOIP_CONTROL`: call signalling.
    @inlinable public static var voipControl: Command { Command(rawValue: 64) }
    /// 64 in the current profile, `MSG_CUSTOMER_V2`: a customer-service message.
    @inlinable public static var customerV2: Command { Command(rawValue: 64) }
    /// 65, `MSG_VOIP_DATA`: only in an old calls test client.
    @inlinable public static var voipData: Command { Command(rawValue: 65) }
}
