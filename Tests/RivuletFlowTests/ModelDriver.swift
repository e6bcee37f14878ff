import RivuletModel

@testable import RivuletFlow

/// Plays random operations on a flow and holds every apply against the naive model.
struct ModelDriver {
    static let session = Session.group(9)

    var core: FlowCore
    var generator: SeededGenerator
    /// The truth: all messages of the conversation, by position.
    var engine: [Message] = []
    var naive = NaiveRows()
    var reader = NaiveReader()
    var reasons: FlowReason = []
    var nextID: Int64 = 1
    var outstanding: (request: FlowLoadRequest, page: MessagePage, intent: NaiveReader.Intent?)?
    var lateLoads: [(FlowTicket, MessagePage)] = []
    var held: (intent: NaiveReader.Intent?, page: MessagePage)?
    var measures: [MeasureRequest] = []
    var version = 0
    var applyCount = 0
    var movedIDs: Set<MessageID> = []
    var replacedWindow = false
    var log: [String] = []
    /// What the first load is for, also when it is tried again.
    var opening: NaiveReader.Intent?
    /// What the next load is for.
    var wanted: NaiveReader.Intent?

    init(seed: UInt64) {
        generator = SeededGenerator(seed: seed)
        var configuration = FlowConfiguration()
        // A window that is hardly larger than what is in view must never forget what is in view.
        configuration.pageSize = seed % 3 == 0 ? 5 : 10
        configuration.windowCountMax = seed % 3 == 0 ? 10 : 40
        configuration.trimDistance = 1.5
        configuration.loadDistance = 0.5
        configuration.decoration = DecorationRules(showsDays: true)
        configuration.sizing = SizingTable(text: MonospaceMeasurer())
        configuration.measuresBeforeApplying = seed % 4 != 0
        configuration.incrementalRefresh = seed % 5 != 0
        naive.now = 1_700_000_000_000
        for _ in 0..<Int.random(in: 0...120, using: &generator) {
            let message = Self.makeMessage(&nextID, engine: engine, now: &naive.now, using: &generator)
            engine.append(message)
        }
        if Bool.random(using: &generator), engine.count > 4 {
            let unread = Int.random(in: 1..<min(20, engine.count), using: &generator)
            let stretch = UnreadStretch(
                after: engine[engine.count - unread - 1].position, through: engine[engine.count - 1].position)
            configuration.unread = stretch
            naive.unread = stretch
        }
        core = FlowCore(session: Self.session, configuration: configuration)
    }

    static func makeMessage(
        _ nextID: inout Int64, engine: [Message], now: inout Int64, using generator: inout SeededGenerator
    ) -> Message {
        let gaps: [Int64] = [1, 20, 60, 299, 300, 301, 4_000, 90_000]
        now += (gaps.randomElement(using: &generator) ?? 1) * 1000
        let backwards: Int64 = Int.random(in: 0..<20, using: &generator) == 0 ? 700_000 : 0
        let id = nextID
        nextID += 1
        let isOutgoing = Int.random(in: 0..<4, using: &generator) == 0
        let last = engine.last?.position.rawValue ?? 0
        return Message(
            id: MessageID(id), session: session,
            sender: UserID(isOutgoing ? 1 : Int64.random(in: 2...3, using: &generator)),
            isOutgoing: isOutgoing,
            position: MessagePosition((last / 1000 + 1) * 1000), timeMilliseconds: now - backwards,
            content: makeContent(using: &generator))
    }

    static func makeContent(using generator: inout SeededGenerator) -> MessageContent {
        let length =
            Int.random(in: 0..<10, using: &generator) == 0 ? 900 : Int.random(in: 1...160, using: &generator)
        let text = String(repeating: "x", count: length)
        return Int.random(in: 0..<12, using: &generator) == 0 ? .notice(text) : .text(text)
    }

    // MARK: talking to the flow

    /// Hands an event over, keeps what is asked for, and checks every apply.
    mutating func send(_ event: FlowEvent, reason: FlowReason = []) throws {
        reasons.formUnion(reason)
        for message in engine { reader.places[message.id] = message.position }
        version = core.snapshot.version
        for action in core.handle(event, at: naive.now) {
            switch action {
            case .load(let request):
                guard outstanding == nil else { throw Mismatch("two requests under way") }
                let isFirst = core.loads.opening == .loading
                outstanding = (request, page(for: request), isFirst ? opening : wanted)
                wanted = nil
            case .cancelLoad(let ticket):
                guard let current = outstanding, current.request.ticket == ticket else {
                    throw Mismatch("cancelled a request that is not under way")
                }
                lateLoads.append((ticket, current.page))
                outstanding = nil
            case .measure(let requests): measures += requests
            case .apply(let update): try check(update)
            case .show, .reportMissing, .reportFailure, .setDeadline: break
            }
        }
        if core.loads.heldPage == nil { held = nil }
        // What was forgotten before it was shown counts as new at once.
        for id in reader.arrived where !core.window.contains(id) { reader.unseen.insert(id) }
        reader.arrived.removeAll { !core.window.contains($0) }
        try checkWindow()
        try checkState()
    }

    func page(for request: FlowLoadRequest) -> MessagePage {
        var range = 0..<0
        switch request.target {
        case .latest: range = max(0, engine.count - request.limit)..<engine.count
        case .older(let message):
            let end = engine.firstIndex { $0.position >= message.position } ?? engine.count
            range = max(0, end - request.limit)..<end
        case .newer(let message):
            let start = engine.firstIndex { $0.position > message.position } ?? engine.count
            range = start..<min(engine.count, start + request.limit)
        case .around(let id):
            if let index = engine.firstIndex(where: { $0.id == id }) {
                let start = max(0, index - request.limit / 2)
                range = start..<min(engine.count, start + request.limit)
            }
        }
        return MessagePage(
            messages: Array(engine[range]), hasOlder: range.lowerBound > 0,
            hasNewer: range.upperBound < engine.count)
    }

    // MARK: checks

    var isAtNewest: Bool { !core.loads.newer.canLoad }

    /// The window is a stretch of the truth, and an edge that is said to be the end is the end.
    func checkWindow() throws {
        let window = core.window.messages
        guard core.loads.isOpen, core.loads.opening == .shown else { return }
        if let first = window.first, let last = window.last {
            let truth = engine.filter { $0.position >= first.position && $0.position <= last.position }
            guard truth == window else {
                throw Mismatch(
                    "window \(window.map(\.id.rawValue)) is not the stretch \(truth.map(\.id.rawValue))")
            }
            if isAtNewest, engine.last?.id != last.id {
                throw Mismatch(
                    "the newest message is missing: \(window.map(\.id.rawValue)), \(engine.suffix(3).map { ($0.id.rawValue, $0.position.rawValue) }), last \(last.position), older \(core.loads.older) opening \(core.loads.opening) load \(String(describing: core.loads.inFlight?.request.target)) contains \(core.window.contains(engine[engine.count - 1].id)) index \(String(describing: core.window.index(of: engine[engine.count - 1].id))) drag \(reader.isDragging)"
                )
            }
            if !core.loads.older.canLoad, engine.first?.id != first.id {
                throw Mismatch("the oldest is missing")
            }
        } else if isAtNewest, !core.loads.older.canLoad, !engine.isEmpty {
            throw Mismatch("the window is empty")
        }
    }

    func checkState() throws {
        guard core.loads.opening == .shown else { return }
        if core.state.newMessageCount != reader.unseen.count {
            throw Mismatch("\(core.state.newMessageCount) new messages, not \(reader.unseen.count)")
        }
        if core.state.isFollowing != reader.isFollowing {
            throw Mismatch("following: \(core.state.isFollowing), not \(reader.isFollowing)")
        }
        if core.offset != reader.offset { throw Mismatch("offset \(core.offset), not \(reader.offset)") }
    }

    /// Rows, labels, heights, offsets and the place of the reader after an apply.
    mutating func check(_ update: FlowUpdate) throws {
        applyCount += 1
        let new = update.snapshot
        guard new.version == version + 1 else { throw Mismatch("version \(new.version) after \(version)") }
        version = new.version
        if !update.reasons.isSubset(of: reasons.union([.measurement, .live, .edit])) {
            throw Mismatch("reasons \(update.reasons) beyond \(reasons)")
        }
        naive.startsAtBeginning = core.loads.opening == .shown && !core.loads.older.canLoad
        let rows = naive.rows(new.messages)
        guard new.rows == rows else { throw Mismatch("rows \(new.rows.difference(from: rows))") }
        guard update.changes.apply(to: reader.rows, new: rows) == rows else { throw Mismatch("changes") }
        try checkUpdates(update.changes, new: rows)
        let tops = try checkHeights(new)
        let content = (tops.last ?? 0) + new.trailingSpace
        guard new.trailingSpace == (isAtNewest ? 0 : 48) else { throw Mismatch("trailing space") }

        let wasVisible = reader.rows.indices.filter {
            reader.tops[$0] < reader.offset + reader.height && reader.tops[$0 + 1] > reader.offset
        }.map { reader.rows[$0].message }
        let offsetBefore = reader.offset
        let kept = Set(new.messages.map(\.id))
        let shown = Set(reader.rows.map(\.message))
        let isInOrder =
            reader.rows.filter { kept.contains($0.message) && $0.isMessage }.map(\.id)
            == rows.filter { shown.contains($0.message) && $0.isMessage }.map(\.id)
        let repositioned = movedIDs
        if isInOrder { movedIDs = [] }
        let expected = reader.expectedOffset(
            rows: rows, tops: tops, content: content, isAtNewest: isAtNewest,
            mayFollow: !update.reasons.isSubset(of: [.historyPage, .newerPage]), moved: movedIDs)
        guard abs(update.offset - expected) <= 0.5 else {
            throw Mismatch("offset \(update.offset), not \(expected); reasons \(update.reasons)")
        }
        switch update.scroll {
        case .keep(let shift):
            guard abs(offsetBefore + shift - update.offset) < 0.01 else { throw Mismatch("shift \(shift)") }
            let lost = wasVisible.filter { id in
                !kept.contains(id) && !repositioned.contains(id) && engine.contains { $0.id == id }
            }
            if !lost.isEmpty, !replacedWindow {
                throw Mismatch("rows in view were forgotten: \(lost)")
            }
        case .bottom(let offset, _), .target(let offset, _):
            guard offset == update.offset else { throw Mismatch("scroll to \(offset)") }
        }
        finish(update, rows: rows, tops: tops, content: content)
    }

    private mutating func finish(_ update: FlowUpdate, rows: [FlowRow], tops: [Double], content: Double) {
        reader.offset = update.offset
        reader.rows = rows
        reader.tops = tops
        let bottom = content - reader.height
        reader.isFollowing = isAtNewest && bottom - reader.offset <= 24
        let present = Set(update.snapshot.messages.map(\.id))
        for id in reader.arrived where !reader.isFollowing || !present.contains(id) {
            reader.unseen.insert(id)
        }
        reader.arrived = []
        reader.forgetSeen(isAtNewest: isAtNewest, bottom: bottom)
        reasons = []
        movedIDs = []
        replacedWindow = false
    }

    private func checkUpdates(_ changes: ChangeSet, new rows: [FlowRow]) throws {
        let updated = Set(changes.updates.map(\.new))
        let inserted = Set(changes.insertions)
        let old = Dictionary(uniqueKeysWithValues: reader.rows.map { ($0.id, $0) })
        for (index, row) in rows.enumerated() where !inserted.contains(index) {
            if old[row.id] != row, !updated.contains(index) { throw Mismatch("row \(index) changed unnamed") }
        }
    }

    /// Checks the heights of measured rows against the formula.
    ///
    /// - Returns: The tops of all rows, and the end of the last.
    private func checkHeights(_ new: FlowSnapshot) throws -> [Double] {
        let heights = new.layout.heights(of: 0..<new.layout.count)
        guard heights.count == new.rows.count else { throw Mismatch("\(heights.count) heights") }
        var byID: [MessageID: Message] = [:]
        for message in new.messages { byID[message.id] = message }
        var top = new.leadingSpace
        guard top == (core.loads.older.canLoad ? 48 : 0) else { throw Mismatch("leading space") }
        var tops: [Double] = []
        for (index, row) in new.rows.enumerated() {
            tops.append(top)
            top += heights[index]
            guard let message = byID[row.message] else { throw Mismatch("a row without message") }
            if row.isMessage, core.book.entry(of: row.message)?.isExact != true { continue }
            let expected = naive.height(row, message)
            guard abs(expected - heights[index]) < 0.01 else {
                throw Mismatch("row \(row.id) is \(heights[index]) high, not \(expected)")
            }
        }
        tops.append(top)
        guard top == new.leadingSpace + new.layout.totalHeight else { throw Mismatch("total height") }
        return tops
    }

    /// After every request for a size was answered, nothing is an estimate any more.
    func checkAllMeasured() throws {
        for message in core.window.messages where core.book.entry(of: message.id)?.isExact != true {
            throw Mismatch("message \(message.id.rawValue) was never measured")
        }
    }
}
