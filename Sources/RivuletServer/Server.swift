public import RivuletServerCore
import Synchronization
import UVKit

/// A whole server, to run in a program of its own or inside another one.
///
/// ```swift
/// let server = Server(ServerConfiguration(data: DataDirectory(path: "/var/lib/rivulet")), logger: logger)
/// try await server.start()
/// print(server.addresses)
/// await server.stop()
/// ```
///
/// A message that was acknowledged is on disk, whatever happens afterwards. A server runs once.
public final class Server: Sendable {
    private enum State {
        case idle
        case running(Running)
        case stopped
    }

    private struct Running {
        var node: Node
        var lock: DataDirectoryLock
        var loops: [EventLoop]
        var workers: [LoopBound<LoopWorker>]
        var addresses: [ListenAddress]
        var tlsAddresses: [ListenAddress]
        var certificate: ServerCertificate?
        var http: HTTPListeners
        var admin: AdminSocket?
    }

    let configuration: ServerConfiguration
    let logger: ServerLogger
    let clock: @Sendable () -> WallTime
    private let state = Mutex(State.idle)

    /// Makes a server that does not run yet.
    ///
    /// - Parameters:
    ///   - configuration: What is to be set.
    ///   - logger: Takes what the server has to say.
    ///   - clock: The wall clock, by which messages are stamped.
    public init(
        _ configuration: ServerConfiguration, logger: ServerLogger = .silent,
        clock: @escaping @Sendable () -> WallTime = { WallTime.current }
    ) {
        self.configuration = configuration
        self.logger = logger
        self.clock = clock
    }

    /// Where the server listens, with real ports; empty while it does not run.
    public var addresses: [ListenAddress] {
        state.withLock { if case .running(let running) = $0 { running.addresses } else { [] } }
    }

    /// Where the server listens for clients over TLS, with real ports; empty while it does not run.
    public var tlsAddresses: [ListenAddress] {
        state.withLock { if case .running(let running) = $0 { running.tlsAddresses } else { [] } }
    }

    /// Where the server listens for HTTP, with real ports; empty while it does not run.
    public var httpAddresses: [ListenAddress] {
        state.withLock { if case .running(let running) = $0 { running.http.addresses } else { [] } }
    }

    /// The port of the first address; 0 while the server does not run.
    public var port: UInt16 {
        addresses.first?.port ?? 0
    }

    /// What the running server is made of.
    ///
    /// - Throws: ``ServerError`` with `notRunning`.
    func runningNode() throws -> Node {
        let node = state.withLock {
            if case .running(let running) = $0 { running.node } else { nil as Node? }
        }
        guard let node else { throw Self.notRunning }
        return node
    }

    static let notRunning = ServerError(.notRunning, "the server does not run")

    /// Opens the data folder and begins to listen.
    ///
    /// Whatever is thrown, nothing of the server is left running.
    ///
    /// - Throws: ``ServerError`` for what the person who runs it can mend; the system's own error when it gives no
    ///   event loop.
    public func start() async throws {
        let isFirst = state.withLock { if case .idle = $0 { true } else { false } }
        precondition(isFirst, "a server runs once")
        try check()
        let folder = configuration.data
        try folder.create()
        let lock = try folder.lock()
        let node = Node(configuration, logger: logger, clock: clock)
        try startThreads(of: node, folder)
        var loops: [EventLoop] = []
        do {
            for _ in 0..<configuration.loops {
                let loop = try EventLoop()
                try loop.start()
                loops.append(loop)
            }
            let workers = try await makeWorkers(on: loops, node)
            node.setWorkers(workers)
            let certificate = try readCertificate()
            let addresses = try await listen(workers, certificate)
            let http = try await HTTPListeners.start(for: self, node: node, resolvingOn: loops[0])
            state.withLock {
                $0 = .running(
                    Running(
                        node: node, lock: lock, loops: loops, workers: workers, addresses: addresses.plain,
                        tlsAddresses: addresses.secured, certificate: certificate, http: http))
            }
        } catch {
            for loop in loops { loop.stop() }
            for loop in loops { await loop.finished() }
            await Self.close(node)
            throw error
        }
        await startAdministration()
        logger.log(
            .info, "server started",
            addresses.map { ("listen", $0.description) } + tlsAddresses.map { ("tls", $0.description) }
                + httpAddresses.map { ("http", $0.description) })
    }

    /// Stops in order: takes nothing more, commits and acknowledges what it has taken, then closes everything.
    ///
    /// Calling it again, or before ``start()``, does nothing.
    public func stop() async {
        let running: Running? = state.withLock { state in
            guard case .running(let running) = state else { return nil }
            state = .stopped
            return running
        }
        guard let running else { return }
        await running.http.stop()
        if let admin = running.admin { await Self.stop(admin) }
        for worker in running.workers { await Self.perform(on: worker) { $0.stopTaking() } }
        // The last turn's events are with the node now, and what it gave to the log is done when this returns: the
        // answers are on their way to the loops.
        await Self.close(running.node)
        for worker in running.workers { await Self.finishWriting(worker) }
        for worker in running.workers { await Self.perform(on: worker) { $0.stop() } }
        for loop in running.loops { await loop.finished() }
        logger.log(.info, "server stopped")
    }

    /// Reads the certificate and its key again; connections go on with what they began with, new ones get the new one.
    ///
    /// - Throws: ``ServerError`` with `badConfiguration` for files that cannot be used, which changes nothing, or
    ///   `notRunning`. A server without TLS has nothing to read.
    public func reloadCertificate() throws {
        let certificate = try state.withLock { state throws(ServerError) in
            guard case .running(let running) = state else { throw Self.notRunning }
            return running.certificate
        }
        guard let certificate else { return }
        try certificate.reload()
        logger.log(.info, "certificate read again")
    }

    /// Lets the administration end with the server.
    func keep(_ admin: AdminSocket) {
        state.withLock { state in
            guard case .running(var running) = state else { return }
            running.admin = admin
            state = .running(running)
        }
    }

    // MARK: Starting

    private func check() throws {
        guard (1...min(64, ConnectionID.workersMax)).contains(configuration.loops) else {
            throw ServerError(.badConfiguration, "loops must lie between 1 and 64")
        }
        guard !configuration.listen.isEmpty || !configuration.listenTLS.isEmpty else {
            throw ServerError(.badConfiguration, "no address to listen on")
        }
        let allowed = FileDescriptorLimit.current
        guard allowed >= FileDescriptorLimit.least else {
            throw ServerError(
                .tooFewFileDescriptors,
                "the system allows \(allowed) open files, a server needs \(FileDescriptorLimit.least); "
                    + "raise the limit with ulimit -n")
        }
    }

    /// How many connections each loop takes.
    private var connectionsPerLoopMax: Int {
        let possible = max(1, FileDescriptorLimit.current - FileDescriptorLimit.reserve)
        return max(1, min(configuration.connectionsMax ?? possible, possible) / configuration.loops)
    }

    private func startThreads(of node: Node, _ folder: DataDirectory) throws {
        try startLog(of: node, folder)
        do {
            try node.accountThread.start(
                in: folder, clock: clock, metrics: node.metrics, logger: logger,
                answer: { connection, result in
                    node.deliver([.loginAnswered(connection, result)], to: connection.worker)
                })
        } catch {
            node.closeLog()
            throw error
        }
        do {
            try node.membershipThread.start(
                open: { try MembershipFile(in: folder) },
                opened: { node.begin(with: $0, lastRoomKey: RoomKeyMark.found(in: folder)) })
        } catch {
            node.closeLog()
            node.accountThread.close()
            throw error
        }
    }

    private func startLog(of node: Node, _ folder: DataDirectory) throws {
        let path = folder.messagesPath
        var settings = LogSettings(clock: clock)
        settings.pageLimit = configuration.pageLimit
        settings.retentionMilliseconds = configuration.retentionDays.map { Int64($0) * 86_400_000 }
        settings.logger = logger
        settings.metrics = node.metrics
        settings.checkpointer = node.checkpointer
        do {
            try node.logThread.start(
                open: { [clock] in
                    try SQLiteMessageLog(path: path, mark: KeyMark(path: folder.keysPath), openedAt: clock())
                }, settings, answer: { node.deliver($0, to: 0) })
            do {
                try node.checkpointer.start()
            } catch {
                node.logThread.close()
                throw error
            }
        } catch {
            throw DataDirectory.describe(error, path: path)
        }
    }

    private func makeWorkers(on loops: [EventLoop], _ node: Node) async throws -> [LoopBound<LoopWorker>] {
        var workers: [LoopBound<LoopWorker>] = []
        for (index, loop) in loops.enumerated() {
            let (configuration, connectionsMax) = (configuration, connectionsPerLoopMax)
            workers.append(
                try await loop.perform {
                    LoopBound(
                        try LoopWorker(
                            index: index, loop: loop, node: node, configuration: configuration,
                            connectionsMax: connectionsMax), loop: loop)
                })
        }
        return workers
    }

    private func listen(_ workers: [LoopBound<LoopWorker>], _ tls: ServerCertificate?) async throws -> (
        plain: [ListenAddress], secured: [ListenAddress]
    ) {
        let plain = try await listen(on: configuration.listen, tls: nil, workers)
        return (plain, try await listen(on: configuration.listenTLS, tls: tls, workers))
    }

    private func listen(
        on wanted: [ListenAddress], tls: ServerCertificate?, _ workers: [LoopBound<LoopWorker>]
    ) async throws -> [ListenAddress] {
        var addresses: [ListenAddress] = []
        let first = workers[0]
        for wanted in wanted {
            for address in try await AddressResolver.addresses(of: wanted, on: first.loop) {
                do {
                    let listener = try await first.loop.perform {
                        try first.value.listen(on: address, tls: tls)
                    }
                    for other in workers.dropFirst() {
                        try await other.loop.perform { try other.value.listen(sharing: listener, tls: tls) }
                    }
                    addresses.append(
                        ListenAddress(host: listener.address.host, port: listener.address.port))
                } catch let error as UVError {
                    throw Self.describe(error, wanted)
                }
            }
        }
        return addresses
    }

    private func readCertificate() throws -> ServerCertificate? {
        guard !configuration.listenTLS.isEmpty else { return nil }
        guard let files = configuration.tls else {
            throw ServerError(
                .badConfiguration, "TLS needs a certificate and its key (--tls-cert, --tls-key)")
        }
        return try ServerCertificate(files)
    }

    private static func describe(_ error: UVError, _ address: ListenAddress) -> ServerError {
        if error.code == .addressInUse {
            return ServerError(
                .addressInUse, "\(address) is in use by another program; name another address with --listen",
                underlying: error)
        }
        return ServerError(.addressUnusable, "cannot listen on \(address): \(error)", underlying: error)
    }

    // MARK: Stopping

    private static func stop(_ admin: AdminSocket) async {
        await withCheckedContinuation { continuation in
            BlockingWork.run {
                admin.stop()
                continuation.resume()
            }
        }
    }

    private static func perform(
        on worker: LoopBound<LoopWorker>, _ body: @escaping @Sendable (LoopWorker) -> Void
    ) async {
        do {
            try await worker.loop.perform { body(worker.value) }
        } catch {
            // The loop has ended: there is nothing left to do on it.
        }
    }

    /// Waits until the peers have taken what was written, but no longer than a second.
    private static func finishWriting(_ worker: LoopBound<LoopWorker>) async {
        for _ in 0..<100 {
            do {
                if try await worker.loop.perform({ worker.value.writeRest() }) { return }
                try await Task.sleep(for: .milliseconds(10))
            } catch {
                return
            }
        }
    }

    /// Ends the node's threads without blocking the caller's.
    private static func close(_ node: Node) async {
        await withCheckedContinuation { continuation in
            BlockingWork.run {
                node.closeLog()
                node.failPosts()
                node.accountThread.close()
                node.membershipThread.close()
                continuation.resume()
            }
        }
    }
}
