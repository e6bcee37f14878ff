import Testing

@testable import RivuletServer

/// How long a loop rests, on a clock that the test moves.
@Suite struct TurnPaceTests {
    /// Plays turns of so many events, one every so many nanoseconds of work; answers the rests.
    private func rests(_ pace: inout TurnPace, turns: Int, events: Int, work: UInt64, now: inout UInt64)
        -> [UInt64]
    {
        (0..<turns).map { _ in
            now += work
            let rest = pace.rest(after: events, now: now)
            now += rest
            return rest
        }
    }

    @Test func `a loop with little to do never rests, however its turns follow each other`() {
        var (pace, now) = (TurnPace(), 5 as UInt64)
        // 10,000 events a second, one in each turn.
        #expect(rests(&pace, turns: 5_000, events: 1, work: 100_000, now: &now).allSatisfy { $0 == 0 })
    }

    @Test func `a busy loop's turns begin two milliseconds apart, and it is quick again when it is quiet`() {
        var (pace, now) = (TurnPace(), 5 as UInt64)
        // One event takes 10 µs: 100,000 a second as long as it does not rest.
        _ = rests(&pace, turns: 4_000, events: 1, work: 10_000, now: &now)
        // It gathers as many as come meanwhile.
        let start = now
        let busy = rests(&pace, turns: 100, events: 100, work: 500_000, now: &now)
        #expect(busy.allSatisfy { $0 == 1_500_000 })
        #expect(now - start == 100 * 2_000_000)
        now += 1_000_000_000
        #expect(pace.rest(after: 1, now: now) == 0, "the first turn after a pause is not held up")
        #expect(rests(&pace, turns: 100, events: 1, work: 1_000_000, now: &now).allSatisfy { $0 == 0 })
    }

    @Test func `turns that take longer than the gap follow each other at once`() {
        var (pace, now) = (TurnPace(), 5 as UInt64)
        let rests = rests(&pace, turns: 100, events: 1_000, work: 3_000_000, now: &now)
        #expect(rests.allSatisfy { $0 == 0 })
    }

    @Test(arguments: [0, 1, .max] as [UInt64])
    func `no clock and no count makes it trap or rest for longer than two milliseconds`(now: UInt64) {
        var pace = TurnPace()
        for count in [0, 1, 1 << 40, -1] {
            #expect(pace.rest(after: count, now: now) <= 2_000_000)
            #expect(pace.rest(after: count, now: 0) <= 2_000_000)
        }
    }
}
