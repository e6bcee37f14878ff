/// What a message says: one of the kinds that Rivulet knows, one that an app registered, or one that it shows by its
/// fallback text.
///
/// New versions add cases, so a `switch` over a content needs a `default`. The JSON of each kind stands in
/// docs/protocol.md, section 16.2, and docs/extensions.md, section 1; `ContentCodec` reads and writes it.
public enum MessageContent: Hashable, Sendable {
    /// Text, with mentions and formatting.
    case text(TextContent)
    /// A picture.
    case image(ImageContent)
    /// A voice message.
    case audio(AudioContent)
    /// A place on the map.
    case location(LocationContent)
    /// A film.
    case video(VideoContent)
    /// A file.
    case file(FileContent)
    /// A page on the web.
    case link(LinkContent)
    /// A change of a group.
    case groupNotification(GroupNotification)
    /// The record of a call between two users.
    case call(CallContent)
    /// The record of a call in a group.
    case groupCall(GroupCallContent)
    /// An end-to-end encrypted message.
    case secret(SecretContent)
    /// The local note that the server refused a message, with the status of its ACK.
    case refusal(status: Int)
    /// An invitation to a classroom.
    case classroom(ConferenceContent)
    /// An invitation to a conference.
    case conference(ConferenceContent)
    /// The key exchange before a direct connection.
    case p2pSession(P2PSessionContent)
    /// A headline of a customer conversation.
    case headline(String)
    /// A local side record of another message.
    case attachment(AttachmentContent)
    /// A local date separator, in seconds since 1970.
    case timeBase(Int64)
    /// A forwarded stretch of another conversation.
    case merged(MergedContent)
    /// A user's card.
    case card(CardContent)
    /// A sticker.
    case sticker(StickerContent)
    /// A poll.
    case poll(PollContent)
    /// Somebody asks to join a group.
    case joinRequest(JoinRequestContent)
    /// A kind that the app registered with a `ContentRegistry`.
    case custom(CustomContentBox)
    /// A line in the middle of the flow, such as "Ada joined".
    case notice(String)
    /// The author withdrew the message.
    case revoked
    /// What the message said was erased, here and on the other side: it burned after reading.
    case erased
    /// A kind that this build does not know; the raw text is kept.
    case unknown(raw: String, fallback: String?)

    /// Plain text.
    public static func text(_ text: String) -> MessageContent {
        .text(TextContent(text))
    }

    /// A value of a kind that the app registered.
    public static func custom(_ value: some CustomContent) -> MessageContent {
        .custom(CustomContentBox(value))
    }

    /// The stable name of the kind, by which looks, sizes and behaviour are configured.
    public var kind: MessageKind {
        switch self {
        case .text: .text
        case .image: .image
        case .audio: .audio
        case .location: .location
        case .video: .video
        case .file: .file
        case .link: .link
        case .groupNotification: .groupNotification
        case .call: .call
        case .groupCall: .groupCall
        case .secret: .secret
        case .refusal: .refusal
        case .classroom: .classroom
        case .conference: .conference
        case .p2pSession: .p2pSession
        case .headline: .headline
        case .attachment: .attachment
        case .timeBase: .timeBase
        case .merged: .merged
        case .card: .card
        case .sticker: .sticker
        case .poll: .poll
        case .joinRequest: .joinRequest
        case .custom(let box): box.kind
        case .notice: .notice
        case .revoked: .revoked
        case .erased: .erased
        case .unknown: .unknown
        }
    }
}
