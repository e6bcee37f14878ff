public import RivuletModel

/// Edits, reactions, votes, and what the user has seen.
extension DataManager {
    /// Replaces the text of a message of the user.
    ///
    /// - Throws: ``InteractionError`` with `unsupported`, `notFound` or `invalid`; what the engine throws.
    public func edit(
        message: Message, text: String, mentions: [TextContent.Mention] = []
    ) async throws {
        guard case .text? = ledger[message.id]?.message.content, message.isOutgoing else {
            throw InteractionError(.invalid)
        }
        try await control(message) { uuid in
            .edit(EditContent(target: uuid, change: .replace(text), mentions: mentions))
        }
    }

    /// Puts an emoji of the user under a message or takes it away.
    ///
    /// - Throws: As ``edit(message:text:mentions:)``.
    public func react(to message: Message, with emoji: String, isOn: Bool = true) async throws {
        try await control(message) { .reaction(target: $0, emoji: emoji, isOn: isOn) }
    }

    /// Answers a poll; no options take the answer back.
    ///
    /// - Throws: As ``edit(message:text:mentions:)``.
    public func vote(on message: Message, options: [Int]) async throws {
        guard case .poll? = ledger[message.id]?.message.content else { throw InteractionError(.invalid) }
        try await control(message) { .vote(target: $0, options: options) }
    }

    /// Has the engine tell a change, and then shows it.
    private func control(_ message: Message, _ make: (String) -> ControlContent) async throws {
        try requireLife()
        guard let controls = engine.controls else { throw InteractionError(.unsupported) }
        guard let known = ledger[message.id]?.message else { throw InteractionError(.notFound) }
        guard let uuid = known.uuid, !known.state.isPending, !known.state.isFailed else {
            throw InteractionError(.invalid)
        }
        let control = make(uuid)
        let revision = ledger[message.id]?.sourceRevision
        try await controls.apply(control, in: session)
        // An engine that counts revisions and has told a newer one has told this change, too, and what came after it.
        guard ledger[message.id]?.sourceRevision == revision else { return }
        apply(
            NamedControl(
                uuid: uuid, change: .control(control), author: engine.user, milliseconds: now()))
    }

    // MARK: read marks and receipts

    /// Notes that the user has seen these rows; call it with what is in view, as often as it changes.
    ///
    /// The engine is told as the configuration says: a mark that only moves forward, and a receipt for each message,
    /// once, save for those that had been read before the session was opened. While it is being told, what comes meanwhile is collected. Nothing is told by engines without controls.
    public func noteSeen(_ ids: [MessageID]) async {
        guard configuration.receipts != .none, let controls = engine.controls, life == .open else { return }
        for id in ids {
            guard let message = ledger[id]?.message, !message.isOutgoing, let uuid = message.uuid else {
                continue
            }
            if seenPosition.map({ message.position > $0 }) ?? true {
                seenPosition = message.position
                unsentMark = message
            }
            let isNews = readBefore.map { message.position > $0 } ?? true
            if configuration.receipts == .eachMessage, isNews, seenMessages.insert(id).inserted {
                unsentReceipts.append(uuid)
            }
        }
        guard !isSendingReceipts else { return }
        isSendingReceipts = true
        defer { isSendingReceipts = false }
        while unsentMark != nil || !unsentReceipts.isEmpty {
            guard await sendReceipts(with: controls) else { return }
        }
    }

    /// Sends what is collected; false when that failed, and the rest waits for the next rows in view.
    private func sendReceipts(with controls: any MessageControlService) async -> Bool {
        let (mark, receipts) = (unsentMark, unsentReceipts)
        unsentMark = nil
        unsentReceipts = []
        var sentCount = 0
        do {
            if let mark, let uuid = mark.uuid {
                try await controls.apply(.readMark(session: session, target: uuid), in: session)
            }
            for uuid in receipts {
                try await controls.apply(.readed(target: uuid), in: session)
                sentCount += 1
            }
            return true
        } catch {
            if unsentMark == nil { unsentMark = mark }
            unsentReceipts.insert(contentsOf: receipts[sentCount...], at: 0)
            return false
        }
    }
}
