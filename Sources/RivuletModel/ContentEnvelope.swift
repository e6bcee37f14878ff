/// The keys of a message's JSON that stand beside its kind (docs/protocol.md, section 16.1).
public struct ContentEnvelope: Hashable, Sendable {
    /// The identity of the message; nil for none (an empty one counts as none).
    public var uuid: String?
    /// The uuid of the message that this one answers.
    public var reference: String?
    /// The group to which a message between two users belongs.
    public var groupID: Int64?
    /// The shop of a customer message.
    public var storeID: Int64?
    /// The shop's name.
    public var storeName: String?
    /// The customer session.
    public var sessionID: String?
    /// The author's name, in customer messages.
    public var name: String?
    /// The author's app, in customer messages.
    public var appName: String?
    /// The text for builds that do not know the kind.
    public var fallback: String?
    /// How long a message may be seen, for messages that burn after reading; nil for ever.
    public var burnSeconds: Int?

    /// Makes an envelope; nil leaves a key out.
    public init(
        uuid: String? = nil, reference: String? = nil, groupID: Int64? = nil, fallback: String? = nil,
        burnSeconds: Int? = nil
    ) {
        self.uuid = uuid
        self.reference = reference
        self.groupID = groupID
        self.fallback = fallback
        self.burnSeconds = burnSeconds
    }
}

/// The JSON of a message, understood.
public struct DecodedContent: Hashable, Sendable {
    /// What the JSON is.
    public enum Body: Hashable, Sendable {
        /// A message for people.
        case message(MessageContent)
        /// A change of other messages.
        case control(ControlContent)
    }

    /// The keys beside the kind.
    public var envelope: ContentEnvelope
    /// What it is.
    public var body: Body

    /// Makes a decoded content.
    public init(envelope: ContentEnvelope, body: Body) {
        self.envelope = envelope
        self.body = body
    }

    /// The message for people; nil for a control content.
    public var message: MessageContent? {
        if case .message(let content) = body { content } else { nil }
    }

    /// The change of other messages; nil for a message.
    public var control: ControlContent? {
        if case .control(let content) = body { content } else { nil }
    }
}
