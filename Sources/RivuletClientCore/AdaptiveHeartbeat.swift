/// Finds by itself how long a quiet connection lives on this network, so that a phone sends as few PINGs as it must.
///
/// The interval begins at ``shortest`` and grows by ``step`` after ``successCount`` quiet PINGs were answered. A PING
/// without an answer takes it back a step, and it does not grow beyond that again until the network changes.
public struct AdaptiveHeartbeat: Sendable, Hashable {
    /// The first and shortest interval.
    public var shortest: Duration
    /// The longest interval; servers close a connection that is silent for 360 s (docs/protocol.md, section 20).
    public var longest: Duration
    /// By how much the interval grows.
    public var step: Duration
    /// How many PINGs must be answered before it does.
    public var successCount: Int

    /// Makes a rule.
    public init(
        shortest: Duration = .seconds(60), longest: Duration = .seconds(330), step: Duration = .seconds(30),
        successCount: Int = 3
    ) {
        self.shortest = shortest
        self.longest = max(shortest, longest)
        self.step = max(.seconds(1), step)
        self.successCount = max(1, successCount)
    }
}

/// Where the search for the longest interval stands.
struct HeartbeatPace: Sendable {
    /// The interval in use; nil before the first PING.
    private(set) var interval: Duration?
    private var ceiling: Duration?
    private var successes = 0

    /// The interval to use under a rule.
    func interval(_ rule: AdaptiveHeartbeat) -> Duration {
        interval ?? rule.shortest
    }

    mutating func succeeded(_ rule: AdaptiveHeartbeat) {
        successes += 1
        guard successes >= rule.successCount else { return }
        successes = 0
        interval = min(interval(rule) + rule.step, ceiling ?? rule.longest)
    }

    mutating func failed(_ rule: AdaptiveHeartbeat) {
        successes = 0
        let shorter = max(rule.shortest, interval(rule) - rule.step)
        interval = shorter
        ceiling = shorter
    }

    /// Another network: what was learned counts for nothing.
    mutating func reset() {
        self = HeartbeatPace()
    }
}
