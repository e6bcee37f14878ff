public import RivuletModel

/// What the shell of a flow has to do.
public enum FlowAction: Sendable {
    /// Ask the provider for a page and answer with `pageLoaded` or `pageFailed`.
    case load(FlowLoadRequest)
    /// Nobody waits for this page any more.
    case cancelLoad(FlowTicket)
    /// Size components off the main thread, the most urgent first, and answer each with `measured`.
    case measure([MeasureRequest])
    /// Show the new snapshot.
    case apply(FlowUpdate)
    /// Show what is around the rows.
    case show(FlowViewState)
    /// The message that was jumped to is not there any more.
    case reportMissing(MessageID)
    /// A page could not be had; what the reader sees of it is in the state.
    case reportFailure(FlowLoadRequest, FlowFailure)
    /// Submit `clockTicked` at this time, in milliseconds since 1970; a later deadline replaces an earlier one.
    case setDeadline(milliseconds: Int64)
}

/// An immutable picture of the flow: rows, their places, and the messages in them.
public struct FlowSnapshot: Sendable {
    /// Grows with every apply.
    public internal(set) var version = 0
    /// Grows with every opening of the session.
    public internal(set) var generation = 0
    /// The messages of the window, oldest first.
    public internal(set) var messages: [Message] = []
    /// The rows, oldest first.
    public internal(set) var rows: [FlowRow] = []
    /// The heights of the rows.
    public internal(set) var layout = LayoutIndex()
    /// The width for which the heights hold.
    public internal(set) var width = 0.0
    /// The text size for which the heights hold.
    public internal(set) var textScale = 1.0
    /// The space above the first row, kept for a spinner while there are older messages.
    public internal(set) var leadingSpace = 0.0
    /// The space below the last row, kept for a spinner while there are newer messages.
    public internal(set) var trailingSpace = 0.0

    /// The height of everything.
    public var contentHeight: Double { leadingSpace + layout.totalHeight + trailingSpace }

    /// The offset at which a row begins; for the number of rows, where the last one ends.
    public func offset(ofRow row: Int) -> Double { leadingSpace + layout.offset(ofRow: row) }

    /// The rows of which a part lies within the stretch of offsets; touching is not overlapping.
    public func visibleRows(from offset: Double, height: Double) -> Range<Int> {
        guard height > 0 else { return 0..<0 }
        let top = offset - leadingSpace
        let visible = layout.visibleRows(in: top..<(top + height))
        return visible.clamped(to: 0..<rows.count)
    }
}

/// One atomic change of what is shown.
public struct FlowUpdate: Sendable {
    /// The new picture.
    public internal(set) var snapshot: FlowSnapshot
    /// What turns the rows of the version before into the new ones; updates also name rows that look different
    /// though their row value is the same, such as a message whose state changed.
    public internal(set) var changes: ChangeSet
    /// Whether the view should show everything anew instead of following the changes.
    public internal(set) var isReload: Bool
    /// Why.
    public internal(set) var reasons: FlowReason
    /// How to scroll.
    public internal(set) var scroll: FlowScroll
    /// The offset at which the viewport should be afterwards.
    public internal(set) var offset: Double
    /// The place that was kept; nil when the reason moved the reader.
    public internal(set) var anchor: FlowAnchor?
    /// The message to highlight.
    public internal(set) var highlight: MessageID?
}

/// What is shown around the rows.
public struct FlowViewState: Hashable, Sendable {
    /// Whether the first page is awaited, there or refused.
    public enum Opening: Hashable, Sendable {
        /// No session is shown.
        case closed
        /// The first page is awaited.
        case loading
        /// The first page could not be had; a retry is up to the reader.
        case failed(FlowFailure)
        /// The first page is there.
        case shown
    }

    /// Whether the first page is there.
    public internal(set) var opening = Opening.closed
    /// What lies before the window.
    public internal(set) var older = LoadStatus.atEnd
    /// What lies after the window.
    public internal(set) var newer = LoadStatus.atEnd
    /// Whether the reader is at the newest message and sees new ones come.
    public internal(set) var isFollowing = true
    /// The number of messages that arrived further down and were not seen yet; bounded by the configuration.
    public internal(set) var newMessageCount = 0
    /// The day of the topmost visible row, written; empty when there is none.
    public internal(set) var stickyDay = ""
    /// Whether rows wait to be sized by widgets.
    public internal(set) var awaitsViewMeasuring = false

    /// Makes the state of a flow that shows nothing.
    public init() {}
}
