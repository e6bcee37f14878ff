/// Everything about one session's flow that a host may decide; every member has a default.
///
/// Two flows share nothing but values: there is no global switch.
public struct FlowConfiguration: Sendable {
    /// Where rows stand that do not fill the viewport.
    public enum Gravity: Hashable, Sendable {
        /// At its top.
        case top
        /// At its bottom, where the next message will appear.
        case bottom
    }

    /// The heights of the lines between messages, at the designed text size.
    public struct LineHeights: Hashable, Sendable {
        /// A day.
        public var day: Double
        /// The unread mark.
        public var unreadMark: Double
        /// A time label.
        public var timeLabel: Double

        /// Makes heights.
        public init(day: Double = 40, unreadMark: Double = 32, timeLabel: Double = 32) {
            self.day = day
            self.unreadMark = unreadMark
            self.timeLabel = timeLabel
        }
    }

    /// The number of messages asked for at once.
    public var pageSize = 50
    /// Whether pages are asked for when the reader comes near an edge, or only on request.
    public var automaticHistory = true
    /// Whether an apply names the changed rows; without, every apply asks the view to show everything anew.
    public var incrementalRefresh = true
    /// Time labels, day lines and runs.
    public var decoration = DecorationRules()
    /// The words of the interface.
    public var strings = InterfaceStrings.english
    /// How times are written.
    public var timeLabelStyle = TimeLabelStyle()
    /// The reader's time zone.
    public var zone = ZoneOffsets.utc
    /// What was unread on opening; nil for no mark.
    public var unread: UnreadStretch?
    /// The number of messages that the window holds before it forgets those farthest from the reader.
    ///
    /// Messages within ``trimDistance`` of the viewport are never forgotten, so the window may exceed the bound when
    /// they are many.
    public var windowCountMax = 600
    /// How near to an edge a page is asked for, in heights of the viewport.
    public var loadDistance = 1.0
    /// How far from the viewport messages may be forgotten, in heights of the viewport.
    ///
    /// It is kept above ``loadDistance``: otherwise what was forgotten would be asked for again at once.
    public var trimDistance = 3.0
    /// How far from the bottom, in points, a reader still counts as following it.
    public var followSlack = 24.0
    /// Where rows stand that do not fill the viewport.
    public var gravity = Gravity.bottom
    /// The space kept free at an edge beyond which there is more, for a spinner or a retry button.
    ///
    /// It is there whether or not a page is loading, so that spinners come and go without moving a row.
    public var placeholderHeight = 48.0
    /// The heights of the lines between messages.
    public var lineHeights = LineHeights()
    /// How long a message that was jumped to is highlighted.
    public var highlightDuration = Duration.milliseconds(1_500)
    /// Whether new rows near the viewport wait one round of measuring before they are shown.
    public var measuresBeforeApplying = true
    /// The number of new messages up to which they are counted one by one.
    public var newMessageCountMax = 999
    /// The number of layout snapshots kept.
    public var snapshotCountMax = 10_000
    /// The looks.
    public var appearance = AppearanceSheet()
    /// How components are sized.
    public var sizing = SizingTable(text: RoughTextMeasurer())
    /// The menu of the messages.
    public var menu = MessageMenu()

    /// Makes the standard configuration.
    public init() {}
}
