import RivuletClientCore
import RivuletModel
import RivuletServerCore
import RivuletWire

/// What a run came to.
public struct SimulationTotals: Sendable, Equatable {
    /// How many events were handled.
    public var events = 0
    /// How many messages were asked for.
    public var messages = 0
    /// How many messages the log stored.
    public var stored = 0
    /// How many faults happened.
    public var faults = 0
    /// How many of them were crashes of a client or the server.
    public var crashes = 0
    /// How much time passed in the simulation, in milliseconds.
    public var milliseconds: Int64 = 0
    /// The same, once for each client.
    public var clientMilliseconds: Int64 = 0

    /// Makes totals of nothing.
    public init() {}

    /// Adds those of another run.
    public mutating func add(_ other: SimulationTotals) {
        events += other.events
        messages += other.messages
        stored += other.stored
        faults += other.faults
        crashes += other.crashes
        milliseconds += other.milliseconds
        clientMilliseconds += other.clientMilliseconds
    }
}

/// What a run gave: its totals, the rule that did not hold, and the trace when one was asked for.
public struct SimulationResult: Sendable, Equatable {
    /// The totals.
    public var totals: SimulationTotals
    /// The first rule that did not hold; nil when all did.
    public var violation: SimulationViolation?
    /// What happened, line by line.
    public var trace: [String]
    /// A number that differs, very likely, when anything went another way.
    public var fingerprint: UInt64
}

/// Many real clients and a real server in a world that is made of one seed.
///
/// Network, disks and time are simulated; the cores are those of the programs. After each event the rules of
/// ``SimulationViolation/Rule`` are checked, and at the end, when the faults are over, that everything came to rest.
///
/// ```swift
/// let result = Simulation.run(SimulationSettings(seed: 1))
/// ```
public struct Simulation {
    enum Event {
        case toClient(device: Int, life: Int, ClientEvent)
        case wake(device: Int, at: Int64)
        case committed(device: Int, life: Int)
        case launch(device: Int, life: Int)
        case restart(device: Int, life: Int)
        case toServer(link: Int, [UInt8])
        case fromServer(link: Int, [UInt8])
        case reads(link: Int)
        case opens(link: Int)
        case serverSeesEnd(link: Int)
        case clientSeesEnd(link: Int)
        case login(link: Int, AuthenticationToken)
        case appended(generation: Int)
        case loaded(link: Int, PageRequest)
        case serverCloses(link: Int, number: Int)
        case serverStarts
        case restCheck
    }

    let settings: SimulationSettings
    let operations: [Operation]
    var queue = EventQueue<Event>()
    var now: Int64 = 0
    var chance: Chance
    var bugChance: Chance
    var ledger: Ledger
    var devices: [SimulatedDevice] = []
    /// By their number; nil for those that are gone.
    var links: [SimulatedLink?] = []
    /// The server, of the one era or the other; nil while it is down.
    var node: NodeCore?
    var relay: SeedRelay?
    var isServerRunning = false
    /// What readers reported since the last commit, with the keys that were kept before.
    var unsyncedReports: [(queue: QueueID, reader: Account, key: Int64)] = []
    var directory = MemoryMembershipDirectory()
    var log = MemoryLog()
    /// A file that does the same as the log, in tests that have one.
    var logFile: (any SimulatedLogFile)?
    /// The last copy of the server's files, and what they said.
    var serverBackup: (log: MemoryLog, memberships: Memberships, books: Ledger.Books)?
    /// What the log was given and has not committed, in order.
    var pendingAppends: [(batch: BatchID, entries: [LogEntry])] = []
    var serverGeneration = 0
    var lastAppendAt: Int64 = 0
    var serverDiskFullUntil: Int64 = 0
    var wallOffset = Simulation.firstWallTime
    var totals = SimulationTotals()
    var isTracing: Bool
    var trace: [String] = []
    var fingerprint: UInt64 = 0
    /// When there is no more work and no more faults.
    var calmAt: Int64
    /// What the dedupe without receivers remembers.
    var placesOfUUID: [String: [RivuletServerCore.QueuePlace]] = [:]

    static let firstWallTime: Int64 = 1_800_000_000_000
    /// How far the server's clock may be from the true time.
    static let clockErrorMax: Int64 = 21_600_000
    /// How long an answer that was written may take to reach the author's storage.
    static let answerMilliseconds: Int64 = 180_000
    /// How long everything may take to come to rest.
    static let restMilliseconds: Int64 = 900_000
    /// The last part of it, in which nothing but signs of life may pass.
    static let silenceMilliseconds: Int64 = 200_000

    init(_ settings: SimulationSettings, isTracing: Bool) {
        self.settings = settings
        self.isTracing = isTracing
        ledger = Ledger(settings)
        chance = Chance(settings.seed, 2, 2)
        bugChance = Chance(settings.seed, 3, 3)
        let plan = Operation.plan(settings).filter { !settings.absent.contains($0.device) }
        if let kept = settings.kept {
            let numbers = Set(kept)
            operations = plan.filter { numbers.contains($0.number) }
            calmAt = (operations.last?.at ?? 0) + 1000
        } else {
            operations = plan
            calmAt = settings.milliseconds
        }
    }

    /// Runs one world to its end, or to the first rule that does not hold.
    public static func run(_ settings: SimulationSettings, isTracing: Bool = false) -> SimulationResult {
        var simulation = Simulation(settings, isTracing: isTracing)
        simulation.setUp()
        simulation.runToEnd()
        return simulation.result
    }

    var result: SimulationResult {
        var totals = totals
        totals.milliseconds = now
        totals.clientMilliseconds = now * Int64(settings.clients - settings.absent.count)
        totals.stored = ledger.storedCount
        return SimulationResult(
            totals: totals, violation: ledger.violation, trace: trace, fingerprint: fingerprint)
    }

    /// The operations of a run in words, for people who read a trace.
    public static func plan(of settings: SimulationSettings) -> [(number: Int, description: String)] {
        Operation.plan(settings).map {
            ($0.number, "\($0.at) ms, client \($0.device): \($0.kind)")
        }
    }

    mutating func setUp() {
        for index in 0..<settings.clients {
            devices.append(SimulatedDevice(index: index, settings: settings))
            if settings.usesStore { devices[index].store = SimulatedStore(devices[index], settings) }
            if !settings.absent.contains(index) {
                queue.add(.launch(device: index, life: 0), at: chance.time(0...5000))
            }
        }
        let members = Array(1...settings.people)
        create(Operation.group, isSuper: false, members)
        create(Operation.superGroup, isSuper: settings.era == .current, members)
        create(Operation.strangeGroup, isSuper: false, [999])
        startServer()
        queue.add(.restCheck, at: calmAt + Self.restMilliseconds)
    }

    private mutating func create(_ group: Int64, isSuper: Bool, _ members: [Int]) {
        change(
            .createGroup(
                GroupID(group), app: Account.defaultApp, name: "g", isSuper: isSuper,
                owner: UserID(Int64(members[0])), members: members.map { UserID(Int64($0)) }))
        ledger.books.members[group] = Set(members)
    }

    mutating func runToEnd() {
        var nextOperation = 0
        while ledger.violation == nil {
            totals.events += 1
            if nextOperation < operations.count, operations[nextOperation].at < queue.nextTime ?? .max {
                now = max(now, operations[nextOperation].at)
                ledger.now = now
                perform(operations[nextOperation])
                nextOperation += 1
                continue
            }
            guard let (time, event) = queue.next() else { return }
            now = max(now, time)
            ledger.now = now
            if case .restCheck = event {
                checkRest()
                return
            }
            handle(event)
            if queue.droppedCount > 0 {
                ledger.fail(.overrun, "more than \(queue.count) events wait")
            }
        }
    }

    private mutating func handle(_ event: Event) {
        switch event {
        case .toClient(let device, let life, let event):
            if devices[device].life == life { feed(device, event) }
        case .wake(let device, let time): wake(device, at: time)
        case .committed(let device, let life):
            if devices[device].life == life { finishCommit(device) }
        case .launch(let device, let life):
            if devices[device].life == life { launch(device) }
        case .restart(let device, let life):
            if devices[device].life == life { restart(device) }
        case .toServer(let link, let bytes): serverReceives(bytes, on: link)
        case .fromServer(let link, let bytes): clientReceives(bytes, on: link)
        case .reads(let link): resumeReading(link)
        case .opens(let link): open(link)
        case .serverSeesEnd(let link): endServerSide(of: link)
        case .clientSeesEnd(let link): endClientSide(of: link, isTold: true)
        case .login(let link, let token): answerLogin(on: link, token)
        case .appended(let generation):
            if generation == serverGeneration { finishAppend() }
        case .loaded(let link, let request): answerLoad(on: link, request)
        case .serverCloses(let link, let number):
            if links[link]?.closeNumber == number { closeFromServer(link) }
        case .serverStarts: startServer()
        case .restCheck: break
        }
    }

    /// Writes a line of the trace; what it says is part of the fingerprint only when it is asked for.
    mutating func note(_ line: @autoclosure () -> String) {
        guard isTracing else { return }
        trace.append("\(now)\t\(line())")
    }

    mutating func mark(_ value: Int) {
        fingerprint = (fingerprint ^ UInt64(truncatingIfNeeded: value) ^ UInt64(now)) &* 0x9E37_79B9_7F4A_7C15
        fingerprint ^= fingerprint >> 29
    }

    var wallTime: WallTime { WallTime(milliseconds: wallOffset + now) }
}
