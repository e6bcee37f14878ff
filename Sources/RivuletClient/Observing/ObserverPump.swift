internal import RivuletClientCore
internal import RivuletWire
internal import Synchronization

/// Carries events to the observers: one queue, one task at a time, on the main actor.
///
/// A batch of events costs one hop to the main actor, however many it holds. While the main actor is busy the queue
/// grows to ``eventCountMax`` events or ``byteCountMax`` bytes; then the oldest are dropped, and observers of the
/// connection are told how many, and the newest state if that was among them.
final class ObserverPump: Sendable {
    static let eventCountMax = 8192
    static let byteCountMax = 32 << 20

    private struct State {
        var waiting: [ObservedEvent] = []
        var head = 0
        var byteCount = 0
        var lostCount = 0
        var lostState: ConnectionState?
        var lostStatus: ConnectionStatus?
        var isRunning = false
        var idleWaiters: [CheckedContinuation<Void, Never>] = []
        var context = ServiceContext()
        var dropped: @Sendable (Int) -> Void = { _ in }

        mutating func append(_ event: ObservedEvent) -> Int {
            waiting.append(event)
            byteCount += event.weight
            var droppedCount = 0
            while waiting.count - head > eventCountMax || byteCount > byteCountMax, head < waiting.count - 1 {
                dropOldest()
                droppedCount += 1
            }
            if head > eventCountMax {
                waiting.removeFirst(head)
                head = 0
            }
            return droppedCount
        }

        private mutating func dropOldest() {
            let oldest = waiting[head]
            head += 1
            byteCount -= oldest.weight
            lostCount += 1
            switch oldest {
            case .state(let state): lostState = state
            case .status(let status): lostStatus = status
            default: break
            }
        }

        mutating func take() -> [ObservedEvent] {
            var batch: [ObservedEvent] = []
            if lostCount > 0 {
                batch.append(.lost(lostCount))
                if let lostState { batch.append(.state(lostState)) }
                if let lostStatus { batch.append(.status(lostStatus)) }
            }
            batch += waiting[head...]
            waiting = []
            (head, byteCount, lostCount, lostState, lostStatus) = (0, 0, 0, nil, nil)
            return batch
        }
    }

    let connections = ObserverList<any ConnectionObserver>()
    let peers = ObserverList<any PeerMessageObserver>()
    let groups = ObserverList<any GroupMessageObserver>()
    let customers = ObserverList<any CustomerMessageObserver>()
    let rooms = ObserverList<any RoomMessageObserver>()
    let live = ObserverList<any RTMessageObserver>()
    let systems = ObserverList<any SystemMessageObserver>()
    let notifications = ObserverList<any NotificationObserver>()
    let loginPoints = ObserverList<any LoginPointObserver>()
    let onlineStates = ObserverList<any OnlineStateObserver>()
    /// The last one is told.
    let calls = ObserverList<any VOIPObserver>()
    let customs = CustomObservers()
    private let state = Mutex(State())

    private var hasObservers: Bool {
        !(connections.isEmpty && peers.isEmpty && groups.isEmpty && customers.isEmpty && rooms.isEmpty
            && live.isEmpty && systems.isEmpty && notifications.isEmpty && loginPoints.isEmpty
            && onlineStates.isEmpty && calls.isEmpty && customs.isEmpty)
    }

    var context: ServiceContext { state.withLock { $0.context } }

    /// - Parameters:
    ///   - context: How packets are to be read.
    ///   - dropped: Told how many events were dropped.
    func configure(_ context: ServiceContext, dropped: @escaping @Sendable (Int) -> Void) {
        state.withLock { state in
            state.context = context
            state.dropped = dropped
        }
    }

    /// Tells observers in due course; without any, the main actor is left alone.
    func push(_ events: [ObservedEvent]) {
        guard !events.isEmpty, hasObservers else { return }
        let (mustStart, droppedCount, dropped) = state.withLock { state in
            var droppedCount = 0
            for event in events { droppedCount += state.append(event) }
            defer { state.isRunning = true }
            return (!state.isRunning, droppedCount, state.dropped)
        }
        if droppedCount > 0 { dropped(droppedCount) }
        // It ends by itself once nothing waits.
        if mustStart { Task { @MainActor in run() } }
    }

    /// How many events wait.
    var waitingCount: Int { state.withLock { $0.waiting.count - $0.head } }

    /// Returns when everything pushed so far was told.
    func finished() async {
        await withCheckedContinuation { continuation in
            let isIdle = state.withLock { state in
                if state.isRunning { state.idleWaiters.append(continuation) }
                return !state.isRunning
            }
            if isIdle { continuation.resume() }
        }
    }

    @MainActor
    private func run() {
        while let batch = takeBatch() { tell(batch) }
    }

    private func takeBatch() -> [ObservedEvent]? {
        let (batch, waiters) = state.withLock { state in
            guard state.waiting.isEmpty else {
                return (Optional(state.take()), [CheckedContinuation<Void, Never>]())
            }
            state.isRunning = false
            defer { state.idleWaiters = [] }
            return (nil, state.idleWaiters)
        }
        for waiter in waiters { waiter.resume() }
        return batch
    }

    /// Group messages that follow each other are told together.
    @MainActor
    private func tell(_ batch: [ObservedEvent]) {
        var group: [IMMessage] = []
        func tellGroup() {
            guard !group.isEmpty else { return }
            groups.forEach { $0.onGroupMessages(group) }
            group = []
        }
        let context = context
        for event in batch {
            if case .message(let message) = event, message.command == .groupIM,
                case .im(let body) = message.body
            {
                group.append(body)
                guard message.isOwn, context.profile == .seed else { continue }
            }
            tellGroup()
            tell(event, context)
        }
        tellGroup()
    }
}
