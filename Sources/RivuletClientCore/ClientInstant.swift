/// A moment on the clock that the shell gives to ``ClientCore``: the time since any fixed start.
///
/// The core owns no clock; it compares such moments and adds durations to them. A shell maps its monotonic clock to
/// them, a test writes them down.
public struct ClientInstant: InstantProtocol, Hashable, Sendable {
    /// The time since the start.
    public var sinceStart: Duration

    /// The start itself.
    public static let start = ClientInstant(sinceStart: .zero)

    /// Makes the moment that lies this long after the start.
    public init(sinceStart: Duration) {
        self.sinceStart = sinceStart
    }

    /// The moment that lies `duration` later.
    public func advanced(by duration: Duration) -> ClientInstant {
        ClientInstant(sinceStart: sinceStart + duration)
    }

    /// The time from this moment to another one.
    public func duration(to other: ClientInstant) -> Duration {
        other.sinceStart - sinceStart
    }

    /// Orders by time.
    public static func < (left: ClientInstant, right: ClientInstant) -> Bool {
        left.sinceStart < right.sinceStart
    }

    /// The moment that lies `duration` later.
    public static func + (instant: ClientInstant, duration: Duration) -> ClientInstant {
        instant.advanced(by: duration)
    }
}
