public import RivuletClientCore
public import RivuletTransport
internal import RivuletWire
internal import Synchronization

/// The client: between the transport below and the app above.
///
/// It logs in, keeps the connection alive and makes it anew, sends and acknowledges, syncs what was missed, and tells
/// observers, in order and after the storage has everything. Use ``shared`` or as many instances as there are accounts.
///
/// ```swift
/// let configuration = IMServiceConfiguration(
///     endpoints: [ClientEndpoint(host: "im.example.org", port: 23000)],
///     identity: ClientIdentity(uid: 7, token: token, deviceID: "laptop"))
/// let service = IMService(configuration: configuration, storage: MemoryClientStorage())
/// service.addPeerMessageObserver(screen)
/// service.start()
/// try await service.send(.peer(IMMessage(sender: 7, receiver: 8, content: #"{"text":"hello"}"#)))
/// ```
///
/// Every method may be called on any thread and returns at once, but those marked `async`. What they ask for happens
/// in the order of the calls on one serial context. Observers are called on the main actor; streams give the same
/// events to tasks.
public final class IMService: Sendable {
    private struct State {
        var configuration: IMServiceConfiguration
        var storage: any ClientStorage
        var transport: (any ClientTransport)?
        var runtime: ClientRuntime?
        var ownedContext: OwnedContext?
        var isStarted = false
        var isInBackground = false
        var isReachable = true
        var room: Int64?
        var reachabilityTask: Task<Void, Never>?
        var lastTicket: UInt64 = 0
    }

    /// The instance of an app with one account; give it a ``configuration`` and a ``storage`` before its first start.
    public static let shared = IMService()

    let outlet = ClientOutlet()
    var handlers: HandlerBox { outlet.handlers }
    private let state: Mutex<State>

    /// Makes a service that has no server yet and keeps everything in memory.
    public convenience init() {
        let nobody = ClientIdentity(uid: 0, token: "", deviceID: "")
        self.init(
            configuration: IMServiceConfiguration(endpoints: [], identity: nobody),
            storage: MemoryClientStorage(receivedCountMax: 0))
    }

    /// Makes a service that rests until ``start()``.
    ///
    /// - Parameters:
    ///   - configuration: The servers, the user, times and limits.
    ///   - storage: Where messages, keys and unsent messages are kept.
    ///   - transport: How servers are reached; nil means TCP on a thread of the service's own.
    public init(
        configuration: IMServiceConfiguration, storage: any ClientStorage,
        transport: (any ClientTransport)? = nil
    ) {
        state = Mutex(State(configuration: configuration, storage: storage, transport: transport))
    }

    deinit {
        let (runtime, context) = state.withLock { state in
            state.reachabilityTask?.cancel()
            return (state.runtime, state.ownedContext)
        }
        runtime?.post(.stopped)
        context?.stop()
        outlet.finish()
    }

    // MARK: Properties

    /// The servers, times and limits; what is set after the first start counts for nothing but the identity.
    public var configuration: IMServiceConfiguration {
        get { state.withLock { $0.configuration } }
        set { state.withLock { $0.configuration = newValue } }
    }

    /// Where everything is kept; counts only before the first start.
    public var storage: any ClientStorage {
        get { state.withLock { $0.storage } }
        set { state.withLock { $0.storage = newValue } }
    }

    /// The name of this installation, stable over time; counts from the next start.
    public var deviceID: String {
        get { configuration.identity.deviceID }
        set { state.withLock { $0.configuration.identity.deviceID = newValue } }
    }

    /// The secret of the login; a new one counts at once, for the next login.
    public var token: String {
        get { configuration.identity.token }
        set {
            let runtime = state.withLock { state in
                state.configuration.identity.token = newValue
                return state.isStarted ? state.runtime : nil
            }
            runtime?.post(.tokenProvided(newValue))
        }
    }

    /// The user's id; counts from the next start, and must be the one that the storage belongs to.
    public var uid: Int64 {
        get { configuration.identity.uid }
        set { state.withLock { $0.configuration.identity.uid = newValue } }
    }

    /// The app's id, for apps with customer service; counts from the next start.
    public var appID: Int64 {
        get { configuration.identity.appID }
        set { state.withLock { $0.configuration.identity.appID = newValue } }
    }

    /// The state of the connection at this moment.
    public var connectionState: ConnectionState { outlet.connectionState }

    /// The state of the connection with the time until the next try, as it was when it last changed.
    public var connectionStatus: ConnectionStatus { outlet.connectionStatus }

    /// The last stored key of the user's own queue; 0 before the first sync round and in the seed profile.
    public var syncKey: Int64 { outlet.syncKey }

    // MARK: Life

    /// Connects, and stays connected until ``stop()``; does nothing when it is started already.
    ///
    /// - Returns: False when it cannot start: no server is configured, or the system has no thread left.
    @discardableResult
    public func start() -> Bool {
        guard let runtime = makeRuntime() else { return false }
        let identity: ClientIdentity? = state.withLock { state in
            guard !state.isStarted else { return nil }
            state.isStarted = true
            return state.configuration.identity
        }
        guard let identity else { return true }
        // The user may be another one than at the last start.
        outlet.configure(configuration)
        return runtime.post(.started(identity))
    }

    /// Gives the connection up and rests; what waits in the outbox is sent after the next start.
    ///
    /// Calls of ``send(_:)->_`` that still wait end with ``IMServiceError/Code/stopped``.
    public func stop() {
        markStopped()?.post(.stopped)
    }

    /// Stops, and returns when the storage has finished its last batch and observers were told everything.
    public func stopAndWait() async {
        await markStopped()?.stop()
        await outlet.pump.finished()
    }

    private func markStopped() -> ClientRuntime? {
        state.withLock { state in
            state.isStarted = false
            return state.runtime
        }
    }

    /// Connects again after ``enterBackground()``.
    public func enterForeground() {
        state.withLock { state in
            state.isInBackground = false
            return state.runtime
        }?.post(.enteredForeground)
    }

    /// Gives the connection up until ``enterForeground()``; messages may still be queued.
    public func enterBackground() {
        state.withLock { state in
            state.isInBackground = true
            return state.runtime
        }?.post(.enteredBackground)
    }

    /// Tells that the device has a network, or has none.
    ///
    /// When it moves to another network, tell of none and then of one: that makes a new connection.
    public func onReachabilityChange(_ isReachable: Bool) {
        state.withLock { state in
            state.isReachable = isReachable
            return state.runtime
        }?.post(.reachabilityChanged(isReachable))
    }

    /// Follows the configuration's ``IMServiceConfiguration/reachability``, as long as the service lives.
    ///
    /// - Returns: False when the configuration has none.
    @discardableResult
    public func startReachabilityNotifier() -> Bool {
        guard let source = configuration.reachability else { return false }
        state.withLock { state in
            guard state.reachabilityTask == nil else { return }
            let changes = source()
            state.reachabilityTask = Task { [weak self] in
                for await isReachable in changes { self?.onReachabilityChange(isReachable) }
            }
        }
        return true
    }

    /// The described name, spelt so there.
    @discardableResult
    public func startRechabilityNotifier() -> Bool {
        startReachabilityNotifier()
    }

    /// The runtime, made at the first need; nil when there is no server to reach or no way to reach one.
    private func makeRuntime() -> ClientRuntime? {
        var (existing, given, configuration, storage) = state.withLock {
            ($0.runtime, $0.transport, $0.configuration, $0.storage)
        }
        if let existing { return existing }
        rememberTokens(of: &configuration)
        outlet.configure(configuration)
        guard !configuration.core.endpoints.isEmpty else {
            configuration.logger.log(.error, "No server is configured")
            return nil
        }
        var owned: OwnedContext?
        if given == nil {
            do {
                owned = try OwnedContext(options: configuration.transport)
            } catch let error as TransportError {
                configuration.logger.log(
                    .error, "The transport's options cannot be followed", ["code": error.code])
                return nil
            } catch {
                configuration.logger.log(.error, "No event loop can be made")
                return nil
            }
        }
        guard let transport = given ?? owned?.transport else { return nil }
        let front = HandlerStorage(
            base: storage, handlers: handlers, context: { [pump = outlet.pump] in pump.context },
            keyStored: { [weak outlet] in outlet?.syncKey = $0 })
        let made = ClientRuntime(
            configuration: configuration, storage: front, transport: transport, outlet: outlet)
        return adopt(made, owned)
    }

    /// Lets a token that the source gave be the one of the next start, too.
    private func rememberTokens(of configuration: inout IMServiceConfiguration) {
        guard let source = configuration.tokenSource else { return }
        configuration.tokenSource = { [weak self] refusals in
            let token = await source(refusals)
            if let token { self?.state.withLock { $0.configuration.identity.token = token } }
            return token
        }
    }

    /// Keeps a new runtime unless another call was faster.
    private func adopt(_ made: ClientRuntime, _ owned: OwnedContext?) -> ClientRuntime {
        let (runtime, isInBackground, isReachable, room) = state.withLock { state in
            if state.runtime == nil {
                state.runtime = made
                state.ownedContext = owned
            }
            return (state.runtime ?? made, state.isInBackground, state.isReachable, state.room)
        }
        guard runtime === made else {
            owned?.stop()
            return runtime
        }
        if isInBackground { made.post(.enteredBackground) }
        if !isReachable { made.post(.reachabilityChanged(false)) }
        if let room { made.post(.roomEntered(room)) }
        return made
    }

    // MARK: For the other files

    /// The runtime while the service is started.
    var startedRuntime: ClientRuntime? {
        state.withLock { $0.isStarted ? $0.runtime : nil }
    }

    func setRoom(_ room: Int64?, when current: Int64? = nil) -> ClientRuntime? {
        state.withLock { state in
            if let current, state.room != current { return state.runtime }
            state.room = room
            return state.runtime
        }
    }

    func makeTicket() -> SendTicket {
        state.withLock { state in
            state.lastTicket += 1
            return SendTicket(rawValue: state.lastTicket)
        }
    }
}
