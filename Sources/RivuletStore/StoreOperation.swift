public import RivuletModel

/// One step of a transaction of an `AccountStore`.
public enum StoreOperation: Hashable, Sendable {
    /// A message came from the server: at its end of the conversation, or as the copy of one that is known.
    ///
    /// A message whose uuid is known is not inserted again. A copy of the user's own message repairs its state and
    /// gives it its place. A control content is applied to its target.
    case receive(IncomingMessage)
    /// Older messages of one conversation came, the oldest first: they stand before all that are known.
    case insertHistory([IncomingMessage])
    /// The user sends: the message (unless it is a control) and its entry in the outbox.
    case send(QueuedMessage)
    /// The server has the message of this send.
    ///
    /// `isPlaced` says that nothing can lie between the last known message and this one, so that it takes its place
    /// at the end now; otherwise it waits for its copy.
    case acknowledge(send: Int64, serverKey: Int64?, isPlaced: Bool)
    /// The message of this send was not accepted; the reason is for people.
    case fail(send: Int64, reason: String)
    /// What the message of a send refers to was uploaded: it is kept, and shown, as it will travel.
    ///
    /// The send is found by its number, and keeps its place; without such a send nothing happens. A message that was
    /// changed in the meantime is shown as it is.
    case replaceSend(QueuedMessage)
    /// The user took the message of this send back before it went out.
    case cancel(send: Int64)
    /// A device of the receiver has these messages, by uuid.
    case deliver(uuids: [String])
    /// The user's own queue (nil) or a super group's is stored up to this key.
    case setKey(group: Int64?, key: Int64)
    /// The user follows a super group no longer: its key is forgotten.
    case removeKey(group: Int64)
    /// A local message is written at the end of a conversation without being sent.
    case save(IncomingMessage)
    /// The message is removed from this device; its uuid stays known.
    case delete(MessageID)
    /// All messages of a conversation are removed from this device.
    case clear(Session)
    /// The user has read the conversation up to this message (nil: all of it); it never goes back.
    case markRead(Session, upTo: MessageID?)
    /// The text that the user began to write; nil or empty for none, which removes what belongs to it, too.
    case setDraft(Session, String?)
    /// What belongs to a draft beside its text, such as the message that it answers; the store does not read it.
    case setDraftDetails(Session, String?)
    /// Whether the conversation stands at the top of the list.
    case setPinned(Session, Bool)
    /// Whether the conversation makes no sound.
    case setMuted(Session, Bool)
    /// Whether the conversation is out of the list, until its next message.
    case setHidden(Session, Bool)
    /// Whether the message is one of the user's favourites.
    case setFavorite(MessageID, Bool)
    /// What is known of a person.
    case setContact(Contact)
    /// The person is no contact any more.
    case removeContact(UserID)
    /// What is known of a group.
    case setGroup(GroupProfile)
    /// All members of a group.
    case setMembers(group: Int64, [GroupMemberProfile])
    /// The group and its members are forgotten; its messages stay.
    case removeGroup(Int64)
}

/// A message on its way into the store.
public struct IncomingMessage: Hashable, Sendable {
    /// The conversation.
    public var session: Session
    /// The author.
    public var sender: UserID
    /// Whether the author is the user of this account.
    public var isOutgoing: Bool
    /// The content's JSON text, as it came.
    public var raw: String
    /// The content, understood.
    public var content: DecodedContent
    /// When the server says that it was sent, in milliseconds since 1970.
    public var timeMilliseconds: Int64
    /// Its key in the server's queue; nil when the server did not say.
    public var serverKey: Int64?
    /// The author's own number of it; 0 for none.
    ///
    /// Helps to recognise messages without uuid.
    public var localNumber: Int64

    /// Makes a message.
    public init(
        session: Session, sender: UserID, isOutgoing: Bool, raw: String, content: DecodedContent,
        timeMilliseconds: Int64, serverKey: Int64? = nil, localNumber: Int64 = 0
    ) {
        self.session = session
        self.sender = sender
        self.isOutgoing = isOutgoing
        self.raw = raw
        self.content = content
        self.timeMilliseconds = timeMilliseconds
        self.serverKey = serverKey
        self.localNumber = localNumber
    }
}

/// A message on its way out.
public struct QueuedMessage: Hashable, Sendable {
    /// The conversation.
    public var session: Session
    /// The content's JSON text.
    public var raw: String
    /// The content.
    public var content: DecodedContent
    /// What the client keeps until the server has answered.
    public var send: StoredSend

    /// Makes a message.
    public init(session: Session, raw: String, content: DecodedContent, send: StoredSend) {
        self.session = session
        self.raw = raw
        self.content = content
        self.send = send
    }
}

/// What became of an operation.
public enum StoreOutcome: Hashable, Sendable {
    /// A row was made.
    case inserted(MessageID)
    /// The message was known already, as this row.
    case duplicate(MessageID)
    /// Something changed.
    case applied
    /// There was nothing to do, for example because the target is unknown.
    case ignored
}
