public import RivuletModel

/// The id of a group on the server.
public struct GroupID: RawRepresentable, Hashable, Comparable, Sendable {
    /// The number as it travels.
    public let rawValue: Int64

    /// Makes the id with this number.
    public init(rawValue: Int64) {
        self.rawValue = rawValue
    }

    /// Makes the id with this number.
    public init(_ rawValue: Int64) {
        self.rawValue = rawValue
    }

    /// Orders ids by number.
    public static func < (left: GroupID, right: GroupID) -> Bool {
        left.rawValue < right.rawValue
    }
}

/// The id of a chat room; a room exists as long as somebody is in it.
public struct RoomID: RawRepresentable, Hashable, Comparable, Sendable {
    /// The number as it travels.
    public let rawValue: Int64

    /// Makes the id with this number.
    public init(rawValue: Int64) {
        self.rawValue = rawValue
    }

    /// Makes the id with this number.
    public init(_ rawValue: Int64) {
        self.rawValue = rawValue
    }

    /// Orders ids by number.
    public static func < (left: RoomID, right: RoomID) -> Bool {
        left.rawValue < right.rawValue
    }
}

/// What a member may do in a group; the raw value is the name in files and commands.
public enum GroupRole: String, Sendable, CaseIterable {
    /// The one to whom the group belongs; every group has exactly one.
    case owner
    /// Helps the owner; speaks in a muted group, too.
    case admin
    /// Everybody else.
    case member
}

/// One user in a group.
public struct GroupMember: Sendable, Hashable {
    /// The user, of the group's app.
    public var user: UserID
    /// What the user may do.
    public var role: GroupRole
    /// Whether the user may not write.
    public var isMuted: Bool
    /// When the user joined.
    public var joined: WallTime
    /// The last key that the message log had given when the user joined; nil when that is not known.
    ///
    /// A super group's messages up to it are not the member's. Clocks go back, keys do not.
    public var joinedKey: Int64?

    /// Makes a member.
    public init(
        user: UserID, role: GroupRole = .member, isMuted: Bool = false, joined: WallTime,
        joinedKey: Int64? = nil
    ) {
        self.user = user
        self.role = role
        self.isMuted = isMuted
        self.joined = joined
        self.joinedKey = joinedKey
    }
}

/// A group and who is in it.
public struct ChatGroup: Sendable, Hashable {
    /// The group's id.
    public let id: GroupID
    /// The app whose users are in it.
    public let app: Int64
    /// Its name.
    public var name: String
    /// What its owner has to say to all.
    public var notice: String
    /// Whether its messages stand in one log of the group instead of each member's queue.
    public var isSuper: Bool
    /// Whether members without a role may not write.
    public var isMuted: Bool
    /// When it was made.
    public let created: WallTime
    /// The members in the order of their numbers.
    public private(set) var members: [GroupMember]

    /// Makes a group without members.
    public init(
        id: GroupID, app: Int64, name: String, notice: String = "", isSuper: Bool = false,
        isMuted: Bool = false, created: WallTime
    ) {
        self.id = id
        self.app = app
        self.name = name
        self.notice = notice
        self.isSuper = isSuper
        self.isMuted = isMuted
        self.created = created
        members = []
    }

    /// The owner; nil only while the group is being made.
    public var owner: UserID? {
        members.first { $0.role == .owner }?.user
    }

    /// The membership of a user, found in logarithmic time; nil for a stranger.
    public func member(_ user: UserID) -> GroupMember? {
        let index = place(of: user)
        guard index < members.count, members[index].user == user else { return nil }
        return members[index]
    }

    /// Adds a member or replaces what is known of one.
    public mutating func setMember(_ member: GroupMember) {
        let index = place(of: member.user)
        if index < members.count, members[index].user == member.user {
            members[index] = member
        } else {
            members.insert(member, at: index)
        }
    }

    /// Removes a member; false when there is none.
    @discardableResult
    public mutating func removeMember(_ user: UserID) -> Bool {
        let index = place(of: user)
        guard index < members.count, members[index].user == user else { return false }
        members.remove(at: index)
        return true
    }

    /// The index of the first member who is not before this user.
    private func place(of user: UserID) -> Int {
        var low = 0
        var high = members.count
        while low < high {
            let middle = (low + high) / 2
            if members[middle].user < user { low = middle + 1 } else { high = middle }
        }
        return low
    }
}
