internal import RivuletClientCore
internal import RivuletWire

/// Leads each change of a batch to the method of the handler that it is for.
struct HandlerCalls {
    let handlers: HandlerBox.Handlers
    let context: ServiceContext
    /// The message of a send.
    let entry: (SendID) -> OutboxEntry?

    /// What became of a message that this user sent.
    private struct Outcome {
        var command: Command
        var body: PacketBody
        var msgLocalID: Int32 = 0
        /// The server's answer; nil when it gave none.
        var status: ACKStatus?
    }

    /// Tells the handlers of every change in order; group messages that follow each other go together.
    ///
    /// - Returns: Whether everything is stored; after the first refusal nobody is told any more.
    func areStored(_ changes: [StorageChange]) -> Bool {
        var group: [IMMessage] = []
        func areGroupMessagesStored() -> Bool {
            guard !group.isEmpty else { return true }
            defer { group = [] }
            return handlers.group?.handleMessages(group) ?? true
        }
        for change in changes {
            guard case .received(let received) = change else {
                guard areGroupMessagesStored(), isStored(change) else { return false }
                continue
            }
            let message = context.addressed(received)
            if message.command == .groupIM, case .im(let body) = message.body {
                group.append(body)
            } else {
                guard areGroupMessagesStored(), isStored(message) else { return false }
            }
            // A copy of what another device sent also says that the server has it (docs/protocol.md, section 10).
            guard message.isOwn, context.profile == .seed else { continue }
            let outcome = Outcome(command: message.command, body: message.body, status: .success)
            guard areGroupMessagesStored(), isStored(outcome) else { return false }
        }
        return areGroupMessagesStored()
    }

    private func isStored(_ change: StorageChange) -> Bool {
        switch change {
        case .acknowledged(let id, _): isStored(id, status: .success)
        case .refused(let id, let status): isStored(id, status: status)
        case .failed(let id, _): isStored(id, status: nil)
        case .peerKey(let key): handlers.syncKey?.saveSyncKey(key) ?? true
        case .groupKey(let group, let key): handlers.syncKey?.saveGroupSyncKey(key, gid: group) ?? true
        case .received, .queued, .uploaded, .cancelled, .groupRemoved: true
        }
    }

    private func isStored(_ message: ReceivedMessage) -> Bool {
        switch (message.command, message.body) {
        case (.im, .im(let body)):
            return handlers.peer?.handleMessage(body, uid: message.isOwn ? body.receiver : body.sender)
                ?? true
        case (.groupNotification, .text(let text)):
            return handlers.group?.handleGroupNotification(text) ?? true
        case (.system, .text(let text)):
            return handlers.system?.handleSystemMessage(text) ?? true
        default:
            guard let handler = handlers.customer,
                let customer = context.customerMessage(message.command, message.body, isOwn: message.isOwn)
            else { return true }
            return customer.isSupport
                ? handler.handleCustomerSupportMessage(customer.message)
                : handler.handleMessage(customer.message)
        }
    }

    private func isStored(_ id: SendID, status: ACKStatus?) -> Bool {
        guard let entry = entry(id) else { return true }
        return isStored(
            Outcome(command: entry.command, body: entry.body, msgLocalID: entry.msgLocalID, status: status))
    }

    private func isStored(_ outcome: Outcome) -> Bool {
        switch (outcome.command, outcome.body) {
        case (.im, .im(let body)):
            guard let handler = handlers.peer else { return true }
            guard let status = outcome.status else {
                return handler.handleMessageFailure(body, uid: body.receiver)
            }
            return handler.handleMessageACK(body, error: status, uid: body.receiver)
        case (.groupIM, .im(let body)):
            guard let handler = handlers.group else { return true }
            guard let status = outcome.status else {
                return handler.handleMessageFailure(body, gid: body.receiver)
            }
            return handler.handleMessageACK(body, error: status, gid: body.receiver)
        default:
            guard let handler = handlers.customer,
                let customer = context.customerMessage(
                    outcome.command, outcome.body, isOwn: true, msgLocalID: outcome.msgLocalID)
            else { return true }
            return outcome.status == .success
                ? handler.handleMessageACK(customer.message) : handler.handleMessageFailure(customer.message)
        }
    }
}
