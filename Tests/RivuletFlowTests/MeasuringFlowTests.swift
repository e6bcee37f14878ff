import RivuletModel
import Testing

@testable import RivuletFlow

@Suite struct `Measuring in the flow` {
    private func flowWithoutAnswers(_ configuration: FlowConfiguration = .test) -> TestFlow {
        var flow = TestFlow(
            configuration, stored: (1...200).map { .sample($0, text: String(repeating: "x", count: 90)) })
        flow.answersMeasures = false
        flow.send(.resized(LayoutSize(width: 600, height: 600)), .opened(.latest))
        return flow
    }

    private func answers(_ flow: TestFlow, _ requests: some Sequence<MeasureRequest>) -> [Measurement] {
        requests.compactMap { flow.core.configuration.sizing.measure($0) }
    }

    @Test func `new rows wait for their sizes, those in view first`() {
        var flow = flowWithoutAnswers()
        #expect(flow.updates.isEmpty)
        #expect(flow.measures.first?.message.id.rawValue == 200)
        flow.send(.measured(answers(flow, flow.measures.prefix(20))))
        #expect(flow.updates.isEmpty)
        flow.send(.measured(answers(flow, flow.measures.dropFirst(20))))
        #expect(flow.updates.count == 1)
    }

    @Test func `an apply waits for one round only`() {
        var flow = flowWithoutAnswers()
        let round = flow.measures
        flow.send(.measured(answers(flow, round.prefix(10))))
        flow.send(.arrived([.sample(201)]))
        #expect(flow.updates.isEmpty)
        flow.send(.measured(answers(flow, round.dropFirst(10))))
        #expect(flow.updates.count == 1)
        #expect(flow.ids.last == 201)
    }

    @Test func `without waiting rows carry estimates, and corrections keep the anchor`() throws {
        var configuration = FlowConfiguration.test
        configuration.measuresBeforeApplying = false
        var flow = flowWithoutAnswers(configuration)
        #expect(flow.updates.count == 1)
        flow.scrollUp(300)
        let anchor = try #require(flow.core.position.anchor)
        let height = flow.core.snapshot.contentHeight
        flow.send(.measured(answers(flow, flow.measures)))
        #expect(flow.last?.reasons.contains(.measurement) == true)
        #expect(flow.core.snapshot.contentHeight != height)
        #expect(flow.core.position.anchor == anchor)
    }

    @Test func `an estimate learns from what was measured`() {
        var configuration = FlowConfiguration.test
        configuration.measuresBeforeApplying = false
        var flow = flowWithoutAnswers(configuration)
        flow.send(.measured(answers(flow, flow.measures)))
        flow.measures = []
        flow.send(.arrived([.sample(201, text: "short")]))
        let row = flow.core.snapshot.rows.count - 1
        #expect(
            flow.core.snapshot.layout.height(ofRow: row) == flow.core.snapshot.layout.height(ofRow: row - 1))
        flow.send(.measured(answers(flow, flow.measures)))
        #expect(
            flow.core.snapshot.layout.height(ofRow: row) < flow.core.snapshot.layout.height(ofRow: row - 1))
    }

    @Test func `a late answer to an outdated request is ignored`() {
        var flow = TestFlow.opened()
        flow.answersMeasures = false
        var edited = Message.sample(200, text: String(repeating: "x", count: 400))
        edited.revision = 1
        flow.send(.updated([edited]))
        let outdated = answers(flow, flow.measures)
        flow.measures = []
        edited.content = .text("short")
        edited.revision = 2
        flow.send(.updated([edited]))
        flow.send(.measured(outdated))
        flow.send(.measured(answers(flow, flow.measures)))
        let row = flow.core.snapshot.rows.count - 1
        #expect(flow.core.snapshot.layout.height(ofRow: row) == 12 + 20 + 16)
    }

    @Test func `a size that cannot be found leaves the estimate and is not asked for again`() {
        var flow = flowWithoutAnswers()
        let requests = flow.measures
        flow.measures = []
        flow.send(.measured(requests.map { Measurement(to: $0, size: nil) }))
        #expect(flow.updates.count == 1)
        flow.send(.clockTicked)
        flow.send(.arrived([.sample(201)]))
        #expect(
            Set(flow.measures.map(\.message.id.rawValue)).isSubset(of: Set([201, 200]).union(-100...170)))
    }

    @Test func `snapshots answer when the window comes back to a message`() {
        var flow = TestFlow.opened()
        flow.send(.jumpRequested(MessageID(20), .top, highlights: false))
        let before = flow.core.snapshotCounters
        flow.send(.latestRequested)
        #expect(flow.core.snapshotCounters.hits >= before.hits + 30)
        flow.send(.snapshotsCleared(.all))
        flow.send(.jumpRequested(MessageID(20), .top, highlights: false))
        #expect(flow.core.snapshotCounters.misses > before.misses + 30)
    }

    @Test func `a component without snapshots is measured each time it comes back`() {
        var configuration = FlowConfiguration.test
        configuration.appearance.configure(.content, for: .session) { $0.layout.usesSnapshots = false }
        var flow = TestFlow.opened(configuration: configuration)
        flow.send(.jumpRequested(MessageID(20), .top, highlights: false))
        flow.send(.latestRequested)
        #expect(flow.core.snapshotCounters.hits == 0)
        #expect(flow.core.snapshotCounters.misses == 0)
    }

    @Test func `widgets size the rows in view first, within the time they are given`() {
        var configuration = FlowConfiguration.test
        configuration.sizing.set(.view, of: .content)
        var flow = TestFlow.opened(configuration: configuration)
        #expect(flow.core.state.awaitsViewMeasuring)
        let first = flow.core.viewRequests(countMax: 10)
        #expect(first.count == 10)
        #expect(first.allSatisfy { $0.message.id.rawValue > 185 })
        flow.scrollUp(600)
        let anchor = flow.core.position.anchor
        while flow.core.state.awaitsViewMeasuring {
            let requests = flow.core.viewRequests(countMax: 7)
            flow.send(
                .measured(requests.map { Measurement(to: $0, size: LayoutSize(width: 100, height: 77)) }))
            #expect(flow.core.position.anchor == anchor)
        }
        #expect(flow.core.viewRequests(countMax: 10).isEmpty)
        let row = flow.core.snapshot.rows.count - 1
        #expect(flow.core.snapshot.layout.height(ofRow: row) == 12 + 77)
    }

    @Test func `an acknowledgement does not measure the bubble again`() {
        var flow = TestFlow.opened()
        flow.send(.sent([.sample(201, isOutgoing: true, state: .sending)]))
        flow.answersMeasures = false
        flow.measures = []
        flow.send(.acknowledged(MessageID(201), state: .accepted, serverKey: nil, position: nil))
        #expect(!flow.measures.isEmpty)
        #expect(flow.measures.allSatisfy { $0.key.component == .accessory })
    }

    @Test func `a component's frame is the one that was applied, not the one that waits`() throws {
        var flow = TestFlow.opened()
        let before = flow.core.rowLayout(of: MessageID(200))
        #expect(before?.frames[.content]?.size.height == 36)
        flow.answersMeasures = false
        var edited = Message.sample(200, text: String(repeating: "x", count: 400))
        edited.revision = 1
        flow.measures = []
        flow.send(.updated([edited]))
        #expect(flow.core.rowLayout(of: MessageID(200)) == before)
        flow.send(.measured(answers(flow, flow.measures)))
        let row = flow.core.snapshot.rows.count - 1
        #expect(
            flow.core.rowLayout(of: MessageID(200))?.height == flow.core.snapshot.layout.height(ofRow: row))
        #expect(flow.core.rowLayout(of: MessageID(12_345)) == nil)
    }

    @Test func `a row that gets another width by its place in the run is measured again`() {
        var configuration = FlowConfiguration.test
        configuration.decoration = DecorationRules(timeLabel: .never)
        configuration.appearance.configure(.avatar, for: .session) { $0.visibility.keepsColumn = false }
        let text = String(repeating: "x", count: 300)
        var flow = TestFlow(configuration, stored: [.sample(1), .sample(2, text: text)])
        flow.send(.resized(LayoutSize(width: 240, height: 600)), .opened(.latest))
        let before = flow.core.snapshot.layout.height(ofRow: 1)
        flow.send(.deleted([MessageID(1)]))
        #expect(flow.core.snapshot.layout.height(ofRow: 0) > before + 30)
    }

    @Test func `another style begins a new epoch and measures everything anew`() {
        var flow = TestFlow.opened()
        let height = flow.core.snapshot.contentHeight
        var configuration = flow.core.configuration
        configuration.appearance.configure(.content, for: .session) {
            $0.style.padding = LayoutInsets(vertical: 30, horizontal: 12)
        }
        flow.send(.configurationChanged(configuration))
        #expect(flow.last?.isReload == true)
        #expect(flow.core.snapshot.contentHeight > height + 30 * 44 - 1)
    }

    @Test func `looks that depend on the single message are resolved for it`() {
        var configuration = FlowConfiguration.test
        configuration.appearance.messageEdit = { message, component, appearance in
            if component == .content, message.id.rawValue == 200 { appearance.visibility = .never }
        }
        let flow = TestFlow.opened(configuration: configuration)
        let row = flow.core.snapshot.rows.count - 1
        #expect(flow.core.snapshot.layout.height(ofRow: row) == 12 + 36)
        #expect(flow.core.snapshot.layout.height(ofRow: row - 1) == 12 + 36)
    }
}
