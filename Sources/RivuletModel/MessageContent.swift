/// What a message says: one of the kinds that Rivulet knows, or one that it shows by its fallback text.
public enum MessageContent: Hashable, Sendable {
    /// Plain text.
    case text(String)
    /// A picture.
    case image(ImageContent)
    /// A line in the middle of the flow, such as "Ada joined".
    case notice(String)
    /// The author withdrew the message.
    case revoked
    /// A kind that this build does not know; the raw text is kept.
    case unknown(raw: String, fallback: String?)

    /// The stable name of the kind, by which looks, sizes and behaviour are configured.
    public var kind: MessageKind {
        switch self {
        case .text: .text
        case .image: .image
        case .notice: .notice
        case .revoked: .revoked
        case .unknown: .unknown
        }
    }
}

/// The name of a content kind; an open set.
public struct MessageKind: RawRepresentable, Hashable, Sendable {
    /// The stable name.
    public let rawValue: String

    /// Makes the kind with this name.
    public init(rawValue: String) {
        self.rawValue = rawValue
    }

    /// Plain text.
    public static let text = MessageKind(rawValue: "text")
    /// A picture.
    public static let image = MessageKind(rawValue: "image")
    /// A line in the middle of the flow.
    public static let notice = MessageKind(rawValue: "notice")
    /// A withdrawn message.
    public static let revoked = MessageKind(rawValue: "revoked")
    /// A kind that this build does not know.
    public static let unknown = MessageKind(rawValue: "unknown")
}

/// A picture in a message.
public struct ImageContent: Hashable, Sendable {
    /// Where the picture is.
    public var url: String
    /// Its width in pixels; 0 when unknown.
    public var width: Int
    /// Its height in pixels; 0 when unknown.
    public var height: Int

    /// Makes a picture.
    public init(url: String, width: Int, height: Int) {
        self.url = url
        self.width = width
        self.height = height
    }
}
