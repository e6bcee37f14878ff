public import RivuletModel

/// The engines of an app, by the kind of session: chats from one, rooms from another, topics of the app's own from a third.
///
/// Each session gets the engine of its kind, and shares nothing with the others. What is sent on to a session of another
/// kind goes out by that kind's engine, as a new message with the same content.
///
/// ```swift
/// let engines = SessionEngines(account.engine, [.room: rooms.engine], makeUUID: systemUUID)
/// let manager = DataManager(
///     session: session, engine: engines.engine(for: session), now: systemTime, makeUUID: systemUUID)
/// ```
public struct SessionEngines: Sendable {
    private let standard: Engine
    private let others: [Session.Kind: Engine]
    private let makeUUID: @Sendable () -> String

    /// Makes a set of engines.
    ///
    /// - Parameters:
    ///   - standard: Serves all kinds that the others do not.
    ///   - others: The engines of certain kinds.
    ///   - makeUUID: Names the messages that are sent on to another kind.
    public init(
        _ standard: Engine, _ others: [Session.Kind: Engine], makeUUID: @escaping @Sendable () -> String
    ) {
        self.standard = standard
        self.others = others
        self.makeUUID = makeUUID
    }

    /// The engine of a session; its service also reaches sessions of other kinds.
    public func engine(for session: Session) -> Engine {
        var engine = others[session.kind] ?? standard
        engine.service = RoutedService(kind: session.kind, engines: self)
        return engine
    }

    /// The engine beneath a kind of session.
    fileprivate func base(of kind: Session.Kind) -> Engine { others[kind] ?? standard }

    /// Whether one engine serves both kinds.
    fileprivate func areTogether(_ left: Session.Kind, _ right: Session.Kind) -> Bool {
        left == right || (others[left] == nil && others[right] == nil)
    }

    fileprivate func copy(of message: Message, for session: Session) -> Message {
        Message(
            id: MessageID(0), session: session, sender: base(of: session.kind).user, isOutgoing: true,
            uuid: makeUUID(), position: message.position, timeMilliseconds: message.timeMilliseconds,
            content: message.content, state: .sending)
    }
}

/// The service of one kind of session, which hands on what goes to another kind.
private struct RoutedService: MessageServiceInterface {
    let kind: Session.Kind
    let engines: SessionEngines

    private var own: any MessageServiceInterface { engines.base(of: kind).service }

    func send(message: Message, in session: Session) async throws -> Message {
        try await engines.base(of: session.kind).service.send(message: message, in: session)
    }

    func resend(message: Message) async throws -> Message {
        try await own.resend(message: message)
    }

    func forward(message: Message, to session: Session) async throws -> Message {
        guard !engines.areTogether(kind, session.kind) else {
            return try await own.forward(message: message, to: session)
        }
        guard message.burnSeconds == nil else { throw InteractionError.burning }
        return try await engines.base(of: session.kind).service.send(
            message: engines.copy(of: message, for: session), in: session)
    }

    func revoke(message: Message) async throws {
        try await own.revoke(message: message)
    }

    func save(message: Message, in session: Session) async throws {
        try await engines.base(of: session.kind).service.save(message: message, in: session)
    }

    func delete(message: Message) async throws {
        try await own.delete(message: message)
    }
}
