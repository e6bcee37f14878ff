/// How much may come in a time: a steady rate, and how much more at once after a pause.
public struct RateLimit: Sendable, Hashable {
    /// The steady rate; at least 1.
    public var perSecond: Int
    /// How many may come at once; at least 1.
    public var burst: Int

    /// Makes a limit.
    public init(perSecond: Int, burst: Int) {
        self.perSecond = max(1, perSecond)
        self.burst = max(1, burst)
    }
}

/// How far one sender is within a limit: the time at which everything taken so far would have come at the steady rate.
struct RateMeter: Sendable {
    private var theoretical: Int64 = 0

    /// Takes one more; answers how many milliseconds the sender should be quiet, 0 within the limit.
    mutating func take(_ limit: RateLimit, at now: WallTime) -> Int64 {
        let interval = max(1, 1_000_000 / Int64(limit.perSecond))
        let allowance = interval * Int64(limit.burst)
        let time = now.milliseconds * 1000
        // A clock that was set back must not silence anybody for long.
        theoretical = min(max(theoretical, time), time + 2 * allowance) + interval
        let excess = theoretical - time - allowance
        return excess > 0 ? (excess + 999) / 1000 : 0
    }

    /// Takes one more if the limit allows it.
    mutating func takeIfAllowed(_ limit: RateLimit, at now: WallTime) -> Bool {
        var next = self
        guard next.take(limit, at: now) == 0 else { return false }
        self = next
        return true
    }

    /// Whether nothing is remembered that matters any more.
    func isIdle(at now: WallTime) -> Bool {
        theoretical <= now.milliseconds * 1000
    }
}

/// The meters of many senders; those that are idle are forgotten from time to time.
struct RateMeters<Key: Hashable & Sendable>: Sendable {
    private var meters: [Key: RateMeter] = [:]
    private var countAtPruning = 4096

    mutating func take(_ limit: RateLimit, for key: Key, at now: WallTime) -> Int64 {
        if meters.count > countAtPruning {
            meters = meters.filter { !$0.value.isIdle(at: now) }
            countAtPruning = max(4096, meters.count * 2)
        }
        return meters[key, default: RateMeter()].take(limit, at: now)
    }

    /// Whether one more would be over the limit; nothing is taken.
    func isExhausted(_ limit: RateLimit, for key: Key, at now: WallTime) -> Bool {
        var meter = meters[key] ?? RateMeter()
        return meter.take(limit, at: now) > 0
    }
}
