import RivuletModel

extension FlowCore {
    /// Takes one event in; what follows from it is decided after all events of the batch.
    mutating func reduce(_ event: FlowEvent) {
        switch event {
        case .opened(let opening): open(opening)
        case .closed: close()
        case _ where !loads.isOpen: reduceWhileClosed(event)
        case .reloadRequested: reload()
        case .pageLoaded(let ticket, let page): take(page, ticket: ticket)
        case .pageFailed(let ticket, let failure): takeFailure(failure, ticket: ticket)
        case .loadRequested(let direction): load(direction)
        case .arrived(let messages): arrive(messages)
        case .sent(let messages): send(messages)
        case .updated(let messages): update(messages)
        case .acknowledged(let id, let state, let serverKey, let position):
            acknowledge(id) { message in
                message.state = state
                message.serverKey = serverKey ?? message.serverKey
                message.position = position ?? message.position
            }
        case .deleted(let ids): delete(ids)
        case .scrolled(let offset, let version, let isByReader):
            scroll(to: offset, version: version, isByReader: isByReader)
        case .dragBegan: viewport.isDragging = true
        case .dragEnded: endDrag()
        case .jumpRequested(let id, let alignment, let highlights):
            jump(to: id, alignment: alignment, highlights: highlights)
        case .latestRequested: goToLatest(.jump)
        case .measured(let measurements): take(measurements)
        case .componentResized(let id, let component, let size): resize(component, of: id, to: size)
        case .snapshotsCleared(let scope): clearSnapshots(scope)
        case .resized, .textScaled, .directionChanged, .zoneChanged, .clockTicked, .configurationChanged:
            reduceSurroundings(event)
        }
    }

    /// What surrounds the flow counts also while no session is shown.
    private mutating func reduceWhileClosed(_ event: FlowEvent) {
        switch event {
        case .resized, .textScaled, .directionChanged, .zoneChanged, .configurationChanged:
            reduceSurroundings(event)
        case .snapshotsCleared(let scope): clearSnapshots(scope)
        default: break
        }
    }

    private mutating func reduceSurroundings(_ event: FlowEvent) {
        var environment = book.environment
        switch event {
        case .resized(let size):
            let size = size.sanitized
            guard size.height != viewport.height || size.width != environment.width else { return }
            environment.width = size.width
            viewport.height = size.height
            markDirty(.resize)
        case .textScaled(let scale):
            guard scale.isFinite, scale > 0 else { return }
            // What a desktop says by mistake must not make sizes that no number holds.
            let scale = min(max(scale, 0.1), 20)
            guard scale != environment.textScale else { return }
            environment.textScale = scale
            markDirty(.restyle)
        case .directionChanged(let direction):
            guard direction != environment.direction else { return }
            environment.direction = direction
            markDirty(.restyle)
        case .zoneChanged(let zone):
            guard zone != self.zone else { return }
            self.zone = zone
            stickyCache = nil
            markDirty(.clock)
        case .configurationChanged(let configuration):
            let hadZone = self.configuration.zone
            self.configuration = configuration
            if configuration.zone != hadZone { zone = configuration.zone }
            environment.styleEpoch += 1
            book.configure(configuration)
            decoration = Decoration(of: [], rules: configuration.decoration, context: decoration.context)
            stickyCache = nil
            pending.rowEditCount += 2
            markDirty(.restyle)
        default: return
        }
        if environment != book.environment {
            book.setEnvironment(environment)
            pending.resizesAll = true
            pending.hasAskedForAll = false
        }
    }

    // MARK: messages

    private mutating func arrive(_ messages: [Message]) {
        let own = messages.filter { $0.session == session }
        var known: [Message] = []
        var admitted: [Message] = []
        for message in own {
            // A page under way may have been read before; it must not take the message away.
            loads.remember(message, isArrival: true)
            if window.contains(message.id) {
                known.append(message)
            } else if admits(message) {
                admitted.append(message)
                if !message.isOutgoing { pending.arrived.append(message) }
            } else if !message.isOutgoing, isBeyondNewerEdge(message) {
                unseen.insert(message, countMax: configuration.newMessageCountMax)
            }
        }
        merge(admitted, isNews: true, reason: .live)
        if !known.isEmpty { mergeKnown(known) }
    }

    private mutating func send(_ messages: [Message]) {
        let own = messages.filter { $0.session == session }
        guard !own.isEmpty else { return }
        let isWholeTailLoaded = loads.opening == .shown && !loads.newer.canLoad
        if isWholeTailLoaded {
            merge(own, isNews: true, reason: .ownSend)
            pending.intent = .bottom
            markDirty(.ownSend)
        } else {
            if loads.opening == .shown { goToLatest(.ownSend) }
        }
        for message in own { loads.remember(message, isArrival: true) }
    }

    private mutating func update(_ messages: [Message]) {
        var known: [Message] = []
        for message in messages where message.session == session {
            if window.contains(message.id) {
                known.append(message)
            } else {
                loads.remember(message, isArrival: false)
            }
        }
        mergeKnown(known)
    }

    private mutating func acknowledge(_ id: MessageID, _ change: (inout Message) -> Void) {
        guard let index = window.index(of: id) else {
            loads.changeRemembered(id, change)
            return
        }
        var message = window.messages[index]
        change(&message)
        mergeKnown([message])
    }

    private mutating func delete(_ ids: [MessageID]) {
        for id in ids {
            loads.rememberDeletion(id)
            unseen.remove(id)
            pending.arrived.removeAll { $0.id == id }
            guard window.remove(id) != nil else { continue }
            book.forget(id)
            markDirty(.edit)
        }
    }

    /// Brings messages into the window and notes what has to be decorated, measured and shown.
    mutating func merge(_ messages: [Message], isNews: Bool, reason: FlowReason) {
        let outcome = window.merge(messages, isNews: isNews)
        for old in outcome.changed { noteChange(from: old) }
        if !outcome.inserted.isEmpty {
            pending.inserted.formUnion(outcome.inserted)
            markDirty(reason)
        }
        if !outcome.changed.isEmpty { markDirty(.edit) }
    }

    /// Notes that a message is not what it was; what cannot have changed keeps its size.
    mutating func noteChange(from old: Message) {
        guard let index = window.index(of: old.id) else { return }
        let new = window.messages[index]
        pending.changed.insert(old.id)
        if new.position != old.position { pending.repositioned.insert(old.id) }
        if new.revision != old.revision { return }
        // The revision did not grow: the content is the same unless an engine forgot to count.
        if new.content == old.content, new.isEdited == old.isEdited {
            book.invalidate(old.id, components: [ComponentSet(.accessory), ComponentSet(.footer)])
        } else {
            book.clearSnapshots(of: old.id)
            book.invalidate(old.id)
        }
    }

    /// Brings messages of the window up to date; one that moves beyond an edge behind which there is more leaves it.
    mutating func mergeKnown(_ messages: [Message]) {
        var staying: [Message] = []
        for message in messages {
            guard let index = window.index(of: message.id) else { continue }
            let known = window.messages[index]
            if message.position != known.position, message.revision >= known.revision, isStray(message) {
                loads.remember(message, isArrival: true)
                _ = window.remove(message.id)
                book.forget(message.id)
                markDirty(.edit)
            } else {
                staying.append(message)
            }
        }
        merge(staying, isNews: true, reason: .edit)
        for message in staying {
            guard let index = window.index(of: message.id) else { continue }
            loads.remember(window.messages[index], isArrival: false)
        }
    }

    private func isStray(_ message: Message) -> Bool {
        let messages = window.messages
        guard messages.count > 1 else { return false }
        let first = messages[0].id == message.id ? messages[1] : messages[0]
        let end = messages.count - 1
        let last = messages[end].id == message.id ? messages[end - 1] : messages[end]
        return (message.position > last.position && loads.newer.canLoad)
            || (message.position < first.position && loads.older.canLoad)
    }

    /// Whether a message belongs into the window rather than to what lies beyond it.
    func admits(_ message: Message) -> Bool {
        guard loads.opening == .shown else { return false }
        guard let first = window.messages.first, let last = window.messages.last else {
            return !loads.older.canLoad && !loads.newer.canLoad
        }
        if message.position > last.position { return !loads.newer.canLoad }
        if message.position < first.position { return !loads.older.canLoad }
        return true
    }

    private func isBeyondNewerEdge(_ message: Message) -> Bool {
        guard let last = window.messages.last else { return false }
        return message.position > last.position
    }
}
