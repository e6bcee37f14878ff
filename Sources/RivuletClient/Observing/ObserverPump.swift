internal import RivuletClientCore
internal import RivuletWire
internal import Synchronization

/// Carries notifications to the observers: one queue, one task at a time, on the main actor.
///
/// A batch of notifications costs one hop to the main actor, however many it holds.
final class ObserverPump: Sendable {
    private struct State {
        var waiting: [ClientNotification] = []
        var isRunning = false
        var idleWaiters: [CheckedContinuation<Void, Never>] = []
    }

    let connections = ObserverList<any ConnectionObserver>()
    let peers = ObserverList<any PeerMessageObserver>()
    let groups = ObserverList<any GroupMessageObserver>()
    let rooms = ObserverList<any RoomMessageObserver>()
    let live = ObserverList<any RTMessageObserver>()
    let systems = ObserverList<any SystemMessageObserver>()
    let notifications = ObserverList<any NotificationObserver>()
    private let state = Mutex(State())

    private var hasObservers: Bool {
        !(connections.isEmpty && peers.isEmpty && groups.isEmpty && rooms.isEmpty && live.isEmpty
            && systems.isEmpty && notifications.isEmpty)
    }

    /// Tells observers in due course; without any, the main actor is left alone.
    func push(_ notifications: [ClientNotification]) {
        guard hasObservers else { return }
        let mustStart = state.withLock { state in
            state.waiting += notifications
            defer { state.isRunning = true }
            return !state.isRunning
        }
        // It ends by itself once nothing waits.
        if mustStart { Task { @MainActor in run() } }
    }

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
        while let batch = takeBatch() {
            for notification in batch { tell(notification) }
        }
    }

    private func takeBatch() -> [ClientNotification]? {
        let (batch, waiters) = state.withLock { state in
            guard state.waiting.isEmpty else {
                defer { state.waiting = [] }
                return (Optional(state.waiting), [CheckedContinuation<Void, Never>]())
            }
            state.isRunning = false
            defer { state.idleWaiters = [] }
            return (nil, state.idleWaiters)
        }
        for waiter in waiters { waiter.resume() }
        return batch
    }

    @MainActor
    private func tell(_ notification: ClientNotification) {
        switch notification {
        case .stateChanged(let state): connections.forEach { $0.onConnectState(state) }
        case .message(let message): tell(message)
        case .livePacket(let packet): tell(packet)
        case .sendChanged(let report): tell(report)
        case .roundFinished, .diagnostic: break
        }
    }

    @MainActor
    private func tell(_ message: ReceivedMessage) {
        switch (message.command, message.body) {
        case (.im, .im(let body)): peers.forEach { $0.onPeerMessage(body) }
        case (.groupIM, .im(let body)): groups.forEach { $0.onGroupMessage(body) }
        case (.groupNotification, .text(let text)): groups.forEach { $0.onGroupNotification(text) }
        case (.system, .text(let text)): systems.forEach { $0.onSystemMessage(text) }
        default: break
        }
    }

    @MainActor
    private func tell(_ packet: Packet) {
        switch (packet.command, packet.body) {
        case (.rt, .room(let body)): live.forEach { $0.onRTMessage(body) }
        case (.roomIM, .room(let body)): rooms.forEach { $0.onRoomMessage(body) }
        case (.notification, .text(let text)): notifications.forEach { $0.onNotification(text) }
        case (.inputing, .inputing(let body)): peers.forEach { $0.onPeerInputing(body.sender) }
        default: break
        }
    }

    @MainActor
    private func tell(_ report: SendReport) {
        guard report.step.isLast else { return }
        let isAccepted = report.step == .acknowledged
        switch (report.entry.command, report.entry.body) {
        case (.im, .im(let body)):
            peers.forEach {
                if isAccepted {
                    $0.onPeerMessageACK(body.msgLocalID, uid: body.receiver)
                } else {
                    $0.onPeerMessageFailure(body.msgLocalID, uid: body.receiver)
                }
            }
        case (.groupIM, .im(let body)):
            groups.forEach {
                if isAccepted {
                    $0.onGroupMessageACK(body.msgLocalID, gid: body.receiver)
                } else {
                    $0.onGroupMessageFailure(body.msgLocalID, gid: body.receiver)
                }
            }
        case (.roomIM, .room(let body)):
            rooms.forEach { isAccepted ? $0.onRoomMessageACK(body) : $0.onRoomMessageFailure(body) }
        default: break
        }
    }
}
