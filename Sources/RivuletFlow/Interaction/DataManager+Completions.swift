public import RivuletModel

/// The six calls in their described form: each completion is called once, on the main actor.
///
/// The returned task cancels the call; its completion then hears `CancellationError`. Completions of a session that was
/// closed meanwhile still come.
extension DataManager {
    /// Sends a message.
    @discardableResult
    public func send(
        message: Message, completion: @escaping MessageServiceInterfaceCompletion
    ) -> Task<Void, Never> {
        complete(completion) { try await self.send(message: message) }
    }

    /// Sends a failed message again.
    @discardableResult
    public func resend(
        message: Message, completion: @escaping MessageServiceInterfaceCompletion
    ) -> Task<Void, Never> {
        complete(completion) { try await self.resend(message: message) }
    }

    /// Sends a message on to another session.
    @discardableResult
    public func forward(
        message: Message, to session: Session, completion: @escaping MessageServiceInterfaceCompletion
    ) -> Task<Void, Never> {
        complete(completion) { try await self.forward(message: message, to: session) }
    }

    /// Withdraws a message for everybody; the completion gets the withdrawn message.
    @discardableResult
    public func revoke(
        message: Message, completion: @escaping MessageServiceInterfaceCompletion
    ) -> Task<Void, Never> {
        complete(completion) {
            try await self.revoke(message: message)
            return self.message(message.id) ?? message
        }
    }

    /// Writes a local message into the session without sending it.
    @discardableResult
    public func save(
        message: Message, completion: @escaping MessageServiceInterfaceCompletion
    ) -> Task<Void, Never> {
        complete(completion) { try await self.save(message: message) }
    }

    /// Removes a message; the completion gets it as it was.
    @discardableResult
    public func delete(
        message: Message, completion: @escaping MessageServiceInterfaceCompletion
    ) -> Task<Void, Never> {
        complete(completion) {
            try await self.delete(message: message)
            return message
        }
    }

    private func complete(
        _ completion: @escaping MessageServiceInterfaceCompletion,
        _ call: @escaping @MainActor () async throws -> Message
    ) -> Task<Void, Never> {
        Task {
            do {
                completion(.success(try await call()))
            } catch {
                completion(.failure(error))
            }
        }
    }
}
