public import RivuletModel

/// What is looked for in an account.
///
/// The text is cut at spaces; every part must occur. A part of Latin letters also finds words that begin with it, and
/// case and accents do not matter; Chinese characters must stand side by side. Withdrawn and deleted messages are
/// never found.
public struct SearchQuery: Hashable, Sendable {
    /// What comes first.
    public enum Order: Hashable, Sendable {
        /// The newest message; the cost depends on the limit alone.
        case newest
        /// The best match, by BM25; the cost grows with the number of matches.
        case rank
    }

    /// How many results at most.
    public static let limitMax = 500

    /// What was typed.
    public var text: String
    /// The conversation; nil for all.
    public var session: Session?
    /// The author; nil for all.
    public var sender: UserID?
    /// The kinds; empty for all.
    public var kinds: Set<MessageKind>
    /// The earliest time, in milliseconds since 1970; nil for any.
    public var fromMilliseconds: Int64?
    /// The time before which messages were sent, in milliseconds since 1970; nil for any.
    public var untilMilliseconds: Int64?
    /// Only messages older than this one, for the next page; with the order `newest` alone.
    public var before: MessageID?
    /// What comes first.
    public var order: Order
    /// How many results at most; from 1 to `limitMax`, others are brought into this range.
    public var limit: Int

    /// Makes a query.
    public init(
        _ text: String, session: Session? = nil, sender: UserID? = nil, kinds: Set<MessageKind> = [],
        order: Order = .newest, before: MessageID? = nil, limit: Int = 50
    ) {
        self.text = text
        self.session = session
        self.sender = sender
        self.kinds = kinds
        self.order = order
        self.before = before
        self.limit = max(1, min(limit, Self.limitMax))
    }
}
