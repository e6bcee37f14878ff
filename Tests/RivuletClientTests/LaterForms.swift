import RivuletClient
import RivuletClientCore
import RivuletWire
import Synchronization

/// Implements the methods of observers that exist in a later form, in that form, and writes down what it is told.
@MainActor
final class LaterObserver: CallRecorder, ConnectionObserver, PeerMessageObserver, GroupMessageObserver {
    private(set) var calls: [String] = []
    nonisolated let stream: AsyncStream<String>
    private nonisolated let feed: AsyncStream<String>.Continuation

    init() {
        (stream, feed) = AsyncStream.makeStream()
    }

    func observe(_ service: IMService) {
        service.addConnectionObserver(self)
        service.addPeerMessageObserver(self)
        service.addGroupMessageObserver(self)
    }

    private func note(_ call: String) {
        calls.append(call)
        feed.yield(call)
    }

    func onConnectionStatus(_ status: ConnectionStatus) { note("onConnectionStatus \(status.state)") }
    func onPeerMessageACK(_ message: IMMessage, error: ACKStatus) {
        note("onPeerMessageACK \(message.msgLocalID) \(error.rawValue)")
    }
    func onPeerMessageFailure(_ message: IMMessage) { note("onPeerMessageFailure \(message.msgLocalID)") }
    func onPeerTyping(_ typing: PeerTyping) {
        note("onPeerTyping \(typing.uid) \(typing.groupID ?? 0) \(typing.isOn)")
    }
    func onGroupMessages(_ messages: [IMMessage]) {
        for message in messages { note("onGroupMessages \(message.receiver) \(message.content)") }
    }
    func onGroupMessageACK(_ message: IMMessage, error: ACKStatus) {
        note("onGroupMessageACK \(message.msgLocalID) \(error.rawValue)")
    }
    func onGroupMessageFailure(_ message: IMMessage) { note("onGroupMessageFailure \(message.msgLocalID)") }
}

/// Implements the methods of handlers that exist in a later form, in that form, and writes down what it is asked.
final class LaterHandler: IMPeerMessageHandler, IMGroupMessageHandler, IMSyncKeyHandler {
    private let state = Mutex<[String]>([])

    var calls: [String] { state.withLock { $0 } }

    func handle(_ service: IMService) {
        service.peerMessageHandler = self
        service.groupMessageHandler = self
        service.syncKeyHandler = self
    }

    private func note(_ call: String) -> Bool {
        state.withLock { $0.append(call) }
        return true
    }

    func handleMessage(_ message: IMMessage, uid: Int64) -> Bool {
        note("handleMessage \(message.content) \(uid)")
    }
    func handleMessageACK(_ message: IMMessage, error: ACKStatus, uid: Int64) -> Bool {
        note("handleMessageACK \(message.msgLocalID) \(error.rawValue) \(uid)")
    }
    func handleMessageFailure(_ message: IMMessage, uid: Int64) -> Bool {
        note("handleMessageFailure \(message.msgLocalID) \(uid)")
    }
    func handleMessages(_ messages: [IMMessage]) -> Bool {
        messages.allSatisfy { note("handleMessages \($0.receiver) \($0.content)") }
    }
    func handleMessageACK(_ message: IMMessage, error: ACKStatus, gid: Int64) -> Bool {
        note("group handleMessageACK \(message.msgLocalID) \(error.rawValue) \(gid)")
    }
    func handleMessageFailure(_ message: IMMessage, gid: Int64) -> Bool {
        note("group handleMessageFailure \(message.msgLocalID) \(gid)")
    }
    func handleGroupNotification(_ text: String) -> Bool {
        note("handleGroupNotification")
    }
    func saveSyncKey(_ key: Int64) -> Bool { note("saveSyncKey") }
    func saveGroupSyncKey(_ key: Int64, gid: Int64) -> Bool { note("saveGroupSyncKey \(gid)") }
}
