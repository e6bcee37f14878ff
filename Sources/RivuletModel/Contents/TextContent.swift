/// Text in a message, with mentions and formatting.
public struct TextContent: Hashable, Sendable, ExpressibleByStringLiteral {
    /// How the text is to be read; an open set.
    public struct Format: RawRepresentable, Hashable, Sendable {
        /// The name on the wire.
        public let rawValue: String

        /// Makes the format with this name.
        public init(rawValue: String) {
            self.rawValue = rawValue
        }

        /// CommonMark without raw HTML.
        public static let markdown = Format(rawValue: "markdown")
    }

    /// A user whom the text addresses.
    public struct Mention: Hashable, Sendable {
        /// The user; 0 addresses everybody.
        public var user: UserID
        /// The name as it stands in the text.
        public var name: String

        /// Makes a mention.
        public init(user: UserID, name: String) {
            self.user = user
            self.name = name
        }
    }

    /// The text; what builds without the format show.
    public var text: String
    /// The users whom it addresses.
    public var mentions: [Mention]
    /// How it is to be read; nil for plain text.
    public var format: Format?
    /// Whether the author still appends to it.
    public var isStreaming: Bool

    /// Makes a text.
    public init(_ text: String, mentions: [Mention] = [], format: Format? = nil, isStreaming: Bool = false) {
        self.text = text
        self.mentions = mentions
        self.format = format
        self.isStreaming = isStreaming
    }

    /// Makes plain text.
    public init(stringLiteral value: String) {
        self.init(value)
    }

    /// Whether the text addresses this user.
    public func mentions(_ user: UserID) -> Bool {
        mentions.contains { $0.user == user || $0.user.rawValue == 0 }
    }
}
