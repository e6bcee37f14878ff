import RivuletSimulation
import Testing

@Suite struct SimulationTests {
    /// A small, hard world: a third of an hour, a fault every half minute.
    static func settings(seed: UInt64) -> SimulationSettings {
        var settings = SimulationSettings(seed: seed)
        settings.clients = 4
        settings.milliseconds = 1_200_000
        settings.faultsPerHour = 120
        settings.messagesPerHour = 120
        return settings
    }

    @Test(arguments: 1...4 as ClosedRange<UInt64>)
    func `all rules hold in a world of faults`(seed: UInt64) {
        let result = Simulation.run(Self.settings(seed: seed))
        #expect(result.violation == nil, "seed \(seed)")
        #expect(result.totals.stored > 50)
        #expect(result.totals.faults == 40)
    }

    /// Worlds in which a fault of the cores was found once.
    ///
    /// 20 and 1: a second device's first round of a super group skipped what the first one had reported. 10: a message
    /// that the full disk refused was overtaken by the next one.
    @Test(arguments: [1, 10, 20] as [UInt64])
    func `a fault that was found stays mended`(seed: UInt64) {
        var settings = SimulationSettings(seed: seed)
        settings.milliseconds = 1_200_000
        #expect(Simulation.run(settings).violation == nil)
    }

    @Test func `the same seed gives the same run, another seed another one`() {
        let first = Simulation.run(Self.settings(seed: 7), isTracing: true)
        let second = Simulation.run(Self.settings(seed: 7), isTracing: true)
        #expect(first == second)
        #expect(first.trace.count > 500)
        #expect(Simulation.run(Self.settings(seed: 8)).fingerprint != first.fingerprint)
    }

    @Test func `tracing changes nothing but the trace`() {
        let silent = Simulation.run(Self.settings(seed: 9))
        let traced = Simulation.run(Self.settings(seed: 9), isTracing: true)
        #expect(silent.fingerprint == traced.fingerprint)
        #expect(silent.totals == traced.totals)
        #expect(silent.trace.isEmpty)
    }

    /// Each fault that is put in on purpose, and the first seed, counted from 1, that finds it.
    static let seeds: [(SimulationBug, UInt64)] = SimulationBug.allCases.map { bug in
        switch bug {
        case .staleEpoch: (bug, 106)
        case .tornBatch: (bug, 18)
        case .retryChangesUUID: (bug, 17)
        case .outboxReversed: (bug, 12)
        case .unreadCountedTwice: (bug, 8)
        case .logHidesFullDisk, .pageForgetsMore: (bug, 7)
        case .outboxLost: (bug, 4)
        case .storageHidesFullDisk: (bug, 2)
        default: (bug, 1)
        }
    }

    @Test(arguments: seeds)
    func `each fault that is put in on purpose is found by its seed or the next twelve`(
        bug: SimulationBug, firstSeed: UInt64
    ) {
        let found = (firstSeed..<firstSeed + 12).lazy.compactMap { seed in
            var settings = Self.settings(seed: seed)
            settings.bug = bug
            return Simulation.run(settings).violation
        }.first
        #expect(found != nil, "\(bug.rawValue) is not found")
    }

    @Test func `a run that breaks a rule is made smaller and replays exactly`() throws {
        var settings = Self.settings(seed: 1)
        settings.bug = .lostNotify
        let violation = try #require(Simulation.run(settings).violation)
        let small = Shrinker(settings, violation, runsMax: 60)
        let kept = try #require(small.settings.kept)
        #expect(kept.count < Simulation.plan(of: settings).count / 4)
        #expect(small.violation.rule == violation.rule)
        let first = Simulation.run(small.settings, isTracing: true)
        #expect(first.violation == small.violation)
        #expect(first == Simulation.run(small.settings, isTracing: true))
    }

    @Test func `a world without work or with one client comes to rest`() {
        var settings = SimulationSettings(seed: 3)
        settings.messagesPerHour = 0
        settings.milliseconds = 60_000
        #expect(Simulation.run(settings).violation == nil)
        settings.clients = 1
        settings.messagesPerHour = 300
        settings.milliseconds = 600_000
        #expect(Simulation.run(settings).violation == nil)
    }
}
