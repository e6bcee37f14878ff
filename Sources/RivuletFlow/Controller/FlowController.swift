public import RivuletModel

/// Sees what a flow shows.
@MainActor
public protocol FlowObserver: AnyObject {
    /// The rows changed, in one step.
    func flow(_ controller: FlowController, didApply update: FlowUpdate)
    /// What is shown around the rows changed.
    func flow(_ controller: FlowController, didShow state: FlowViewState)
    /// A message that was asked for is not there any more.
    func flow(_ controller: FlowController, didMiss message: MessageID)
    /// A page could not be had.
    func flow(_ controller: FlowController, didFail request: FlowLoadRequest, with failure: FlowFailure)
}

extension FlowObserver {
    /// Nothing.
    public func flow(_ controller: FlowController, didShow state: FlowViewState) {}
    /// Nothing.
    public func flow(_ controller: FlowController, didMiss message: MessageID) {}
    /// Nothing.
    public func flow(
        _ controller: FlowController, didFail request: FlowLoadRequest, with failure: FlowFailure
    ) {}
}

/// Drives a ``FlowCore``: takes events from any thread, applies them on the main actor one batch at a time, and
/// performs what the core asks for.
///
/// Its owner runs it for as long as the session is on screen, and may drain it in every frame besides:
///
/// ```swift
/// let controller = FlowController(session: session) { request in try await engine.page(request) }
/// controller.addObserver(view)
/// let running = Task { await controller.run() }
/// controller.submit(.resized(LayoutSize(width: 700, height: 600)))
/// controller.submit(.opened(.latest))
/// ```
///
/// An event that an observer submits during an apply is handled after it.
@MainActor
public final class FlowController {
    /// Fetches a page.
    public typealias Loader = @Sendable (FlowLoadRequest) async throws -> MessagePage

    private struct WeakObserver {
        weak var observer: (any FlowObserver)?
    }

    /// What is done outside of the main actor.
    private enum Work {
        case load(FlowLoadRequest)
        case measure([MeasureRequest])
        case wait(untilMilliseconds: Int64)
    }

    /// How many batches one call of ``drain()`` handles before it leaves the rest to the next.
    public static let roundCountMax = 32
    private nonisolated static let measureChunk = 64

    /// The session.
    public nonisolated let session: Session
    /// Where events are submitted.
    public nonisolated let mailbox: FlowMailbox

    private var core: FlowCore
    private var observers: [WeakObserver] = []
    private var work: [Work] = []
    private var isDraining = false
    private let load: Loader
    private let clock: any Clock<Duration>
    private let now: @Sendable () -> Int64
    private let wake = WakeSignal()

    /// Makes the controller of a session's flow.
    ///
    /// - Parameters:
    ///   - session: The session.
    ///   - configuration: What the host decides.
    ///   - trafficCountMax: The bound of the mailbox.
    ///   - clock: By which it waits for the next day.
    ///   - now: The time in milliseconds since 1970.
    ///   - load: Fetches a page; a thrown ``FlowFailure`` is shown as it is, any other error by its type's name.
    public init(
        session: Session, configuration: FlowConfiguration = FlowConfiguration(),
        trafficCountMax: Int = 16_384,
        clock: any Clock<Duration> = ContinuousClock(), now: @escaping @Sendable () -> Int64,
        load: @escaping Loader
    ) {
        mailbox = FlowMailbox(trafficCountMax: trafficCountMax) { [wake] in wake.give() }
        core = FlowCore(session: session, configuration: configuration)
        self.session = session
        self.load = load
        self.clock = clock
        self.now = now
    }

    // MARK: what is shown

    /// The rows.
    public var snapshot: FlowSnapshot { core.snapshot }
    /// What is shown around them.
    public var state: FlowViewState { core.state }
    /// Where the reader is, to be restored when the session is opened again.
    public var position: FlowPosition { core.position }
    /// The offset at which the viewport should be.
    public var offset: Double { core.offset }
    /// The least and the greatest offset.
    public var offsetRange: ClosedRange<Double> { core.offsetRange }
    /// What the host decided.
    public var configuration: FlowConfiguration { core.configuration }
    /// How well the layout snapshots serve.
    public var snapshotCounters: LayoutSnapshots.Counters { core.snapshotCounters }

    /// The frames of the components of a message's row; nil when the message is not shown.
    public func rowLayout(of id: MessageID) -> RowLayout? {
        core.rowLayout(of: id)
    }

    // MARK: observers

    /// Adds an observer, which is held weakly; adding it twice is adding it once.
    public func addObserver(_ observer: any FlowObserver) {
        observers.removeAll { $0.observer == nil }
        guard !observers.contains(where: { $0.observer === observer }) else { return }
        observers.append(WeakObserver(observer: observer))
    }

    /// Removes an observer; also allowed while it is being told something.
    public func removeObserver(_ observer: any FlowObserver) {
        observers.removeAll { $0.observer == nil || $0.observer === observer }
    }

    private func notify(_ body: (any FlowObserver) -> Void) {
        for entry in observers {
            guard let observer = entry.observer,
                observers.contains(where: { $0.observer === observer })
            else { continue }
            body(observer)
        }
    }

    // MARK: events

    /// Submits an event, from any thread; it is handled by the next drain.
    ///
    /// - Returns: Whether it was taken; see ``FlowMailbox``.
    @discardableResult
    public nonisolated func submit(_ event: FlowEvent) -> Bool {
        mailbox.submit(event)
    }

    /// Handles an event now, after those that were submitted before; during an apply it waits for its end.
    ///
    /// Scrolling comes this way: its answer belongs into the frame that is being made.
    public func handle(_ event: FlowEvent) {
        mailbox.submit(event, wakes: isDraining)
        drain()
    }

    /// Handles what was submitted so far, in one apply per batch; does nothing when called during an apply.
    public func drain() {
        guard !isDraining else { return }
        isDraining = true
        defer { isDraining = false }
        for _ in 0..<Self.roundCountMax {
            let events = mailbox.takeAll()
            guard !events.isEmpty else { break }
            for action in core.handle(events, at: now()) { perform(action) }
        }
        // Work that came up, and whatever is left, is for `run()`.
        if !work.isEmpty || !mailbox.isEmpty { wake.give() }
    }

    /// Lets widgets measure rows until the budget is used up, at least one; the rows in view come first.
    ///
    /// - Parameters:
    ///   - budget: How long it may take in this frame.
    ///   - clock: By which the time is measured.
    ///   - measure: Sizes one component; nil when it cannot.
    /// - Returns: Whether rows still wait.
    @discardableResult
    public func measureViews<C: Clock>(
        within budget: Duration, clock: C, measure: (MeasureRequest) -> LayoutSize?
    ) -> Bool where C.Duration == Duration {
        let start = clock.now
        var answers: [Measurement] = []
        for request in core.viewRequests(countMax: Self.measureChunk) {
            answers.append(Measurement(to: request, size: measure(request)))
            if start.duration(to: clock.now) >= budget { break }
        }
        if !answers.isEmpty {
            submit(.measured(answers))
            drain()
        }
        return core.state.awaitsViewMeasuring
    }

    private func perform(_ action: FlowAction) {
        switch action {
        case .load(let request): work.append(.load(request))
        case .cancelLoad(let ticket):
            work.removeAll { if case .load(let request) = $0 { request.ticket == ticket } else { false } }
        case .measure(let requests): work.append(.measure(requests))
        case .setDeadline(let milliseconds): work.append(.wait(untilMilliseconds: milliseconds))
        case .apply(let update): notify { $0.flow(self, didApply: update) }
        case .show(let state): notify { $0.flow(self, didShow: state) }
        case .reportMissing(let message): notify { $0.flow(self, didMiss: message) }
        case .reportFailure(let request, let failure):
            notify { $0.flow(self, didFail: request, with: failure) }
        }
    }

    // MARK: work

    /// Drives the flow until the task is cancelled: drains when something was submitted, fetches pages and sizes
    /// components off the main actor.
    ///
    /// Run it once at a time; it may be run again after it ended.
    public func run() async {
        let wakeups = wake.listen()
        await withDiscardingTaskGroup { group in
            for await _ in wakeups {
                drain()
                let items = work
                work = []
                for item in items { start(item, in: &group) }
                // More than a round's worth was submitted by observers: give others a turn and go on.
                if !mailbox.isEmpty { wake.give() }
            }
            group.cancelAll()
        }
        wake.stopListening()
    }

    private func start(_ item: Work, in group: inout DiscardingTaskGroup) {
        let mailbox = mailbox
        switch item {
        case .load(let request):
            let load = load
            group.addTask { await Self.fetch(request, with: load, into: mailbox) }
        case .measure(let requests):
            let sizing = core.configuration.sizing
            group.addTask { await Self.measure(requests, with: sizing, into: mailbox) }
        case .wait(let milliseconds):
            let clock = clock
            let duration = Duration.milliseconds(max(0, milliseconds - now()))
            group.addTask {
                // A cancelled wait has nothing left to tell: the flow is not driven any more.
                guard (try? await clock.sleep(for: duration)) != nil else { return }
                mailbox.submit(.clockTicked)
            }
        }
    }

    @concurrent
    private nonisolated static func fetch(
        _ request: FlowLoadRequest, with load: Loader, into mailbox: FlowMailbox
    ) async {
        do {
            mailbox.submit(.pageLoaded(request.ticket, try await load(request)))
        } catch let failure as FlowFailure {
            mailbox.submit(.pageFailed(request.ticket, failure))
        } catch {
            mailbox.submit(.pageFailed(request.ticket, FlowFailure(code: "\(type(of: error))")))
        }
    }

    @concurrent
    private nonisolated static func measure(
        _ requests: [MeasureRequest], with sizing: SizingTable, into mailbox: FlowMailbox
    ) async {
        for start in stride(from: 0, to: requests.count, by: measureChunk) {
            let chunk = requests[start..<min(start + measureChunk, requests.count)]
            // Every request gets an answer, also one that a changed table no longer measures by value.
            mailbox.submit(
                .measured(chunk.map { sizing.measure($0) ?? Measurement(to: $0, size: nil) }))
        }
    }
}
