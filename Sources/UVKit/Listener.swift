internal import CUV

/// A listening TCP socket.
///
/// When the process runs out of file descriptors the listener waits a moment and tries again; connections that wait in
/// the system's queue are not dropped meanwhile.
public final class Listener: Sendable {
    /// The address that is listened on, with the real port when 0 was asked for.
    public let address: SocketAddress
    private let descriptor: Int32
    private let core: LoopBound<ListenerCore>

    /// Binds and listens; must be called on the loop.
    ///
    /// - Parameters:
    ///   - address: Where to listen; port 0 lets the system choose one, `::` takes IPv4 as well.
    ///   - loop: The loop on which connections are accepted.
    ///   - backlog: How many connections may wait for being accepted.
    ///   - accepted: Called with each new stream, which does not read yet.
    /// - Throws: the system's error, such as `EADDRINUSE` or `EACCES`.
    public init(
        on address: SocketAddress, loop: EventLoop, backlog: Int32 = 4096,
        accepted: @escaping (TCPStream) -> Void
    ) throws(UVError) {
        loop.preconditionOnLoop()
        var storage = try address.storage()
        let descriptor = unsafe uvkit_listen(&storage, backlog)
        try UVError.check(descriptor, "listen on \(address)")
        do throws(UVError) {
            var name = sockaddr_storage()
            try UVError.check(unsafe uvkit_socket_name(descriptor, &name), "listen on \(address)")
            self.address = SocketAddress.read(name) ?? address
            let core = try ListenerCore(loop: loop, descriptor: descriptor, accepted: accepted)
            self.core = LoopBound(core, loop: loop)
            self.descriptor = descriptor
            try core.start()
        } catch {
            uvkit_close_descriptor(descriptor)
            throw error
        }
    }

    /// Listens on another listener's socket, so that several loops share its connections; must be called on `loop`.
    ///
    /// Each connection goes to the loop that takes it first. The other listener must be open during the call; after it
    /// both live independently.
    ///
    /// - Throws: the system's error when no descriptor is left.
    public init(
        sharing other: Listener, loop: EventLoop, accepted: @escaping (TCPStream) -> Void
    ) throws(UVError) {
        loop.preconditionOnLoop()
        let copy = uvkit_duplicate(other.descriptor)
        try UVError.check(copy, "listen on \(other.address)")
        do throws(UVError) {
            address = other.address
            descriptor = copy
            let core = try ListenerCore(loop: loop, descriptor: copy, accepted: accepted)
            self.core = LoopBound(core, loop: loop)
            try core.start()
        } catch {
            uvkit_close_descriptor(copy)
            throw error
        }
    }

    /// Called when a connection could not be accepted, at most once per pause; for logs.
    public var onTrouble: ((UVError) -> Void)? {
        get { core.value.onTrouble }
        set { core.value.onTrouble = newValue }
    }

    /// Stops accepting; new connections wait in the system's queue.
    public func pauseAccepting() {
        core.value.pause()
    }

    /// Accepts again.
    public func resumeAccepting() {
        core.value.resume()
    }

    /// Stops listening; accepted streams go on.
    public func close() {
        core.value.close(.closedHere)
    }
}

private final class ListenerCore: HandleCore {
    var onTrouble: ((UVError) -> Void)?
    private let loop: EventLoop
    private let descriptor: Int32
    private var accepted: (TCPStream) -> Void
    private var retry: Timer?
    private var isPaused = false
    private var isStarted = false

    /// How many connections are accepted before the loop's other sockets get their turn.
    private static let acceptedPerTurnMax = 64
    private static let retryDelay = Duration.milliseconds(100)

    init(loop: EventLoop, descriptor: Int32, accepted: @escaping (TCPStream) -> Void) throws(UVError) {
        self.loop = loop
        self.descriptor = descriptor
        self.accepted = accepted
        try unsafe super.init(UV_POLL, operation: "listen") { memory in
            unsafe uv_poll_init(loop.raw, memory.assumingMemoryBound(to: uv_poll_t.self), descriptor)
        }
    }

    private var poll: UnsafeMutablePointer<uv_poll_t> {
        unsafe memory.assumingMemoryBound(to: uv_poll_t.self)
    }

    func start() throws(UVError) {
        do throws(UVError) {
            retry = try Timer(on: loop) { [weak self] in self?.wait() }
            try UVError.check(startPolling(), "listen")
            isStarted = true
        } catch {
            close(.failed(error))
            throw error
        }
    }

    func pause() {
        guard !isClosing else { return }
        isPaused = true
        retry?.disarm()
        _ = unsafe uv_poll_stop(poll)
    }

    func resume() {
        isPaused = false
        wait()
    }

    private func wait() {
        guard !isClosing, !isPaused else { return }
        let result = startPolling()
        if result != 0 { tryLater(UVError(result, "accept")) }
    }

    private func startPolling() -> Int32 {
        unsafe uv_poll_start(poll, Int32(UV_READABLE.rawValue)) { poll, _, _ in
            guard let poll = unsafe poll, let core = unsafe ListenerCore.from(data: poll.pointee.data) else {
                return
            }
            core.acceptWaiting()
        }
    }

    private func acceptWaiting() {
        for _ in 0..<ListenerCore.acceptedPerTurnMax {
            guard !isClosing, !isPaused else { return }
            let connection = uvkit_accept(descriptor)
            switch connection {
            case UV_EAGAIN.rawValue: return
            case UV_ECONNABORTED.rawValue: continue  // It was broken before it was accepted.
            case ..<0: return tryLater(UVError(connection, "accept"))
            default: take(connection)
            }
        }
    }

    private func take(_ connection: Int32) {
        do throws(UVError) {
            let core = try TCPCore(loop: loop)
            try core.open(descriptor: connection)
            accepted(TCPStream(core: core, loop: loop))
        } catch {
            onTrouble?(error)
        }
    }

    /// Out of descriptors or memory: polling on would spin, since the socket stays readable.
    private func tryLater(_ error: UVError) {
        _ = unsafe uv_poll_stop(poll)
        retry?.arm(after: ListenerCore.retryDelay)
        onTrouble?(error)
    }

    override func didStartClosing() {
        retry?.close()
        retry = nil
        // libuv does not close a polled descriptor. One that never started is closed by whoever made it. Closing it now,
        // and not in the next turn, refuses new connections from here on.
        if isStarted { uvkit_close_descriptor(descriptor) }
    }

    override func didClose(_ reason: CloseReason) {
        accepted = { _ in }
        onTrouble = nil
    }
}
