public import RivuletWire

/// Something that a service can do, and the command that carries it in each profile.
///
/// What a profile lacks fails with ``IMServiceError/Code/notInProfile``; the `Bool` forms answer false.
///
/// | feature | seed | current |
/// |---|---|---|
/// | ``peerMessages`` | IM | IM |
/// | ``groupMessages`` | GROUP_IM | GROUP_IM |
/// | ``roomMessages`` | ROOM_IM | ROOM_IM |
/// | ``liveMessages`` | RT | RT |
/// | ``customerMessages`` | CUSTOMER | CUSTOMER_V2 |
/// | ``customerSupport`` | CUSTOMER_SUPPORT | CUSTOMER_V2 |
/// | ``calls`` | VOIP_CONTROL | RT with `voip` or `p2p` |
/// | ``typing`` | INPUTING | RT with `typing` |
/// | ``delivery`` | PEER_ACK | RT with `delivered` |
/// | ``onlineState`` | SUBSCRIBE_ONLINE_STATE, ONLINE_STATE | RT with `presence` |
/// | ``loginPoints`` | LOGIN_POINT | NOTIFICATION with `login_point` |
/// | ``unreadCount`` | UNREAD_COUNT | UNREAD_COUNT |
/// | ``systemMessages`` | SYSTEM | SYSTEM |
/// | ``notifications`` | – | NOTIFICATION |
/// | ``sync`` | – | SYNC |
/// | ``superGroups`` | – | SYNC_GROUP |
public struct IMFeature: RawRepresentable, Hashable, Sendable, CaseIterable {
    /// The stable name.
    public let rawValue: String

    /// Makes the feature with this name.
    public init(rawValue: String) {
        self.rawValue = rawValue
    }

    /// Messages between users.
    public static let peerMessages = IMFeature(rawValue: "peer_messages")
    /// Messages to groups.
    public static let groupMessages = IMFeature(rawValue: "group_messages")
    /// Messages to the chat room.
    public static let roomMessages = IMFeature(rawValue: "room_messages")
    /// Messages that are never stored.
    public static let liveMessages = IMFeature(rawValue: "live_messages")
    /// Messages of a customer to the staff of a shop.
    public static let customerMessages = IMFeature(rawValue: "customer_messages")
    /// Messages of the staff of a shop to a customer.
    public static let customerSupport = IMFeature(rawValue: "customer_support")
    /// Signals of calls.
    public static let calls = IMFeature(rawValue: "calls")
    /// "Is typing".
    public static let typing = IMFeature(rawValue: "typing")
    /// "Has arrived at the other side".
    public static let delivery = IMFeature(rawValue: "delivery")
    /// Who is online.
    public static let onlineState = IMFeature(rawValue: "online_state")
    /// "This account also logged in there".
    public static let loginPoints = IMFeature(rawValue: "login_points")
    /// The number on the app's badge.
    public static let unreadCount = IMFeature(rawValue: "unread_count")
    /// Stored texts of the operator.
    public static let systemMessages = IMFeature(rawValue: "system_messages")
    /// Live texts of the operator.
    public static let notifications = IMFeature(rawValue: "notifications")
    /// Queues with keys.
    public static let sync = IMFeature(rawValue: "sync")
    /// Groups with queues of their own.
    public static let superGroups = IMFeature(rawValue: "super_groups")

    /// Every feature, in the order of the table.
    public static let allCases: [IMFeature] = [
        .peerMessages, .groupMessages, .roomMessages, .liveMessages, .customerMessages, .customerSupport,
        .calls, .typing, .delivery, .onlineState, .loginPoints, .unreadCount, .systemMessages, .notifications,
        .sync, .superGroups,
    ]

    /// The command that carries it, nil when the profile has none.
    public func command(in profile: Profile) -> Command? {
        let isSeed = profile == .seed
        switch self {
        case .peerMessages: return .im
        case .groupMessages: return .groupIM
        case .roomMessages: return .roomIM
        case .liveMessages: return .rt
        case .customerMessages: return isSeed ? .customer : .customerV2
        case .customerSupport: return isSeed ? .customerSupport : .customerV2
        case .calls: return isSeed ? .voipControl : .rt
        case .typing: return isSeed ? .inputing : .rt
        case .delivery: return isSeed ? .peerACK : .rt
        case .onlineState: return isSeed ? .subscribeOnlineState : .rt
        case .loginPoints: return isSeed ? .loginPoint : .notification
        case .unreadCount: return .unreadCount
        case .systemMessages: return .system
        case .notifications: return isSeed ? nil : .notification
        case .sync: return isSeed ? nil : .sync
        case .superGroups: return isSeed ? nil : .syncGroup
        default: return nil
        }
    }
}
