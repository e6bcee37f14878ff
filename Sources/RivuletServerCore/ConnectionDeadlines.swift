/// When a connection has been silent for too long, on a clock that only moves forward.
///
/// The public server's rule is kept: the time runs from the moment at which the reading of the current frame began,
/// so that trickling bytes does not extend it (docs/protocol.md, section 23, item 10).
public struct ConnectionDeadlines: Sendable {
    /// The limits, in milliseconds.
    public struct Limits: Sendable, Hashable {
        /// From the start of a frame to its last byte.
        public var readMilliseconds: Int64 = 360_000
        /// From the connection to the login.
        public var loginMilliseconds: Int64 = 60_000
        /// While bytes wait: from the last progress to the next.
        public var writeMilliseconds: Int64 = 30_000

        /// Makes the default limits.
        public init() {}

        /// The shortest of them.
        public var shortest: Int64 {
            min(readMilliseconds, loginMilliseconds, writeMilliseconds)
        }
    }

    private let opened: Int64
    private var frameBegan: Int64
    private var writeStalled: Int64?
    private var unsentByteCount = 0
    /// When a granted grace ends, and why the connection then closes.
    private var grace: (end: Int64, reason: CloseReason)?
    /// Whether the login succeeded.
    public var isLoggedIn = false

    /// Starts the clocks.
    public init(now: Int64) {
        opened = now
        frameBegan = now
    }

    /// A whole frame was read, the next one begins.
    public mutating func frameCompleted(now: Int64) {
        frameBegan = now
    }

    /// Says how many bytes wait for the peer; the clock runs while they do not become fewer.
    ///
    /// Adding to bytes that wait is no progress: a peer that reads nothing is closed however much is pushed to it.
    public mutating func unsentBytes(_ count: Int, now: Int64) {
        if count == 0 {
            writeStalled = nil
        } else if writeStalled == nil || count < unsentByteCount {
            writeStalled = now
        }
        unsentByteCount = count
    }

    /// Closes the connection later; of two graces the one that ends first counts.
    public mutating func close(_ reason: CloseReason, at end: Int64) {
        if grace.map({ end < $0.end }) ?? true { grace = (end, reason) }
    }

    /// Takes back ``close(_:at:)``.
    public mutating func keepOpen() {
        grace = nil
    }

    /// Why the connection is over, if it is.
    public func expired(now: Int64, limits: Limits) -> CloseReason? {
        if let grace, now >= grace.end { return grace.reason }
        if now - frameBegan >= limits.readMilliseconds { return .readTimeout }
        if !isLoggedIn, now - opened >= limits.loginMilliseconds { return .loginTimeout }
        if let writeStalled, now - writeStalled >= limits.writeMilliseconds { return .writeTimeout }
        return nil
    }
}
