public import RivuletModel

extension DataManager {
    /// The request in the engine's words.
    func question(for request: FlowLoadRequest) -> PageQuestion {
        var question = PageQuestion(target: target(of: request))
        question.wantsReadPosition = configuration.showsUnreadMark && !knowsUnread
        return question
    }

    private func target(of request: FlowLoadRequest) -> FlowLoadRequest.Target {
        // One page is under way at a time; whoever asked before is not listened to any more.
        pageTicks = [request.ticket: ledger.nextTick()]
        switch request.target {
        case .latest: return .latest
        case .older(let message): return ledger.anchor(for: message).map { .older(than: $0) } ?? .latest
        case .newer(let message): return ledger.anchor(for: message).map { .newer(than: $0) } ?? .latest
        case .around(let id): return .around(ledger[id]?.engineID ?? id)
        }
    }

    /// The answer in rows; nil when it belongs to an earlier opening.
    func take(
        _ page: MessagePage, read: MessagePosition? = nil, for request: FlowLoadRequest, generation: Int
    ) -> MessagePage? {
        let askedAt = pageTicks.removeValue(forKey: request.ticket) ?? 0
        guard generation == self.generation, life == .open else {
            ledger.noteStale()
            return nil
        }
        if !knowsUnread { markUnread(after: read, in: page) }
        var isPaging = false
        switch request.target {
        case .older, .newer: isPaging = true
        case .latest, .around: break
        }
        let outcome = ledger.merge(page.messages, from: .page(askedAt: askedAt), countsDuplicates: isPaging)
        if !outcome.absorbed.isEmpty { controller.submit(.deleted(outcome.absorbed)) }
        if !outcome.changed.isEmpty { controller.submit(.updated(outcome.changed)) }
        var answer = MessagePage(messages: outcome.messages, hasOlder: page.hasOlder, hasNewer: page.hasNewer)
        answer.messages += localMessages(within: answer, for: request)
        if case .around(let id) = request.target, !outcome.messages.contains(where: { $0.id == id }),
            let row = ledger.row(engineID: id), outcome.messages.contains(where: { $0.id == row })
        {
            // The reader asked by the engine's id; the row has another.
            controller.submit(.jumpRequested(row, .center, highlights: true))
        }
        askForVotes(on: outcome.messages)
        trimLedger()
        return answer
    }

    /// Fixes what was unread on opening, so that the line neither follows the reader nor vanishes behind.
    private func markUnread(after read: MessagePosition?, in page: MessagePage) {
        knowsUnread = true
        readBefore = read
        let newest = page.messages.lazy.filter { $0.session == self.session }.map(\.position)
            .filter { $0.rawValue < MessageLedger.localBase }.max()
        guard let read, let newest, newest > read else { return }
        unread = UnreadStretch(after: read, through: newest)
        controller.submit(.configurationChanged(flowConfiguration))
    }

    /// The messages that only this device knows and that stand where the page is.
    private func localMessages(within page: MessagePage, for request: FlowLoadRequest) -> [Message] {
        let local = ledger.localMessages
        guard !local.isEmpty else { return [] }
        let places = page.messages.map(\.position)
        var lower = page.hasOlder ? places.min() : nil
        var upper = page.hasNewer ? places.max() : nil
        let isOpenBelow: Bool
        let isOpenAbove: Bool
        switch request.target {
        case .older(let anchor):
            upper = anchor.position
            isOpenAbove = false
            isOpenBelow = !page.hasOlder
        case .newer(let anchor):
            lower = anchor.position
            isOpenAbove = !page.hasNewer
            isOpenBelow = false
        case .latest, .around:
            isOpenAbove = !page.hasNewer
            isOpenBelow = !page.hasOlder
        }
        let known = Set(page.messages.map(\.id))
        return local.filter { message in
            guard !known.contains(message.id) else { return false }
            let isAbove = isOpenBelow || lower.map { message.position >= $0 } ?? false
            let isBelow = isOpenAbove || upper.map { message.position <= $0 } ?? false
            return isAbove && isBelow
        }
    }

    // MARK: jumping

    /// Goes to a message, which may have to be fetched.
    ///
    /// Of several jumps the one that was asked for last counts, however long the provider takes for the others.
    public func jump(
        to id: MessageID, alignment: FlowAlignment = .center, highlights: Bool = true
    ) {
        jumpCount += 1
        controller.submit(
            .jumpRequested(
                ledger[id] == nil ? ledger.row(engineID: id) ?? id : id, alignment, highlights: highlights))
    }

    /// Goes to the first message that was sent at this time or later; false when there is none, or when the session was
    /// left or another jump was asked for meanwhile.
    ///
    /// - Throws: What the provider throws.
    @discardableResult
    public func jump(toTime milliseconds: Int64) async throws -> Bool {
        let ticket = beginJump()
        let found = try await source.provider.message(in: session, sentFrom: milliseconds)
        guard let found, found.session == session, isWanted(ticket) else { return false }
        jump(to: found, alignment: .top)
        return true
    }

    /// Goes to the first message that the user has not read; false when nothing is known to be unread, or when the
    /// session was left or another jump was asked for meanwhile.
    ///
    /// What was unread when the session was opened counts, also when it has been read since.
    ///
    /// - Throws: What the provider throws.
    @discardableResult
    public func jumpToFirstUnread() async throws -> Bool {
        let ticket = beginJump()
        var read = unread?.lastRead
        if read == nil { read = try await source.provider.readPosition(in: session) }
        guard let read, let anchor = try await firstMessage(after: read), isWanted(ticket) else {
            return false
        }
        if unread == nil {
            let newest = max(ledger.newest?.position ?? anchor.position, anchor.position)
            unread = UnreadStretch(after: read, through: newest)
            knowsUnread = true
            controller.submit(.configurationChanged(flowConfiguration))
        }
        jump(to: anchor, alignment: .top)
        return true
    }

    private func beginJump() -> JumpTicket {
        jumpCount += 1
        return JumpTicket(generation: generation, number: jumpCount)
    }

    /// Whether the reader still waits for this jump, and no later one.
    private func isWanted(_ ticket: JumpTicket) -> Bool {
        life == .open && ticket == JumpTicket(generation: generation, number: jumpCount)
    }

    /// The first message of somebody else after a position: among those known, or by asking the provider.
    private func firstMessage(after position: MessagePosition) async throws -> Message? {
        let limit = max(1, configuration.pageSize)
        var newest = try await source.provider.messages(
            in: session, anchorMessage: nil, direction: .older, limit: limit)
        var best: Message?
        for _ in 0..<PageLimits.unreadPageCountMax {
            let own = newest.messages.filter { $0.session == session }
            let later = own.filter { $0.position > position && !$0.isOutgoing }
            if let first = later.min(by: { $0.position < $1.position }) { best = first }
            guard newest.hasOlder, let oldest = own.min(by: { $0.position < $1.position }),
                oldest.position > position
            else { break }
            newest = try await source.provider.messages(
                in: session, anchorMessage: oldest, direction: .older, limit: limit)
        }
        return best
    }

    private func jump(to message: Message, alignment: FlowAlignment) {
        let id = message.uuid.flatMap { ledger.row(uuid: $0) } ?? ledger.row(engineID: message.id)
        controller.submit(.jumpRequested(id ?? message.id, alignment, highlights: true))
    }
}

/// A jump that waits for the provider.
private struct JumpTicket: Equatable {
    var generation: Int
    var number: Int
}

/// The bounds of searches for a page.
enum PageLimits {
    /// How many pages are read back to find the first unread message.
    static let unreadPageCountMax = 40
}
