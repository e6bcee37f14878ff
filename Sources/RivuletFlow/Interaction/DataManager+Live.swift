public import RivuletModel

extension DataManager {
    /// Takes an event of the engine in; ``run()`` does this with those of the engine's own source.
    public func take(_ event: SessionEvent) {
        switch event {
        case .arrived(let messages):
            show(ledger.merge(messages, from: .news)) { .arrived($0) }
        case .sent(let messages): takeSent(messages)
        case .updated(let messages): takeUpdated(messages)
        case .deleted(let ids): removeRows(ids.map { ledger.row(engineID: $0) ?? $0 })
        case .cleared: removeRows(ledger.clear())
        case .control(let control, let user, let milliseconds): take(control, by: user, at: milliseconds)
        case .delivered(let uuids):
            for uuid in uuids {
                apply(NamedControl(uuid: uuid, change: .delivered, author: engine.user, milliseconds: 0))
            }
        case .burned(let uuid):
            apply(NamedControl(uuid: uuid, change: .burned, author: engine.user, milliseconds: 0))
        case .reset: controller.submit(.reloadRequested)
        }
        trimLedger()
    }

    private func takeSent(_ messages: [Message]) {
        let outcome = ledger.merge(messages, from: .news)
        if !outcome.absorbed.isEmpty { controller.submit(.deleted(outcome.absorbed)) }
        // A row that is there already was brought to the reader when the user sent it.
        let new = outcome.messages.filter { outcome.inserted.contains($0.id) }
        let known = outcome.messages.filter { !outcome.inserted.contains($0.id) }
        if !known.isEmpty { controller.submit(.arrived(known)) }
        if !new.isEmpty { controller.submit(.sent(new)) }
        askForVotes(on: outcome.messages)
    }

    /// Changes of rows that nobody knows are dropped: the engine gives them with the next page.
    private func takeUpdated(_ messages: [Message]) {
        let known = messages.filter { message in
            message.uuid.flatMap { ledger.row(uuid: $0) } != nil || ledger.row(engineID: message.id) != nil
        }
        // A row that moves may come to stand where the window is, so this is more than an update.
        show(ledger.merge(known, from: .news)) { .arrived($0) }
    }

    private func take(_ control: ControlContent, by user: UserID, at milliseconds: Int64) {
        if let uuid = control.target {
            apply(
                NamedControl(
                    uuid: uuid, change: .control(control), author: user, milliseconds: milliseconds))
        }
        switch control {
        case .readMark, .pin, .tag, .custom: delegate?.dataManager(self, didReceive: control, by: user)
        default: break
        }
    }

    func apply(_ control: NamedControl) {
        guard let message = ledger.apply(control) else { return }
        if case .burned = control.change { controller.submit(.snapshotsCleared(.message(message.id))) }
        controller.submit(.updated([message]))
    }

    func removeRows(_ ids: [MessageID]) {
        guard !ids.isEmpty else { return }
        ledger.remove(ids)
        controller.submit(.deleted(ids))
        deselect(ids)
    }

    // MARK: the host

    /// Puts messages of the host's own into the flow; the engine does not hear of them.
    ///
    /// They stand by their position. One whose id or uuid is known changes that row.
    public func insert(_ messages: [Message]) {
        ledger.readmit(messages)
        show(ledger.merge(messages, from: .host)) { .arrived($0) }
    }

    /// Changes rows by the word of the host; the engine does not hear of it.
    ///
    /// Unknown ones are left alone.
    public func update(_ messages: [Message]) {
        let known = messages.filter { ledger[$0.id] != nil }
        show(ledger.merge(known, from: .host)) { .updated($0) }
    }

    /// Takes rows out of the flow; the engine does not hear of it.
    public func remove(_ ids: [MessageID]) {
        removeRows(ids)
    }
}
