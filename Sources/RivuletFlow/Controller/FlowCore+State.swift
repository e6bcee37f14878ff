import RivuletModel

extension FlowCore {
    // MARK: what the reader has not seen

    /// Counts what arrived while the reader was elsewhere, once it is in the rows.
    mutating func countArrived() {
        if !viewport.isFollowing {
            for message in pending.arrived {
                unseen.insert(message, countMax: configuration.newMessageCountMax)
            }
        }
        pending.arrived = []
        forgetSeen()
    }

    /// Forgets the new messages that are in view or above it.
    mutating func forgetSeen() {
        guard !unseen.isEmpty else { return }
        if viewport.isFollowing, isAtBottom() {
            unseen.removeAll()
            return
        }
        let bottom = viewport.offset + viewport.height + 0.5
        let visible = snapshot.visibleRows(from: viewport.offset, height: viewport.height)
        guard let last = visible.last(where: { snapshot.offset(ofRow: $0 + 1) <= bottom }),
            let position = positionShown(of: snapshot.rows[last].message)
        else { return }
        unseen.removeAll(through: position)
    }

    /// Where a message that is shown stands; the window may be ahead of what is shown.
    private func positionShown(of id: MessageID) -> MessagePosition? {
        if let index = window.index(of: id) { return window.messages[index].position }
        return snapshot.messages.first { $0.id == id }?.position
    }

    // MARK: the window's bounds

    /// Forgets the messages farthest from the reader when there are too many.
    mutating func trimWindow() {
        let bound = max(configuration.windowCountMax, 2 * configuration.pageSize)
        var excess = window.messages.count - bound
        guard excess > 0, loads.opening == .shown, !snapshot.rows.isEmpty else { return }
        let kept = keptMessages()
        let (older, newer) = (kept.lowerBound, window.messages.count - kept.upperBound)
        let fromOlder = min(excess, older >= newer ? older : max(0, min(older, excess - newer)))
        if fromOlder > 0 {
            forget(window.removeFirst(fromOlder))
            dropLoad(.older)
            loads.older = .more
            excess -= fromOlder
        }
        let fromNewer = min(excess, newer)
        if fromNewer > 0 {
            forget(window.removeLast(fromNewer))
            dropLoad(.newer)
            loads.newer = .more
        }
    }

    /// The messages that must stay: those in view and so far around it that no page will be asked for at once.
    private func keptMessages() -> Range<Int> {
        let distance = max(configuration.trimDistance, configuration.loadDistance + 1) * viewport.height
        let rows = snapshot.visibleRows(
            from: viewport.offset - distance, height: viewport.height + 2 * distance)
        var indices: [Int] = []
        for row in rows where snapshot.rows[row].isMessage {
            if let index = window.index(of: snapshot.rows[row].message) { indices.append(index) }
        }
        let count = window.messages.count
        var kept = (indices.min() ?? count)..<((indices.max() ?? count - 1) + 1)
        switch viewport.isDragging ? nil : pending.intent {
        case .bottom?: kept = max(0, count - max(kept.count, 1))..<count
        case .message(let id, _, _)?:
            if let index = window.index(of: id) {
                kept = max(0, index - kept.count)..<min(count, index + kept.count + 1)
            }
        case .anchor?, nil:
            if viewport.isFollowing, !loads.newer.canLoad { kept = min(kept.lowerBound, count)..<count }
        }
        return extendedByUnshown(kept)
    }

    /// With the messages beside these that are not shown yet: a page that just came must not go before it was seen,
    /// or it would be asked for without end.
    private func extendedByUnshown(_ kept: Range<Int>) -> Range<Int> {
        var (lower, upper) = (kept.lowerBound, kept.upperBound)
        let messages = window.messages
        while lower > 0, pending.inserted.contains(messages[lower - 1].id) { lower -= 1 }
        while upper < messages.count, pending.inserted.contains(messages[upper].id) { upper += 1 }
        return lower..<upper
    }

    private mutating func forget(_ messages: [Message]) {
        for message in messages { book.forget(message.id) }
    }

    /// Counts what arrived but left the window before it was shown.
    mutating func countForgotten() {
        for message in pending.arrived where !window.contains(message.id) {
            unseen.insert(message, countMax: configuration.newMessageCountMax)
        }
        pending.arrived.removeAll { !window.contains($0.id) }
    }

    /// Gives up a page that continues messages which are not in the window any more.
    private mutating func dropLoad(_ direction: PageDirection) {
        guard case .page(direction)? = loads.inFlight?.purpose, let ticket = loads.abandon() else { return }
        actions.append(.cancelLoad(ticket))
    }

    // MARK: what is shown around the rows

    mutating func updateState() {
        var next = state
        next.opening = loads.opening
        next.older = loads.older
        next.newer = loads.newer
        next.isFollowing = viewport.isFollowing
        next.newMessageCount = unseen.count
        next.awaitsViewMeasuring = !book.awaitingViews.isEmpty
        next.stickyDay = stickyDay()
        guard next != state else { return }
        state = next
        actions.append(.show(next))
    }

    private mutating func stickyDay() -> String {
        let visible = snapshot.visibleRows(from: viewport.offset, height: viewport.height)
        guard loads.opening == .shown, let first = visible.first else { return "" }
        let row = snapshot.rows[first]
        let context = DecorationContext(zone: zone, nowMilliseconds: now)
        let day = zone.day(ofMilliseconds: row.timeMilliseconds)
        if let cache = stickyCache, cache.day == day, cache.today == context.today { return cache.text }
        let text = configuration.timeLabelStyle.dayText(above: row, in: context)
        stickyCache = (day, context.today, text)
        return text
    }
}
