import RivuletFlow
import RivuletModel

/// One event through the whole flow at one size: merge, decorate, measure, compare, index, and decide where the
/// reader stays, up to the update that a view applies.
struct FlowLiveBench {
    var size: Int
    var samples: Int

    private static let now: Int64 = 1_796_040_000_000

    func run(_ report: inout BenchmarkReport) {
        var core = opened()
        // What the view shows: it holds on to the rows of the update before while the next one is made.
        var shown = core.snapshot
        var number = 0
        func measure(_ name: String, _ event: (Int) -> FlowEvent) {
            let runs = Samples(
                count: samples,
                preparing: { () -> FlowEvent in
                    number += 1
                    return event(number)
                },
                of: { event in
                    Self.drive(&core, [event])
                    shown = core.snapshot
                })
            report.add(FlowFigure.make("flow.live.\(name)", size: size, runs))
        }
        measure("arrival") { .arrived([message(size + $0)]) }
        measure("edit") { .updated([message(size / 2 + $0, revision: 1)]) }
        measure("page50") { number in .arrived((0..<50).map { message(-50 * number + $0) }) }
        precondition(core.invalidChangeSetCount == 0 && shown.rows.count > size, "the flow lost its rows")
    }

    /// A flow that shows all of its messages and is measured.
    private func opened() -> FlowCore {
        var configuration = FlowConfiguration()
        configuration.windowCountMax = 2 * size
        configuration.snapshotCountMax = 2 * size
        configuration.pageSize = size
        var core = FlowCore(session: .group(7), configuration: configuration)
        let actions = core.handle(
            [.resized(LayoutSize(width: 700, height: 600)), .opened(.latest)], at: Self.now)
        for case .load(let request) in actions {
            let page = MessagePage(messages: (0..<size).map { message($0) }, hasOlder: false, hasNewer: false)
            Self.drive(&core, [.pageLoaded(request.ticket, page)])
        }
        precondition(core.snapshot.messages.count == size, "the flow does not show its messages")
        return core
    }

    /// Handles events and answers requests for sizes until none is left; returns the number of applies.
    @discardableResult
    private static func drive(_ core: inout FlowCore, _ events: [FlowEvent]) -> Int {
        var applies = 0
        var events = events
        while !events.isEmpty {
            let actions = core.handle(events, at: now)
            events = []
            for action in actions {
                switch action {
                case .apply: applies += 1
                case .measure(let requests):
                    let sizing = core.configuration.sizing
                    events.append(
                        .measured(requests.map { sizing.measure($0) ?? Measurement(to: $0, size: nil) }))
                default: break
                }
            }
        }
        return applies
    }

    private func message(_ number: Int, revision: Int = 0) -> Message {
        Message(
            id: MessageID(Int64(number)), session: .group(7), sender: UserID(Int64(abs(number) % 4 + 1)),
            isOutgoing: number % 4 == 0, position: MessagePosition(Int64(number)),
            timeMilliseconds: Self.now - Int64(size - number) * 60_000,
            content: .text("Message number \(number), of a common length"), revision: revision)
    }
}
