import Synchronization
import Testing
import UVKit

/// Stands between a client and a server, and can treat a connection as networks do.
final class Proxy: Sendable {
    enum Mode {
        case forwarding
        /// Takes bytes and passes none on, without telling anyone.
        case silent
        /// Passes this many more bytes to the client, then breaks the connection.
        case cutting(afterBytesToClient: Int)
        /// Passes this many more bytes to the server, then breaks the connection.
        case cuttingUpstream(afterBytesToServer: Int)
    }

    private static let loop: EventLoop? = {
        do {
            let loop = try EventLoop()
            try loop.start()
            return loop
        } catch {
            return nil
        }
    }()

    private struct State {
        var mode = Mode.forwarding
        var connectionCount = 0
        var listener: Listener?
    }

    let port: UInt16
    private let state: Mutex<State>
    private let loop: EventLoop

    init(to serverPort: UInt16) async throws {
        let loop = try #require(Self.loop)
        let accept = Mutex<(@Sendable (TCPStream) -> Void)?>(nil)
        let listener = try await loop.perform {
            try Listener(on: SocketAddress(host: "127.0.0.1", port: 0), loop: loop) { client in
                accept.withLock { $0 }?(client)
            }
        }
        self.loop = loop
        port = listener.address.port
        state = Mutex(State(listener: listener))
        let box = WeakProxy(self)
        accept.withLock { $0 = { client in box.proxy?.join(client, to: serverPort) } }
    }

    var connectionCount: Int { state.withLock { $0.connectionCount } }

    func set(_ mode: Mode) {
        state.withLock { $0.mode = mode }
    }

    func close() async throws {
        let listener = state.withLock { $0.listener }
        try await loop.perform { listener?.close() }
    }

    private func join(_ client: TCPStream, to serverPort: UInt16) {
        // A new connection is a healthy one again, once the last fault has struck.
        state.withLock { state in
            state.connectionCount += 1
            if case .silent = state.mode { state.mode = .forwarding }
        }
        do {
            let server = try TCPStream.connect(
                to: SocketAddress(host: "127.0.0.1", port: serverPort), on: loop)
            server.onOpened = {
                server.resumeReading()
                client.resumeReading()
            }
            client.onRead = { [self] bytes in forward([UInt8](bytes), from: client, to: server, isUp: true) }
            server.onRead = { [self] bytes in forward([UInt8](bytes), from: server, to: client, isUp: false) }
            client.onClosed = { _ in server.close() }
            server.onClosed = { _ in client.close() }
        } catch {
            client.close()
        }
    }

    private func forward(_ bytes: [UInt8], from source: TCPStream, to target: TCPStream, isUp: Bool) {
        let (count, mustCut) = state.withLock { state in allowance(bytes.count, isUp, &state) }
        target.write(Array(bytes.prefix(count)))
        guard mustCut else { return }
        source.close()
        target.close()
    }

    private func allowance(_ count: Int, _ isUp: Bool, _ state: inout State) -> (Int, Bool) {
        switch state.mode {
        case .forwarding: return (count, false)
        case .silent: return (0, false)
        case .cutting(let left) where !isUp:
            guard count < left else {
                state.mode = .forwarding
                return (left, true)
            }
            state.mode = .cutting(afterBytesToClient: left - count)
            return (count, false)
        case .cuttingUpstream(let left) where isUp:
            guard count < left else {
                state.mode = .forwarding
                return (left, true)
            }
            state.mode = .cuttingUpstream(afterBytesToServer: left - count)
            return (count, false)
        case .cutting, .cuttingUpstream: return (count, false)
        }
    }
}

private final class WeakProxy: Sendable {
    private let storage: Mutex<Box>

    private struct Box {
        weak var proxy: Proxy?
    }

    init(_ proxy: Proxy) {
        storage = Mutex(Box(proxy: proxy))
    }

    var proxy: Proxy? { storage.withLock { $0.proxy } }
}
