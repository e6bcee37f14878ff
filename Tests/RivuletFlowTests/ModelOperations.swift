import RivuletModel

@testable import RivuletFlow

extension ModelDriver {
    /// One random operation, with what it changes in the naive model.
    mutating func step() throws {
        let choice = Int.random(in: 0..<100, using: &generator)
        switch choice {
        case 0..<14: try arrive()
        case 14..<17: try arriveLate()
        case 17..<23: try sendOwn()
        case 23..<30: try acknowledge()
        case 30..<36: try edit()
        case 36..<38: try revoke()
        case 38..<43: try delete()
        case 43..<63: try scroll()
        case 63..<66: try drag()
        case 66..<70: try jump()
        case 70..<72: try latest()
        case 72..<76: try resize()
        case 76..<78: try passTime()
        case 78..<80: try resizeComponent()
        case 80..<81: try reopen()
        case 81..<82: try reload()
        case 82..<84: try askForPage()
        case 84..<85: try rareChange()
        case 85..<94: try answerLoad()
        default: try answerMeasures(all: Bool.random(using: &generator))
        }
        if Int.random(in: 0..<3, using: &generator) > 0 { try answerMeasures(all: true) }
    }

    mutating func open(_ opening: FlowOpening) throws {
        log.append("open \(opening)")
        reader.isFollowing = true
        reader.isDragging = false
        reader.offset = 0
        reader.unseen = []
        reader.arrived = []
        reader.intent = nil
        switch opening {
        case .latest: self.opening = .bottom
        case .position(let position): self.opening = position.anchor.map { .anchor($0) } ?? .bottom
        case .message(let id, let alignment): self.opening = .message(id, alignment)
        }
        replacedWindow = true
        try send(.opened(opening), reason: .firstLoad)
    }

    // MARK: messages

    private mutating func arrive() throws {
        var messages: [Message] = []
        for _ in 0..<Int.random(in: 1...3, using: &generator) {
            let message = Self.makeMessage(&nextID, engine: engine, now: &naive.now, using: &generator)
            engine.append(message)
            messages.append(message)
        }
        log.append("arrive \(messages.map(\.id.rawValue))")
        note(arrived: messages)
        try send(.arrived(messages), reason: [.live, .clock])
    }

    /// A message that belongs between older ones.
    private mutating func arriveLate() throws {
        guard engine.count > 2 else { return }
        let index = Int.random(in: 1..<engine.count, using: &generator)
        let (before, after) = (engine[index - 1].position.rawValue, engine[index].position.rawValue)
        guard after - before > 1 else { return }
        var message = Self.makeMessage(&nextID, engine: engine, now: &naive.now, using: &generator)
        message.position = MessagePosition(before + (after - before) / 2)
        engine.insert(message, at: index)
        log.append("arrive late \(message.id.rawValue)")
        note(arrived: [message])
        try send(.arrived([message]), reason: [.live, .clock])
    }

    private mutating func note(arrived messages: [Message]) {
        guard core.loads.isOpen else { return }
        for message in messages where !message.isOutgoing {
            if core.admits(message) {
                reader.arrived.append(message.id)
            } else if let last = core.window.messages.last, message.position > last.position {
                reader.unseen.insert(message.id)
            }
        }
    }

    private mutating func sendOwn() throws {
        var message = Self.makeMessage(&nextID, engine: engine, now: &naive.now, using: &generator)
        message.isOutgoing = true
        message.sender = UserID(1)
        message.state = .sending
        // Unsent messages stand after all others.
        message.position = MessagePosition(message.position.rawValue + 500)
        engine.append(message)
        log.append("send \(message.id.rawValue)")
        wantBottom()
        try send(.sent([message]), reason: [.ownSend, .jump, .clock])
        wanted = nil
    }

    private mutating func wantBottom() {
        guard core.loads.isOpen, core.loads.opening == .shown else { return }
        if isAtNewest { reader.intent = .bottom } else { wanted = .bottom }
    }

    private mutating func acknowledge() throws {
        guard let index = engine.lastIndex(where: { $0.isOutgoing && $0.state.isPending }) else { return }
        var message = engine.remove(at: index)
        message.state = Bool.random(using: &generator) ? .accepted : .failed(reason: "")
        var position: MessagePosition?
        if Bool.random(using: &generator) {
            position = MessagePosition(((engine.last?.position.rawValue ?? 0) / 1000 + 1) * 1000)
            movedIDs.insert(message.id)
        }
        message.position = position ?? message.position
        engine.insert(message, at: engine.firstIndex { $0.position > message.position } ?? engine.count)
        log.append("acknowledge \(message.id.rawValue) \(position as Any)")
        if core.window.contains(message.id) {
            try send(
                .acknowledged(message.id, state: message.state, serverKey: nil, position: position),
                reason: .edit)
        } else {
            try send(.arrived([message]), reason: [.live, .edit])
        }
    }

    private mutating func change(_ name: String, _ body: (inout Message) -> Void) throws {
        guard let index = pickIndex() else { return }
        body(&engine[index])
        engine[index].revision += 1
        log.append("\(name) \(engine[index].id.rawValue)")
        try send(.updated([engine[index]]), reason: .edit)
    }

    private mutating func edit() throws {
        let content = Self.makeContent(using: &generator)
        try change("edit") {
            $0.content = content
            $0.isEdited = true
        }
    }

    private mutating func revoke() throws {
        try change("revoke") { $0.content = .revoked }
    }

    private mutating func delete() throws {
        var ids: [MessageID] = []
        for _ in 0..<Int.random(in: 1...3, using: &generator) {
            guard let index = pickIndex() else { break }
            ids.append(engine.remove(at: index).id)
        }
        log.append("delete \(ids.map(\.rawValue))")
        for id in ids {
            reader.unseen.remove(id)
            reader.arrived.removeAll { $0 == id }
        }
        try send(.deleted(ids), reason: .edit)
    }

    /// A message, mostly one that is shown.
    private mutating func pickIndex() -> Int? {
        guard !engine.isEmpty else { return nil }
        if Int.random(in: 0..<4, using: &generator) > 0,
            let shown = core.window.messages.randomElement(using: &generator)
        {
            return engine.firstIndex { $0.id == shown.id }
        }
        return engine.indices.randomElement(using: &generator)
    }

    // MARK: the reader

    private mutating func scroll() throws {
        guard core.loads.isOpen else { return }
        let range = core.offsetRange
        let offset: Double
        switch Int.random(in: 0..<10, using: &generator) {
        case 0: offset = range.lowerBound
        case 1, 2: offset = range.upperBound
        case 3: offset = range.upperBound - 20
        default: offset = core.offset + Double.random(in: -900...700, using: &generator)
        }
        log.append("scroll \(offset)")
        reader.offset = min(max(offset, range.lowerBound), range.upperBound)
        reader.isFollowing = isAtNewest && range.upperBound - reader.offset <= 24
        reader.forgetSeen(isAtNewest: isAtNewest, bottom: range.upperBound)
        try send(
            .scrolled(offset: offset, version: core.snapshot.version, isByReader: true),
            reason: [.historyPage, .newerPage])
    }

    private mutating func drag() throws {
        guard core.loads.isOpen else { return }
        if reader.isDragging {
            log.append("drag ends")
            reader.isDragging = false
            if let held {
                take(held.intent, page: held.page)
                replacedWindow = true
            }
            try send(.dragEnded, reason: [.jump, .reload, .live, .edit])
        } else {
            log.append("drag begins")
            reader.isDragging = true
            try send(.dragBegan)
        }
    }

    private mutating func jump() throws {
        guard let index = pickIndex() else { return }
        let isMissing = Int.random(in: 0..<8, using: &generator) == 0
        let id = isMissing ? MessageID(9_999_999) : engine[index].id
        let alignments: [FlowAlignment] = [.top, .center, .bottom, .nearest]
        let alignment = alignments.randomElement(using: &generator) ?? .top
        log.append("jump \(id.rawValue) \(alignment)")
        if core.loads.isOpen, core.loads.opening == .shown {
            if core.window.contains(id) {
                reader.intent = .message(id, alignment)
            } else {
                wanted = .message(id, alignment)
            }
        } else if core.loads.isOpen {
            // Nothing is shown yet: the session opens there.
            opening = .message(id, alignment)
        }
        try send(.jumpRequested(id, alignment, highlights: true), reason: .jump)
        wanted = nil
    }

    private mutating func latest() throws {
        log.append("latest")
        wantBottom()
        try send(.latestRequested, reason: .jump)
        wanted = nil
    }

    private mutating func askForPage() throws {
        log.append("ask for page")
        try send(.loadRequested(Bool.random(using: &generator) ? .older : .newer))
    }

    private mutating func reopen() throws {
        let saved = core.position
        log.append("close")
        try send(.closed)
        switch Int.random(in: 0..<3, using: &generator) {
        case 0: try open(.latest)
        case 1: try open(.position(saved))
        default: try open(pickIndex().map { .message(engine[$0].id, .center) } ?? .latest)
        }
    }

    private mutating func reload() throws {
        log.append("reload")
        wanted = .reloaded
        if core.loads.opening == .shown {
            // Where the reader is on the way to is still where the reader wants to be.
            switch core.loads.inFlight == nil ? held?.intent : outstanding?.intent {
            case .message(let id, let alignment)?: wanted = .message(id, alignment)
            case .bottom?: wanted = .bottom
            case .anchor?, .reloaded?, nil: break
            }
        }
        try send(.reloadRequested, reason: .reload)
        wanted = nil
    }

    // MARK: the surroundings

    mutating func resize() throws {
        let widths = [320.0, 480, 700, 1_000]
        let heights = [300.0, 480, 700]
        if Bool.random(using: &generator) { naive.width = widths.randomElement(using: &generator) ?? 320 }
        if Bool.random(using: &generator) { reader.height = heights.randomElement(using: &generator) ?? 300 }
        log.append("resize \(naive.width) \(reader.height)")
        try send(.resized(LayoutSize(width: naive.width, height: reader.height)), reason: .resize)
    }

    private mutating func passTime() throws {
        let days = Int64.random(in: 0...3, using: &generator)
        naive.now += days * 86_400_000 + 60_000
        log.append("time \(naive.now)")
        try send(.clockTicked, reason: .clock)
    }

    private mutating func rareChange() throws {
        switch Int.random(in: 0..<4, using: &generator) {
        case 0:
            naive.zoneSeconds = [0, 28_800, -18_000].randomElement(using: &generator) ?? 0
            log.append("zone \(naive.zoneSeconds)")
            try send(.zoneChanged(ZoneOffsets(fixedSeconds: Int32(naive.zoneSeconds))), reason: .clock)
        case 1:
            naive.scale = [1, 1.5, 2].randomElement(using: &generator) ?? 1
            log.append("scale \(naive.scale)")
            try send(.textScaled(naive.scale), reason: .restyle)
        case 2:
            naive.epoch += 1
            log.append("configuration")
            try send(.configurationChanged(core.configuration), reason: .restyle)
        default:
            log.append("clear snapshots")
            // What came late and is not shown any more is forgotten with its snapshot.
            naive.lateHeights = [:]
            try send(.snapshotsCleared(.all), reason: .restyle)
        }
    }

    private mutating func resizeComponent() throws {
        guard core.loads.isOpen, let message = core.window.messages.randomElement(using: &generator) else {
            return
        }
        let height = Double(Int.random(in: 10...500, using: &generator))
        log.append("size of \(message.id.rawValue): \(height)")
        naive.lateHeights[naive.lateKey(message)] = height
        try send(
            .componentResized(message.id, .content, LayoutSize(width: 100, height: height)),
            reason: .measurement)
    }

    // MARK: answers

    mutating func answerLoad() throws {
        if let late = lateLoads.popLast(), Bool.random(using: &generator) {
            log.append("late page \(late.0)")
            try send(.pageLoaded(late.0, late.1))
        }
        guard let current = outstanding else { return }
        outstanding = nil
        if Int.random(in: 0..<10, using: &generator) == 0 {
            log.append("page failed \(current.request.target)")
            try send(.pageFailed(current.request.ticket, FlowFailure(code: "test")))
            return
        }
        let isStale = Bool.random(using: &generator)
        let page = isStale ? current.page : page(for: current.request)
        log.append(
            "page \(current.request.ticket.number) \(page.messages.map(\.id.rawValue)) stale: \(isStale)")
        var isReplacing = true
        switch current.request.target {
        case .older, .newer: isReplacing = false
        default: break
        }
        if isReplacing {
            if reader.isDragging, core.loads.opening == .shown {
                held = (current.intent, page)
            } else {
                take(current.intent, page: page)
                replacedWindow = true
            }
        }
        if isReplacing, page.messages.isEmpty { opening = .bottom }
        try send(
            .pageLoaded(current.request.ticket, page),
            reason: [.historyPage, .newerPage, .firstLoad, .jump, .reload, .live, .edit])
        wanted = nil
    }

    private mutating func take(_ intent: NaiveReader.Intent?, page: MessagePage) {
        func exists(_ id: MessageID) -> Bool { page.messages.contains { $0.id == id } && engine(has: id) }
        switch intent {
        case .message(let id, _)?:
            if exists(id) {
                reader.intent = intent
            } else if core.loads.opening != .shown {
                reader.intent = .bottom
            }
        case .anchor(let anchor)?: reader.intent = exists(anchor.message) ? intent : .bottom
        case .bottom?: reader.intent = .bottom
        case .reloaded?, nil: break
        }
    }

    private func engine(has id: MessageID) -> Bool {
        engine.contains { $0.id == id }
    }

    mutating func answerMeasures(all: Bool) throws {
        var rounds = 0
        while !measures.isEmpty {
            rounds += 1
            guard rounds < 50 else { throw Mismatch("sizes are asked for without end") }
            let count = all ? measures.count : Int.random(in: 1...measures.count, using: &generator)
            let answered = measures.prefix(count)
            measures.removeFirst(count)
            log.append("measured \(count)")
            let answers = answered.map {
                core.configuration.sizing.measure($0) ?? Measurement(to: $0, size: nil)
            }
            try send(.measured(Array(answers)), reason: .measurement)
            if !all { return }
        }
        if core.loads.opening == .shown { try checkAllMeasured() }
    }
}
