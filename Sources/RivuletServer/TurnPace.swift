/// How far apart the turns of a loop begin, by how many events there were lately.
///
/// A turn costs tens of microseconds before its first message: wake-ups of the log's thread and of the loop, a commit,
/// and a wait for the disk. When events come one by one, the loop turns for each of them and uses as much of a core
/// with 10,000 messages a second as with 40,000 in turns of many. So a busy loop lets some gather; what waits here a
/// moment would otherwise wait for the commit under way. A loop with little to do is never held up.
struct TurnPace {
    /// From how many events a second on turns begin how far apart.
    private static let steps: [(eventsPerSecond: UInt64, nanoseconds: UInt64)] = [
        (40_000, 2_000_000), (20_000, 1_000_000),
    ]
    /// Over so long a time events are counted.
    private static let windowNanoseconds: UInt64 = 20_000_000

    private var windowStart: UInt64 = 0
    private var eventCount: UInt64 = 0
    private var gap: UInt64 = 0
    private var lastStart: UInt64 = 0

    /// Takes what a turn that ends now had to do; answers for how many nanoseconds the loop is to rest.
    mutating func rest(after events: Int, now: UInt64) -> UInt64 {
        eventCount += UInt64(max(0, events))
        let passed = now &- windowStart
        if passed >= Self.windowNanoseconds {
            let second: UInt64 = 1_000_000_000
            // Products stay small: a window that a rest made long counts as a second.
            let rate = eventCount * second / min(passed, second)
            gap = Self.steps.first { rate >= $0.eventsPerSecond }?.nanoseconds ?? 0
            (windowStart, eventCount) = (now, 0)
        }
        let due = lastStart &+ gap
        let rest = due > now ? min(due - now, gap) : 0
        lastStart = now &+ rest
        return rest
    }
}
