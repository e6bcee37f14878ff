public import RivuletModel

/// The six calls: precheck, preparations, service, in this order.
extension DataManager {
    var hooks: HookChain {
        HookChain(prechecks: configuration.prechecks, preparations: configuration.preparations)
    }

    var service: any MessageServiceInterface {
        configuration.service ?? engine.service
    }

    // MARK: sending

    /// Sends a content and returns the message as the service knows it.
    ///
    /// - Throws: As ``send(message:)``.
    @discardableResult
    public func send(_ content: MessageContent, replyingTo reference: String? = nil) async throws -> Message {
        try await send(message: makeMessage(content, reference: reference))
    }

    /// Sends a message and returns it as the service knows it.
    ///
    /// The row appears at once, after the prechecks: as being prepared while there are preparations to wait for, then as
    /// on its way. When a preparation or the service throws, the row stays, failed, with the reason. Cancelling the task
    /// does the same, with "cancelled"; should the service send it nevertheless, its event corrects the row.
    ///
    /// - Throws: ``InteractionError`` with `vetoed`, `closed` or `busy`; what a preparation or the service throws;
    ///   `CancellationError`.
    @discardableResult
    public func send(message: Message) async throws -> Message {
        try requireLife()
        let message = own(message)
        if let uuid = message.uuid, ledger.row(uuid: uuid) != nil { throw InteractionError(.busy) }
        try check(.send, message, session)
        var shown = message
        shown.state = hooks.preparations.isEmpty ? .sending : .preparing
        let row = ledger.makeLocal(shown)
        _ = ledger.change(row.id) { $0.original = row }
        controller.submit(.sent([row]))
        return try await deliver(row.id, .send)
    }

    /// Sends a failed message again, with the same uuid.
    ///
    /// One that never reached the service starts from its original content: `prepareResend`, then `prepareSend`, then
    /// the service's `send`. Any other goes through `prepareResend` to the service's `resend`.
    ///
    /// - Throws: As ``send(message:)``; ``InteractionError`` with `notFound`, and `invalid` for a message that did not
    ///   fail.
    @discardableResult
    public func resend(message: Message) async throws -> Message {
        try requireLife()
        guard let entry = ledger[message.id] else { throw InteractionError(.notFound) }
        guard deliveries[message.id] == nil else { throw InteractionError(.busy) }
        guard entry.message.state.isFailed, entry.message.isOutgoing else { throw InteractionError(.invalid) }
        try check(.resend, entry.message, session)
        let state: Message.State = hooks.preparations.isEmpty ? .sending : .preparing
        change(message.id) { $0.message.state = state }
        return try await deliver(message.id, .resend)
    }

    /// Gives up a message that is being prepared or sent; it stays, failed, and can be sent again or deleted.
    ///
    /// - Returns: Whether it was on its way.
    @discardableResult
    public func cancelSending(_ id: MessageID) -> Bool {
        guard let task = deliveries[id] else { return false }
        task.cancel()
        return true
    }

    private func deliver(_ id: MessageID, _ call: MessageServiceCall) async throws -> Message {
        // Begun in the order of the calls: tasks of the main actor are.
        let task = Task { try await carry(id, call) }
        deliveries[id] = task
        defer { deliveries[id] = nil }
        do {
            return try await withTaskCancellationHandler {
                try await task.value
            } onCancel: {
                task.cancel()
            }
        } catch {
            fail(id, call, error)
            throw error
        }
    }

    private func carry(_ id: MessageID, _ call: MessageServiceCall) async throws -> Message {
        guard let entry = ledger[id] else { throw InteractionError(.notFound) }
        let isNew = entry.original != nil
        var message = entry.original ?? entry.message
        if call == .resend { message = try await hooks.prepare(.resend, message, session) }
        if isNew { message = try await hooks.prepare(.send, message, session) }
        message.state = .sending
        let prepared = message
        // Deleted while it was prepared: nobody wants it any more.
        guard ledger[id] != nil else { throw CancellationError() }
        change(id) { entry in
            entry.message.content = prepared.content
            entry.message.reference = prepared.reference
            entry.message.state = .sending
            entry.original = nil
        }
        message = ledger.engineForm(of: message)
        let sent =
            isNew
            ? try await service.send(message: message, in: session)
            : try await service.resend(message: message)
        return finish(id, with: sent, prepared)
    }

    /// Takes the service's word for a message.
    private func finish(_ id: MessageID, with sent: Message, _ prepared: Message) -> Message {
        var sent = sent
        sent.uuid = prepared.uuid
        sent.session = session
        sent.sender = prepared.sender
        sent.isOutgoing = true
        // It returned, so the message is out, whatever the value was copied from.
        if sent.state.isPending || sent.state == .received { sent.state = .accepted }
        show(ledger.merge([sent], from: .news)) { .arrived($0) }
        return ledger[id]?.message ?? sent
    }

    private func fail(_ id: MessageID, _ call: MessageServiceCall, _ error: any Error) {
        let reason = configuration.strings.reason(for: error)
        change(id) { entry in
            entry.message.state = MessageLedger.Entry.merged(
                entry.message.state, .failed(reason: reason), isPage: false)
        }
        // Who deletes a message on its way is not told that it did not go out.
        if let message = ledger[id]?.message, !deletions.contains(id) { report(call, message, error) }
    }

    // MARK: the other calls

    /// Withdraws a message of the user for everybody; its row stays as a withdrawn one.
    ///
    /// - Throws: ``InteractionError`` with `vetoed`, `closed`, `notFound`, or `invalid` for a message that is not the
    ///   user's own or not sent; what a preparation or the service throws.
    public func revoke(message: Message) async throws {
        let message = try known(message)
        guard message.isOutgoing, !message.state.isPending, !message.state.isFailed else {
            throw InteractionError(.invalid)
        }
        try check(.revoke, message, session)
        try await reporting(.revoke, message) {
            let prepared = try await hooks.prepare(.revoke, message, session)
            try await service.revoke(message: ledger.engineForm(of: prepared))
        }
        change(message.id) { entry in
            entry.message.content = .revoked
            entry.message.reactions = []
            entry.message.isEdited = false
            entry.hasOverlay = true
        }
        deselect([message.id])
    }

    /// Writes a local message into the session without sending it, and returns its row.
    ///
    /// - Throws: ``InteractionError`` with `vetoed` or `closed`; what a preparation or the service throws.
    @discardableResult
    public func save(message: Message) async throws -> Message {
        try requireLife()
        var message = message
        message.session = session
        message.uuid = message.uuid ?? makeUUID()
        try check(.save, message, session)
        let prepared = try await reporting(.save, message) {
            let prepared = try await hooks.prepare(.save, message, session)
            try await service.save(message: prepared, in: session)
            return prepared
        }
        // The engine's event may have brought it already.
        if let uuid = prepared.uuid, let id = ledger.row(uuid: uuid), let row = ledger[id]?.message {
            return row
        }
        let row = ledger.makeLocal(prepared, at: ledger.newest?.position ?? MessagePosition(0))
        controller.submit(.arrived([row]))
        return row
    }

    /// Removes a message; one that only this device knows is removed without asking the service.
    ///
    /// A message that is on its way is given up.
    ///
    /// - Throws: ``InteractionError`` with `vetoed`, `closed` or `notFound`; what a preparation or the service throws.
    public func delete(message: Message) async throws {
        let message = try known(message)
        try check(.delete, message, session)
        let isEngines = ledger[message.id]?.engineID != nil
        deletions.insert(message.id)
        defer { deletions.remove(message.id) }
        try await reporting(.delete, message) {
            let prepared = try await hooks.prepare(.delete, message, session)
            if isEngines { try await service.delete(message: ledger.engineForm(of: prepared)) }
        }
        deliveries[message.id]?.cancel()
        removeRows([message.id])
    }

    /// Sends the content of a message to another session, and returns the new message there.
    ///
    /// What burns after reading stays where its author put it: it is refused before any hook is asked.
    ///
    /// - Throws: ``InteractionError`` with `burning`, `vetoed` or `closed`; what a preparation or the service throws.
    @discardableResult
    public func forward(message: Message, to target: Session) async throws -> Message {
        try requireLife()
        let message = ledger[message.id]?.message ?? message
        if message.burnSeconds != nil {
            report(.forward, message, InteractionError.burning)
            throw InteractionError.burning
        }
        try check(.forward, message, target)
        let new = try await reporting(.forward, message) {
            let prepared = try await hooks.prepare(.forward, message, target)
            return try await service.forward(message: ledger.engineForm(of: prepared), to: target)
        }
        if target == session { show(ledger.merge([new], from: .news)) { .sent($0) } }
        return new
    }

    // MARK: helpers

    /// A message of the user in this session, with a uuid of its own.
    public func makeMessage(_ content: MessageContent, reference: String? = nil) -> Message {
        Message(
            id: MessageID(0), session: session, sender: engine.user, isOutgoing: true, uuid: makeUUID(),
            position: MessagePosition(MessageLedger.localBase), timeMilliseconds: now(), content: content,
            reference: reference, state: .preparing)
    }

    private func own(_ message: Message) -> Message {
        var message = message
        message.session = session
        message.sender = engine.user
        message.isOutgoing = true
        message.serverKey = nil
        message.reactions = []
        message.isEdited = false
        message.uuid = message.uuid ?? makeUUID()
        return message
    }

    func requireLife() throws {
        if life == .closed { throw InteractionError(.closed) }
    }

    private func known(_ message: Message) throws -> Message {
        try requireLife()
        guard let known = ledger[message.id]?.message else { throw InteractionError(.notFound) }
        return known
    }

    /// Asks the prechecks; a veto is told to the delegate and thrown.
    func check(_ call: MessageServiceCall, _ message: Message, _ target: Session) throws {
        guard let veto = hooks.veto(of: call, message, target) else { return }
        delegate?.dataManager(
            self, didVeto: call, of: message, reason: veto.reason.isEmpty ? nil : veto.reason)
        throw veto
    }

    private func reporting<Value>(
        _ call: MessageServiceCall, _ message: Message, _ body: () async throws -> Value
    ) async throws -> Value {
        do {
            return try await body()
        } catch {
            report(call, message, error)
            throw error
        }
    }

    func report(_ call: MessageServiceCall, _ message: Message, _ error: any Error) {
        delegate?.dataManager(self, didFail: call, of: message, with: error)
    }
}
