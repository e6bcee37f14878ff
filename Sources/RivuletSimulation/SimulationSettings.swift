import RivuletModel
import RivuletServerCore
public import RivuletWire

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
    /// How many messages a client sends in a simulated hour, when it runs all the time.
    public var messagesPerHour = 80
    /// The era that clients and server speak; nil lets the seed choose, every fourth the first one.
    public var profile: Profile?
    /// Whether each device keeps its messages in the real store, too; nil lets the seed choose, every fourth does.
    public var hasStore: Bool?
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

    func user(ofDevice device: Int) -> Int { device / 2 + 1 }

    /// The era of this run.
    var era: Profile {
        if let profile { return profile }
        return bug == .markBeforeAcknowledgement || seed % 4 == 0 ? .seed : .current
    }

    /// Whether this run has the real store.
    var usesStore: Bool { hasStore ?? (seed % 4 == 1) }

    /// The user who serves customers, in an app of the staff's own; nil when there are too few users.
    var staff: Int? { users >= 3 && era == .current ? users : nil }

    /// How many users are not the staff; they have the numbers from 1.
    var people: Int { staff == nil ? max(1, users) : users - 1 }

    /// Whether the server's files are put back from a copy in this run, every fifth.
    ///
    /// Runs differ in what happens to them, so that those of earlier seeds stay as they were.
    var restoresServer: Bool { seed % 5 == 4 }

    /// Whether members of the super group come and go in this run, and devices report what they were delivered; every
    /// fifth, and some of those in which the server's files are put back.
    var changesSuperGroup: Bool { seed % 5 == 0 || seed % 10 == 9 }

    static let staffApp: Int64 = 7

    func account(of user: Int) -> Account {
        Account(app: user == staff ? Self.staffApp : Account.defaultApp, user: UserID(Int64(user)))
    }
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
