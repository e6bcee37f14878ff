/// The name of a content kind; an open set, to which `ContentRegistry` adds those of an app.
public struct MessageKind: RawRepresentable, Hashable, Sendable, Codable {
    /// The stable name.
    public let rawValue: String

    /// Makes the kind with this name.
    public init(rawValue: String) {
        self.rawValue = rawValue
    }

    /// Plain or formatted text.
    public static let text = MessageKind(rawValue: "text")
    /// A picture.
    public static let image = MessageKind(rawValue: "image")
    /// A voice message.
    public static let audio = MessageKind(rawValue: "audio")
    /// A place on the map.
    public static let location = MessageKind(rawValue: "location")
    /// A film.
    public static let video = MessageKind(rawValue: "video")
    /// A file.
    public static let file = MessageKind(rawValue: "file")
    /// A page on the web.
    public static let link = MessageKind(rawValue: "link")
    /// A change of a group.
    public static let groupNotification = MessageKind(rawValue: "notification")
    /// The record of a call between two users.
    public static let call = MessageKind(rawValue: "voip")
    /// The record of a call in a group.
    public static let groupCall = MessageKind(rawValue: "group_voip")
    /// An end-to-end encrypted message.
    public static let secret = MessageKind(rawValue: "secret")
    /// The local note that the server refused a message.
    public static let refusal = MessageKind(rawValue: "ack")
    /// An invitation to a classroom.
    public static let classroom = MessageKind(rawValue: "classroom")
    /// An invitation to a conference.
    public static let conference = MessageKind(rawValue: "conference")
    /// The key exchange before a direct connection.
    public static let p2pSession = MessageKind(rawValue: "p2p_session")
    /// A headline of a customer conversation.
    public static let headline = MessageKind(rawValue: "headline")
    /// A local side record of another message.
    public static let attachment = MessageKind(rawValue: "attachment")
    /// A local date separator.
    public static let timeBase = MessageKind(rawValue: "timestamp")
    /// A forwarded stretch of another conversation.
    public static let merged = MessageKind(rawValue: "merged")
    /// A user's card.
    public static let card = MessageKind(rawValue: "card")
    /// A sticker.
    public static let sticker = MessageKind(rawValue: "sticker")
    /// A poll.
    public static let poll = MessageKind(rawValue: "poll")
    /// Somebody asks to join a group.
    public static let joinRequest = MessageKind(rawValue: "join_request")
    /// A line in the middle of the flow.
    public static let notice = MessageKind(rawValue: "notice")
    /// A withdrawn message.
    public static let revoked = MessageKind(rawValue: "revoked")
    /// A message of which an empty shell is left.
    public static let erased = MessageKind(rawValue: "erased")
    /// A kind that this build does not know.
    public static let unknown = MessageKind(rawValue: "unknown")
}
