public import RivuletModel

/// When a time label stands above a message.
///
/// Gaps count in both directions: a message whose clock says much earlier than the one before gets a label, too. The
/// first message of the window has nothing before it, which counts as an endless gap.
public struct TimeLabelRule: Sendable {
    /// What a rule of the app's own is asked with.
    public struct Question: Sendable {
        /// The message above which the label would stand.
        public var message: Message
        /// The message before it; nil at the beginning of the window.
        public var previous: Message?
        /// The time of the last message with a label, in milliseconds since 1970; nil when there is none above.
        public var lastLabelMilliseconds: Int64?
        /// Whether the local day is another than that of the message before.
        public var isNewDay: Bool
    }

    enum Condition: Sendable {
        case gapToPrevious(milliseconds: Int64)
        case gapToLastLabel(milliseconds: Int64)
        case dayChange
        case custom(@Sendable (Question) -> Bool)
    }

    /// Any one of them is enough.
    var conditions: [Condition]

    /// No labels at all.
    public static let never = TimeLabelRule(conditions: [])
    /// A label when five minutes passed since the message before; the default.
    public static let standard = gapToPrevious(.seconds(300))
    /// A label above the first message of each local day.
    public static let dayChange = TimeLabelRule(conditions: [.dayChange])

    /// A label when so much time lies between a message and the one before.
    public static func gapToPrevious(_ gap: Duration) -> TimeLabelRule {
        TimeLabelRule(conditions: [.gapToPrevious(milliseconds: gap.wholeMilliseconds)])
    }

    /// A label when so much time lies between a message and the last one with a label.
    public static func gapToLastLabel(_ gap: Duration) -> TimeLabelRule {
        TimeLabelRule(conditions: [.gapToLastLabel(milliseconds: gap.wholeMilliseconds)])
    }

    /// A label when any of these rules wants one.
    public static func any(_ rules: [TimeLabelRule]) -> TimeLabelRule {
        TimeLabelRule(conditions: rules.flatMap(\.conditions))
    }

    /// A label when the closure says so; it must answer the same question in the same way.
    public static func custom(_ wantsLabel: @escaping @Sendable (Question) -> Bool) -> TimeLabelRule {
        TimeLabelRule(conditions: [.custom(wantsLabel)])
    }
}

/// What stands between messages, and which of them belong together.
public struct DecorationRules: Sendable {
    /// When a time label stands above a message.
    public var timeLabel: TimeLabelRule
    /// Whether a line stands above the first message of each local day.
    public var showsDays: Bool
    /// The longest time between two messages of one run.
    public var runGap: Duration

    /// Makes rules.
    ///
    /// - Parameters:
    ///   - timeLabel: When a time label stands above a message.
    ///   - showsDays: Whether a line stands above the first message of each local day.
    ///   - runGap: The longest time between two messages of one run.
    public init(
        timeLabel: TimeLabelRule = .standard, showsDays: Bool = false, runGap: Duration = .seconds(300)
    ) {
        self.timeLabel = timeLabel
        self.showsDays = showsDays
        self.runGap = runGap
    }
}

/// Which messages were unread when the session was opened.
///
/// It is fixed once per visit, so that the mark neither follows messages that arrive while the reader watches nor
/// vanishes when they are read.
public struct UnreadStretch: Hashable, Sendable {
    /// The last message that was read.
    public var lastRead: MessagePosition
    /// The newest message when the session was opened.
    public var newest: MessagePosition

    /// Makes the stretch of messages after one position, up to and including the other.
    public init(after lastRead: MessagePosition, through newest: MessagePosition) {
        self.lastRead = lastRead
        self.newest = newest
    }
}

/// What the decoration depends on besides messages and rules: where, when, and what was read.
public struct DecorationContext: Hashable, Sendable {
    /// The reader's time zone.
    public var zone: ZoneOffsets
    /// The present, in milliseconds since 1970; only its local day matters.
    public var nowMilliseconds: Int64
    /// What was unread on opening; nil for no mark.
    public var unread: UnreadStretch?
    /// Whether the window begins with the first message of the conversation.
    ///
    /// Otherwise the mark stands only where a read message is above it, since older unread ones may not be loaded.
    public var startsAtBeginning: Bool

    /// Makes a context.
    public init(
        zone: ZoneOffsets = .utc, nowMilliseconds: Int64, unread: UnreadStretch? = nil,
        startsAtBeginning: Bool = false
    ) {
        self.zone = zone
        self.nowMilliseconds = nowMilliseconds
        self.unread = unread
        self.startsAtBeginning = startsAtBeginning
    }

    /// The present local day, counted from 1 January 1970.
    public var today: Int64 {
        zone.day(ofMilliseconds: nowMilliseconds)
    }

    /// When the next local day begins, in milliseconds since 1970: labels change then.
    public var nextMidnightMilliseconds: Int64 {
        zone.beginning(ofDay: today + 1)
    }
}

extension Duration {
    /// Milliseconds, rounded down; bounded to what 64 bits hold.
    var wholeMilliseconds: Int64 {
        let (seconds, attoseconds) = components
        let (product, overflow) = seconds.multipliedReportingOverflow(by: 1000)
        guard !overflow else { return seconds < 0 ? .min : .max }
        let (sum, sumOverflow) = product.addingReportingOverflow(attoseconds / 1_000_000_000_000_000)
        return sumOverflow ? (seconds < 0 ? .min : .max) : sum
    }
}
