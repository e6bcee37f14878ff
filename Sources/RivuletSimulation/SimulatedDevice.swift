import RivuletClientCore
import RivuletServerCore
import RivuletWire

/// A client program on a device of its own: the real core, and the disk that outlives it.
final class SimulatedDevice {
    let index: Int
    let user: Int
    let app: Int64
    private let configuration: ClientCoreConfiguration
    let isAbsent: Bool
    var core: ClientCore
    var disk = SimulatedDisk()
    var chance: Chance
    /// Which start of the program this is; what belongs to an earlier one is ignored.
    var life = 0
    var isRunning = false
    /// The batch that is with the disk.
    var pending: StorageBatch?
    var deadline: ClientInstant?
    /// When the queue of events wakes it next: at the deadline, or earlier; nil when it does not.
    var wakesAt: Int64?
    /// How far the device's clock is ahead, because it slept.
    var clockAhead: Int64 = 0
    var diskFullUntil: Int64 = 0
    var delay: Int64 = 0
    var delayUntil: Int64 = 0
    var tokenNumber = 0
    /// The first token that the server still takes.
    var validToken = 0
    /// The numbers of the link for each attempt of this life.
    var links: [UInt64: Int] = [:]
    var latestEpoch: UInt64 = 0
    var backup: (disk: SimulatedDisk, store: SimulatedStore?)?
    /// Whether a backup was restored once.
    var hasGoneBack = false
    /// Whether it keeps in the storage what no other device of the user can know, since the server refused it.
    var hasLocalMarks = false
    /// The real store, in runs that have it.
    var store: SimulatedStore?
    /// A file that does the same, in tests that have one.
    var file: (any SimulatedFile)?
    /// What the device had after each transaction that the file may lose, the newest last; in tests that have one.
    var states: [(disk: SimulatedDisk, store: SimulatedStore?)] = []
    // What was heard in the room.
    var hasEnteredRoom = false
    var heard: Set<Int> = []
    var lastHeard: [Int: Int] = [:]
    var lastRealTrafficAt: Int64 = 0
    var linkSerial = 0

    init(index: Int, settings: SimulationSettings) {
        self.index = index
        isAbsent = settings.absent.contains(index)
        user = settings.user(ofDevice: index)
        app = settings.account(of: user).app
        chance = Chance(settings.seed, 10, index)
        if user != settings.staff, settings.era == .current { disk.groupKeys = [Operation.superGroup: 0] }
        configuration = Self.configuration(settings.era)
        core = ClientCore(configuration: configuration, seed: chance.next())
    }

    /// Small limits, so that a short run reaches them.
    private static func configuration(_ profile: Profile) -> ClientCoreConfiguration {
        var configuration = ClientCoreConfiguration(
            endpoints: [ClientEndpoint(host: "server", port: 23000)], profile: profile)
        configuration.hasTokenSource = true
        configuration.roundCountMax = 4
        configuration.uncommittedCountMax = 12
        configuration.inFlightCountMax = 4
        return configuration
    }

    func newCore() {
        core = ClientCore(configuration: configuration, seed: chance.next())
    }

    func instant(at now: Int64) -> ClientInstant {
        ClientInstant(sinceStart: .milliseconds(now + clockAhead))
    }

    /// The simulated time at which the device's clock shows a moment.
    func time(of instant: ClientInstant) -> Int64 {
        let (seconds, attoseconds) = instant.sinceStart.components
        return seconds * 1000 + (attoseconds + 999_999_999_999_999) / 1_000_000_000_000_000 - clockAhead
    }

    var identity: ClientIdentity {
        ClientIdentity(uid: Int64(user), appID: app, token: token, deviceID: "d\(index)")
    }

    var token: String { "t\(index):\(tokenNumber)" }
}
