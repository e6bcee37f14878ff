/// A change of a group, as the server tells it (docs/protocol.md, section 16.3).
public struct GroupNotification: Hashable, Sendable {
    /// What changed.
    public enum Change: Hashable, Sendable {
        /// The group was made.
        case created(master: UserID, name: String, members: [UserID])
        /// The group is no more.
        case disbanded
        /// A user left.
        case memberLeft(UserID, name: String?)
        /// A user came.
        case memberAdded(UserID, name: String?)
        /// The group has another name.
        case renamed(String)
        /// The group's notice changed.
        case noticeChanged(String)
        /// The group became a super group, with a queue of its own.
        case upgraded
        /// A change that this build does not know, by its key.
        case unknown(String)
    }

    /// The group; 0 when the notification does not say.
    public var groupID: Int64
    /// Seconds since 1970; 0 when the notification does not say.
    public var time: Int64
    /// What changed.
    public var change: Change

    /// Makes a notification.
    public init(groupID: Int64, time: Int64, change: Change) {
        self.groupID = groupID
        self.time = time
        self.change = change
    }
}
