import RivuletModel
import RivuletWire

// Changes of groups, bans and friends, as the directory made them, and what the server itself has to say.
extension NodeCore {
    mutating func takeChanges(_ changes: [MembershipChange], at time: WallTime, after key: Int64?) {
        for change in changes {
            let before = change.group.flatMap { memberships.group($0) }
            do {
                try memberships.apply(change, at: time, after: key)
            } catch {
                // The directory refuses what cannot be applied, before it tells anybody.
                continue
            }
            let after = change.group.flatMap { memberships.group($0) }
            if rules.announcesGroupChanges { announce(change, before: before, after: after, at: time) }
        }
    }

    /// Stores a GROUP_NOTIFICATION for everybody concerned.
    private mutating func announce(
        _ change: MembershipChange, before: ChatGroup?, after: ChatGroup?, at time: WallTime
    ) {
        guard let text = GroupNotice.text(of: change, at: time), let group = after ?? before else { return }
        var queues: [QueueID]
        switch change {
        case .dissolveGroup:
            // Nobody can read the log of a group that is no more.
            queues = group.members.map { .user(Account(app: group.app, user: $0.user)) }
        case .removeMember(_, let user):
            queues = [.user(Account(app: group.app, user: user))] + group.queues(authorLast: UserID(0))
        default:
            queues = group.queues(authorLast: UserID(0))
        }
        store(.groupNotification, text, in: queues, about: group, origin: .node)
    }

    // MARK: Posts

    mutating func take(_ post: ServerPost, _ id: PostID) {
        switch post {
        case .system(let text, let accounts):
            guard !accounts.isEmpty else {
                actions.append(.posted(id, .done))
                return
            }
            let queues = accounts.map { QueueID.user($0) }
            store(.system, text, in: queues, about: nil, origin: .post(id))
        case .notification(let text, let accounts):
            let packets = [Packet(.notification, .text(text))]
            broadcast(packets, to: accounts.flatMap { connectionsOfUser[$0] ?? [] })
            actions.append(.posted(id, .done))
        case .groupNotification(let text, let group):
            guard let group = memberships.group(group) else {
                actions.append(.posted(id, .noSuchGroup))
                return
            }
            let queues = group.queues(authorLast: UserID(0))
            store(.groupNotification, text, in: queues, about: group, origin: .post(id))
        }
    }

    private mutating func store(
        _ command: Command, _ text: String, in queues: [QueueID], about group: ChatGroup?, origin: Origin
    ) {
        let entry = LogEntry(
            author: Account(app: group?.app ?? Account.defaultApp, user: UserID(0)), device: .none,
            command: command, flags: [], receiver: group?.id.rawValue ?? 0, timestamp: now.timestamp,
            msgLocalID: 0, content: text, queues: queues)
        taken.append(PendingMessage(origin: origin, entry: entry, isPushed: false))
    }
}

/// The JSON of GROUP_NOTIFICATION (docs/protocol.md, section 16.3).
enum GroupNotice {
    /// What members are told of a change; nil for those that clients know no notice of.
    static func text(of change: MembershipChange, at time: WallTime) -> String? {
        let seconds = "\"timestamp\":\(time.timestamp)"
        switch change {
        case .createGroup(let id, _, let name, _, let owner, let members):
            let all = Set(members + [owner]).sorted().map { "\($0.rawValue)" }.joined(separator: ",")
            return """
                {"create":{\(group(id)),"master":\(owner.rawValue),"name":\(quoted(name)),"members":[\(all)],\
                \(seconds)}}
                """
        case .dissolveGroup(let id):
            return "{\"disband\":{\(group(id)),\(seconds)}}"
        case .addMember(let id, let user, _):
            return "{\"add_member\":{\(group(id)),\"member_id\":\(user.rawValue),\(seconds)}}"
        case .removeMember(let id, let user):
            return "{\"quit_group\":{\(group(id)),\"member_id\":\(user.rawValue),\(seconds)}}"
        case .renameGroup(let id, let name):
            return "{\"update_name\":{\(group(id)),\(seconds),\"name\":\(quoted(name))}}"
        case .setGroupNotice(let id, let notice):
            return "{\"update_notice\":{\(group(id)),\(seconds),\"notice\":\(quoted(notice))}}"
        case .setGroupSuper, .muteGroup, .setMemberRole, .muteMember, .banFromRoom, .setFriend, .setBlocked:
            return nil
        }
    }

    private static func group(_ id: GroupID) -> String {
        "\"group_id\":\(id.rawValue)"
    }

    /// A JSON string.
    static func quoted(_ text: String) -> String {
        var quoted = "\""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\"": quoted += "\\\""
            case "\\": quoted += "\\\\"
            case "\u{0}"..<"\u{20}":
                let digits = String(scalar.value, radix: 16)
                quoted += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
            default: quoted.unicodeScalars.append(scalar)
            }
        }
        return quoted + "\""
    }
}
