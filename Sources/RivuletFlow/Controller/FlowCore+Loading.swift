import RivuletModel

extension FlowCore {
    mutating func open(_ opening: FlowOpening) {
        abandonLoad()
        let height = viewport.height
        viewport = Viewport(height: height)
        loads.generation += 1
        loads.isOpen = true
        loads.opening = .loading
        loads.older = .atEnd
        loads.newer = .atEnd
        loads.firstLoad = opening
        loads.highlightsFirst = false
        loads.heldPage = nil
        loads.forgetNews()
        pending = Pending()
        unseen.removeAll()
        deadline = nil
        window.replaceAll(with: [])
        book.forgetAll()
        if !snapshot.rows.isEmpty { markDirty(.firstLoad) }
        requestFirstPage()
    }

    mutating func close() {
        guard loads.isOpen else { return }
        abandonLoad()
        loads.isOpen = false
        loads.opening = .closed
        loads.heldPage = nil
        loads.forgetNews()
        pending = Pending()
    }

    // MARK: asking

    private mutating func requestFirstPage() {
        loads.opening = .loading
        var target = FlowLoadRequest.Target.latest
        switch loads.firstLoad {
        case .latest: break
        case .position(let position):
            if let anchor = position.anchor { target = .around(anchor.message) }
        case .message(let id, _): target = .around(id)
        }
        request(.firstLoad(loads.firstLoad), target: target)
    }

    private mutating func request(_ purpose: LoadBook.Purpose, target: FlowLoadRequest.Target) {
        var limit = max(1, configuration.pageSize)
        if case .reload = purpose { limit = max(limit, window.messages.count) }
        actions.append(.load(loads.begin(purpose, target: target, limit: limit)))
    }

    private mutating func abandonLoad() {
        if let ticket = loads.abandon() { actions.append(.cancelLoad(ticket)) }
    }

    /// Asks for a page because the reader did, also after a failure.
    mutating func load(_ direction: PageDirection) {
        guard !loads.isLoading else { return }
        if case .failed = loads.opening { return requestFirstPage() }
        requestPage(direction)
    }

    private mutating func requestPage(_ direction: PageDirection) {
        guard loads.opening == .shown, !loads.isLoading else { return }
        switch direction {
        case .older:
            guard loads.older.canLoad, let first = window.messages.first else { return }
            loads.older = .loading
            request(.page(.older), target: .older(than: first))
        case .newer:
            guard loads.newer.canLoad, let last = window.messages.last else { return }
            loads.newer = .loading
            request(.page(.newer), target: .newer(than: last))
        }
    }

    /// Asks for a page when the reader is near an edge and what is shown is up to date.
    mutating func loadIfNearEdge() {
        guard configuration.automaticHistory, loads.opening == .shown, !loads.isLoading, !pending.isDirty,
            viewport.height > 0
        else { return }
        if window.messages.isEmpty {
            // All that was loaded is gone: there is no message to continue from.
            if loads.older == .more || loads.newer == .more { request(.reload, target: .latest) }
            return
        }
        let range = offsetRange
        let distance = max(0, configuration.loadDistance) * viewport.height
        let above = viewport.offset - range.lowerBound
        let below = range.upperBound - viewport.offset
        let wantsOlder = loads.older == .more && above <= distance
        let wantsNewer = loads.newer == .more && below <= distance
        if wantsNewer, !wantsOlder || below < above {
            requestPage(.newer)
        } else if wantsOlder {
            requestPage(.older)
        }
    }

    mutating func reload() {
        guard loads.opening == .shown else {
            if case .failed = loads.opening { requestFirstPage() }
            return
        }
        // Where the reader is on the way to is still where the reader wants to be.
        let purpose = loads.inFlight?.purpose ?? loads.heldPage?.purpose
        abandonLoad()
        switch purpose {
        case .jump(let id, let alignment, let highlights):
            return request(.jump(id, alignment, highlights: highlights), target: .around(id))
        case .latest: return request(.latest, target: .latest)
        case .firstLoad, .page, .reload, nil: break
        }
        if viewport.isFollowing || window.messages.isEmpty {
            request(.reload, target: .latest)
        } else {
            let anchor = firstAnchor(in: snapshot) { window.contains($0) }
            request(.reload, target: anchor.map { .around($0.message) } ?? .latest)
        }
    }

    mutating func jump(to id: MessageID, alignment: FlowAlignment, highlights: Bool) {
        guard loads.opening == .shown else {
            // Nothing is shown yet: the session opens there.
            abandonLoad()
            loads.firstLoad = .message(id, alignment)
            loads.highlightsFirst = highlights
            return requestFirstPage()
        }
        if window.contains(id) {
            pending.intent = .message(id, alignment, highlights: highlights)
            markDirty(.jump)
        } else {
            abandonLoad()
            request(.jump(id, alignment, highlights: highlights), target: .around(id))
        }
    }

    /// Goes to the newest messages, which may have to be fetched.
    mutating func goToLatest(_ reason: FlowReason) {
        guard loads.opening == .shown else { return }
        if loads.newer.canLoad {
            if case .latest = loads.inFlight?.purpose { return }
            abandonLoad()
            request(.latest, target: .latest)
        } else {
            pending.intent = .bottom
            markDirty(reason)
        }
    }

    // MARK: answers

    mutating func takeFailure(_ failure: FlowFailure, ticket: FlowTicket) {
        guard let ended = loads.end(ticket) else { return }
        switch ended.purpose {
        case .firstLoad: loads.opening = .failed(failure)
        case .page(.older): loads.older = .failed(failure)
        case .page(.newer): loads.newer = .failed(failure)
        case .jump, .latest, .reload: break
        }
        actions.append(.reportFailure(ended.request, failure))
        loads.forgetNews()
    }

    mutating func take(_ page: MessagePage, ticket: FlowTicket) {
        guard let ended = loads.end(ticket) else { return }
        if ended.purpose.replacesWindow, viewport.isDragging, loads.opening == .shown {
            // What the reader holds must not be taken away; the page waits until the hand is off.
            loads.heldPage = (ended.purpose, page)
        } else {
            take(page, for: ended.purpose)
        }
    }

    mutating func takeHeldPage() {
        guard let held = loads.heldPage else { return }
        loads.heldPage = nil
        take(held.page, for: held.purpose)
    }

    private mutating func take(_ page: MessagePage, for purpose: LoadBook.Purpose) {
        let messages = page.messages.filter { $0.session == session && !loads.deleted.contains($0.id) }
        if case .page(let direction) = purpose {
            extend(direction, with: messages, page: page)
        } else if let missing = missingTarget(of: purpose, in: messages) {
            actions.append(.reportMissing(missing))
            // A session whose place is gone opens at the newest messages.
            if case .firstLoad = purpose, messages.isEmpty {
                loads.firstLoad = .latest
                return requestFirstPage()
            }
            if case .firstLoad = purpose { replaceWindow(with: messages, page: page, purpose: purpose) }
        } else {
            replaceWindow(with: messages, page: page, purpose: purpose)
        }
        replayNews()
    }

    private mutating func extend(_ direction: PageDirection, with messages: [Message], page: MessagePage) {
        let countBefore = window.messages.count
        merge(messages, isNews: false, reason: direction == .older ? .historyPage : .newerPage)
        // A page that brings nothing new is the last one, or it would be asked for without end.
        let isProgress = window.messages.count > countBefore
        switch direction {
        case .older: loads.older = page.hasOlder && isProgress ? .more : .atEnd
        case .newer: loads.newer = page.hasNewer && isProgress ? .more : .atEnd
        }
        markDirty(direction == .older ? .historyPage : .newerPage)
    }

    private mutating func replaceWindow(
        with messages: [Message], page: MessagePage, purpose: LoadBook.Purpose
    ) {
        let old = window.messages
        window.replaceAll(with: messages)
        for message in old {
            guard let index = window.index(of: message.id) else {
                book.forget(message.id)
                continue
            }
            if window.messages[index] != message { noteChange(from: message) }
        }
        loads.older = page.hasOlder ? .more : .atEnd
        loads.newer = page.hasNewer ? .more : .atEnd
        loads.opening = .shown
        switch purpose {
        case .firstLoad(let opening):
            markDirty(.firstLoad)
            setIntent(for: opening)
        case .jump(let id, let alignment, let highlights):
            markDirty(.jump)
            pending.intent = .message(id, alignment, highlights: highlights)
        case .latest:
            markDirty(.jump)
            pending.intent = .bottom
        case .reload: markDirty(.reload)
        case .page: break
        }
    }

    private mutating func setIntent(for opening: FlowOpening) {
        pending.intent = .bottom
        switch opening {
        case .latest: break
        case .position(let position):
            guard let anchor = position.anchor, window.contains(anchor.message) else { return }
            pending.intent = .anchor(anchor)
        case .message(let id, let alignment):
            guard window.contains(id) else { return }
            pending.intent = .message(id, alignment, highlights: loads.highlightsFirst)
        }
    }

    /// The message for whose sake a page was asked for, if the page does not have it.
    private func missingTarget(of purpose: LoadBook.Purpose, in messages: [Message]) -> MessageID? {
        var target: MessageID?
        switch purpose {
        case .jump(let id, _, _), .firstLoad(.message(let id, _)): target = id
        case .firstLoad(.position(let position)): target = position.anchor?.message
        case .firstLoad(.latest), .page, .latest, .reload: break
        }
        guard let target, !messages.contains(where: { $0.id == target }) else { return nil }
        return target
    }

    /// Applies the news that came while the page was under way; the page may have been read before them.
    private mutating func replayNews() {
        var arrived: [Message] = []
        var changed: [Message] = []
        for (id, news) in loads.remembered {
            if window.contains(id) {
                changed.append(news.message)
            } else if news.isArrival, admits(news.message) {
                arrived.append(news.message)
            }
        }
        mergeKnown(changed.sorted { $0.id < $1.id })
        merge(arrived.sorted { $0.id < $1.id }, isNews: true, reason: .live)
        let mustReload = loads.hasForgotten
        loads.forgetNews()
        if mustReload { reload() }
    }
}
