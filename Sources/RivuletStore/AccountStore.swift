public import RivuletModel

/// What an account remembers on this device: messages, conversations, unsent messages and sync keys.
///
/// All changes go through `apply`, which performs a list of operations as one transaction and then publishes what
/// became of them as one batch. Reads see one committed state. `SQLiteAccountStore` keeps a file,
/// `MemoryAccountStore` nothing; both pass the same tests.
///
/// Within a conversation messages stand in the order of their positions, never of clocks. Unsent messages stand last.
public protocol AccountStore: Sendable {
    /// The user whose account this is.
    var account: UserID { get }

    /// Performs the operations in order, all or none.
    ///
    /// The result has one outcome per operation.
    ///
    /// - Throws: The store's error; nothing has changed then.
    func apply(_ operations: [StoreOperation]) async throws -> [StoreOutcome]

    /// Reads a stretch of a conversation.
    func page(_ query: PageQuery) async throws -> StoredPage

    /// The message of this identity; nil when there is none or it was deleted.
    func message(_ id: MessageID) async throws -> Message?

    /// The message of this uuid; nil when there is none or it was deleted.
    func message(uuid: String) async throws -> Message?

    /// The JSON text of a message as it came or was sent; nil when there is no such message.
    func rawContent(of id: MessageID) async throws -> String?

    /// The conversations, pinned ones first, then the one with the newest message first.
    func conversations(limit: Int, offset: Int) async throws -> [Conversation]

    /// One conversation; nil when nothing is known of it.
    func conversation(_ session: Session) async throws -> Conversation?

    /// The sum of the unread messages of all conversations that are not muted.
    func unreadTotal() async throws -> Int

    /// Finds messages by their text; nothing is found for a text without letters.
    func search(_ query: SearchQuery) async throws -> [Message]

    /// All conversations of which anything is known, hidden ones, too.
    func sessions() async throws -> [Session]

    /// The messages of a conversation with media, the newest first.
    func media(_ query: MediaQuery) async throws -> [Message]

    /// The pinned messages of a conversation, the newest first.
    func pinned(in session: Session) async throws -> [Message]

    /// The user's favourites, the last one chosen first.
    func favorites(limit: Int, offset: Int) async throws -> [Message]

    /// What users chose in a poll; the last vote of each.
    func votes(on id: MessageID) async throws -> [UserID: [Int]]

    /// Who has read a message of the user.
    func readers(of id: MessageID) async throws -> [UserID]

    /// What an edited text was before, the oldest first.
    func earlierTexts(of id: MessageID) async throws -> [String]

    /// All contacts, by number.
    func contacts() async throws -> [Contact]

    /// One contact; nil when the user is none.
    func contact(_ user: UserID) async throws -> Contact?

    /// All groups of which anything is known, by number.
    func groups() async throws -> [GroupProfile]

    /// One group; nil when nothing is known of it.
    func group(_ id: Int64) async throws -> GroupProfile?

    /// The members of a group, by number.
    func members(of group: Int64) async throws -> [GroupMemberProfile]

    /// What the client needs to go on where it stopped.
    func clientState() async throws -> StoredClientState

    /// The changes from now on, one element per transaction.
    ///
    /// A reader that falls far behind loses the oldest elements, which it sees by a gap in their numbers; it then
    /// reads anew. The stream ends when the store is closed.
    func changes() -> AsyncStream<StoreChanges>

    /// Ends all streams and closes the file; later calls throw.
    func close() async
}

/// Which stretch of a conversation is read.
public struct PageQuery: Hashable, Sendable {
    /// Where the stretch lies.
    public enum Place: Hashable, Sendable {
        /// The newest messages.
        case newest
        /// The oldest messages.
        case oldest
        /// The messages just before a position, without the one at it.
        case before(MessagePosition)
        /// The messages just after a position, without the one at it.
        case after(MessagePosition)
        /// A message with about as many before as after it.
        case around(MessageID)
        /// The first messages that were sent at or after this time, in milliseconds since 1970.
        case from(milliseconds: Int64)
    }

    /// The greatest page.
    public static let limitMax = 1_000

    /// The conversation.
    public var session: Session
    /// Where the stretch lies.
    public var place: Place
    /// How many messages at most; from 1 to `limitMax`, others are brought into this range.
    public var limit: Int

    /// Makes a query.
    public init(session: Session, place: Place = .newest, limit: Int = 50) {
        self.session = session
        self.place = place
        self.limit = max(1, min(limit, Self.limitMax))
    }
}

/// Which media of a conversation are read.
public struct MediaQuery: Hashable, Sendable {
    /// The kinds that count as media.
    public static let kinds: Set<MessageKind> = [.image, .video, .audio, .file, .link, .location]

    /// The conversation.
    public var session: Session
    /// The kinds, of those that count as media.
    public var kinds: Set<MessageKind>
    /// Only messages before this position, for the next page; nil for the newest.
    public var before: MessagePosition?
    /// How many messages at most; from 1 to `PageQuery.limitMax`, others are brought into this range.
    public var limit: Int

    /// Makes a query.
    public init(
        session: Session, kinds: Set<MessageKind> = Self.kinds, before: MessagePosition? = nil,
        limit: Int = 50
    ) {
        self.session = session
        self.kinds = kinds
        self.before = before
        self.limit = max(1, min(limit, PageQuery.limitMax))
    }
}

/// A stretch of a conversation, the oldest message first.
public struct StoredPage: Hashable, Sendable {
    /// The messages.
    public var messages: [Message]
    /// Whether the store has messages before the first.
    public var hasOlder: Bool
    /// Whether the store has messages after the last.
    public var hasNewer: Bool

    /// Makes a page.
    public init(messages: [Message], hasOlder: Bool, hasNewer: Bool) {
        self.messages = messages
        self.hasOlder = hasOlder
        self.hasNewer = hasNewer
    }

    /// A page of a conversation without messages.
    public static let empty = StoredPage(messages: [], hasOlder: false, hasNewer: false)
}

/// One line of the conversation list.
public struct Conversation: Hashable, Sendable, Identifiable {
    /// The conversation's identity.
    public var id: Session { session }
    /// The conversation.
    public var session: Session
    /// The newest message; nil when there is none.
    public var lastMessage: Message?
    /// How many messages of others the user has not seen.
    public var unreadCount: Int
    /// How many of these address the user.
    public var mentionCount: Int
    /// The text that the user began to write; nil for none.
    public var draft: String?
    /// What belongs to the draft beside its text, in the words of whoever wrote it; nil for nothing.
    public var draftDetails: String?
    /// Whether it stands at the top of the list.
    public var isPinned: Bool
    /// Whether new messages make no sound and do not count in the total.
    public var isMuted: Bool
    /// Up to where the user has read.
    public var readPosition: MessagePosition?

    /// Makes a line.
    public init(session: Session) {
        self.session = session
        unreadCount = 0
        mentionCount = 0
        isPinned = false
        isMuted = false
    }
}

/// What a client needs to go on where it stopped.
public struct StoredClientState: Hashable, Sendable {
    /// The key of the user's own queue; nil when no round was ever finished.
    public var peerKey: Int64?
    /// The keys of the super groups' queues.
    public var groupKeys: [Int64: Int64]
    /// The unsent messages, in the order of their numbers.
    public var outbox: [StoredSend]
    /// The greatest number that a send ever had; 0 for none.
    public var lastSendNumber: Int64

    /// Makes a state; by default that of a new account.
    public init(
        peerKey: Int64? = nil, groupKeys: [Int64: Int64] = [:], outbox: [StoredSend] = [],
        lastSendNumber: Int64 = 0
    ) {
        self.peerKey = peerKey
        self.groupKeys = groupKeys
        self.outbox = outbox
        self.lastSendNumber = lastSendNumber
    }
}

/// A send that waits for the server's word, in the words of the client: the store keeps it and does not read it.
public struct StoredSend: Hashable, Sendable {
    /// The client's number of the send; sends go out in this order.
    public var number: Int64
    /// The uuid of the message; nil for none.
    public var uuid: String?
    /// The command with which it travels.
    public var command: Int
    /// The header flags with which it travels.
    public var flags: Int
    /// The encoded body.
    public var body: [UInt8]
    /// When the user sent it, in milliseconds since 1970.
    public var createdMilliseconds: Int64

    /// Makes a send.
    public init(
        number: Int64, uuid: String?, command: Int, flags: Int, body: [UInt8], createdMilliseconds: Int64
    ) {
        self.number = number
        self.uuid = uuid
        self.command = command
        self.flags = flags
        self.body = body
        self.createdMilliseconds = createdMilliseconds
    }
}
