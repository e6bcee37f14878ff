/// A message as people read it: one row of a conversation, whichever engine brought it.
public struct Message: Identifiable, Hashable, Sendable {
    /// How far the message has come.
    public enum State: Hashable, Sendable {
        /// It came from somebody else, or from another device of this user.
        case received
        /// It is being prepared: compressed, uploaded or checked.
        case preparing
        /// It waits for the server's word.
        case sending
        /// The server has it.
        case accepted
        /// A device of the receiver has it.
        case delivered
        /// This many readers have seen it; 1 in a conversation of two.
        case read(count: Int)
        /// It was not sent; the reason is for people and may be empty.
        case failed(reason: String)

        /// Whether the message is on its way.
        public var isPending: Bool {
            self == .preparing || self == .sending
        }

        /// Whether sending ended without success.
        public var isFailed: Bool {
            if case .failed = self { true } else { false }
        }
    }

    /// An emoji under a message, with the users who put it there.
    public struct Reaction: Hashable, Sendable {
        /// The emoji.
        public var emoji: String
        /// Who put it there, in order of arrival.
        public var users: [UserID]

        /// Makes a reaction.
        public init(emoji: String, users: [UserID]) {
            self.emoji = emoji
            self.users = users
        }
    }

    /// The identity of the row.
    public var id: MessageID
    /// The conversation that the message belongs to.
    public var session: Session
    /// The author.
    public var sender: UserID
    /// Whether the user of this device wrote it, here or elsewhere.
    public var isOutgoing: Bool
    /// The random name that the author gave it; nil for messages of the oldest clients.
    public var uuid: String?
    /// The server's key of the message in its queue; nil until known.
    public var serverKey: Int64?
    /// Where the message stands in its conversation.
    public var position: MessagePosition
    /// When it was sent, in milliseconds since 1970; shown, never used for order.
    public var timeMilliseconds: Int64
    /// What it says.
    public var content: MessageContent
    /// The uuid of the message that this one answers; nil for none.
    public var reference: String?
    /// What readers put under it, in the order in which each emoji first came.
    public var reactions: [Reaction]
    /// The labels that members of the group gave it, sorted.
    public var tags: [String]
    /// How long a reader may see it, for a message that burns after reading; nil for ever.
    public var burnSeconds: Int?
    /// Whether it is pinned in its conversation.
    public var isPinned: Bool
    /// Whether it is one of the user's favourites, on this device.
    public var isFavorite: Bool
    /// How far it has come.
    public var state: State
    /// Whether the author changed it after sending.
    public var isEdited: Bool
    /// Grows with every change that can alter the look or size of the row.
    public var revision: Int

    /// Makes a message.
    public init(
        id: MessageID, session: Session, sender: UserID, isOutgoing: Bool = false, uuid: String? = nil,
        serverKey: Int64? = nil, position: MessagePosition, timeMilliseconds: Int64, content: MessageContent,
        reference: String? = nil, reactions: [Reaction] = [], state: State = .received,
        isEdited: Bool = false, revision: Int = 0, tags: [String] = [], burnSeconds: Int? = nil,
        isPinned: Bool = false, isFavorite: Bool = false
    ) {
        self.id = id
        self.session = session
        self.sender = sender
        self.isOutgoing = isOutgoing
        self.uuid = uuid
        self.serverKey = serverKey
        self.position = position
        self.timeMilliseconds = timeMilliseconds
        self.content = content
        self.reference = reference
        self.reactions = reactions
        self.state = state
        self.isEdited = isEdited
        self.revision = revision
        self.tags = tags
        self.burnSeconds = burnSeconds
        self.isPinned = isPinned
        self.isFavorite = isFavorite
    }
}

/// Which way a page of messages extends from its anchor.
public enum PageDirection: Hashable, Sendable {
    /// Towards the beginning of the conversation.
    case older
    /// Towards its end.
    case newer
}
