/// A content that changes other messages instead of being one: it is stored on the server and synced, never shown.
///
/// A target is the uuid of the message that is changed (docs/protocol.md, section 16.2; docs/extensions.md, section 1).
public enum ControlContent: Hashable, Sendable {
    /// The author withdraws a message.
    case revoke(target: String)
    /// A reader has seen a message.
    case readed(target: String)
    /// A label of a group message comes or goes.
    case tag(target: String, tag: String, isAdded: Bool)
    /// The author changes a text.
    case edit(EditContent)
    /// A user puts an emoji under a message or takes it away.
    case reaction(target: String, emoji: String, isOn: Bool)
    /// Another device of this user has read a conversation up to a message.
    case readMark(session: Session, target: String)
    /// A user's answer to a poll; the last one counts.
    case vote(target: String, options: [Int])
    /// A message of a group is pinned or unpinned.
    case pin(target: String, isOn: Bool)
    /// A registered kind whose behaviour is `control`.
    case custom(CustomContentBox)

    /// The message that is changed; nil for a registered kind without an effect.
    public var target: String? {
        switch self {
        case .revoke(let target), .readed(let target), .tag(let target, _, _), .reaction(let target, _, _),
            .readMark(_, let target), .vote(let target, _), .pin(let target, _):
            target
        case .edit(let edit): edit.target
        case .custom(let box): box.value.effect?.target
        }
    }
}

/// A change of a text by its author.
public struct EditContent: Hashable, Sendable {
    /// What happens to the text.
    public enum Change: Hashable, Sendable {
        /// It becomes this text.
        case replace(String)
        /// This is added at its end.
        case append(String)
        /// It stays.
        case none
    }

    /// The uuid of the message.
    public var target: String
    /// What happens to the text.
    public var change: Change
    /// The mentions in the new text.
    public var mentions: [TextContent.Mention]
    /// Whether a streaming text is complete with this.
    public var endsStream: Bool

    /// Makes a change.
    public init(
        target: String, change: Change, mentions: [TextContent.Mention] = [], endsStream: Bool = false
    ) {
        self.target = target
        self.change = change
        self.mentions = mentions
        self.endsStream = endsStream
    }
}
