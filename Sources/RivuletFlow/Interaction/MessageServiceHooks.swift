public import RivuletModel

/// Looks at each call before anything happens and may veto it.
///
/// A vetoed call leaves no trace: no row, nothing asked of preparations or of the service. The session's delegate hears
/// of it with the reason. Every method has a default that lets the call pass.
///
/// ```swift
/// struct NoShouting: MessageServicePrechecker {
///     func shouldSend(message: Message, in session: Session) -> Bool {
///         message.content.text.map { $0 != $0.uppercased() } ?? true
///     }
///     func vetoReason(for call: MessageServiceCall, message: Message) -> String? { "Please do not shout." }
/// }
/// ```
public protocol MessageServicePrechecker: Sendable {
    /// Whether the message may be sent.
    func shouldSend(message: Message, in session: Session) -> Bool
    /// Whether the failed message may be sent again.
    func shouldResend(message: Message) -> Bool
    /// Whether the message may be sent on to that session.
    func shouldForward(message: Message, to session: Session) -> Bool
    /// Whether the message may be withdrawn.
    func shouldRevoke(message: Message) -> Bool
    /// Whether the local message may be written.
    func shouldSave(message: Message, in session: Session) -> Bool
    /// Whether the message may be removed.
    func shouldDelete(message: Message) -> Bool
    /// Why a call was vetoed, for people; nil, the default, to say nothing.
    func vetoReason(for call: MessageServiceCall, message: Message) -> String?
}

extension MessageServicePrechecker {
    /// It may.
    public func shouldSend(message: Message, in session: Session) -> Bool { true }
    /// It may.
    public func shouldResend(message: Message) -> Bool { true }
    /// It may.
    public func shouldForward(message: Message, to session: Session) -> Bool { true }
    /// It may.
    public func shouldRevoke(message: Message) -> Bool { true }
    /// It may.
    public func shouldSave(message: Message, in session: Session) -> Bool { true }
    /// It may.
    public func shouldDelete(message: Message) -> Bool { true }
    /// Nothing is said.
    public func vetoReason(for call: MessageServiceCall, message: Message) -> String? { nil }

    /// Whether the call may go on; `session` is where a message is sent, saved or forwarded to.
    func allows(_ call: MessageServiceCall, _ message: Message, _ session: Session) -> Bool {
        switch call {
        case .send: shouldSend(message: message, in: session)
        case .resend: shouldResend(message: message)
        case .forward: shouldForward(message: message, to: session)
        case .revoke: shouldRevoke(message: message)
        case .save: shouldSave(message: message, in: session)
        case .delete: shouldDelete(message: message)
        }
    }
}

/// Prepares a message after the precheck and before the service: compresses, uploads, encrypts, censors.
///
/// Preparations are asked one after the other, each with what the one before made. Each may take its time, change the
/// message, or refuse by throwing. While a message that is sent is prepared, its row says so
/// (`Message.State.preparing`); when a preparation throws, the row stays with the reason and can be tried again.
/// A message's identity is its own: changes of id, uuid, session and sender are undone.
///
/// Every method has a default that changes nothing.
public protocol MessageServicePreparation: Sendable {
    /// Prepares a message that is sent.
    func prepareSend(message: Message, in session: Session) async throws -> Message
    /// Prepares a failed message that is sent again.
    ///
    /// A message that never reached the service goes through `prepareSend` afterwards, from its original content.
    func prepareResend(message: Message) async throws -> Message
    /// Prepares a message that is sent on to that session.
    func prepareForward(message: Message, to session: Session) async throws -> Message
    /// Prepares the withdrawal of a message.
    func prepareRevoke(message: Message) async throws -> Message
    /// Prepares a local message.
    func prepareSave(message: Message, in session: Session) async throws -> Message
    /// Prepares the removal of a message.
    func prepareDelete(message: Message) async throws -> Message
}

extension MessageServicePreparation {
    /// Nothing changes.
    public func prepareSend(message: Message, in session: Session) async throws -> Message { message }
    /// Nothing changes.
    public func prepareResend(message: Message) async throws -> Message { message }
    /// Nothing changes.
    public func prepareForward(message: Message, to session: Session) async throws -> Message { message }
    /// Nothing changes.
    public func prepareRevoke(message: Message) async throws -> Message { message }
    /// Nothing changes.
    public func prepareSave(message: Message, in session: Session) async throws -> Message { message }
    /// Nothing changes.
    public func prepareDelete(message: Message) async throws -> Message { message }

    /// Prepares the call; `session` is where a message is sent, saved or forwarded to.
    func prepare(
        _ call: MessageServiceCall, _ message: Message, _ session: Session
    ) async throws -> Message {
        switch call {
        case .send: try await prepareSend(message: message, in: session)
        case .resend: try await prepareResend(message: message)
        case .forward: try await prepareForward(message: message, to: session)
        case .revoke: try await prepareRevoke(message: message)
        case .save: try await prepareSave(message: message, in: session)
        case .delete: try await prepareDelete(message: message)
        }
    }
}

/// The hooks of a session, in their order: first every precheck, then every preparation, then the service.
struct HookChain: Sendable {
    var prechecks: [any MessageServicePrechecker]
    var preparations: [any MessageServicePreparation]

    /// The veto of the first precheck that does not let the call pass; nil when all do.
    func veto(of call: MessageServiceCall, _ message: Message, _ session: Session) -> InteractionError? {
        for precheck in prechecks where !precheck.allows(call, message, session) {
            return InteractionError(
                .vetoed, reason: precheck.vetoReason(for: call, message: message) ?? "")
        }
        return nil
    }

    /// What the preparations make of a message, with its identity kept.
    func prepare(
        _ call: MessageServiceCall, _ message: Message, _ session: Session
    ) async throws -> Message {
        var prepared = message
        for preparation in preparations {
            try Task.checkCancellation()
            var next = try await preparation.prepare(call, prepared, session)
            next.id = message.id
            next.uuid = message.uuid
            next.session = message.session
            next.sender = message.sender
            prepared = next
        }
        try Task.checkCancellation()
        return prepared
    }
}
