import RivuletClient
import RivuletClientCore
import RivuletWire
import Synchronization

/// Writes down what it is told, for tests to wait on.
@MainActor
protocol CallRecorder {
    var calls: [String] { get }
    /// The same, as it comes; for one reader.
    nonisolated var stream: AsyncStream<String> { get }
}

extension CallRecorder {
    /// Waits until it was told this, now or before.
    func wait(for call: String) async throws {
        if calls.contains(call) { return }
        try await first(of: stream) { $0 == call }
    }

    /// Waits for a call that begins so.
    func wait(forPrefix prefix: String) async throws {
        if calls.contains(where: { $0.hasPrefix(prefix) }) { return }
        try await first(of: stream) { $0.hasPrefix(prefix) }
    }
}

/// Implements every method of every observer in its described form and writes down what it is told.
@MainActor
final class EveryObserver: CallRecorder, ConnectionObserver, PeerMessageObserver, GroupMessageObserver,
    RoomMessageObserver,
    CustomerMessageObserver, RTMessageObserver, SystemMessageObserver, NotificationObserver,
    LoginPointObserver,
    OnlineStateObserver, VOIPObserver
{
    private(set) var calls: [String] = []
    /// The same, for tests to wait on.
    nonisolated let stream: AsyncStream<String>
    private nonisolated let feed: AsyncStream<String>.Continuation

    init() {
        (stream, feed) = AsyncStream.makeStream()
    }

    private func note(_ call: String) {
        calls.append(call)
        feed.yield(call)
    }

    func observeEverything(of service: IMService) {
        service.addConnectionObserver(self)
        service.addPeerMessageObserver(self)
        service.addGroupMessageObserver(self)
        service.addRoomMessageObserver(self)
        service.addCustomerMessageObserver(self)
        service.addRTMessageObserver(self)
        service.addSystemMessageObserver(self)
        service.addNotificationObserver(self)
        service.addLoginPointObserver(self)
        service.addOnlineStateObserver(self)
        service.pushVOIPObserver(self)
    }

    func observeNothing(of service: IMService) {
        service.removeConnectionObserver(self)
        service.removePeerMessageObserver(self)
        service.removeGroupMessageObserver(self)
        service.removeRoomMessageObserver(self)
        service.removeCustomerMessageObserver(self)
        service.removeRTMessageObserver(self)
        service.removeSystemMessageObserver(self)
        service.removeNotificationObserver(self)
        service.removeLoginPointObserver(self)
        service.removeOnlineStateObserver(self)
        service.popVOIPObserver(self)
    }

    func onConnectState(_ state: ConnectionState) { note("onConnectState \(state)") }
    func onPeerMessage(_ message: IMMessage) { note("onPeerMessage \(message.content)") }
    func onPeerSecretMessage(_ message: IMMessage) { note("onPeerSecretMessage") }
    func onPeerMessageACK(_ msgLocalID: Int32, uid: Int64) { note("onPeerMessageACK \(msgLocalID) \(uid)") }
    func onPeerMessageFailure(_ msgLocalID: Int32, uid: Int64) {
        note("onPeerMessageFailure \(msgLocalID) \(uid)")
    }
    func onPeerInputing(_ uid: Int64) { note("onPeerInputing \(uid)") }
    func onPeerMessagesDelivered(_ delivery: PeerDelivery) {
        note("onPeerMessagesDelivered \(delivery.uid) \(delivery.msgLocalIDs) \(delivery.uuids)")
    }
    func onGroupMessage(_ message: IMMessage) {
        note("onGroupMessage \(message.receiver) \(message.content)")
    }
    func onGroupMessageACK(_ msgLocalID: Int32, gid: Int64) { note("onGroupMessageACK \(msgLocalID) \(gid)") }
    func onGroupMessageFailure(_ msgLocalID: Int32, gid: Int64) {
        note("onGroupMessageFailure \(msgLocalID) \(gid)")
    }
    func onGroupNotification(_ text: String) { note("onGroupNotification \(text)") }
    func onRoomMessage(_ message: RoomMessage) { note("onRoomMessage \(message.content)") }
    func onRoomMessageACK(_ message: RoomMessage) { note("onRoomMessageACK \(message.content)") }
    func onRoomMessageFailure(_ message: RoomMessage) { note("onRoomMessageFailure \(message.content)") }
    func onCustomerMessage(_ message: CustomerMessage) { note("onCustomerMessage \(message.line)") }
    func onCustomerSupportMessage(_ message: CustomerMessage) {
        note("onCustomerSupportMessage \(message.line)")
    }
    func onCustomerMessageACK(_ message: CustomerMessage) {
        note("onCustomerMessageACK \(message.msgLocalID) \(message.line)")
    }
    func onCustomerMessageFailure(_ message: CustomerMessage) {
        note("onCustomerMessageFailure \(message.msgLocalID) \(message.line)")
    }
    func onRTMessage(_ message: RTMessage) { note("onRTMessage \(message.content)") }
    func onSystemMessage(_ text: String) { note("onSystemMessage \(text)") }
    func onNotification(_ text: String) { note("onNotification \(text)") }
    func onLoginPoint(_ point: LoginPoint) {
        note("onLoginPoint \(point.upTimestamp) \(point.platformID.rawValue) \(point.deviceID)")
    }
    func onOnlineState(_ state: OnlineState) { note("onOnlineState \(state.uid) \(state.online)") }
    func onVOIPControl(_ control: VOIPControl) {
        note("onVOIPControl \(control.sender) \(String(decoding: control.content, as: UTF8.self))")
    }
}

/// Implements every method of every handler in its described form, writes down what it is asked, and can refuse.
final class EveryHandler: IMPeerMessageHandler, IMGroupMessageHandler, IMCustomerMessageHandler,
    IMSystemMessageHandler, IMSyncKeyHandler, IMRTMessageHandler, IMRoomMessageHandler, IMNotificationHandler,
    IMLoginPointHandler, IMOnlineStateHandler, IMVOIPHandler
{
    private struct State {
        var calls: [String] = []
        var refused: Set<String> = []
    }

    private let state = Mutex(State())

    var calls: [String] { state.withLock { $0.calls } }

    /// Refuses every call of the methods with these names from now on.
    func refuse(_ names: String...) {
        state.withLock { $0.refused = Set(names) }
    }

    func handleEverything(of service: IMService) {
        service.peerMessageHandler = self
        service.groupMessageHandler = self
        service.customerMessageHandler = self
        service.systemMessageHandler = self
        service.syncKeyHandler = self
        service.rtMessageHandler = self
        service.roomMessageHandler = self
        service.notificationHandler = self
        service.loginPointHandler = self
        service.onlineStateHandler = self
        service.voipHandler = self
    }

    private func note(_ name: String, _ facts: String) -> Bool {
        state.withLock { state in
            state.calls.append(facts.isEmpty ? name : "\(name) \(facts)")
            return !state.refused.contains(name)
        }
    }

    func handleMessage(_ message: IMMessage, uid: Int64) -> Bool {
        note("peer.handleMessage", "\(message.content) \(uid)")
    }
    func handleMessageACK(_ msgLocalID: Int32, uid: Int64) -> Bool {
        note("peer.handleMessageACK", "\(msgLocalID) \(uid)")
    }
    func handleMessageFailure(_ msgLocalID: Int32, uid: Int64) -> Bool {
        note("peer.handleMessageFailure", "\(msgLocalID) \(uid)")
    }
    func handleMessage(_ message: IMMessage) -> Bool {
        note("group.handleMessage", "\(message.receiver) \(message.content)")
    }
    func handleMessageACK(_ msgLocalID: Int32, gid: Int64) -> Bool {
        note("group.handleMessageACK", "\(msgLocalID) \(gid)")
    }
    func handleMessageFailure(_ msgLocalID: Int32, gid: Int64) -> Bool {
        note("group.handleMessageFailure", "\(msgLocalID) \(gid)")
    }
    func handleGroupNotification(_ text: String) -> Bool { note("handleGroupNotification", text) }
    func handleCustomerSupportMessage(_ message: CustomerMessage) -> Bool {
        note("handleCustomerSupportMessage", message.line)
    }
    func handleMessage(_ message: CustomerMessage) -> Bool { note("customer.handleMessage", message.line) }
    func handleMessageACK(_ message: CustomerMessage) -> Bool {
        note("customer.handleMessageACK", "\(message.msgLocalID) \(message.line)")
    }
    func handleMessageFailure(_ message: CustomerMessage) -> Bool {
        note("customer.handleMessageFailure", "\(message.msgLocalID) \(message.line)")
    }
    func handleSystemMessage(_ text: String) -> Bool { note("handleSystemMessage", text) }
    func saveSyncKey(_ key: Int64) -> Bool { note("saveSyncKey", "\(key)") }
    func saveGroupSyncKey(_ key: Int64, gid: Int64) -> Bool { note("saveGroupSyncKey", "\(key) \(gid)") }
    func handleRTMessage(_ message: RTMessage) -> Bool { note("handleRTMessage", message.content) }
    func handleRoomMessage(_ message: RoomMessage) -> Bool { note("handleRoomMessage", message.content) }
    func handleNotification(_ text: String) -> Bool { note("handleNotification", text) }
    func handleLoginPoint(_ point: LoginPoint) -> Bool { note("handleLoginPoint", point.deviceID) }
    func handleOnlineState(_ state: OnlineState) -> Bool { note("handleOnlineState", "\(state.uid)") }
    func handleVOIPControl(_ control: VOIPControl) -> Bool { note("handleVOIPControl", "\(control.sender)") }
}

extension CustomerMessage {
    /// The four numbers and the content.
    var line: String { "\(customerAppID)/\(customerID) \(storeID)/\(sellerID) \(content)" }
}
