public import RivuletModel

/// Who is in which group, who may not write where, and who is whose friend: everything that is checked before a
/// message is taken.
///
/// A plain value, changed only by ``apply(_:at:after:)``. ``NodeCore`` holds one, and a ``MembershipDirectory`` keeps one
/// across restarts; both apply the same changes in the same order and so agree.
///
/// ```swift
/// var known = Memberships()
/// try known.apply(.createGroup(GroupID(7), app: 1, name: "Crew", isSuper: false, owner: UserID(1), members: []), at: now)
/// known.group(GroupID(7))?.member(UserID(1))?.role    // .owner
/// ```
///
/// It holds all of them in memory: a membership takes about 32 bytes, an entry of a friend list about 16.
public struct Memberships: Sendable, Equatable {
    /// The most members of one group.
    public static let membersMax = 20_000

    private var groupOfID: [GroupID: ChatGroup] = [:]
    private var dissolved: Set<GroupID> = []
    private var lastGroup: Int64 = 0
    private var bans: [RoomID: Set<Account>] = [:]
    private var friends: [Account: Set<UserID>] = [:]
    private var blocked: [Account: Set<UserID>] = [:]

    /// Makes an empty value.
    public init() {}

    // MARK: Questions

    /// The group with this id; nil when there is none or it was dissolved.
    public func group(_ id: GroupID) -> ChatGroup? {
        groupOfID[id]
    }

    /// All groups, by id.
    public var groups: [ChatGroup] {
        groupOfID.values.sorted { $0.id < $1.id }
    }

    /// The groups in which a user is, by id; looks at every group.
    public func groups(of account: Account) -> [ChatGroup] {
        groups.filter { $0.app == account.app && $0.member(account.user) != nil }
    }

    /// An id that no group has or had.
    public var nextGroupID: GroupID {
        GroupID(lastGroup + 1)
    }

    /// Whether a group had this id.
    public func isDissolved(_ id: GroupID) -> Bool {
        dissolved.contains(id)
    }

    /// Whether a user may not write in a room.
    public func isBanned(_ account: Account, from room: RoomID) -> Bool {
        bans[room]?.contains(account) ?? false
    }

    /// Who may not write in a room, by number.
    public func banned(from room: RoomID) -> [Account] {
        (bans[room] ?? []).sorted { ($0.app, $0.user) < ($1.app, $1.user) }
    }

    /// The rooms from which somebody is banned, by id.
    public var roomsWithBans: [RoomID] {
        bans.keys.sorted()
    }

    /// Whether a user stands in an account's friend list.
    public func isFriend(_ user: UserID, of account: Account) -> Bool {
        friends[account]?.contains(user) ?? false
    }

    /// An account's friend list, by number.
    public func friends(of account: Account) -> [UserID] {
        (friends[account] ?? []).sorted()
    }

    /// Whether a user stands in an account's blacklist.
    public func isBlocked(_ user: UserID, by account: Account) -> Bool {
        blocked[account]?.contains(user) ?? false
    }

    /// An account's blacklist, by number.
    public func blocked(by account: Account) -> [UserID] {
        (blocked[account] ?? []).sorted()
    }

    // MARK: Changes

    /// Makes a change.
    ///
    /// - Parameters:
    ///   - change: What is to be.
    ///   - now: When, for new groups and members.
    ///   - key: The last key that the message log has given, for new members; nil when it is not known.
    /// - Returns: Whether anything is different now.
    /// - Throws: ``MembershipError``; then nothing has changed.
    @discardableResult
    public mutating func apply(
        _ change: MembershipChange, at now: WallTime, after key: Int64? = nil
    ) throws(MembershipError) -> Bool {
        switch change {
        case .createGroup(let id, let app, let name, let isSuper, let owner, let members):
            var group = ChatGroup(id: id, app: app, name: name, isSuper: isSuper, created: now)
            for user in members {
                group.setMember(GroupMember(user: user, joined: now, joinedKey: key))
            }
            group.setMember(GroupMember(user: owner, role: .owner, joined: now, joinedKey: key))
            try insert(group)
            return true
        case .dissolveGroup(let id):
            guard groupOfID.removeValue(forKey: id) != nil else { throw .noSuchGroup(id) }
            dissolved.insert(id)
            return true
        case .banFromRoom(let room, let account, let isBanned):
            return Self.set(account, isBanned, in: &bans[room])
        case .setFriend(let account, let user, let isFriend):
            return Self.set(user, isFriend, in: &friends[account])
        case .setBlocked(let account, let user, let isBlocked):
            return Self.set(user, isBlocked, in: &blocked[account])
        default:
            return try applyToGroup(change, at: now, after: key)
        }
    }

    /// Puts back a group as it was kept, for directories that load.
    ///
    /// - Throws: ``MembershipError`` as for a new group.
    public mutating func insert(_ group: ChatGroup) throws(MembershipError) {
        guard group.id.rawValue > 0 else { throw .badNumber(group.id.rawValue) }
        guard groupOfID[group.id] == nil, !dissolved.contains(group.id) else { throw .groupExists(group.id) }
        if let bad = group.members.first(where: { $0.user.rawValue <= 0 }) {
            throw .badNumber(bad.user.rawValue)
        }
        guard group.owner != nil else { throw .ownerNeeded(group.id) }
        guard group.members.count <= Self.membersMax else {
            throw .tooManyMembers(group.id, max: Self.membersMax)
        }
        groupOfID[group.id] = group
        noteUse(of: group.id)
    }

    /// Puts back the id of a dissolved group, for directories that load.
    public mutating func insertDissolved(_ id: GroupID) {
        dissolved.insert(id)
        noteUse(of: id)
    }

    private mutating func noteUse(of id: GroupID) {
        // An id at the very end of the numbers leaves room for one more, which then is refused as in use.
        lastGroup = max(lastGroup, min(id.rawValue, .max - 1))
    }

    private mutating func applyToGroup(
        _ change: MembershipChange, at now: WallTime, after key: Int64?
    ) throws(MembershipError) -> Bool {
        guard let id = change.group, let before = groupOfID[id] else {
            throw .noSuchGroup(change.group ?? GroupID(0))
        }
        var group = before
        switch change {
        case .renameGroup(_, let name): group.name = name
        case .setGroupNotice(_, let notice): group.notice = notice
        case .setGroupSuper(_, let isSuper): group.isSuper = isSuper
        case .muteGroup(_, let isMuted): group.isMuted = isMuted
        case .addMember(_, let user, let role):
            try group.add(GroupMember(user: user, role: role, joined: now, joinedKey: key))
        case .removeMember(_, let user):
            guard group.owner != user else { throw .ownerNeeded(id) }
            guard group.removeMember(user) else { throw .notAMember(id, user) }
        case .setMemberRole(_, let user, let role): try group.setRole(role, of: user)
        case .muteMember(_, let user, let isMuted):
            guard var member = group.member(user) else { throw .notAMember(id, user) }
            member.isMuted = isMuted
            group.setMember(member)
        default: return false
        }
        guard group != before else { return false }
        groupOfID[id] = group
        return true
    }

    private static func set<Element: Hashable>(
        _ element: Element, _ isIn: Bool, in set: inout Set<Element>?
    ) -> Bool {
        var elements = set ?? []
        let changed = isIn ? elements.insert(element).inserted : elements.remove(element) != nil
        set = elements.isEmpty ? nil : elements
        return changed
    }
}

extension ChatGroup {
    /// Adds a member; one who is there already stays as he is.
    fileprivate mutating func add(_ new: GroupMember) throws(MembershipError) {
        guard new.user.rawValue > 0 else { throw .badNumber(new.user.rawValue) }
        guard member(new.user) == nil else { return }
        // A new owner is made of a member, so that there is one all the time.
        guard new.role != .owner else { throw .notAMember(id, new.user) }
        guard members.count < Memberships.membersMax else {
            throw .tooManyMembers(id, max: Memberships.membersMax)
        }
        setMember(new)
    }

    fileprivate mutating func setRole(_ role: GroupRole, of user: UserID) throws(MembershipError) {
        guard var member = member(user) else { throw .notAMember(id, user) }
        guard member.role != role else { return }
        guard member.role != .owner else { throw .ownerNeeded(id) }
        if role == .owner, let owner, var former = self.member(owner) {
            former.role = .admin
            setMember(former)
        }
        member.role = role
        setMember(member)
    }
}
