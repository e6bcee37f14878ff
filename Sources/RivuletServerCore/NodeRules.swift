/// What a server allows, apart from limits.
public struct NodeRules: Sendable, Hashable {
    /// Whether IM and RT need friendship both ways (ACK 1 and 2).
    public var checksFriends = false
    /// Whether IM and RT to somebody who blocks the sender are refused (ACK 3).
    public var checksBlacklist = true
    /// The app of the staff, which must be one side of every CUSTOMER_V2; nil lets any two apps talk.
    public var customerServiceApp: Int64?
    /// Whether a group's members are told of its changes by GROUP_NOTIFICATION.
    public var announcesGroupChanges = true
    /// Whether a user's other devices are told of a login by NOTIFICATION (docs/extensions.md, section 1).
    public var tellsLogins = true
    /// How many messages of a room are kept for those who come later; 0 keeps none.
    public var roomHistoryCountMax = 100
    /// How many bytes of content of a room are kept.
    public var roomHistoryBytesMax = 256 * 1024
    /// How long a message of a room is kept.
    public var roomHistoryMilliseconds: Int64 = 24 * 3_600_000
    /// Of how many rooms messages are kept; the room that was quiet for longest goes first.
    public var roomHistoriesMax = 1000

    /// Makes the default rules.
    public init() {}
}
