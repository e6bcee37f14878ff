public import RivuletModel

/// What happens to a flow.
///
/// Events are values, submitted from any thread and handled one batch at a time. Messages are known by their
/// `MessageID`: one that is in the window already is brought up to date, whichever event brings it.
public enum FlowEvent: Sendable {
    // MARK: the session

    /// The session is shown; everything of an earlier opening is dropped.
    case opened(FlowOpening)
    /// The session is left; answers that are still on their way are ignored.
    case closed
    /// What the provider says may have changed: read the window anew and keep the reader's place.
    case reloadRequested

    // MARK: pages

    /// The answer to a request for a page.
    case pageLoaded(FlowTicket, MessagePage)
    /// The request for a page failed.
    case pageFailed(FlowTicket, FlowFailure)
    /// The reader asks for a page, or asks again after a failure.
    case loadRequested(PageDirection)

    // MARK: messages

    /// Messages that just arrived, or that came to stand where the window is.
    case arrived([Message])
    /// Messages that the reader sends.
    case sent([Message])
    /// Messages that changed; those outside of the window are ignored.
    case updated([Message])
    /// The server's word about a sent message; the position moves the row, once, when it is given.
    ///
    /// It can only move a row that is in the window. Where the whole message is at hand, `arrived` does the same and
    /// also brings in one that was outside.
    case acknowledged(MessageID, state: Message.State, serverKey: Int64?, position: MessagePosition?)
    /// Messages that were deleted here.
    case deleted([MessageID])

    // MARK: the reader

    /// The viewport shows this offset of the snapshot with this version.
    case scrolled(offset: Double, version: Int, isByReader: Bool)
    /// The reader holds the flow.
    case dragBegan
    /// The reader let go of it.
    case dragEnded
    /// The reader asks for a message.
    case jumpRequested(MessageID, FlowAlignment, highlights: Bool)
    /// The reader asks for the newest messages.
    case latestRequested

    // MARK: the surroundings

    /// The viewport has this size.
    case resized(LayoutSize)
    /// The reader's text size; 1 is the designed one.
    case textScaled(Double)
    /// The direction in which the interface reads.
    case directionChanged(ReadingDirection)
    /// The time zone.
    case zoneChanged(ZoneOffsets)
    /// Time passed; labels change when a day did.
    case clockTicked
    /// The host decided otherwise.
    case configurationChanged(FlowConfiguration)

    // MARK: sizes

    /// Answers to requests for sizes.
    case measured([Measurement])
    /// A component has another size than measured, such as a picture whose size was unknown.
    case componentResized(MessageID, MessageComponent, LayoutSize)
    /// Layout snapshots are no longer right.
    case snapshotsCleared(SnapshotScope)

    /// Whether the event comes from producers of messages, which may be many and fast.
    var isTraffic: Bool {
        switch self {
        case .arrived, .sent, .updated, .acknowledged, .deleted: true
        default: false
        }
    }
}

/// Which layout snapshots are meant.
public enum SnapshotScope: Hashable, Sendable {
    /// Those of one message.
    case message(MessageID)
    /// Those of one kind.
    case kind(MessageKind)
    /// All.
    case all
}
