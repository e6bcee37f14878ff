internal import CUV

/// A TCP connection on an event loop.
///
/// The callbacks are called on the loop, and ``onClosed`` exactly once, in a later turn than whatever caused it; after it
/// no callback is called and all of them are released. A stream is open until it is closed here, by the other side or
/// with its loop, whether or not anybody still holds it. Reading starts with ``resumeReading()``.
///
/// Writing tries the socket at once and queues what does not fit; a writer that can outrun its reader watches
/// ``pendingWriteByteCount`` and ``onDrained``.
public final class TCPStream: Sendable {
    /// The loop on which the stream lives.
    public let loop: EventLoop
    private let bound: LoopBound<TCPCore>

    init(core: TCPCore, loop: EventLoop) {
        self.loop = loop
        self.bound = LoopBound(core, loop: loop)
    }

    private var core: TCPCore { bound.value }

    /// Begins to connect; must be called on the loop.
    ///
    /// ``onOpened`` tells success. Failure, also an immediate one, is told by ``onClosed`` in a later turn, so there is
    /// time to set the callbacks.
    ///
    /// - Throws: the system's error when no stream could be made at all.
    public static func connect(to address: SocketAddress, on loop: EventLoop) throws(UVError) -> TCPStream {
        loop.preconditionOnLoop()
        let core = try TCPCore(loop: loop)
        core.connect(to: address)
        return TCPStream(core: core, loop: loop)
    }

    /// Called when the connection is made; never for an accepted stream.
    public var onOpened: (() -> Void)? {
        get { core.onOpened }
        set { core.onOpened = newValue }
    }

    /// Called with received bytes, which are valid only inside the call.
    public var onRead: ((UnsafeRawBufferPointer) -> Void)? {
        get { unsafe core.onRead }
        set { unsafe core.onRead = newValue }
    }

    /// Called when the other side has ended its half; without it the stream closes then.
    public var onEnd: (() -> Void)? {
        get { core.onEnd }
        set { core.onEnd = newValue }
    }

    /// Called when all queued bytes were handed to the system after some had to wait.
    public var onDrained: (() -> Void)? {
        get { core.onDrained }
        set { core.onDrained = newValue }
    }

    /// Called once when the stream is closed.
    public var onClosed: ((CloseReason) -> Void)? {
        get { core.onClosed }
        set { core.onClosed = newValue }
    }

    /// Starts or continues to read.
    public func resumeReading() {
        core.resumeReading()
    }

    /// Stops reading, which in time slows the sender down.
    public func pauseReading() {
        core.pauseReading()
    }

    /// Sends bytes after all earlier ones; also allowed while connecting.
    ///
    /// - Returns: false when the stream is closing and the bytes were dropped.
    @discardableResult
    public func write(_ bytes: [UInt8]) -> Bool {
        unsafe bytes.withUnsafeBytes { unsafe core.write($0) }
    }

    /// Sends bytes after all earlier ones; they are copied when they have to wait.
    ///
    /// - Returns: false when the stream is closing and the bytes were dropped.
    @discardableResult
    public func write(_ bytes: UnsafeRawBufferPointer) -> Bool {
        unsafe core.write(bytes)
    }

    /// How many written bytes the system has not taken yet.
    public var pendingWriteByteCount: Int {
        core.pendingWriteByteCount
    }

    /// Ends this half after the queued bytes; the other side can still send.
    public func shutdown() {
        core.shutdown()
    }

    /// Closes the stream at once; queued bytes are lost.
    ///
    /// Later calls do nothing.
    public func close() {
        core.close(.closedHere)
    }

    /// Whether the stream is closed or about to be.
    public var isClosing: Bool {
        core.isClosing
    }

    /// Sends small writes at once instead of gathering them (TCP_NODELAY).
    public func setNoDelay(_ isOn: Bool) throws(UVError) {
        try core.setNoDelay(isOn)
    }

    /// Lets the system probe an idle connection after this many seconds; nil turns it off.
    public func setKeepAlive(afterSeconds delay: UInt32?) throws(UVError) {
        try core.setKeepAlive(delay)
    }

    /// The address of this end; nil when not connected.
    public var localAddress: SocketAddress? {
        unsafe core.name(uvkit_socket_name)
    }

    /// The address of the other end; nil when not connected.
    public var peerAddress: SocketAddress? {
        unsafe core.name(uvkit_peer_name)
    }
}
