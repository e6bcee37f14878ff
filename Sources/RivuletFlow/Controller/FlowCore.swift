public import RivuletModel

/// The flow of one session as a value: fed with events, it says what to load, to measure and to show.
///
/// It knows no clock, thread or widget, so that every rule can be tested by a table. All events of one call lead to
/// at most one apply. See ``FlowReason`` for what may move the reader; nothing else does.
///
/// ```swift
/// var core = FlowCore(session: session, configuration: FlowConfiguration())
/// var actions = core.handle([.resized(LayoutSize(width: 700, height: 600)), .opened(.latest)], at: now)
/// // … load the page that `actions` asks for …
/// actions = core.handle([.pageLoaded(ticket, page)], at: now)
/// ```
public struct FlowCore: Sendable {
    /// What is to be applied next.
    struct Pending {
        var reasons: FlowReason = []
        var isDirty = false
        /// Where the reader is to go.
        var intent: ScrollIntent?
        /// Messages that came into the window and are not shown yet.
        var inserted: Set<MessageID> = []
        /// Messages that look different though their row's value may be the same.
        var changed: Set<MessageID> = []
        /// Messages that stand elsewhere now.
        var repositioned: Set<MessageID> = []
        /// Messages whose rows may have another height.
        var resized: Set<MessageID> = []
        /// Messages that arrived from others and are not counted yet.
        var arrived: [Message] = []
        /// The rows that were replaced since the last apply; nil when that is no single stretch.
        var rowEdit: RowEdit?
        var rowEditCount = 0
        /// Whether every height must be found anew.
        var resizesAll = false
        var hasAskedForAll = false
        /// Requests for sizes that the apply waits for.
        var awaitedTickets: Set<Int> = []
        /// Whether the apply has waited already; it does so once.
        var hasWaited = false
    }

    /// Where the reader is to go with the next apply.
    enum ScrollIntent {
        case bottom
        case message(MessageID, FlowAlignment, highlights: Bool)
        case anchor(FlowAnchor)
    }

    struct Viewport {
        var offset = 0.0
        var height = 0.0
        var isFollowing = true
        var isDragging = false
    }

    /// The session.
    public let session: Session
    /// What the host decided.
    public internal(set) var configuration: FlowConfiguration
    /// What is shown.
    public internal(set) var snapshot = FlowSnapshot()
    /// What is shown around the rows.
    public internal(set) var state = FlowViewState()
    /// How often a change set had to be replaced by a reload because it did not lead to the new rows; 0, or a fault.
    public internal(set) var invalidChangeSetCount = 0

    var window = MessageWindow()
    var decoration: Decoration
    var book: MeasureBook
    var viewport = Viewport()
    var loads = LoadBook()
    var pending = Pending()
    var unseen = UnseenMessages()
    var shifts = OffsetShifts()
    var now: Int64 = 0
    var zone: ZoneOffsets
    var actions: [FlowAction] = []
    /// The day for which the sticky line was written last, and in which context.
    var stickyCache: (day: Int64, today: Int64, text: String)?
    var deadline: Int64?

    /// Makes the flow of a session; nothing happens before the event `opened`.
    public init(session: Session, configuration: FlowConfiguration = FlowConfiguration()) {
        self.session = session
        self.configuration = configuration
        zone = configuration.zone
        book = MeasureBook(configuration: configuration)
        decoration = Decoration(
            of: [], rules: configuration.decoration, context: DecorationContext(nowMilliseconds: 0))
    }

    /// Handles one event.
    public mutating func handle(_ event: FlowEvent, at now: Int64) -> [FlowAction] {
        handle([event], at: now)
    }

    /// Handles events in their order, with one apply at most.
    ///
    /// - Parameters:
    ///   - events: The events, the oldest first.
    ///   - now: The time in milliseconds since 1970; it may run backwards.
    /// - Returns: What the shell has to do, in this order.
    public mutating func handle(_ events: [FlowEvent], at now: Int64) -> [FlowAction] {
        self.now = now
        for event in events { reduce(event) }
        if loads.isOpen {
            countForgotten()
            redecorate(mayWait: true)
            if pending.isDirty, pending.awaitedTickets.isEmpty {
                // Not earlier: while an apply waits for sizes the reader goes on scrolling what is shown.
                trimWindow()
                countForgotten()
                redecorate(mayWait: false)
                publish()
            }
            loadIfNearEdge()
        }
        updateState()
        defer { actions = [] }
        return actions
    }

    /// Where the reader is, to be restored when the session is opened again.
    public var position: FlowPosition {
        guard !viewport.isFollowing else { return .latest }
        return FlowPosition(anchor: firstAnchor(in: snapshot) { _ in true })
    }

    /// How well the layout snapshots serve.
    public var snapshotCounters: LayoutSnapshots.Counters { book.snapshots.counters }

    /// The offset at which the viewport is, as far as the flow knows.
    public var offset: Double { viewport.offset }

    /// The least and the greatest offset of the snapshot in this viewport.
    public var offsetRange: ClosedRange<Double> { offsetRange(of: snapshot) }

    /// The frames of the components of a message's row as last applied; nil when the message is not shown.
    public mutating func rowLayout(of id: MessageID) -> RowLayout? {
        guard let index = window.index(of: id) else { return nil }
        return book.rowLayout(of: window.messages[index], grouping: grouping(ofMessage: index))
    }

    // MARK: small helpers

    /// Notes that something has to be applied, and why.
    mutating func markDirty(_ reason: FlowReason) {
        pending.isDirty = true
        pending.reasons.formUnion(reason)
    }

    func grouping(ofMessage index: Int) -> FlowRow.Grouping {
        guard index < decoration.messageCount else { return .single }
        return decoration.rows[decoration.row(ofMessage: index)].grouping
    }
}
