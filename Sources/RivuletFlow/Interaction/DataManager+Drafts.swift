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
        draft.editing = nil
        setDraft(draft)
        return true
    }

    /// Makes the draft a change of a text of the user, and begins with that text; false for one that cannot be changed.
    ///
    /// What was in the draft before is given up.
    @discardableResult
    public func beginEdit(of message: Message) -> Bool {
        guard engine.controls != nil, let message = ledger[message.id]?.message, let uuid = message.uuid,
            case .text(let text) = message.content, message.isOutgoing, !text.isStreaming,
            !message.state.isPending, !message.state.isFailed
        else { return false }
        setDraft(Draft(text: text.text, mentions: text.mentions, editing: uuid))
        return true
    }

    /// Gives a change up; the draft is empty then.
    public func cancelEdit() {
        if draft.editing != nil { setDraft(Draft()) }
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

    /// Sends the draft as a text, or changes the text that it is to replace.
    ///
    /// It is emptied as soon as the prechecks let it pass; that of a change when the change was told.
    ///
    /// - Throws: As ``send(message:)`` and ``edit(message:text:mentions:)``; ``InteractionError`` with `invalid` for a
    ///   draft without text.
    @discardableResult
    public func sendDraft() async throws -> Message {
        try requireLife()
        let draft = draft
        let content = draft.content
        guard !content.text.isEmpty else { throw InteractionError(.invalid) }
        if let uuid = draft.editing { return try await sendEdit(of: uuid, content, draft) }
        let message = makeMessage(.text(content), reference: draft.reference)
        // The user who is told no gets the text back to change it.
        if hooks.veto(of: .send, message, session) == nil { setDraft(Draft()) }
        return try await send(message: message)
    }

    private func sendEdit(of uuid: String, _ content: TextContent, _ sent: Draft) async throws -> Message {
        guard let message = message(uuid: uuid) else { throw InteractionError(.notFound) }
        try await edit(message: message, text: content.text, mentions: content.mentions)
        // What the user wrote meanwhile stays.
        if draft == sent { setDraft(Draft()) }
        return self.message(message.id) ?? message
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
