public import RivuletModel

/// The described message provider, with a completion; use it through ``CompletionProviderAdapter``.
public protocol CompletionMessageProvider: Sendable {
    /// Fetches the messages before the anchor, or the newest when it is nil, and calls the completion once, on any thread.
    ///
    /// No messages mean that there are none further back.
    func messages(
        in session: Session, anchorMessage: Message?, limit: Int,
        completion: @escaping @Sendable ([Message]) -> Void)
}

/// Called once when a call of the message service is over, on any thread.
///
/// A success carries the message as the service knows it; for `revoke`, `save` and `delete` it is not looked at.
public typealias MessageServiceInterfaceCompletion = @Sendable (Result<Message, any Error>) -> Void

/// The described message service, with completions; use it through ``CompletionServiceAdapter``.
public protocol CompletionMessageService: Sendable {
    /// Sends a message.
    func send(message: Message, in session: Session, completion: @escaping MessageServiceInterfaceCompletion)
    /// Sends a failed message again.
    func resend(message: Message, completion: @escaping MessageServiceInterfaceCompletion)
    /// Sends a message on to another session.
    func forward(
        message: Message, to session: Session, completion: @escaping MessageServiceInterfaceCompletion)
    /// Withdraws a message for everybody.
    func revoke(message: Message, completion: @escaping MessageServiceInterfaceCompletion)
    /// Writes a local message into a session without sending it.
    func save(message: Message, in session: Session, completion: @escaping MessageServiceInterfaceCompletion)
    /// Removes a message.
    func delete(message: Message, completion: @escaping MessageServiceInterfaceCompletion)
}

/// Called once when a preparation is over, on any thread: with the message to go on with, or with why it must not.
public typealias MessageServicePreparationCallback = @Sendable (Result<Message, any Error>) -> Void

/// The described preparation, with callbacks; use it through ``CompletionPreparationAdapter``.
///
/// Every method has a default that changes nothing.
public protocol CompletionMessagePreparation: Sendable {
    /// Prepares a message that is sent.
    func prepareSend(
        message: Message, in session: Session, callback: @escaping MessageServicePreparationCallback)
    /// Prepares a failed message that is sent again.
    func prepareResend(message: Message, callback: @escaping MessageServicePreparationCallback)
    /// Prepares a message that is sent on.
    func prepareForward(
        message: Message, to session: Session, callback: @escaping MessageServicePreparationCallback)
    /// Prepares the withdrawal of a message.
    func prepareRevoke(message: Message, callback: @escaping MessageServicePreparationCallback)
    /// Prepares a local message.
    func prepareSave(
        message: Message, in session: Session, callback: @escaping MessageServicePreparationCallback)
    /// Prepares the removal of a message.
    func prepareDelete(message: Message, callback: @escaping MessageServicePreparationCallback)
}

extension CompletionMessagePreparation {
    /// Nothing changes.
    public func prepareSend(
        message: Message, in session: Session, callback: @escaping MessageServicePreparationCallback
    ) { callback(.success(message)) }
    /// Nothing changes.
    public func prepareResend(message: Message, callback: @escaping MessageServicePreparationCallback) {
        callback(.success(message))
    }
    /// Nothing changes.
    public func prepareForward(
        message: Message, to session: Session, callback: @escaping MessageServicePreparationCallback
    ) { callback(.success(message)) }
    /// Nothing changes.
    public func prepareRevoke(message: Message, callback: @escaping MessageServicePreparationCallback) {
        callback(.success(message))
    }
    /// Nothing changes.
    public func prepareSave(
        message: Message, in session: Session, callback: @escaping MessageServicePreparationCallback
    ) { callback(.success(message)) }
    /// Nothing changes.
    public func prepareDelete(message: Message, callback: @escaping MessageServicePreparationCallback) {
        callback(.success(message))
    }
}
