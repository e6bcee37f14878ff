public import RivuletModel

/// Multi-select, and sending several messages on.
extension DataManager {
    /// Begins to select, with this message if it may be selected; false when the session does not allow it.
    @discardableResult
    public func beginSelection(with id: MessageID? = nil) -> Bool {
        guard configuration.selection.isAllowed else { return false }
        selection.isActive = true
        if let id { return toggleSelection(of: id) }
        tellSelection()
        return true
    }

    /// Selects a message or takes it out; false when it may not be selected, or too many are.
    @discardableResult
    public func toggleSelection(of id: MessageID) -> Bool {
        guard selection.isActive, let message = ledger[id]?.message else { return false }
        if selection.ids.remove(id) == nil {
            guard selection.count < configuration.selection.countMax,
                configuration.selection.allows(message)
            else {
                tellSelection()
                return false
            }
            selection.ids.insert(id)
        }
        tellSelection()
        return true
    }

    /// Ends selecting and forgets what was selected.
    public func endSelection() {
        guard selection.isActive || selection.count > 0 else { return }
        selection = MessageSelection()
        tellSelection()
    }

    /// The selected messages, the oldest first.
    public var selectedMessages: [Message] {
        selection.ids.compactMap { ledger[$0]?.message }
            .sorted { ($0.position, $0.id) < ($1.position, $1.id) }
    }

    func deselect(_ ids: [MessageID]) {
        let before = selection.count
        selection.ids.subtract(ids)
        if selection.count != before { tellSelection() }
    }

    private func tellSelection() {
        delegate?.dataManager(self, didChange: selection)
    }

    /// Sends several messages on to several sessions, the oldest first.
    ///
    /// The hooks of forwarding are asked for each message. One that is vetoed, burns after reading, or fails does not
    /// hold up the others.
    ///
    /// - Parameters:
    ///   - messages: The messages.
    ///   - targets: Where they go.
    ///   - style: Each as it is, or all as one record.
    /// - Returns: What became of each, in the order of the targets.
    public func forward(
        messages: [Message], to targets: [Session], as style: ForwardStyle = .separately
    ) async -> [ForwardResult] {
        let messages = messages.map { ledger[$0.id]?.message ?? $0 }
            .sorted { ($0.position, $0.id) < ($1.position, $1.id) }
        var results: [ForwardResult] = []
        for target in targets {
            switch style {
            case .separately:
                for message in messages {
                    results.append(
                        ForwardResult(
                            session: target, sources: [message.id],
                            result: await outcome { try await forward(message: message, to: target) }))
                }
            case .merged(let title):
                results.append(
                    ForwardResult(
                        session: target, sources: messages.map(\.id),
                        result: await outcome { try await forwardMerged(messages, title, to: target) }))
            }
        }
        return results
    }

    /// Sends a record of messages: those that the prechecks let pass.
    private func forwardMerged(
        _ messages: [Message], _ title: String, to target: Session
    ) async throws -> Message {
        try requireLife()
        var allowed: [Message] = []
        for message in messages {
            if message.burnSeconds != nil {
                report(.forward, message, InteractionError.burning)
                continue
            }
            do {
                try check(.forward, message, target)
            } catch is InteractionError {
                // The delegate heard of the veto; the others still go.
                continue
            }
            allowed.append(try await hooks.prepare(.forward, message, target))
        }
        guard !allowed.isEmpty else {
            let allBurn = !messages.isEmpty && messages.allSatisfy { $0.burnSeconds != nil }
            throw allBurn ? InteractionError.burning : InteractionError(.vetoed)
        }
        let record = try RecordMaker(
            codec: codec, name: configuration.userName, strings: configuration.strings
        )
        .record(of: allowed, title: title, originals: await originals(of: allowed))
        if target == session { return try await send(.merged(record)) }
        var message = makeMessage(.merged(record))
        message.session = target
        message.state = .sending
        do {
            return try await service.send(message: message, in: target)
        } catch {
            report(.forward, message, error)
            throw error
        }
    }

    /// The texts of messages as they came; a record can be made without them.
    private func originals(of messages: [Message]) async -> [MessageID: String] {
        let provider = source.provider
        var originals: [MessageID: String] = [:]
        for message in messages {
            do {
                originals[message.id] = try await provider.rawContent(of: message)
            } catch {
                continue
            }
        }
        return originals
    }

    private func outcome(_ call: () async throws -> Message) async -> Result<Message, any Error> {
        do {
            return .success(try await call())
        } catch {
            return .failure(error)
        }
    }
}
