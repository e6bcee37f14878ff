/// What can be asked of a server's administration, one JSON line each (docs/files.md, section "Admin socket").
public enum AdminRequest: Codable, Sendable, Hashable {
    /// Makes a group; without an id the server chooses one.
    case createGroup(id: Int64?, name: String, owner: Int64, members: [Int64], isSuper: Bool)
    /// All groups, or those in which a user is.
    case listGroups(user: Int64?)
    /// One group with its members.
    case showGroup(id: Int64)
    /// Lets users into a group.
    case addMembers(group: Int64, users: [Int64])
    /// Takes users out of a group.
    case removeMembers(group: Int64, users: [Int64])
    /// Gives a member a role: `owner`, `admin` or `member`.
    case setRole(group: Int64, user: Int64, role: String)
    /// Forbids all plain members to write, or allows it again.
    case muteGroup(id: Int64, isMuted: Bool)
    /// Forbids members to write, or allows it again.
    case muteMembers(group: Int64, users: [Int64], isMuted: Bool)
    /// Makes a group a super group, or a normal one.
    case setSuper(group: Int64, isSuper: Bool)
    /// Gives a group another name.
    case renameGroup(id: Int64, name: String)
    /// Ends a group for ever.
    case dissolveGroup(id: Int64)
    /// Forbids users to write in a room, or allows it again.
    case banFromRoom(room: Int64, users: [Int64], isBanned: Bool)
    /// Who is banned from a room, or from any.
    case listBans(room: Int64?)
    /// Makes users friends of a user, or ends that; both ways unless `oneWay`.
    case setFriends(user: Int64, others: [Int64], isFriend: Bool, oneWay: Bool)
    /// Puts users on a user's blacklist, or takes them off.
    case setBlocked(user: Int64, others: [Int64], isBlocked: Bool)
    /// A user's friends and blacklist.
    case listFriends(user: Int64)
    /// Makes a token for each user of a range; it ends after a number of milliseconds, or never.
    case createTokens(first: Int64, last: Int64, label: String, lifetime: Int64?)
    /// The tokens of a user, or all of them, without their secret parts.
    case listTokens(user: Int64?)
    /// Revokes tokens, each named by its id or its whole text, and ends the connections that use them.
    case revokeTokens(tokens: [String])
}

/// The answer to an ``AdminRequest``.
public struct AdminAnswer: Codable, Sendable, Hashable {
    /// Why a request was refused.
    public struct Failure: Codable, Sendable, Hashable {
        /// The kind of fault; stable.
        public var code: String
        /// What happened, for people.
        public var message: String
    }

    /// A group.
    public struct Group: Codable, Sendable, Hashable {
        /// A member.
        public struct Member: Codable, Sendable, Hashable {
            /// The user's number.
            public var user: Int64
            /// `owner`, `admin` or `member`.
            public var role: String
            /// Whether the member may not write.
            public var isMuted: Bool
            /// When the user came, in milliseconds since 1970.
            public var joinedMilliseconds: Int64

            enum CodingKeys: String, CodingKey {
                case user, role
                case isMuted = "muted"
                case joinedMilliseconds = "joined_ms"
            }
        }

        /// The id.
        public var id: Int64
        /// The name.
        public var name: String
        /// Whether it is a super group.
        public var isSuper: Bool
        /// Whether plain members may not write.
        public var isMuted: Bool
        /// The owner's number.
        public var owner: Int64?
        /// How many members it has.
        public var memberCount: Int
        /// When it was made, in milliseconds since 1970.
        public var createdMilliseconds: Int64
        /// The members by number; only where one group was asked for.
        public var members: [Member]?

        enum CodingKeys: String, CodingKey {
            case id, name, owner, members
            case isSuper = "super"
            case isMuted = "muted"
            case memberCount = "member_count"
            case createdMilliseconds = "created_ms"
        }
    }

    /// A room's banned users.
    public struct Room: Codable, Sendable, Hashable {
        /// The room's id.
        public var id: Int64
        /// Who may not write there, by number.
        public var banned: [Int64]
    }

    /// A token.
    public struct Token: Codable, Sendable, Hashable {
        /// The readable part, by which it is listed and revoked.
        public var id: String
        /// Whose it is.
        public var user: Int64
        /// The text that the client sends; only in the answer to the request that made it.
        public var token: String?
        /// A note of the one who made it.
        public var label: String
        /// When it was made, in milliseconds since 1970.
        public var createdMilliseconds: Int64
        /// When it ends; nil for never.
        public var expiresMilliseconds: Int64?
        /// When it was revoked; nil while it was not.
        public var revokedMilliseconds: Int64?

        enum CodingKeys: String, CodingKey {
            case id, user, token, label
            case createdMilliseconds = "created_ms"
            case expiresMilliseconds = "expires_ms"
            case revokedMilliseconds = "revoked_ms"
        }

        /// Whether a login with it succeeds at a time.
        public func isValid(at milliseconds: Int64) -> Bool {
            revokedMilliseconds == nil && (expiresMilliseconds.map { milliseconds < $0 } ?? true)
        }
    }

    /// Whether the request was fulfilled.
    public var ok: Bool
    /// Why not.
    public var error: Failure?
    /// How many things are different now; for requests that change something.
    public var changed: Int?
    /// Groups that were asked for or changed.
    public var groups: [Group]?
    /// Rooms that were asked for.
    public var rooms: [Room]?
    /// A user's friends, by number.
    public var friends: [Int64]?
    /// A user's blacklist, by number.
    public var blocked: [Int64]?
    /// Tokens that were made, asked for or revoked.
    public var tokens: [Token]?
    /// How many of the tokens to revoke do not exist.
    public var unknownCount: Int?

    enum CodingKeys: String, CodingKey {
        case ok, error, changed, groups, rooms, friends, blocked, tokens
        case unknownCount = "unknown_count"
    }

    init() {
        ok = true
    }

    static func failure(_ code: String, _ message: String) -> AdminAnswer {
        var answer = AdminAnswer()
        answer.ok = false
        answer.error = Failure(code: code, message: message)
        return answer
    }
}
