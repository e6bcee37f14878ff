public import RivuletModel
import Synchronization

extension MemoryEngine: SessionMessageProvider {
    /// A page of what is kept.
    public func messages(
        in session: Session, anchorMessage: Message?, direction: PageDirection, limit: Int
    ) async throws -> MessagePage {
        try await perform(.page, in: session) {
            let all = messages(in: session)
            let limit = max(1, limit)
            guard let anchor = anchorMessage else {
                return MessagePage(messages: all.suffix(limit), hasOlder: all.count > limit, hasNewer: false)
            }
            switch direction {
            case .older:
                let older = all.filter { $0.position < anchor.position }
                return MessagePage(
                    messages: older.suffix(limit), hasOlder: older.count > limit,
                    hasNewer: older.count < all.count)
            case .newer:
                let newer = all.filter { $0.position > anchor.position }
                return MessagePage(
                    messages: Array(newer.prefix(limit)), hasOlder: newer.count < all.count,
                    hasNewer: newer.count > limit)
            }
        }
    }

    /// The messages around one of them.
    public func messages(in session: Session, around id: MessageID, limit: Int) async throws -> MessagePage {
        try await perform(.page, in: session) {
            let all = messages(in: session)
            guard let index = all.firstIndex(where: { $0.id == id }) else {
                return MessagePage(messages: [], hasOlder: false, hasNewer: false)
            }
            let limit = max(1, limit)
            let start = max(0, min(index - limit / 2, all.count - limit))
            let end = min(all.count, start + limit)
            return MessagePage(
                messages: Array(all[start..<end]), hasOlder: start > 0, hasNewer: end < all.count)
        }
    }

    /// The first message of a time.
    public func message(in session: Session, sentFrom milliseconds: Int64) async throws -> Message? {
        try await perform(.page, in: session) {
            messages(in: session).first { $0.timeMilliseconds >= milliseconds }
        }
    }

    /// What was noted as read.
    public func readPosition(in session: Session) async throws -> MessagePosition? {
        state.withLock { $0.threads[session]?.readPosition }
    }
}

extension MemoryEngine: MessageServiceInterface {
    /// Keeps the message as sent.
    public func send(message: Message, in session: Session) async throws -> Message {
        try await perform(.call(.send), in: session) { accept(message, in: session) }
    }

    /// Keeps the message as sent.
    public func resend(message: Message) async throws -> Message {
        try await perform(.call(.resend), in: message.session) { accept(message, in: message.session) }
    }

    /// Keeps a new message with the same content in the other session.
    public func forward(message: Message, to session: Session) async throws -> Message {
        try await perform(.call(.forward), in: session) {
            guard message.burnSeconds == nil else { throw InteractionError.burning }
            let new = keep(blank(message.content, from: user, in: session))
            hub.publish(.sent([new]), in: session)
            return new
        }
    }

    /// Withdraws the message.
    public func revoke(message: Message) async throws {
        try await perform(.call(.revoke), in: message.session) {
            guard let kept = change(message, { $0.content = .revoked }) else {
                throw InteractionError(.notFound)
            }
            hub.publish(.updated([kept]), in: message.session)
        }
    }

    /// Keeps the message as it is.
    public func save(message: Message, in session: Session) async throws {
        try await perform(.call(.save), in: session) {
            var message = message
            message.session = session
            let kept = keep(message)
            hub.publish(.arrived([kept]), in: session)
        }
    }

    /// Removes the message.
    public func delete(message: Message) async throws {
        try await perform(.call(.delete), in: message.session) {
            state.withLock { state in
                state.threads[message.session]?.messages.removeAll { $0.id == message.id }
            }
            hub.publish(.deleted([message.id]), in: message.session)
        }
    }

    private func accept(_ message: Message, in session: Session) -> Message {
        var message = message
        message.session = session
        message.state = .accepted
        let kept = keep(message)
        hub.publish(.sent([kept]), in: session)
        return kept
    }

    private func change(_ message: Message, _ change: (inout Message) -> Void) -> Message? {
        state.withLock { state in
            guard
                let index = state.threads[message.session]?.messages.firstIndex(where: {
                    $0.id == message.id || ($0.uuid != nil && $0.uuid == message.uuid)
                }), var kept = state.threads[message.session]?.messages[index]
            else { return nil }
            change(&kept)
            kept.revision += 1
            state.threads[message.session]?.messages[index] = kept
            return kept
        }
    }
}

extension MemoryEngine: MessageControlService {
    /// Notes what was read; any other change is told to those who show the session.
    public func apply(_ control: ControlContent, in session: Session) async throws {
        try await perform(.control, in: session) {
            if case .readMark(_, let target) = control {
                state.withLock { state in
                    guard let read = state.threads[session]?.messages.first(where: { $0.uuid == target })
                    else { return }
                    let before = state.threads[session]?.readPosition
                    state.threads[session]?.readPosition = max(before ?? read.position, read.position)
                }
            } else {
                receive(control, from: user, in: session)
            }
        }
    }
}

extension MemoryEngine: DraftStorage {
    /// The draft that was kept.
    public func draft(in session: Session) async throws -> Draft? {
        state.withLock { $0.threads[session]?.draft }
    }

    /// Keeps a draft.
    public func setDraft(_ draft: Draft?, in session: Session) async throws {
        state.withLock { $0.threads[session, default: Thread()].draft = draft }
    }
}
