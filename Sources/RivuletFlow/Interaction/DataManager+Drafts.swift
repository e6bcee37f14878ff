public import RivuletModel

/// What the user is writing: drafts, replies and mentions.
extension DataManager {
    /// Replaces the draft; it is kept by the engine, if that keeps drafts.
    public func setDraft(_ draft: Draft) {
        guard draft != self.draft else { return }
        self.draft = draft
        delegate?.dataManager(self, didChange: draft)
        keepDraft()
    }

    /// Replaces the text of the draft.
    public func setDraftText(_ text: String) {
        var draft = draft
        draft.text = text
        setDraft(draft)
    }

    /// Makes the draft an answer to a message; false for one that cannot be answered.
    @discardableResult
    public func beginReply(to message: Message) -> Bool {
        guard let message = ledger[message.id]?.message, let uuid = message.uuid,
            message.content != .revoked, !message.state.isFailed
        else { return false }
        var draft = draft
        draft.reference = uuid
        setDraft(draft)
        return true
    }

    /// Keeps the text and answers nothing.
    public func cancelReply() {
        var draft = draft
        draft.reference = nil
        setDraft(draft)
    }

    /// Addresses a user in the draft, by the name that the configuration gives.
    public func mention(_ user: UserID) {
        var draft = draft
        draft.mention(user, name: configuration.userName(user))
        setDraft(draft)
    }

    /// Sends the draft as a text; it is emptied as soon as the prechecks let it pass.
    ///
    /// - Throws: As ``send(message:)``; ``InteractionError`` with `invalid` for a draft without text.
    @discardableResult
    public func sendDraft() async throws -> Message {
        try requireLife()
        let content = draft.content
        guard !content.text.isEmpty else { throw InteractionError(.invalid) }
        let message = makeMessage(.text(content), reference: draft.reference)
        // The user who is told no gets the text back to change it.
        if hooks.veto(of: .send, message, session) == nil { setDraft(Draft()) }
        return try await send(message: message)
    }

    func loadDraft() async {
        guard let drafts = engine.drafts, draft == Draft(), draftTask == nil else { return }
        do {
            let kept = try await drafts.draft(in: session)
            if let kept, draft == Draft(), draftTask == nil {
                draft = kept
                delegate?.dataManager(self, didChange: kept)
            }
        } catch {
            // A draft that cannot be read is not worth stopping for; the next one replaces it.
            return
        }
    }

    /// Hands the draft to the engine, one at a time, the newest last.
    private func keepDraft() {
        guard let drafts = engine.drafts else { return }
        let earlier = draftTask
        // It holds this object until the draft is kept: a draft is often the last thing before a session is left.
        draftTask = Task { [session] in
            await earlier?.value
            let draft = draft
            do {
                try await drafts.setDraft(draft.isEmpty ? nil : draft, in: session)
            } catch {
                // It is still on screen, and is kept with the next change.
                return
            }
        }
    }
}
