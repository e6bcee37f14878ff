internal import CUV

/// A signal that a program of this kind reacts to.
public enum Signal: Sendable, CaseIterable {
    /// Ctrl-C.
    case interrupt
    /// The polite request to end.
    case terminate
    /// The terminal went away; for servers, read the configuration again.
    case hangUp
    /// The terminal's size changed.
    case windowChange

    var number: Int32 {
        switch self {
        case .interrupt: SIGINT
        case .terminate: SIGTERM
        case .hangUp: SIGHUP
        case .windowChange: SIGWINCH
        }
    }
}

/// Calls back on a loop when the process receives a signal, instead of the signal's usual effect.
public final class SignalWatcher: Sendable {
    private let core: LoopBound<SignalCore>

    /// Begins to watch; must be called on the loop.
    ///
    /// - Throws: the system's error when the loop cannot watch another signal.
    public init(_ signal: Signal, on loop: EventLoop, received: @escaping () -> Void) throws(UVError) {
        loop.preconditionOnLoop()
        core = LoopBound(try SignalCore(signal, loop: loop, received: received), loop: loop)
    }

    /// Ends watching; the signal has its usual effect again when nobody else watches it.
    public func close() {
        core.value.close(.closedHere)
    }
}

/// Calls back on a loop whenever a file descriptor can be read.
///
/// The descriptor stays the caller's: it must stay open while it is watched, and is not closed here. Regular files
/// cannot be watched (`EPERM`); they are always readable.
public final class PollWatcher: Sendable {
    private let core: LoopBound<PollCore>

    /// Begins to watch; must be called on the loop.
    ///
    /// The descriptor becomes non-blocking.
    ///
    /// - Throws: the system's error, `EPERM` for a regular file.
    public init(descriptor: Int32, on loop: EventLoop, readable: @escaping () -> Void) throws(UVError) {
        loop.preconditionOnLoop()
        core = LoopBound(try PollCore(descriptor, loop: loop, readable: readable), loop: loop)
    }

    /// Ends watching.
    public func close() {
        core.value.close(.closedHere)
    }
}

private final class SignalCore: HandleCore {
    private var received: () -> Void

    init(_ signal: Signal, loop: EventLoop, received: @escaping () -> Void) throws(UVError) {
        self.received = received
        try unsafe super.init(UV_SIGNAL, operation: "watch signal") { memory in
            unsafe uv_signal_init(loop.raw, memory.assumingMemoryBound(to: uv_signal_t.self))
        }
        let handle = unsafe memory.assumingMemoryBound(to: uv_signal_t.self)
        let result = unsafe uv_signal_start(
            handle,
            { handle, _ in
                guard let handle = unsafe handle else { return }
                unsafe SignalCore.from(data: handle.pointee.data)?.received()
            }, signal.number)
        guard result == 0 else {
            close(.closedHere)
            throw UVError(result, "watch signal")
        }
    }

    override func didClose(_ reason: CloseReason) {
        received = {}
    }
}

private final class PollCore: HandleCore {
    private var readable: () -> Void

    init(_ descriptor: Int32, loop: EventLoop, readable: @escaping () -> Void) throws(UVError) {
        self.readable = readable
        try unsafe super.init(UV_POLL, operation: "watch descriptor") { memory in
            unsafe uv_poll_init(loop.raw, memory.assumingMemoryBound(to: uv_poll_t.self), descriptor)
        }
        let handle = unsafe memory.assumingMemoryBound(to: uv_poll_t.self)
        let events = Int32(UV_READABLE.rawValue | UV_DISCONNECT.rawValue)
        let result = unsafe uv_poll_start(handle, events) { handle, _, _ in
            guard let handle = unsafe handle else { return }
            unsafe PollCore.from(data: handle.pointee.data)?.readable()
        }
        guard result == 0 else {
            close(.closedHere)
            throw UVError(result, "watch descriptor")
        }
    }

    override func didClose(_ reason: CloseReason) {
        readable = {}
    }
}
