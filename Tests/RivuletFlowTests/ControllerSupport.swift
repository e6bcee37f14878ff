import RivuletModel

@testable import RivuletFlow

/// A flow with an engine in memory, driven step by step.
struct TestFlow {
    var core: FlowCore
    /// What the engine has, by position.
    var stored: [Message] = []
    var now: Int64 = 1_000 * 60_000
    /// Whether requests for sizes are answered at once.
    var answersMeasures = true
    /// Whether requests for pages are answered at once.
    var answersLoads = true
    var loads: [FlowLoadRequest] = []
    var measures: [MeasureRequest] = []
    var updates: [FlowUpdate] = []
    var actions: [FlowAction] = []

    init(_ configuration: FlowConfiguration = .test, stored: [Message] = []) {
        core = FlowCore(session: .peer(UserID(2)), configuration: configuration)
        self.stored = stored
    }

    /// A flow of messages 1…count, opened at the newest in a viewport of 600 × 600.
    static func opened(
        count: Int = 200, configuration: FlowConfiguration = .test, at opening: FlowOpening = .latest
    ) -> TestFlow {
        var flow = TestFlow(configuration, stored: (0..<count).map { .sample(Int64($0 + 1)) })
        flow.send(.resized(LayoutSize(width: 600, height: 600)), .opened(opening))
        return flow
    }

    var last: FlowUpdate? { updates.last }
    var ids: [Int64] { core.snapshot.messages.map(\.id.rawValue) }

    /// Hands events over and answers what the flow asks for, as far as answers are switched on.
    @discardableResult
    mutating func send(_ events: FlowEvent...) -> [FlowAction] {
        sendAll(events)
    }

    @discardableResult
    mutating func sendAll(_ events: [FlowEvent]) -> [FlowAction] {
        actions = []
        var events = events
        while !events.isEmpty {
            let new = core.handle(events, at: now)
            actions += new
            events = []
            for action in new {
                switch action {
                case .load(let request):
                    loads.append(request)
                    if answersLoads { events.append(.pageLoaded(request.ticket, page(for: request))) }
                case .measure(let requests):
                    if answersMeasures {
                        events.append(
                            .measured(
                                requests.map {
                                    core.configuration.sizing.measure($0) ?? Measurement(to: $0, size: nil)
                                }))
                    } else {
                        measures += requests
                    }
                case .apply(let update): updates.append(update)
                default: break
                }
            }
        }
        return actions
    }

    func page(for request: FlowLoadRequest) -> MessagePage {
        let all = stored.sorted { $0.position < $1.position }
        let range: Range<Int>
        switch request.target {
        case .latest: range = max(0, all.count - request.limit)..<all.count
        case .older(let message):
            let end = all.firstIndex { $0.position >= message.position } ?? all.count
            range = max(0, end - request.limit)..<end
        case .newer(let message):
            let start = all.firstIndex { $0.position > message.position } ?? all.count
            range = start..<min(all.count, start + request.limit)
        case .around(let id):
            guard let index = all.firstIndex(where: { $0.id == id }) else {
                return MessagePage(messages: [], hasOlder: false, hasNewer: false)
            }
            let start = max(0, index - request.limit / 2)
            range = start..<min(all.count, start + request.limit)
        }
        return MessagePage(
            messages: Array(all[range]), hasOlder: range.lowerBound > 0,
            hasNewer: range.upperBound < all.count)
    }

    /// The offset of a message's top edge in the viewport.
    func top(_ id: Int64) -> Double? {
        let snapshot = core.snapshot
        guard let row = snapshot.rows.firstIndex(where: { $0.id == .message(MessageID(id)) }) else {
            return nil
        }
        return snapshot.offset(ofRow: row) - core.offset
    }

    /// The reader scrolls to an offset.
    mutating func scroll(_ offset: Double) {
        send(.scrolled(offset: offset, version: core.snapshot.version, isByReader: true))
    }

    mutating func scrollUp(_ points: Double) {
        scroll(core.offset - points)
    }
}

extension FlowConfiguration {
    /// Small pages and sizes that are easy to reckon with: rows without labels.
    static var test: FlowConfiguration {
        var configuration = FlowConfiguration()
        configuration.pageSize = 30
        configuration.decoration = DecorationRules(timeLabel: .never, runGap: .seconds(0))
        configuration.sizing = SizingTable(text: MonospaceMeasurer())
        configuration.windowCountMax = 120
        return configuration
    }
}

extension FlowScroll {
    var isKeep: Bool { if case .keep = self { true } else { false } }
    var isBottom: Bool { if case .bottom = self { true } else { false } }
    var isTarget: Bool { if case .target = self { true } else { false } }
}
