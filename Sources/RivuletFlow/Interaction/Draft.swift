public import RivuletModel

/// What the user began to write in a session: text, the users it addresses, and the message it answers or changes.
public struct Draft: Hashable, Sendable {
    /// The text.
    public var text: String
    /// The users whom it addresses; those whose name no longer stands in the text are left out on sending.
    public var mentions: [TextContent.Mention]
    /// The uuid of the message that it answers; nil for none.
    public var reference: String?
    /// The uuid of the message whose text it is to replace; nil for a new message.
    public var editing: String?

    /// Makes a draft.
    public init(
        text: String = "", mentions: [TextContent.Mention] = [], reference: String? = nil,
        editing: String? = nil
    ) {
        self.text = text
        self.mentions = mentions
        self.reference = reference
        self.editing = editing
    }

    /// Whether there is nothing to keep.
    public var isEmpty: Bool {
        text.isEmpty && reference == nil && editing == nil
    }

    /// Addresses a user: adds "@name " at the end of the text.
    public mutating func mention(_ user: UserID, name: String) {
        if let last = text.last, !last.isWhitespace { text += " " }
        text += "@\(name) "
        if !mentions.contains(where: { $0.user == user }) {
            mentions.append(TextContent.Mention(user: user, name: name))
        }
    }

    /// The content to send: with the mentions that still stand in the text, without space around it.
    public var content: TextContent {
        let kept = mentions.filter { text.contains("@\($0.name)") }
        let trimmed = text.drop(while: \.isWhitespace)
        let end = trimmed.lastIndex { !$0.isWhitespace }
        return TextContent(end.map { String(trimmed[...$0]) } ?? "", mentions: kept)
    }
}

/// Keeps drafts beyond the life of a session's object.
public protocol DraftStorage: Sendable {
    /// The draft of a session; nil when there is none.
    func draft(in session: Session) async throws -> Draft?
    /// Keeps the draft of a session; nil removes it.
    func setDraft(_ draft: Draft?, in session: Session) async throws
}
