public import RivuletModel

/// The messages that the user has selected for a common action, such as forwarding them.
public struct MessageSelection: Hashable, Sendable {
    /// Whether the user is selecting.
    public internal(set) var isActive = false
    /// The selected messages.
    public internal(set) var ids: Set<MessageID> = []

    /// Makes the selection of a user who is not selecting.
    public init() {}

    /// Whether this message is selected.
    public func contains(_ id: MessageID) -> Bool {
        ids.contains(id)
    }

    /// The number of selected messages.
    public var count: Int { ids.count }
}

/// How several messages travel to another session.
public enum ForwardStyle: Hashable, Sendable {
    /// Each as a message of its own, the oldest first.
    case separately
    /// As one record with this title.
    case merged(title: String)
}

/// What became of one message that was to be sent on.
public struct ForwardResult: Sendable {
    /// The session to which it went.
    public var session: Session
    /// The messages that were to go; one, or all that a record was made of.
    public var sources: [MessageID]
    /// The new message, or why there is none.
    public var result: Result<Message, any Error>
}

/// Makes the record of a stretch of messages.
struct RecordMaker {
    /// How deeply records may lie in records (docs/extensions.md, section 1).
    static let depthMax = 3
    /// The size of a record's contents, in bytes, up to which it may travel in one frame.
    static let bytesMax = 24 * 1_024

    let codec: ContentCodec
    let name: (UserID) -> String
    var strings = InterfaceStrings.english

    /// `originals` are the texts of messages as they came.
    func record(
        of messages: [Message], title: String, originals: [MessageID: String] = [:]
    ) throws -> MergedContent {
        guard messages.count <= MergedContent.itemsMax else {
            throw InteractionError(
                .invalid, reason: strings[.recordTooLong, count: MergedContent.itemsMax])
        }
        var items: [MergedContent.Item] = []
        var size = 0
        for message in messages {
            guard depth(of: message.content) < Self.depthMax else {
                throw InteractionError(.invalid, reason: strings[.recordTooDeep])
            }
            let raw =
                try original(of: message, originals)
                ?? codec.encode(
                    message.content,
                    envelope: ContentEnvelope(uuid: message.uuid, reference: message.reference))
            size += raw.utf8.count
            items.append(
                MergedContent.Item(
                    sender: message.sender, name: name(message.sender),
                    time: message.timeMilliseconds / 1_000,
                    content: raw))
        }
        guard size <= Self.bytesMax else {
            throw InteractionError(.invalid, reason: strings[.recordTooLarge])
        }
        return MergedContent(title: title, items: items)
    }

    /// The text of a message as it came, unless a hook changed what the message says.
    private func original(of message: Message, _ originals: [MessageID: String]) -> String? {
        guard let raw = originals[message.id], codec.decode(raw).message == message.content else {
            return nil
        }
        return raw
    }

    private func depth(of content: MessageContent) -> Int {
        var depth = 0
        var layer = [content]
        while depth <= Self.depthMax {
            let records = layer.compactMap { content -> MergedContent? in
                if case .merged(let record) = content { record } else { nil }
            }
            guard !records.isEmpty else { return depth }
            depth += 1
            layer = records.flatMap(\.items).compactMap { codec.decode($0.content).message }
        }
        return depth
    }
}
