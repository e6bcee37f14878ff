public import RivuletModel

/// What happens to the messages of a session, as an engine tells it.
public enum SessionEvent: Sendable {
    /// Messages came, from others or from another device of the user; also known ones as they are now.
    case arrived([Message])
    /// Messages that the user of this device sends, which the engine keeps from now on.
    case sent([Message])
    /// Messages changed; those that nobody looks at are left alone.
    case updated([Message])
    /// Messages are gone.
    case deleted([MessageID])
    /// Every message of the session is gone.
    case cleared
    /// A change of a message that is known by its uuid: withdrawn, edited, appended to, reacted to, voted on, read.
    ///
    /// The author is the user who did it; the time is in milliseconds since 1970.
    case control(ControlContent, by: UserID, milliseconds: Int64)
    /// Devices of the receiver have these messages, by uuid.
    case delivered(uuids: [String])
    /// A message burned after reading, by uuid: only its empty shell stays.
    case burned(uuid: String)
    /// Events were lost: what is shown has to be read anew.
    case reset
}

/// Tells what happens to the messages of a session.
public protocol SessionEventSource: Sendable {
    /// The events from now on, in order; the stream ends when the engine does.
    ///
    /// A source that drops events because nobody takes them sends `reset` afterwards.
    func events(in session: Session) -> AsyncStream<SessionEvent>
}

/// What lies beneath the flow: where messages come from, what can be done with them, and what happens to them.
///
/// An app that changes its engine changes the line in which this value is made.
public struct Engine: Sendable {
    /// The user.
    public var user: UserID
    /// Where messages come from.
    public var provider: any SessionMessageProvider
    /// What can be done with them.
    public var service: any MessageServiceInterface
    /// What happens to them; nil for an engine that never speaks by itself.
    public var events: (any SessionEventSource)?
    /// Edits, reactions, votes and read marks; nil for an engine without them.
    public var controls: (any MessageControlService)?
    /// Where drafts are kept; nil to keep them in memory for as long as the session's object lives.
    public var drafts: (any DraftStorage)?
    /// Votes and readers that the engine keeps; nil for an engine that tells them as events alone.
    public var tallies: (any MessageTallySource)?

    /// Makes an engine of its parts.
    public init(
        user: UserID, provider: any SessionMessageProvider, service: any MessageServiceInterface,
        events: (any SessionEventSource)? = nil, controls: (any MessageControlService)? = nil,
        drafts: (any DraftStorage)? = nil, tallies: (any MessageTallySource)? = nil
    ) {
        self.user = user
        self.provider = provider
        self.service = service
        self.events = events
        self.controls = controls
        self.drafts = drafts
        self.tallies = tallies
    }
}
