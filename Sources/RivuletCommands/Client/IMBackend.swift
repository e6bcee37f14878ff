internal import Foundation
internal import RivuletClient
internal import RivuletClientCore
internal import RivuletEngine
internal import RivuletModel
internal import RivuletStore
internal import RivuletTransport
internal import RivuletWire
internal import Synchronization

/// A chat's other side for real: the client over a store in a file.
final class IMBackend: ChatBackend {
    let events: AsyncStream<ChatModel.Event>
    private let feed: AsyncStream<ChatModel.Event>.Continuation
    private let options: ClientOptions
    private let now: @Sendable () -> Int64
    private let codec = ContentCodec()
    private let state = Mutex<Running?>(nil)

    private struct Running {
        let lock: StoreLock
        let store: any AccountStore
        let service: IMService
        let forwarders: [Task<Void, Never>]
    }

    init(_ options: ClientOptions, now: @escaping @Sendable () -> Int64) {
        self.options = options
        self.now = now
        (events, feed) = AsyncStream.makeStream()
    }

    func start() async throws {
        let file = StoreFile(folder: options.store, user: options.user, server: options.server)
        let lock = try file.lock()
        let store = try file.open()
        let changes = store.changes()
        let identity = ClientIdentity(
            uid: options.user.rawValue, token: options.token, deviceID: options.device)
        let configuration = IMServiceConfiguration(
            endpoints: [ClientEndpoint(host: options.server.host, port: options.server.port)],
            identity: identity)
        let service = IMService(
            configuration: configuration, storage: AccountStorage(store: store, codec: codec, now: now))
        let notifications = service.notifications()
        let forwarders = [
            Task { [feed] in
                for await change in changes {
                    for message in change.inserted + change.updated { feed.yield(.message(message)) }
                }
            },
            Task { [feed, options] in
                var tracker = ConnectionTracker(server: options.server)
                for await notification in notifications {
                    if let connection = tracker.handle(notification) { feed.yield(.connection(connection)) }
                }
            },
        ]
        state.withLock {
            $0 = Running(lock: lock, store: store, service: service, forwarders: forwarders)
        }
        guard service.start() else {
            await stop()
            throw CommandError("cannot connect: the system has no thread or file descriptor left")
        }
    }

    func history(with peer: UserID, limit: Int) async throws -> [Message] {
        guard let store = state.withLock({ $0?.store }) else { return [] }
        return try await store.page(PageQuery(session: .peer(peer), limit: limit)).messages
    }

    func send(_ text: String, to peer: UserID) async throws -> String {
        guard let service = state.withLock({ $0?.service }) else { throw CommandError("the chat is over") }
        let uuid = UUID().uuidString.lowercased()
        let content = try codec.encode(.text(text), envelope: ContentEnvelope(uuid: uuid))
        let message = IMMessage(sender: options.user.rawValue, receiver: peer.rawValue, content: content)
        do {
            try service.enqueue(.peer(message, uuid: uuid, flags: .text))
        } catch let error as IMServiceError {
            throw CommandError(error.words)
        }
        return uuid
    }

    func stop() async {
        guard let running = state.withLock({ exchange(&$0, with: nil) }) else { return feed.finish() }
        await running.service.stopAndWait()
        await running.store.close()
        for forwarder in running.forwarders { forwarder.cancel() }
        running.lock.release()
        feed.finish()
    }
}

/// What the client tells of its connection, in the words of a chat.
struct ConnectionTracker {
    private let server: Endpoint
    private var reason = ""

    init(server: Endpoint) {
        self.server = server
    }

    mutating func handle(_ notification: ClientNotification) -> ChatConnection? {
        switch notification {
        case .diagnostic(let diagnostic):
            if let text = text(diagnostic) { reason = text }
            return nil
        case .stateChanged(let state): return connection(state)
        default: return nil
        }
    }

    private mutating func connection(_ state: ConnectionState) -> ChatConnection? {
        switch state {
        case .connecting: return .connecting
        case .authenticated:
            reason = ""
            return .connected
        case .connectFail, .unconnected: return .offline(reason: reason, retrySeconds: nil)
        case .authenticationFail:
            return .ended(
                reason: "the server refused the token; ask for another one ('rivulet token create')")
        case .kicked: return .ended(reason: "another login took the place of this one")
        default: return nil
        }
    }

    private func text(_ diagnostic: ClientDiagnostic) -> String? {
        switch diagnostic.code {
        case .resolveFailed: "the address of \(server.host) cannot be found"
        case .connectFailed:
            diagnostic.closeReason == .refused
                ? "nobody listens at \(server)" : "\(server) cannot be reached"
        case .connectionLost: "the connection was lost"
        case .loginTimedOut: "\(server) does not answer the login"
        case .pingTimedOut, .acknowledgementTimedOut: "the server does not answer"
        case .malformedFrame: "\(server) does not speak this protocol"
        case .restoreFailed, .commitFailed: "the store cannot be used"
        case .loginNotEncodable: "the token or the device name is too long"
        default: nil
        }
    }
}

extension IMServiceError {
    /// The reason in words.
    var words: String {
        switch code {
        case .notEncodable: "the text is too long; the server takes about 32 KiB"
        case .outboxFull: "too many messages wait already"
        case .notStarted, .stopped: "the chat is over"
        default: description
        }
    }
}
