import Foundation

/// The durations of repeated runs of one piece of work.
struct Samples {
    /// What is counted as time.
    enum Time {
        /// Time as the user feels it.
        case wall
        /// What this thread used of a processor, for work that never waits: another process does not disturb it.
        case cpu
    }

    /// In seconds, shortest first; never empty.
    let seconds: [Double]

    /// Runs the work once to warm up and then `count` times under the clock.
    init(count: Int, time: Time = .wall, of work: () -> Void) {
        work()
        let clock = ContinuousClock()
        seconds = (0..<max(1, count)).map { _ in
            switch time {
            case .wall:
                return Self.seconds(clock.measure(work))
            case .cpu:
                let start = Self.threadSeconds()
                work()
                return Self.threadSeconds() - start
            }
        }.sorted()
    }

    /// The median: what figures report.
    var median: Double { seconds[seconds.count / 2] }

    /// The shortest run, the least disturbed one.
    var best: Double { seconds[0] }

    /// What this thread has used of a processor so far.
    private static func threadSeconds() -> Double {
        var time = timespec()
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
        return Double(time.tv_sec) + Double(time.tv_nsec) * 1e-9
    }

    /// A duration as seconds.
    static func seconds(_ duration: Duration) -> Double {
        let (seconds, attoseconds) = duration.components
        return Double(seconds) + Double(attoseconds) * 1e-18
    }
}

/// A small generator with a fixed seed (SplitMix64), so that every run measures the same input.
struct SeededGenerator: RandomNumberGenerator {
    private var state: UInt64

    init(seed: UInt64) {
        state = seed
    }

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var value = state
        value = (value ^ (value >> 30)) &* 0xBF58_476D_1CE4_E5B9
        value = (value ^ (value >> 27)) &* 0x94D0_49BB_1331_11EB
        return value ^ (value >> 31)
    }
}
