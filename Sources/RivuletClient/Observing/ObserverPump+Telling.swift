internal import RivuletClientCore
internal import RivuletWire

/// Which method of which observer an event is for.
extension ObserverPump {
    @MainActor
    func tell(_ event: ObservedEvent, _ context: ServiceContext) {
        switch event {
        case .state(let state): connections.forEach { $0.onConnectState(state) }
        case .status(let status): connections.forEach { $0.onConnectionStatus(status) }
        case .lost(let count): connections.forEach { $0.onEventsLost(count) }
        case .message(let message): tell(message, context)
        case .live(let event): tell(event)
        case .report(let report): tell(report, context)
        }
    }

    @MainActor
    private func tell(_ message: ReceivedMessage, _ context: ServiceContext) {
        switch (message.command, message.body) {
        case (.im, .im(let body)):
            if ContentPeek.isSecret(body.content) {
                peers.forEach { $0.onPeerSecretMessage(body) }
            } else {
                peers.forEach { $0.onPeerMessage(body) }
            }
        case (.groupNotification, .text(let text)): groups.forEach { $0.onGroupNotification(text) }
        case (.system, .text(let text)): systems.forEach { $0.onSystemMessage(text) }
        default:
            guard !customers.isEmpty,
                let (customer, isSupport) = context.customerMessage(
                    message.command, message.body, isOwn: message.isOwn)
            else { break }
            customers.forEach {
                isSupport ? $0.onCustomerSupportMessage(customer) : $0.onCustomerMessage(customer)
            }
        }
        // A copy of what another device sent also says that the server has it (docs/protocol.md, section 10).
        guard message.isOwn, context.profile == .seed else { return }
        tellAnswer(.success, message.command, message.body, context)
    }

    @MainActor
    private func tell(_ event: LiveEvent) {
        switch event {
        case .rt(let message): live.forEach { $0.onRTMessage(message) }
        case .room(let message): rooms.forEach { $0.onRoomMessage(message) }
        case .notification(let text): notifications.forEach { $0.onNotification(text) }
        case .typing(let typing): peers.forEach { $0.onPeerTyping(typing) }
        case .delivered(let delivery): peers.forEach { $0.onPeerMessagesDelivered(delivery) }
        case .loginPoint(let point): loginPoints.forEach { $0.onLoginPoint(point) }
        // A stream's own form of the same news.
        case .presence: break
        case .onlineState(let state): onlineStates.forEach { $0.onOnlineState(state) }
        case .call(let control): calls.callLast { $0.onVOIPControl(control) }
        case .custom(let packet): customs.tell(packet)
        }
    }

    @MainActor
    private func tell(_ report: SendReport, _ context: ServiceContext) {
        let (entry, body) = (report.entry, report.entry.body)
        switch report.step {
        case .queued: break
        case .acknowledged: tellAnswer(.success, entry.command, body, context, entry.msgLocalID)
        case .refused(let status): tellAnswer(status, entry.command, body, context, entry.msgLocalID)
        case .failed, .cancelled: tellAnswer(nil, entry.command, body, context, entry.msgLocalID)
        }
    }

    /// Tells what became of a message of this user; no status means that it was given up.
    @MainActor
    private func tellAnswer(
        _ status: ACKStatus?, _ command: Command, _ body: PacketBody, _ context: ServiceContext,
        _ msgLocalID: Int32 = 0
    ) {
        switch (command, body) {
        case (.im, .im(let body)):
            peers.forEach {
                if let status {
                    $0.onPeerMessageACK(body, error: status)
                } else {
                    $0.onPeerMessageFailure(body)
                }
            }
        case (.groupIM, .im(let body)):
            groups.forEach {
                if let status {
                    $0.onGroupMessageACK(body, error: status)
                } else {
                    $0.onGroupMessageFailure(body)
                }
            }
        case (.roomIM, .room(let body)):
            rooms.forEach {
                status == .success ? $0.onRoomMessageACK(body) : $0.onRoomMessageFailure(body)
            }
        default:
            guard !customers.isEmpty,
                let (message, _) = context.customerMessage(command, body, isOwn: true, msgLocalID: msgLocalID)
            else { return }
            customers.forEach {
                status == .success ? $0.onCustomerMessageACK(message) : $0.onCustomerMessageFailure(message)
            }
        }
    }
}
