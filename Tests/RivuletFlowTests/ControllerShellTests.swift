import RivuletModel
import Synchronization
import Testing

@testable import RivuletFlow

/// Keeps what it was told and can do something during an apply.
@MainActor
private final class Recorder: FlowObserver {
    var updates: [FlowUpdate] = []
    var rows: [FlowRow] = []
    var depth = 0
    var isTorn = false
    var missing: [MessageID] = []
    var failures: [FlowFailure] = []
    var duringApply: ((FlowController) -> Void)?
    /// One element after anything happened, so that a test can wait without spinning.
    let changes: AsyncStream<Void>
    private let signal: AsyncStream<Void>.Continuation

    init() {
        (changes, signal) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
    }

    func flow(_ controller: FlowController, didApply update: FlowUpdate) {
        depth += 1
        // An apply begins where the last one ended, and none begins within another.
        let expected = update.changes.apply(to: rows, new: update.snapshot.rows)
        if depth != 1 || expected != update.snapshot.rows { isTorn = true }
        if update.snapshot.layout.count != update.snapshot.rows.count { isTorn = true }
        rows = update.snapshot.rows
        updates.append(update)
        duringApply?(controller)
        depth -= 1
        signal.yield()
    }

    func flow(_ controller: FlowController, didShow state: FlowViewState) { signal.yield() }

    func flow(_ controller: FlowController, didMiss message: MessageID) {
        missing.append(message)
        signal.yield()
    }

    func flow(_ controller: FlowController, didFail request: FlowLoadRequest, with failure: FlowFailure) {
        failures.append(failure)
        signal.yield()
    }
}

@MainActor
private func makeController(
    stored: [Message] = [], trafficCountMax: Int = 16_384, windowCountMax: Int = 600
) -> (FlowController, Recorder) {
    var configuration = FlowConfiguration.test
    configuration.windowCountMax = windowCountMax
    let controller = FlowController(
        session: .peer(UserID(2)), configuration: configuration, trafficCountMax: trafficCountMax,
        now: { 60_000_000 },
        load: { request in
            switch request.target {
            case .latest:
                return MessagePage(
                    messages: stored.suffix(request.limit), hasOlder: stored.count > request.limit,
                    hasNewer: false)
            case .around: return MessagePage(messages: [], hasOlder: false, hasNewer: false)
            case .older, .newer: throw FlowFailure(code: "offline")
            }
        })
    let recorder = Recorder()
    controller.addObserver(recorder)
    controller.submit(.resized(LayoutSize(width: 600, height: 600)))
    controller.submit(.opened(.latest))
    return (controller, recorder)
}

/// Runs the controller, and some producers beside it, until the condition holds after something happened.
@MainActor
private func run(
    _ controller: FlowController, _ recorder: Recorder, producerCount: Int = 0,
    produce: @escaping @Sendable (Int) -> Void = { _ in },
    until isDone: @MainActor () -> Bool
) async {
    await withTaskGroup { group in
        group.addTask { await controller.run() }
        for producer in 0..<producerCount { group.addTask { produce(producer) } }
        if !isDone() {
            for await _ in recorder.changes where isDone() { break }
        }
        group.cancelAll()
    }
}

@Suite(.serialized) struct `The controller` {
    @Test @MainActor func `it loads, measures and applies by itself`() async {
        let (controller, recorder) = makeController(stored: (1...20).map { .sample($0) })
        await run(controller, recorder) {
            controller.snapshot.messages.count == 20 && controller.state.opening == .shown
        }
        #expect(!recorder.isTorn)
        #expect(controller.rowLayout(of: MessageID(20)) != nil)
        #expect(controller.position == .latest)
    }

    @Test @MainActor func `it can be run again after it was cancelled`() async {
        let (controller, recorder) = makeController(stored: (1...5).map { .sample($0) })
        await run(controller, recorder) { controller.snapshot.messages.count == 5 }
        controller.submit(.arrived([.sample(6)]))
        await run(controller, recorder) { controller.snapshot.messages.count == 6 }
        #expect(!recorder.isTorn)
    }

    @Test @MainActor func `a hundred producers neither reorder nor tear an apply`() async {
        let (controller, recorder) = makeController(windowCountMax: 20_000)
        await run(controller, recorder) { controller.state.opening == .shown }
        let (count, each) = (100, 20)
        let produce = { @Sendable (producer: Int) in
            for step in 0..<each {
                let id = Int64(producer * each + step + 1)
                controller.submit(.arrived([.sample(id, minute: 0)]))
                // Each edits its own message twice: the later revision must win.
                for revision in 1...2 {
                    var edited = Message.sample(id, text: "revision \(revision)", minute: 0)
                    edited.revision = revision
                    controller.submit(.updated([edited]))
                }
                if step % 10 == 9 { controller.submit(.deleted([MessageID(id)])) }
            }
        }
        await run(controller, recorder, producerCount: count, produce: produce) {
            controller.snapshot.messages.count == count * each * 9 / 10 && controller.mailbox.isEmpty
                && controller.snapshot.messages.allSatisfy { $0.revision == 2 }
        }
        #expect(!recorder.isTorn)
        #expect(recorder.updates.map(\.snapshot.version) == Array(1...recorder.updates.count))
        #expect(controller.snapshot.messages.allSatisfy { $0.content == .text("revision 2") })
        #expect(controller.snapshot.messages.allSatisfy { $0.id.rawValue % 10 != 0 })
    }

    @Test @MainActor func `an observer that submits during an apply is queued`() async {
        let (controller, recorder) = makeController(stored: (1...3).map { .sample($0) })
        recorder.duringApply = { controller in
            let next = Int64(controller.snapshot.messages.count + 1)
            guard next <= 40, next > 3 else { return }
            controller.submit(.arrived([.sample(next)]))
            controller.drain()
        }
        await run(controller, recorder) { controller.snapshot.messages.count == 40 }
        #expect(!recorder.isTorn)
        #expect(recorder.updates.count >= 37)
    }

    @Test @MainActor func `events submitted together are one apply`() async {
        let (controller, recorder) = makeController(stored: (1...3).map { .sample($0) })
        await run(controller, recorder) { controller.snapshot.messages.count == 3 }
        let count = recorder.updates.count
        for id in 4...53 { controller.submit(.arrived([.sample(Int64(id))])) }
        await run(controller, recorder) { controller.snapshot.messages.count == 53 }
        // One for the rows, and one at most for sizes outside of the view.
        #expect(recorder.updates.count <= count + 2)
    }

    @Test @MainActor func `a failure of the provider reaches the observer`() async {
        let (controller, recorder) = makeController(stored: (1...200).map { .sample($0) })
        await run(controller, recorder) { controller.snapshot.messages.count == 30 }
        controller.submit(.scrolled(offset: 0, version: controller.snapshot.version, isByReader: true))
        await run(controller, recorder) { !recorder.failures.isEmpty }
        #expect(recorder.failures == [FlowFailure(code: "offline")])
        #expect(controller.state.older == .failed(FlowFailure(code: "offline")))
        controller.submit(.jumpRequested(MessageID(999), .top, highlights: false))
        await run(controller, recorder) { !recorder.missing.isEmpty }
    }

    @Test @MainActor func `observers are weak, added twice are once, and may leave during an apply`() {
        let (controller, recorder) = makeController()
        controller.addObserver(recorder)
        var other: Recorder? = Recorder()
        weak let weakOther = other
        controller.addObserver(other!)
        other = nil
        #expect(weakOther == nil)
        recorder.duringApply = { $0.removeObserver(recorder) }
        controller.drain()
        controller.submit(.closed)
        controller.submit(.opened(.latest))
        controller.drain()
        #expect(recorder.updates.count <= 1)
    }

    @Test @MainActor func `widgets measure until the budget is used up, at least one`() async {
        let (controller, recorder) = makeController(stored: (1...30).map { .sample($0) })
        var configuration = FlowConfiguration.test
        configuration.sizing.set(.view, of: .content)
        controller.submit(.configurationChanged(configuration))
        await run(controller, recorder) { controller.state.awaitsViewMeasuring }
        let clock = StepClock()
        var count = 0
        controller.measureViews(within: .milliseconds(2), clock: clock) { _ in
            count += 1
            clock.advance(by: .microseconds(700))
            return LayoutSize(width: 10, height: 10)
        }
        #expect(count == 3)
        controller.measureViews(within: .zero, clock: clock) { _ in
            count += 1
            return LayoutSize(width: 10, height: 10)
        }
        #expect(count == 4)
    }
}

@Suite struct `The mailbox` {
    @Test func `it wakes once and hands everything over in order`() {
        let wakes = Mutex(0)
        let mailbox = FlowMailbox { wakes.withLock { $0 += 1 } }
        for id in 1...5 { mailbox.submit(.deleted([MessageID(Int64(id))])) }
        let ids = mailbox.takeAll().compactMap {
            if case .deleted(let ids) = $0 { ids[0].rawValue } else { nil }
        }
        #expect(ids == [1, 2, 3, 4, 5])
        #expect(wakes.withLock { $0 } == 1)
        #expect(mailbox.isEmpty)
        mailbox.submit(.clockTicked)
        #expect(wakes.withLock { $0 } == 2)
    }

    @Test func `beyond its bound messages become one reload, and the reader's events still pass`() {
        let mailbox = FlowMailbox(trafficCountMax: 3) {}
        for id in 1...3 { #expect(mailbox.submit(.deleted([MessageID(Int64(id))]))) }
        #expect(!mailbox.submit(.deleted([MessageID(4)])))
        #expect(mailbox.submit(.latestRequested))
        let events = mailbox.takeAll()
        #expect(events.count == 5)
        guard case .reloadRequested? = events.last else { return #expect(Bool(false)) }
        #expect(mailbox.submit(.deleted([MessageID(5)])))
    }
}

/// A clock that stands still until it is moved.
private final class StepClock: Clock, Sendable {
    struct Instant: InstantProtocol {
        var offset: Duration

        func advanced(by duration: Duration) -> Instant { Instant(offset: offset + duration) }
        func duration(to other: Instant) -> Duration { other.offset - offset }
        static func < (left: Instant, right: Instant) -> Bool { left.offset < right.offset }
    }

    private let time = Mutex(Instant(offset: .zero))

    var now: Instant { time.withLock { $0 } }
    var minimumResolution: Duration { .nanoseconds(1) }

    func advance(by duration: Duration) {
        time.withLock { $0 = $0.advanced(by: duration) }
    }

    func sleep(until deadline: Instant, tolerance: Duration?) async throws {}
}
