public import RivuletModel

/// One change to what the server knows of groups, rooms and friends.
///
/// Changes say what is to be, not what is to be done: one that changes nothing is no error.
public enum MembershipChange: Sendable, Hashable {
    /// A new group with its owner and its first members; the owner may be left out of the list.
    case createGroup(GroupID, app: Int64, name: String, isSuper: Bool, owner: UserID, members: [UserID])
    /// The group is no more; its id is never used again.
    case dissolveGroup(GroupID)
    /// Another name.
    case renameGroup(GroupID, String)
    /// Another notice.
    case setGroupNotice(GroupID, String)
    /// Whether messages stand in one log of the group; what was sent before stays where it is.
    case setGroupSuper(GroupID, Bool)
    /// Whether members without a role may not write.
    case muteGroup(GroupID, Bool)
    /// A new member, not an owner.
    case addMember(GroupID, UserID, GroupRole)
    /// A member leaves or is sent away; not the owner.
    case removeMember(GroupID, UserID)
    /// Another role; a new owner makes the old one an admin.
    case setMemberRole(GroupID, UserID, GroupRole)
    /// Whether a member may not write.
    case muteMember(GroupID, UserID, Bool)
    /// Whether a user may not write in a room.
    case banFromRoom(RoomID, Account, Bool)
    /// Whether the user stands in the account's friend list.
    case setFriend(of: Account, UserID, Bool)
    /// Whether the user stands in the account's blacklist.
    case setBlocked(by: Account, UserID, Bool)

    /// The group that the change is about; nil for rooms and friends.
    public var group: GroupID? {
        switch self {
        case .createGroup(let id, _, _, _, _, _), .dissolveGroup(let id), .renameGroup(let id, _),
            .setGroupNotice(let id, _), .setGroupSuper(let id, _), .muteGroup(let id, _),
            .addMember(let id, _, _), .removeMember(let id, _), .setMemberRole(let id, _, _),
            .muteMember(let id, _, _):
            id
        case .banFromRoom, .setFriend, .setBlocked: nil
        }
    }
}

/// Why a change cannot be made.
public enum MembershipError: Error, Hashable, Sendable, CustomStringConvertible {
    /// No group has this id.
    case noSuchGroup(GroupID)
    /// A group has or had this id.
    case groupExists(GroupID)
    /// The user is not in the group.
    case notAMember(GroupID, UserID)
    /// The owner can neither leave nor lose the role; another member must become the owner first.
    case ownerNeeded(GroupID)
    /// An id or a number is not above 0.
    case badNumber(Int64)
    /// The group would have more members than allowed.
    case tooManyMembers(GroupID, max: Int)

    /// What a person who runs a server can do about it.
    public var description: String {
        switch self {
        case .noSuchGroup(let id): "group \(id.rawValue) does not exist"
        case .groupExists(let id): "the id \(id.rawValue) is in use, or was; ids are never used again"
        case .notAMember(let id, let user): "user \(user.rawValue) is not a member of group \(id.rawValue)"
        case .ownerNeeded(let id):
            "group \(id.rawValue) needs an owner; make another member the owner first, or dissolve it"
        case .badNumber(let number): "\(number) is not a number above 0"
        case .tooManyMembers(let id, let max): "group \(id.rawValue) may have \(max) members and no more"
        }
    }
}
