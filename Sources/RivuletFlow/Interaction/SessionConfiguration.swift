public import RivuletModel

/// Everything about one session that a host may decide; every member has a default.
///
/// It is handed to the session's ``DataManager`` and belongs to that alone: there is no global switch, so two sessions
/// side by side share nothing.
///
/// ```swift
/// var configuration = SessionConfiguration()
/// configuration.pageSize = 30
/// configuration.timeLabelRule = .gapToLastLabel(.seconds(600))
/// configuration.prechecks = [NoShouting()]
/// configuration.service = ModeratedService(base: engine.service)
/// ```
public struct SessionConfiguration: Sendable {
    /// Which receipts are sent when the user has seen messages.
    public enum Receipts: Hashable, Sendable {
        /// None.
        case none
        /// One mark up to the newest message seen, for the user's own devices.
        case mark
        /// The mark, and a receipt for each message of somebody else, for its author.
        case eachMessage
    }

    /// How messages are selected for a common action.
    public struct Selection: Sendable {
        /// Whether messages can be selected at all.
        public var isAllowed: Bool
        /// How many at most.
        public var countMax: Int
        /// Which messages; by default those that can be forwarded: no notices, withdrawn, burning or unsent ones.
        public var allows: @Sendable (Message) -> Bool

        /// Makes rules.
        public init(
            isAllowed: Bool = true, countMax: Int = 100,
            allows: @escaping @Sendable (Message) -> Bool = Selection.allowsForwardable
        ) {
            self.isAllowed = isAllowed
            self.countMax = max(0, countMax)
            self.allows = allows
        }

        /// Lets messages pass that can be forwarded: no notices, withdrawn, burning or unsent ones.
        public static let allowsForwardable: @Sendable (Message) -> Bool = { message in
            switch message.content {
            case .notice, .revoked, .groupNotification, .refusal, .timeBase, .attachment, .p2pSession: false
            default: !message.state.isPending && !message.state.isFailed && message.burnSeconds == nil
            }
        }
    }

    /// The part that the flow reads: window, gravity, sizes and looks.
    public var flow = FlowConfiguration()

    // MARK: services

    /// Where messages come from; nil for the engine's own provider.
    public var provider: (any SessionMessageProvider)?
    /// What can be done with messages; nil for the engine's own service.
    public var service: (any MessageServiceInterface)?
    /// Look at each call before anything happens; the first veto counts.
    public var prechecks: [any MessageServicePrechecker] = []
    /// Prepare each call, one after the other.
    public var preparations: [any MessageServicePreparation] = []

    // MARK: behaviour

    /// Which receipts are sent.
    public var receipts = Receipts.mark
    /// Whether the line above the first unread message is shown, when the provider knows what was read.
    public var showsUnreadMark = true
    /// How messages are selected.
    public var selection = Selection()
    /// What a message shows after it burned.
    public var burnedShell = MessageContent.erased
    /// The name of a user, for merged records and mentions; the number by default.
    public var userName: @Sendable (UserID) -> String = { "\($0.rawValue)" }
    /// How many messages are remembered by identity, at least; those on screen and unsent ones are always.
    public var ledgerCountMax = 4_000

    /// Makes the standard configuration.
    public init() {}

    // MARK: the flow's members under their described names

    /// The number of messages asked for at once.
    public var pageSize: Int {
        get { flow.pageSize }
        set { flow.pageSize = newValue }
    }
    /// Whether pages are asked for when the reader comes near an edge, or only on request.
    public var automaticHistory: Bool {
        get { flow.automaticHistory }
        set { flow.automaticHistory = newValue }
    }
    /// Whether an apply names the changed rows.
    public var incrementalRefresh: Bool {
        get { flow.incrementalRefresh }
        set { flow.incrementalRefresh = newValue }
    }
    /// When a time label stands above a message.
    public var timeLabelRule: TimeLabelRule {
        get { flow.decoration.timeLabel }
        set { flow.decoration.timeLabel = newValue }
    }
    /// The words of the interface; English by default.
    public var strings: InterfaceStrings {
        get { flow.strings }
        set { flow.strings = newValue }
    }
    /// How times are written.
    public var timeLabelStyle: TimeLabelStyle {
        get { flow.timeLabelStyle }
        set { flow.timeLabelStyle = newValue }
    }
    /// Whether a line stands above the first message of each day.
    public var showsDays: Bool {
        get { flow.decoration.showsDays }
        set { flow.decoration.showsDays = newValue }
    }
    /// The longest time between two messages of one sender's run; below zero nothing is grouped.
    public var groupingGap: Duration {
        get { flow.decoration.runGap }
        set { flow.decoration.runGap = newValue }
    }
    /// The menu of the messages.
    public var menu: MessageMenu {
        get { flow.menu }
        set { flow.menu = newValue }
    }
    /// The looks.
    public var look: AppearanceSheet {
        get { flow.appearance }
        set { flow.appearance = newValue }
    }
}
