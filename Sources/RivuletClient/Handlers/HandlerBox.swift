internal import RivuletWire
internal import Synchronization

/// The app's handlers, held weakly, to be set on any thread.
final class HandlerBox: Sendable {
    /// The handlers of one batch, held while it is worked on.
    struct Handlers: Sendable {
        var peer: (any IMPeerMessageHandler)?
        var group: (any IMGroupMessageHandler)?
        var customer: (any IMCustomerMessageHandler)?
        var system: (any IMSystemMessageHandler)?
        var syncKey: (any IMSyncKeyHandler)?
        var rt: (any IMRTMessageHandler)?
        var room: (any IMRoomMessageHandler)?
        var notification: (any IMNotificationHandler)?
        var loginPoint: (any IMLoginPointHandler)?
        var onlineState: (any IMOnlineStateHandler)?
        var call: (any IMVOIPHandler)?
        var custom: [Command: CustomHandler] = [:]

        /// Whether a live event may go on to the observers.
        func accept(_ event: LiveEvent) -> Bool {
            switch event {
            case .rt(let message): rt?.handleRTMessage(message) ?? true
            case .room(let message): room?.handleRoomMessage(message) ?? true
            case .notification(let text): notification?.handleNotification(text) ?? true
            case .loginPoint(let point): loginPoint?.handleLoginPoint(point) ?? true
            case .onlineState(let state): onlineState?.handleOnlineState(state) ?? true
            case .call(let control): call?.handleVOIPControl(control) ?? true
            case .typing, .delivered, .presence: true
            case .custom(let packet): custom[packet.command]?(packet) ?? true
            }
        }
    }

    /// Calls an app's handler of one of its commands; nil when the handler is gone.
    typealias CustomHandler = @Sendable (Packet) -> Bool?

    private struct State {
        weak var peer: (any IMPeerMessageHandler)?
        weak var group: (any IMGroupMessageHandler)?
        weak var customer: (any IMCustomerMessageHandler)?
        weak var system: (any IMSystemMessageHandler)?
        weak var syncKey: (any IMSyncKeyHandler)?
        weak var rt: (any IMRTMessageHandler)?
        weak var room: (any IMRoomMessageHandler)?
        weak var notification: (any IMNotificationHandler)?
        weak var loginPoint: (any IMLoginPointHandler)?
        weak var onlineState: (any IMOnlineStateHandler)?
        weak var call: (any IMVOIPHandler)?
        var custom: [Command: CustomHandler] = [:]
    }

    private let state = Mutex(State())

    var handlers: Handlers {
        state.withLock {
            Handlers(
                peer: $0.peer, group: $0.group, customer: $0.customer, system: $0.system, syncKey: $0.syncKey,
                rt: $0.rt, room: $0.room, notification: $0.notification, loginPoint: $0.loginPoint,
                onlineState: $0.onlineState, call: $0.call, custom: $0.custom)
        }
    }

    func set(peer: (any IMPeerMessageHandler)?) { state.withLock { $0.peer = peer } }
    func set(group: (any IMGroupMessageHandler)?) { state.withLock { $0.group = group } }
    func set(customer: (any IMCustomerMessageHandler)?) { state.withLock { $0.customer = customer } }
    func set(system: (any IMSystemMessageHandler)?) { state.withLock { $0.system = system } }
    func set(syncKey: (any IMSyncKeyHandler)?) { state.withLock { $0.syncKey = syncKey } }
    func set(rt: (any IMRTMessageHandler)?) { state.withLock { $0.rt = rt } }
    func set(room: (any IMRoomMessageHandler)?) { state.withLock { $0.room = room } }
    func set(notification: (any IMNotificationHandler)?) { state.withLock { $0.notification = notification } }
    func set(loginPoint: (any IMLoginPointHandler)?) { state.withLock { $0.loginPoint = loginPoint } }
    func set(onlineState: (any IMOnlineStateHandler)?) { state.withLock { $0.onlineState = onlineState } }
    func set(call: (any IMVOIPHandler)?) { state.withLock { $0.call = call } }
    func set(custom handler: CustomHandler?, for command: Command) {
        state.withLock { $0.custom[command] = handler }
    }
}
