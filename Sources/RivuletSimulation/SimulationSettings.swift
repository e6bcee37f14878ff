/// What a run is made of; together with nothing else it decides everything that happens.
public struct SimulationSettings: Sendable, Equatable {
    /// The one source of chance.
    public var seed: UInt64
    /// How many client programs there are; every two belong to one user.
    public var clients = 6
    /// How long there is work and there are faults, in milliseconds of simulated time.
    public var milliseconds: Int64 = 3_600_000
    /// How many faults happen in a simulated hour, to all together.
    public var faultsPerHour = 30
    /// How many messages a client sends in a simulated hour.
    public var messagesPerHour = 60
    /// A fault that is put in on purpose; for tests of the checks.
    public var bug: SimulationBug?
    /// The operations that are done, by their number; nil for all of them.
    public var kept: [Int]?
    /// The clients that never start.
    public var absent: Set<Int> = []

    /// Makes the settings of a run of an hour with six clients.
    public init(seed: UInt64) {
        self.seed = seed
    }

    /// How many users there are.
    var users: Int { (clients + 1) / 2 }
}

/// The chance of a run (SplitMix64): the same seed gives the same run on every machine.
struct Chance: RandomNumberGenerator, Sendable {
    private var state: UInt64

    init(_ seed: UInt64) {
        state = seed
    }

    /// A source of its own for one thing, so that a change elsewhere does not change it.
    init(_ seed: UInt64, _ first: Int, _ second: Int) {
        var mixer = Chance(seed ^ UInt64(truncatingIfNeeded: first) &* 0xD6E8_FEB8_6659_FD93)
        state = mixer.next() ^ UInt64(truncatingIfNeeded: second) &* 0xA076_1D64_78BD_642F
    }

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }

    /// A number from 0 to `bound` − 1; 0 for a bound below 1.
    mutating func below(_ bound: Int) -> Int {
        bound < 1 ? 0 : Int(next() % UInt64(bound))
    }

    /// A time in a closed range of milliseconds.
    mutating func time(_ range: ClosedRange<Int64>) -> Int64 {
        range.lowerBound + Int64(below(Int(range.upperBound - range.lowerBound) + 1))
    }

    /// Whether something happens that happens in so many of a hundred cases.
    mutating func percent(_ share: Int) -> Bool {
        below(100) < share
    }
}
