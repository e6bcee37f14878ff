/// One conversation: with a user, in a group, in a chat room, with a shop, or with the system.
public struct Session: Hashable, Sendable, Codable {
    /// What kind of conversation it is; an open set, to which an app with its own engine may add.
    public struct Kind: RawRepresentable, Hashable, Sendable, Codable {
        /// The stable name.
        public let rawValue: String

        /// Makes the kind with this name.
        public init(rawValue: String) {
            self.rawValue = rawValue
        }

        /// Two users.
        public static let peer = Kind(rawValue: "peer")
        /// A group with members, kept on the server.
        public static let group = Kind(rawValue: "group")
        /// A chat room: live, joined by connection.
        public static let room = Kind(rawValue: "room")
        /// A customer and a shop's staff.
        public static let customer = Kind(rawValue: "customer")
        /// Messages of the operator.
        public static let system = Kind(rawValue: "system")
    }

    /// What kind of conversation it is.
    public var kind: Kind
    /// The other user, the group or the room; 0 for the system.
    public var id: Int64
    /// The other side's app in a customer-service conversation; 0 elsewhere.
    public var appID: Int64

    /// Makes a session.
    public init(kind: Kind, id: Int64, appID: Int64 = 0) {
        self.kind = kind
        self.id = id
        self.appID = appID
    }

    /// The conversation with a user.
    public static func peer(_ user: UserID) -> Session {
        Session(kind: .peer, id: user.rawValue)
    }

    /// The conversation of a group.
    public static func group(_ id: Int64) -> Session {
        Session(kind: .group, id: id)
    }

    /// The conversation of a chat room.
    public static func room(_ id: Int64) -> Session {
        Session(kind: .room, id: id)
    }
}
