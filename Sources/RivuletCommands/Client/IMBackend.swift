internal import Foundation
internal import RivuletClient
internal import RivuletClientCore
internal import RivuletEngine
internal import RivuletModel
internal import RivuletStore
internal import RivuletTransport
internal import Synchronization

/// A chat's other side for real: an account over a store in a file.
final class IMBackend: ChatBackend {
    let events: AsyncStream<ChatModel.Event>
    private let feed: AsyncStream<ChatModel.Event>.Continuation
    private let options: ClientOptions
    private let now: @Sendable () -> Int64
    private let state = Mutex<Running?>(nil)

    private struct Running {
        let lock: AccountLock
        let account: ChatAccount
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
        var configuration = IMServiceConfiguration(
            endpoints: [ClientEndpoint(host: options.server.host, port: options.server.port)],
            identity: ClientIdentity(
                uid: options.user.rawValue, token: options.token, deviceID: options.device))
        configuration.sendsDeliveryReceipts = true
        configuration.transport = options.transport
        let account = ChatAccount(
            store: store, service: configuration, now: now, makeUUID: { UUID().uuidString.lowercased() })
        let changes = account.changes()
        let follower = try await ChangeFollower(store: store)
        let running = Running(
            lock: lock, account: account, forwarders: forwarders(account, changes, follower))
        state.withLock { $0 = running }
        guard account.start() else {
            await stop()
            throw CommandError("cannot connect: the system has no thread or file descriptor left")
        }
    }

    private func forwarders(
        _ account: ChatAccount, _ changes: AsyncStream<StoreChanges>, _ follower: ChangeFollower
    ) -> [Task<Void, Never>] {
        let statuses = account.service.notifications()
        return [
            Task { [feed] in
                var follower = follower
                for await change in changes {
                    for message in await follower.messages(of: change) { feed.yield(.message(message)) }
                }
            },
            Task { [feed, options] in
                var tracker = ConnectionTracker(server: options.server)
                for await notification in statuses {
                    if let connection = tracker.handle(notification) { feed.yield(.connection(connection)) }
                }
            },
        ]
    }

    func history(with peer: UserID, limit: Int) async throws -> [Message] {
        guard let account = state.withLock({ $0?.account }) else { return [] }
        return try await account.history(.peer(peer), limit: limit).messages
    }

    func send(_ text: String, to peer: UserID) async throws -> String {
        guard let account = state.withLock({ $0?.account }) else { throw CommandError("the chat is over") }
        do {
            return try account.post(.text(text), to: .peer(peer))
        } catch let error as IMServiceError {
            throw CommandError(error.words)
        }
    }

    func stop() async {
        guard let running = state.withLock({ exchange(&$0, with: nil) }) else { return feed.finish() }
        await running.account.close()
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
        case .statusChanged(let status): return connection(status)
        default: return nil
        }
    }

    private mutating func connection(_ status: ConnectionStatus) -> ChatConnection? {
        switch status.state {
        case .connecting: return .connecting
        case .authenticated:
            reason = ""
            return .connected
        case .connectFail, .unconnected:
            return .offline(reason: reason, retrySeconds: status.retryDelay.map(Self.seconds))
        case .authenticationFail:
            return .ended(
                reason: "the server refused the token; ask for another one ('rivulet token create')")
        case .kicked: return .ended(reason: "another login took the place of this one")
        default: return nil
        }
    }

    /// Whole seconds, rounded: nobody watches tenths.
    private static func seconds(_ delay: Duration) -> Int {
        Int((Double(delay.components.seconds) + Double(delay.components.attoseconds) * 1e-18).rounded())
    }

    /// Why a connection could not be made.
    private func reason(_ reason: CloseReason?) -> String {
        switch reason?.rawValue {
        case "refused": "nobody listens at \(server)"
        case "tls_wrong_host": "the certificate of \(server) is for another host"
        case "tls_expired", "tls_not_yet_valid": "the certificate of \(server) is not valid at this time"
        case "tls_unknown_authority":
            "the certificate of \(server) is signed by nobody who is trusted; name its authority with --ca"
        case "tls_wrong_pin": "the key of \(server) is none of the pinned ones"
        case "tls_not_tls", "tls_truncated": "\(server) does not speak TLS"
        case "proxy_authentication": "the proxy wants another user or password"
        case "proxy_refused": "the proxy does not let through to \(server)"
        case "proxy_protocol": "the proxy does not speak what --proxy says"
        case let other? where other.hasPrefix("tls_"): "TLS with \(server) failed (\(other))"
        default: "\(server) cannot be reached"
        }
    }

    private func text(_ diagnostic: ClientDiagnostic) -> String? {
        switch diagnostic.code {
        case .resolveFailed: "the address of \(server.host) cannot be found"
        case .connectFailed:
            reason(diagnostic.closeReason)
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
