public import RivuletModel

/// Makes a provider with completions into one that returns; each completion counts once (see ``CallbackMonitor``).
///
/// It reads towards the beginning only, as described: a request for newer messages is answered with none.
public struct CompletionProviderAdapter: SessionMessageProvider {
    private let base: any CompletionMessageProvider
    private let bridge: CallbackBridge

    /// Wraps a provider.
    ///
    /// - Parameters:
    ///   - base: The provider.
    ///   - timeout: How long a completion may take; nil for ever.
    ///   - clock: By which the time is measured.
    ///   - monitor: Counts completions that broke the contract.
    public init(
        _ base: any CompletionMessageProvider, timeout: Duration? = .seconds(30),
        clock: any Clock<Duration> = ContinuousClock(), monitor: CallbackMonitor = CallbackMonitor()
    ) {
        self.base = base
        bridge = CallbackBridge(timeout: timeout, clock: clock, monitor: monitor)
    }

    /// Asks the provider; no messages mean that there are none further back.
    public func messages(
        in session: Session, anchorMessage: Message?, direction: PageDirection, limit: Int
    ) async throws -> MessagePage {
        if direction == .newer, anchorMessage != nil {
            return MessagePage(messages: [], hasOlder: true, hasNewer: false)
        }
        let messages: [Message] = try await bridge.call { done in
            base.messages(in: session, anchorMessage: anchorMessage, limit: limit) { done(.success($0)) }
        }
        return MessagePage(messages: messages, hasOlder: !messages.isEmpty, hasNewer: false)
    }
}

/// Makes a service with completions into one that returns; each completion counts once (see ``CallbackMonitor``).
public struct CompletionServiceAdapter: MessageServiceInterface {
    private let base: any CompletionMessageService
    private let bridge: CallbackBridge

    /// Wraps a service.
    ///
    /// - Parameters:
    ///   - base: The service.
    ///   - timeout: How long a completion may take; nil for ever.
    ///   - clock: By which the time is measured.
    ///   - monitor: Counts completions that broke the contract.
    public init(
        _ base: any CompletionMessageService, timeout: Duration? = .seconds(60),
        clock: any Clock<Duration> = ContinuousClock(), monitor: CallbackMonitor = CallbackMonitor()
    ) {
        self.base = base
        bridge = CallbackBridge(timeout: timeout, clock: clock, monitor: monitor)
    }

    /// Sends a message.
    public func send(message: Message, in session: Session) async throws -> Message {
        try await bridge.call { base.send(message: message, in: session, completion: $0) }
    }

    /// Sends a failed message again.
    public func resend(message: Message) async throws -> Message {
        try await bridge.call { base.resend(message: message, completion: $0) }
    }

    /// Sends a message on to another session.
    public func forward(message: Message, to session: Session) async throws -> Message {
        try await bridge.call { base.forward(message: message, to: session, completion: $0) }
    }

    /// Withdraws a message for everybody.
    public func revoke(message: Message) async throws {
        let _: Message = try await bridge.call { base.revoke(message: message, completion: $0) }
    }

    /// Writes a local message into a session without sending it.
    public func save(message: Message, in session: Session) async throws {
        let _: Message = try await bridge.call { base.save(message: message, in: session, completion: $0) }
    }

    /// Removes a message.
    public func delete(message: Message) async throws {
        let _: Message = try await bridge.call { base.delete(message: message, completion: $0) }
    }
}

/// Makes a preparation with callbacks into one that returns; each callback counts once (see ``CallbackMonitor``).
public struct CompletionPreparationAdapter: MessageServicePreparation {
    private let base: any CompletionMessagePreparation
    private let bridge: CallbackBridge

    /// Wraps a preparation.
    ///
    /// - Parameters:
    ///   - base: The preparation.
    ///   - timeout: How long a callback may take; nil for ever.
    ///   - clock: By which the time is measured.
    ///   - monitor: Counts callbacks that broke the contract.
    public init(
        _ base: any CompletionMessagePreparation, timeout: Duration? = .seconds(300),
        clock: any Clock<Duration> = ContinuousClock(), monitor: CallbackMonitor = CallbackMonitor()
    ) {
        self.base = base
        bridge = CallbackBridge(timeout: timeout, clock: clock, monitor: monitor)
    }

    /// Prepares a message that is sent.
    public func prepareSend(message: Message, in session: Session) async throws -> Message {
        try await bridge.call { base.prepareSend(message: message, in: session, callback: $0) }
    }

    /// Prepares a failed message that is sent again.
    public func prepareResend(message: Message) async throws -> Message {
        try await bridge.call { base.prepareResend(message: message, callback: $0) }
    }

    /// Prepares a message that is sent on.
    public func prepareForward(message: Message, to session: Session) async throws -> Message {
        try await bridge.call { base.prepareForward(message: message, to: session, callback: $0) }
    }

    /// Prepares the withdrawal of a message.
    public func prepareRevoke(message: Message) async throws -> Message {
        try await bridge.call { base.prepareRevoke(message: message, callback: $0) }
    }

    /// Prepares a local message.
    public func prepareSave(message: Message, in session: Session) async throws -> Message {
        try await bridge.call { base.prepareSave(message: message, in: session, callback: $0) }
    }

    /// Prepares the removal of a message.
    public func prepareDelete(message: Message) async throws -> Message {
        try await bridge.call { base.prepareDelete(message: message, callback: $0) }
    }
}
