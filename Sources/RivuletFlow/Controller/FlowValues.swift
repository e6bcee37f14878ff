public import RivuletModel

/// An edge of a row.
public enum RowEdge: Hashable, Sendable, Codable {
    /// Where the row begins.
    case top
    /// Where it ends.
    case bottom
}

/// A place that must not move: an edge of a message's row and its distance from the top of the viewport.
public struct FlowAnchor: Hashable, Sendable, Codable {
    /// The message.
    public var message: MessageID
    /// The edge of its row.
    public var edge: RowEdge
    /// How far below the top of the viewport the edge is; negative above it.
    public var offset: Double

    /// Makes an anchor.
    public init(message: MessageID, edge: RowEdge, offset: Double) {
        self.message = message
        self.edge = edge
        self.offset = offset
    }
}

/// Where a reader was when the session was left, to be saved and restored on reopening.
public struct FlowPosition: Hashable, Sendable, Codable {
    /// The place; nil when the reader followed the newest messages.
    public var anchor: FlowAnchor?

    /// Makes a position; without an anchor it is the bottom.
    public init(anchor: FlowAnchor? = nil) {
        self.anchor = anchor
    }

    /// At the newest messages.
    public static let latest = FlowPosition()
}

/// Where a message that was jumped to stands in the viewport.
public enum FlowAlignment: Hashable, Sendable {
    /// At its top.
    case top
    /// In its middle.
    case center
    /// At its bottom.
    case bottom
    /// Where it is if it can be seen whole, otherwise at the nearer edge.
    case nearest
}

/// Where a session opens.
public enum FlowOpening: Hashable, Sendable {
    /// At the newest messages.
    case latest
    /// Where the reader left it.
    case position(FlowPosition)
    /// At a message, such as the first unread one or one that was searched for.
    case message(MessageID, FlowAlignment)
}

/// How the view has to scroll after an apply.
public enum FlowScroll: Hashable, Sendable {
    /// Nothing may seem to move: add this to the present offset.
    case keep(by: Double)
    /// Go to this offset, the bottom.
    case bottom(offset: Double, isAnimated: Bool)
    /// Go to this offset, where the target is.
    case target(offset: Double, isAnimated: Bool)
}

/// Why a page could not be had.
public struct FlowFailure: Error, Hashable, Sendable, CustomStringConvertible {
    /// The kind of failure; an open set, given by the engine.
    public var code: String
    /// For developers; never contents.
    public var message: String

    /// Makes a failure.
    public init(code: String, message: String = "") {
        self.code = code
        self.message = message
    }

    /// The code, for logs.
    public var description: String { "FlowFailure(\(code))" }
}

/// What is known about messages beyond an edge of the window.
public enum LoadStatus: Hashable, Sendable {
    /// There are none.
    case atEnd
    /// There are some, and nobody asked for them yet.
    case more
    /// They are being fetched.
    case loading
    /// They could not be fetched; a retry is up to the reader.
    case failed(FlowFailure)

    /// Whether there are messages beyond.
    public var canLoad: Bool { self != .atEnd }
}

/// Messages of one session, as a provider gives them.
public struct MessagePage: Hashable, Sendable {
    /// The messages, in any order.
    public var messages: [Message]
    /// Whether there are messages before the oldest of them.
    public var hasOlder: Bool
    /// Whether there are messages after the newest of them.
    public var hasNewer: Bool

    /// Makes a page.
    public init(messages: [Message], hasOlder: Bool, hasNewer: Bool) {
        self.messages = messages
        self.hasOlder = hasOlder
        self.hasNewer = hasNewer
    }
}

/// Names one request for a page, so that an answer that comes too late is recognised.
public struct FlowTicket: Hashable, Sendable {
    /// The opening of the session that the request belongs to.
    public var generation: Int
    /// The number of the request.
    public var number: Int

    /// Makes a ticket.
    public init(generation: Int, number: Int) {
        self.generation = generation
        self.number = number
    }
}

/// The wish for a page of messages.
public struct FlowLoadRequest: Hashable, Sendable {
    /// Which messages.
    public enum Target: Hashable, Sendable {
        /// The newest ones.
        case latest
        /// The ones before this message.
        case older(than: Message)
        /// The ones after this message.
        case newer(than: Message)
        /// The ones around this message, itself among them.
        case around(MessageID)
    }

    /// The name of the request.
    public var ticket: FlowTicket
    /// Which messages.
    public var target: Target
    /// How many at most.
    public var limit: Int

    /// Makes a request.
    public init(ticket: FlowTicket, target: Target, limit: Int) {
        self.ticket = ticket
        self.target = target
        self.limit = limit
    }
}
