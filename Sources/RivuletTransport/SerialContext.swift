public import UVKit

/// A place where things happen one after the other: an event loop, or a queue that a test turns by hand.
///
/// A client lives on one context. Everything that a ``ClientTransport`` calls back, it calls back there, and everything
/// asked of it must be asked there, so the client needs no lock. A context is a `SerialExecutor`, so that the client may
/// be an actor.
public protocol SerialContext: SerialExecutor {
    /// Runs a job in the order of calls; callable on any thread.
    ///
    /// - Returns: false when the context has ended and the job was dropped.
    @discardableResult
    func enqueue(_ job: @escaping @Sendable () -> Void) -> Bool

    /// Traps when not called on the context.
    func preconditionOnContext()

    /// Monotonic time in nanoseconds.
    var nowNanoseconds: UInt64 { get }

    /// Makes a deadline that is not set; must be called on the context.
    func makeDeadline(_ passed: @escaping () -> Void) throws -> any Deadline
}

/// A one-shot alarm that can be set again and again; used on its context only.
public protocol Deadline: AnyObject {
    /// Sets the deadline, replacing the one before; a passed time fires as soon as possible.
    func arm(at nanoseconds: UInt64)
    /// Takes the deadline back.
    func disarm()
    /// Ends the deadline; it never fires again.
    func close()
}

extension EventLoop: SerialContext {
    /// Traps off the loop.
    public func preconditionOnContext() {
        preconditionOnLoop()
    }

    /// Makes a `Timer` on this loop.
    public func makeDeadline(_ passed: @escaping () -> Void) throws -> any Deadline {
        try Timer(on: self, fired: passed)
    }
}

extension Timer: Deadline {}

/// A running context on a thread of its own, for programs and libraries that bring no event loop.
public struct OwnedContext: Sendable {
    private let loop: EventLoop
    /// A transport over real sockets on this context.
    public let transport: any ClientTransport

    /// Starts an event loop on a new thread.
    ///
    /// - Parameter options: How the transport makes connections.
    /// - Throws: `UVError` when the system has no descriptor or thread left, ``TransportError`` when the options cannot
    ///   be followed.
    public init(options: TransportOptions = TransportOptions()) throws {
        loop = try EventLoop()
        transport = try TCPTransport(loop: loop, options: options)
        try loop.start()
    }

    /// The context.
    public var context: any SerialContext { loop }

    /// Ends the context after the jobs queued so far; everything open on it is closed.
    public func stop() {
        loop.stop()
    }

    /// Returns when the context has ended.
    public func finished() async {
        await loop.finished()
    }
}
