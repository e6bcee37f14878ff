import RivuletModel
import RivuletServerCore

/// Answers requests of the administration, on a running server or on the files of a stopped one.
struct AdminDesk: Sendable {
    /// What is known of groups, bans and friends.
    var memberships: @Sendable () async throws -> Memberships
    /// Makes changes, all or none, and answers those that made a difference.
    var apply: @Sendable ([MembershipChange]) async throws -> [MembershipChange]
    /// Who may log in.
    var tokens: TokenDesk

    /// The most users in one request.
    static let usersMax = 20_000
    /// The longest name of a group, in bytes.
    static let nameBytesMax = 255

    /// Answers a request; a fault is an answer, too.
    func answer(_ request: AdminRequest) async -> AdminAnswer {
        do {
            return try await perform(request)
        } catch let refusal as Refusal {
            return .failure(refusal.code, refusal.message)
        } catch let error as MembershipError {
            return .failure(Self.code(of: error), error.description)
        } catch let error as ServerError {
            return .failure(error.code.rawValue, error.message)
        } catch {
            return .failure("failed", "the request failed (\(type(of: error)))")
        }
    }

    private struct Refusal: Error {
        var code: String
        var message: String
    }

    private static func code(of error: MembershipError) -> String {
        switch error {
        case .noSuchGroup: "no_such_group"
        case .groupExists: "group_exists"
        case .notAMember: "not_a_member"
        case .ownerNeeded: "owner_needed"
        case .badNumber: "bad_number"
        case .tooManyMembers: "too_many_members"
        }
    }

    private func perform(_ request: AdminRequest) async throws -> AdminAnswer {
        switch request {
        case .listGroups, .showGroup, .listBans, .listFriends:
            return try answerQuestion(request, try await memberships())
        case .createGroup(let id, let name, let owner, let members, let isSuper):
            return try await createGroup(id, name, owner, members, isSuper)
        case .createTokens, .listTokens, .revokeTokens:
            return try await answerAboutTokens(request)
        default:
            var answer = AdminAnswer()
            answer.changed = try await apply(try changes(request)).count
            return answer
        }
    }

    // MARK: Questions

    private func answerQuestion(_ request: AdminRequest, _ known: Memberships) throws -> AdminAnswer {
        var answer = AdminAnswer()
        switch request {
        case .listGroups(let user):
            let groups = user.map { known.groups(of: Account(user: UserID($0))) } ?? known.groups
            answer.groups = groups.map { AdminAnswer.Group($0, withMembers: false) }
        case .showGroup(let id):
            guard let group = known.group(GroupID(id)) else {
                throw MembershipError.noSuchGroup(GroupID(id))
            }
            answer.groups = [AdminAnswer.Group(group, withMembers: true)]
        case .listBans(let room):
            let rooms = room.map { [RoomID($0)] } ?? known.roomsWithBans
            answer.rooms = rooms.map { room in
                AdminAnswer.Room(
                    id: room.rawValue, banned: known.banned(from: room).map(\.user.rawValue))
            }
        case .listFriends(let user):
            let account = Account(user: try Self.user(user))
            answer.friends = known.friends(of: account).map(\.rawValue)
            answer.blocked = known.blocked(by: account).map(\.rawValue)
        default:
            break
        }
        return answer
    }

    private func answerAboutTokens(_ request: AdminRequest) async throws -> AdminAnswer {
        switch request {
        case .createTokens(let first, let last, let label, let lifetime):
            guard first > 0, first <= last, last - first < TokenDesk.tokensMax else {
                throw Refusal(
                    code: "bad_range", message: "a range begins at 1 or later and names 1 to 100000 users")
            }
            guard label.utf8.count <= TokenDesk.labelBytesMax else {
                throw Refusal(
                    code: "bad_label", message: "a label has at most \(TokenDesk.labelBytesMax) bytes")
            }
            guard lifetime ?? 1 > 0 else {
                throw Refusal(code: "bad_lifetime", message: "a token lives for 1 ms or longer")
            }
            return try await tokens.create(first...last, label, lifetime: lifetime)
        case .revokeTokens(let words):
            guard words.count <= Self.usersMax else {
                throw Refusal(code: "too_many_tokens", message: "at most \(Self.usersMax) at a time")
            }
            return try await tokens.revoke(words)
        case .listTokens(let user): return try await tokens.list(of: try user.map { try Self.user($0) })
        default: return AdminAnswer()
        }
    }

    // MARK: Changes

    private func createGroup(
        _ id: Int64?, _ name: String, _ owner: Int64, _ members: [Int64], _ isSuper: Bool
    ) async throws -> AdminAnswer {
        let name = try Self.name(name)
        let group: GroupID
        if let id {
            group = GroupID(try Self.positive(id, "a group's id"))
        } else {
            group = try await memberships().nextGroupID
        }
        let made = try await apply([
            .createGroup(
                group, app: Account.defaultApp, name: name, isSuper: isSuper, owner: try Self.user(owner),
                members: try Self.users(members))
        ])
        var answer = try answerQuestion(.showGroup(id: group.rawValue), try await memberships())
        answer.changed = made.count
        return answer
    }

    private func changes(_ request: AdminRequest) throws -> [MembershipChange] {
        switch request {
        case .addMembers(let group, let users):
            return try Self.users(users).map { .addMember(GroupID(group), $0, .member) }
        case .removeMembers(let group, let users):
            return try Self.users(users).map { .removeMember(GroupID(group), $0) }
        case .setRole(let group, let user, let role):
            guard let role = GroupRole(rawValue: role) else {
                throw Refusal(code: "bad_role", message: "'\(role)' is no role: owner, admin or member")
            }
            return [.setMemberRole(GroupID(group), try Self.user(user), role)]
        case .muteGroup(let id, let isMuted):
            return [.muteGroup(GroupID(id), isMuted)]
        case .muteMembers(let group, let users, let isMuted):
            return try Self.users(users).map { .muteMember(GroupID(group), $0, isMuted) }
        case .setSuper(let group, let isSuper):
            return [.setGroupSuper(GroupID(group), isSuper)]
        case .renameGroup(let id, let name):
            return [.renameGroup(GroupID(id), try Self.name(name))]
        case .dissolveGroup(let id):
            return [.dissolveGroup(GroupID(id))]
        case .banFromRoom(let room, let users, let isBanned):
            let room = RoomID(try Self.positive(room, "a room's id"))
            return try Self.users(users).map { .banFromRoom(room, Account(user: $0), isBanned) }
        case .setFriends(let user, let others, let isFriend, let oneWay):
            let account = Account(user: try Self.user(user))
            return try Self.others(others, of: account).flatMap { other -> [MembershipChange] in
                let there = MembershipChange.setFriend(of: account, other, isFriend)
                let back = MembershipChange.setFriend(of: Account(user: other), account.user, isFriend)
                return oneWay ? [there] : [there, back]
            }
        case .setBlocked(let user, let others, let isBlocked):
            let account = Account(user: try Self.user(user))
            return try Self.others(others, of: account).map { .setBlocked(by: account, $0, isBlocked) }
        case .createGroup, .listGroups, .showGroup, .listBans, .listFriends, .createTokens, .listTokens,
            .revokeTokens:
            return []
        }
    }

    // MARK: Checks

    private static func positive(_ number: Int64, _ what: String) throws -> Int64 {
        guard number > 0 else { throw Refusal(code: "bad_number", message: "\(what) must be 1 or more") }
        return number
    }

    private static func user(_ number: Int64) throws -> UserID {
        UserID(try positive(number, "a user's number"))
    }

    private static func users(_ numbers: [Int64]) throws -> [UserID] {
        guard numbers.count <= usersMax else {
            throw Refusal(code: "too_many_users", message: "at most \(usersMax) users at a time")
        }
        return try numbers.map(user)
    }

    private static func others(_ numbers: [Int64], of account: Account) throws -> [UserID] {
        let others = try users(numbers)
        guard !others.contains(account.user) else {
            throw Refusal(code: "same_user", message: "a user stands in no list of their own")
        }
        return others
    }

    private static func name(_ name: String) throws -> String {
        guard name.utf8.count <= nameBytesMax, !name.unicodeScalars.contains(where: { $0.value < 0x20 })
        else {
            throw Refusal(
                code: "bad_name",
                message: "a name has at most \(nameBytesMax) bytes and no control characters")
        }
        return name
    }
}

extension AdminAnswer.Group {
    init(_ group: ChatGroup, withMembers: Bool) {
        id = group.id.rawValue
        name = group.name
        isSuper = group.isSuper
        isMuted = group.isMuted
        owner = group.owner?.rawValue
        memberCount = group.members.count
        createdMilliseconds = group.created.milliseconds
        members =
            withMembers
            ? group.members.map {
                Member(
                    user: $0.user.rawValue, role: $0.role.rawValue, isMuted: $0.isMuted,
                    joinedMilliseconds: $0.joined.milliseconds)
            } : nil
    }
}
