public import RivuletModel

/// What can be done with messages.
///
/// The built-in engines implement it for users, groups, customer service, chat rooms and a business server behind HTTP;
/// an app with a messaging kit of its own implements it once and injects it. It is called through a ``DataManager``,
/// which asks the hooks of the session first.
///
/// A call returns when its fate is known. Cancelling its task means that nobody waits any more; whether the message
/// still goes out is the engine's to say, by its live events.
public protocol MessageServiceInterface: Sendable {
    /// Sends a message and returns it as the service knows it: with its server key and its place when these are known.
    ///
    /// The message has a uuid, which the service keeps for every attempt, so that resending is harmless.
    func send(message: Message, in session: Session) async throws -> Message

    /// Sends a message again that failed, with the same uuid.
    func resend(message: Message) async throws -> Message

    /// Sends the content of a message to another session, and returns the new message there.
    func forward(message: Message, to session: Session) async throws -> Message

    /// Withdraws a message of the user for everybody.
    func revoke(message: Message) async throws

    /// Writes a local message into a session without sending it.
    func save(message: Message, in session: Session) async throws

    /// Removes a message from this user's devices, or from this one, as the engine does it.
    func delete(message: Message) async throws
}

/// Changes of messages beyond the described six calls: edits, reactions, votes, read marks.
///
/// It is a protocol of its own, so that an engine without them stays small: an ``Engine`` without one refuses them with
/// ``InteractionError/Code/unsupported``.
public protocol MessageControlService: Sendable {
    /// Carries out a change of a message, or of several, and tells the others.
    func apply(_ control: ControlContent, in session: Session) async throws
}

/// The six things that can be done with a message.
public enum MessageServiceCall: String, Hashable, Sendable, CaseIterable {
    /// A message is sent.
    case send
    /// A failed message is sent again.
    case resend
    /// A message is sent on to another session.
    case forward
    /// A message is withdrawn for everybody.
    case revoke
    /// A local message is written without being sent.
    case save
    /// A message is removed.
    case delete
}
