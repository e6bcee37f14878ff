/// A group as this device knows it.
public struct GroupProfile: Hashable, Sendable, Identifiable, Codable {
    /// The group.
    public var id: Int64
    /// Its name; empty when unknown.
    public var name: String
    /// Its notice; empty for none.
    public var notice: String
    /// Where its picture is; nil for none.
    public var avatar: String?
    /// Whether only its owner and admins may write.
    public var isMuted: Bool
    /// Whether only its owner and admins may pin messages.
    public var isPinningRestricted: Bool
    /// Whether it has a queue of its own on the server.
    public var isSuper: Bool
    /// Whether it exists no more.
    public var isDisbanded: Bool

    /// Makes a group.
    public init(
        id: Int64, name: String = "", notice: String = "", avatar: String? = nil, isMuted: Bool = false,
        isPinningRestricted: Bool = false, isSuper: Bool = false, isDisbanded: Bool = false
    ) {
        self.id = id
        self.name = name
        self.notice = notice
        self.avatar = avatar
        self.isMuted = isMuted
        self.isPinningRestricted = isPinningRestricted
        self.isSuper = isSuper
        self.isDisbanded = isDisbanded
    }
}

/// A member of a group.
public struct GroupMemberProfile: Hashable, Sendable, Identifiable, Codable {
    /// What a member may do; an open set.
    public struct Role: RawRepresentable, Hashable, Sendable, Codable {
        /// The stable name.
        public let rawValue: String

        /// Makes the role with this name.
        public init(rawValue: String) {
            self.rawValue = rawValue
        }

        /// Made the group, or was given it.
        public static let owner = Role(rawValue: "owner")
        /// Helps the owner.
        public static let admin = Role(rawValue: "admin")
        /// Everybody else.
        public static let member = Role(rawValue: "member")

        /// Whether the role may change the group.
        public var isManaging: Bool { self == .owner || self == .admin }
    }

    /// The user.
    public var id: UserID
    /// What the member may do.
    public var role: Role
    /// The member's name in this group; nil for the user's own.
    public var nickname: String?
    /// Whether the member may not write.
    public var isMuted: Bool

    /// Makes a member.
    public init(id: UserID, role: Role = .member, nickname: String? = nil, isMuted: Bool = false) {
        self.id = id
        self.role = role
        self.nickname = nickname
        self.isMuted = isMuted
    }
}
