/// Body of IM (4) and GROUP_IM (8): a message to a user or a group.
///
/// | version | 0 | 8 | 16 | 20 | 24 |
/// |---|---|---|---|---|---|
/// | 0 | i64 sender | i64 receiver | i32 msgLocalID | utf8 content | |
/// | 1, 2 | i64 sender | i64 receiver | i32 timestamp | i32 msgLocalID | utf8 content |
public struct IMMessage: Sendable, Equatable {
    /// The author's user id.
    public var sender: Int64
    /// A user id (IM) or a group id (GROUP_IM).
    public var receiver: Int64
    /// Seconds since 1970; the server overwrites what a client wrote, and version 0 has none (0).
    public var timestamp: Int32
    /// The author's own number of the message; current clients write 0.
    public var msgLocalID: Int32
    /// The content, by convention one JSON object (docs/protocol.md, section 16).
    public var content: String

    /// Makes a body; `timestamp` and `msgLocalID` may stay 0.
    public init(sender: Int64, receiver: Int64, timestamp: Int32 = 0, msgLocalID: Int32 = 0, content: String)
    {
        self.sender = sender
        self.receiver = receiver
        self.timestamp = timestamp
        self.msgLocalID = msgLocalID
        self.content = content
    }
}

/// Body of RT (17) and ROOM_IM (20): `0 i64 sender, 8 i64 receiver, 16 utf8 content`.
public struct RoomMessage: Sendable, Equatable {
    /// The author's user id.
    public var sender: Int64
    /// A user id (RT) or the room's id (ROOM_IM).
    public var receiver: Int64
    /// The content.
    public var content: String

    /// Makes a body.
    public init(sender: Int64, receiver: Int64, content: String) {
        self.sender = sender
        self.receiver = receiver
        self.content = content
    }
}

/// The body of a live message has the layout of a room message.
public typealias RTMessage = RoomMessage

/// Body of ACK (5): `0 i32 sequence`, and since version 2 `4 i8 status`.
public struct Acknowledgement: Sendable, Equatable {
    /// The sequence number of the packet that is acknowledged.
    public var sequence: Int32
    /// Whether and why the message was refused; always ``ACKStatus/success`` before version 2.
    public var status: ACKStatus

    /// Makes an acknowledgement.
    public init(sequence: Int32, status: ACKStatus = .success) {
        self.sequence = sequence
        self.status = status
    }
}

/// The status byte of an ACK, an open set (docs/protocol.md, section 6).
public struct ACKStatus: RawRepresentable, Hashable, Sendable {
    /// The byte as it travels.
    public let rawValue: UInt8

    /// Makes the status with this number.
    public init(rawValue: UInt8) {
        self.rawValue = rawValue
    }

    /// 0: the message was accepted.
    public static let success = ACKStatus(rawValue: 0)
    /// 1: the receiver is not in the sender's friend list.
    public static let receiverNotFriend = ACKStatus(rawValue: 1)
    /// 2: the sender is not in the receiver's friend list.
    public static let senderNotFriend = ACKStatus(rawValue: 2)
    /// 3: the receiver blocks the sender.
    public static let senderBlocked = ACKStatus(rawValue: 3)
    /// 64: the sender is not a member of the group.
    public static let notGroupMember = ACKStatus(rawValue: 64)
    /// 65: the group does not exist.
    public static let noSuchGroup = ACKStatus(rawValue: 65)
    /// 66: the whole group is muted.
    public static let groupMuted = ACKStatus(rawValue: 66)
    /// 67: this member is muted.
    public static let memberMuted = ACKStatus(rawValue: 67)
}

/// Body of AUTH (2): `0 i64 uid`.
public struct AuthenticationUser: Sendable, Equatable {
    /// The user who claims to log in.
    public var uid: Int64

    /// Makes a body.
    public init(uid: Int64) {
        self.uid = uid
    }
}

/// Body of AUTH_TOKEN (15): `0 i8 platform, 1 u8 length + token, u8 length + device id`.
public struct AuthenticationToken: Sendable, Equatable {
    /// The secret that names the user; at most 255 bytes, 127 in the seed profile.
    public var token: String
    /// The kind of device.
    public var platformID: PlatformID
    /// An opaque name of this installation, stable over time; may be empty.
    public var deviceID: String

    /// Makes a body.
    public init(token: String, platformID: PlatformID, deviceID: String) {
        self.token = token
        self.platformID = platformID
        self.deviceID = deviceID
    }
}

/// Body of AUTH_STATUS (3): `0 i32 status`; seed servers add `4 i32 IPv4` in version 0.
public struct AuthenticationStatus: Sendable, Equatable {
    /// 0 when logged in, anything else when refused.
    public var status: Int32
    /// The IPv4 address of the access server; only seed servers wrote it, in version 0.
    public var ip: Int32?

    /// Makes a body.
    public init(status: Int32, ip: Int32? = nil) {
        self.status = status
        self.ip = ip
    }
}

/// Body of PEER_ACK (9): `0 i64 sender, 8 i64 receiver, 16 i32 msgLocalID`.
public struct PeerAcknowledgement: Sendable, Equatable {
    /// The user who received the message.
    public var sender: Int64
    /// The message's author.
    public var receiver: Int64
    /// The author's number of the message.
    public var msgLocalID: Int32

    /// Makes a body.
    public init(sender: Int64, receiver: Int64, msgLocalID: Int32) {
        self.sender = sender
        self.receiver = receiver
        self.msgLocalID = msgLocalID
    }
}

/// Body of INPUTING (10): `0 i64 sender, 8 i64 receiver`.
public struct MessageInputing: Sendable, Equatable {
    /// The user who types.
    public var sender: Int64
    /// The user who is to see it.
    public var receiver: Int64

    /// Makes a body.
    public init(sender: Int64, receiver: Int64) {
        self.sender = sender
        self.receiver = receiver
    }
}

/// Body of ONLINE_STATE (12): `0 i64 uid, 8 i32 online`.
public struct OnlineState: Sendable, Equatable {
    /// The user of whom it speaks.
    public var uid: Int64
    /// 1 when online, 0 when not; kept as it came.
    public var online: Int32

    /// Makes a body.
    public init(uid: Int64, online: Int32) {
        self.uid = uid
        self.online = online
    }
}

/// Body of LOGIN_POINT (16): `0 i32 upTimestamp, 4 i8 platform, 5 utf8 device id`.
public struct LoginPoint: Sendable, Equatable {
    /// Seconds since 1970 at which the other device logged in.
    public var upTimestamp: Int32
    /// The other device's kind.
    public var platformID: PlatformID
    /// The other device's name.
    public var deviceID: String

    /// Makes a body.
    public init(upTimestamp: Int32, platformID: PlatformID, deviceID: String) {
        self.upTimestamp = upTimestamp
        self.platformID = platformID
        self.deviceID = deviceID
    }
}

/// Body of CUSTOMER_SERVICE (23), of which two layouts existed; the longer one (28 bytes or more) names the customer.
///
/// Both are read, by length; only the longer one is written (docs/protocol.md, section 21, pitfall 36).
public struct CustomerServiceMessage: Sendable, Equatable {
    /// The customer's id; nil in the older layout.
    public var customerID: Int64?
    /// The author.
    public var sender: Int64
    /// The receiver; may be 0.
    public var receiver: Int64
    /// Seconds since 1970.
    public var timestamp: Int32
    /// The content.
    public var content: String

    /// Makes a body.
    public init(customerID: Int64?, sender: Int64, receiver: Int64, timestamp: Int32, content: String) {
        self.customerID = customerID
        self.sender = sender
        self.receiver = receiver
        self.timestamp = timestamp
        self.content = content
    }
}

/// Body of CUSTOMER (24) and CUSTOMER_SUPPORT (25):
/// `0 i64 app id, 8 i64 customer id, 16 i64 store id, 24 i64 seller id, 32 i32 timestamp, 36 utf8 content`.
public struct CustomerMessage: Sendable, Equatable {
    /// The sender's local number of the message; it does not travel.
    public var msgLocalID: Int32
    /// The customer's app.
    public var customerAppID: Int64
    /// The customer.
    public var customerID: Int64
    /// The shop.
    public var storeID: Int64
    /// The member of the shop's staff; 0 lets the server choose.
    public var sellerID: Int64
    /// Seconds since 1970.
    public var timestamp: Int32
    /// The content.
    public var content: String

    /// Makes a body.
    public init(
        customerAppID: Int64, customerID: Int64, storeID: Int64, sellerID: Int64, timestamp: Int32 = 0,
        content: String, msgLocalID: Int32 = 0
    ) {
        self.msgLocalID = msgLocalID
        self.customerAppID = customerAppID
        self.customerID = customerID
        self.storeID = storeID
        self.sellerID = sellerID
        self.timestamp = timestamp
        self.content = content
    }
}

/// Body of CUSTOMER_V2 (64, current profile): `0 i64 sender app id, 8 i64 sender, 16 i64 receiver app id,
/// 24 i64 receiver, 32 i32 timestamp, 36 utf8 content`.
public struct CustomerMessageV2: Sendable, Equatable {
    /// The author's app.
    public var senderAppID: Int64
    /// The author.
    public var sender: Int64
    /// The receiver's app.
    public var receiverAppID: Int64
    /// The receiver.
    public var receiver: Int64
    /// Seconds since 1970.
    public var timestamp: Int32
    /// The content.
    public var content: String

    /// Makes a body.
    public init(
        senderAppID: Int64, sender: Int64, receiverAppID: Int64, receiver: Int64, timestamp: Int32 = 0,
        content: String
    ) {
        self.senderAppID = senderAppID
        self.sender = sender
        self.receiverAppID = receiverAppID
        self.receiver = receiver
        self.timestamp = timestamp
        self.content = content
    }
}

/// Body of the five group-sync commands (30–33, 35): `0 i64 group id, 8 i64 key`.
public struct GroupSyncKey: Sendable, Equatable {
    /// The super group.
    public var groupID: Int64
    /// A key of the group's own queue.
    public var key: Int64

    /// Makes a body.
    public init(groupID: Int64, key: Int64) {
        self.groupID = groupID
        self.key = key
    }
}

/// Body of METADATA (37): `0 i64 key, 8 i64 previous key, 16 sixteen zero bytes`.
///
/// It belongs to the packet whose sequence number is one greater (docs/protocol.md, section 11.5).
public struct Metadata: Sendable, Equatable {
    /// The key of the packet that follows.
    public var syncKey: Int64
    /// The key before it in the same queue; 0 for the first ever.
    public var previousSyncKey: Int64

    /// Makes a body.
    public init(syncKey: Int64, previousSyncKey: Int64) {
        self.syncKey = syncKey
        self.previousSyncKey = previousSyncKey
    }
}

/// Body of VOIP_CONTROL (64, seed profile) and VOIP_DATA (65): `0 i64 sender, 8 i64 receiver, 16 bytes`.
public struct VOIPControl: Sendable, Equatable {
    /// The caller or callee who sends.
    public var sender: Int64
    /// The other side.
    public var receiver: Int64
    /// Signalling bytes (docs/protocol.md, section 15).
    public var content: [UInt8]

    /// Makes a body.
    public init(sender: Int64, receiver: Int64, content: [UInt8]) {
        self.sender = sender
        self.receiver = receiver
        self.content = content
    }
}
