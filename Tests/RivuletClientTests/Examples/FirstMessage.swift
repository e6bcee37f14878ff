import RivuletClient
import RivuletClientCore
import RivuletWire

// The program of the tutorial "From zero to the first message".

@MainActor
final class Screen: PeerMessageObserver, ConnectionObserver {
    private(set) var lines: [String] = []

    func onConnectState(_ state: ConnectionState) {
        lines.append("-- \(state)")
    }

    func onPeerMessage(_ message: IMMessage) {
        lines.append("\(message.sender): \(message.content)")
    }

    func onPeerMessageACK(_ msgLocalID: Int32, uid: Int64) {
        lines.append("-- \(uid) will get message \(msgLocalID)")
    }
}

func makeService(host: String, port: UInt16, user: Int64, token: String) -> IMService {
    let configuration = IMServiceConfiguration(
        endpoints: [ClientEndpoint(host: host, port: port)],
        identity: ClientIdentity(uid: user, token: token, deviceID: "laptop"))
    return IMService(configuration: configuration, storage: MemoryClientStorage())
}

@MainActor
func sendFirstMessage(
    host: String, port: UInt16, user: Int64, token: String, to friend: Int64
) async throws -> [String] {
    let service = makeService(host: host, port: port, user: user, token: token)
    let screen = Screen()
    service.addConnectionObserver(screen)
    service.addPeerMessageObserver(screen)
    service.start()

    let content = #"{"uuid":"5f0c9a52-7e0e-4d0c-8d7c-1f6f3f8a9b10","text":"hello"}"#
    let message = IMMessage(sender: user, receiver: friend, msgLocalID: 1, content: content)
    try await service.send(.peer(message, uuid: "5f0c9a52-7e0e-4d0c-8d7c-1f6f3f8a9b10", flags: .text))

    await service.stopAndWait()
    return screen.lines
}
