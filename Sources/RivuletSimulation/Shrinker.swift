/// Makes a run that breaks a rule small: fewer clients, less time, fewer operations, the same rule.
public struct Shrinker {
    /// The smallest settings that were found.
    public private(set) var settings: SimulationSettings
    /// What a run of them gives.
    public private(set) var violation: SimulationViolation
    /// How many runs it took.
    public private(set) var runs = 0

    private let runsMax: Int

    /// Shrinks a run.
    ///
    /// - Parameters:
    ///   - settings: A run that breaks a rule.
    ///   - violation: What it gave.
    ///   - runsMax: After so many runs the smallest one so far is taken.
    public init(_ settings: SimulationSettings, _ violation: SimulationViolation, runsMax: Int = 1000) {
        self.settings = settings
        self.violation = violation
        self.runsMax = runsMax
        if settings.kept == nil {
            self.settings.kept = Operation.plan(settings).map(\.number)
            cutTheEnd()
        }
        dropClients()
        dropOperations()
    }

    private mutating func accepts(_ candidate: SimulationSettings) -> Bool {
        guard runs < runsMax else { return false }
        runs += 1
        guard let found = Simulation.run(candidate).violation, found.rule == violation.rule else {
            return false
        }
        settings = candidate
        violation = found
        return true
    }

    /// What happens after the rule was broken, or in the last part of the time, may not matter.
    private mutating func cutTheEnd() {
        let plan = Operation.plan(settings)
        var end = violation.milliseconds
        while end > 1000 {
            var candidate = settings
            candidate.kept = plan.filter { $0.at <= end }.map(\.number)
            guard candidate.kept != settings.kept else {
                end /= 2
                continue
            }
            guard accepts(candidate) else { return }
            end /= 2
        }
    }

    private mutating func dropClients() {
        for client in 0..<settings.clients where !settings.absent.contains(client) {
            var candidate = settings
            candidate.absent.insert(client)
            _ = accepts(candidate)
        }
        let left = Set(Operation.plan(settings).filter { !settings.absent.contains($0.device) }.map(\.number))
        settings.kept?.removeAll { !left.contains($0) }
    }

    /// Drops halves, then quarters, and at last one operation after the other.
    private mutating func dropOperations() {
        var size = max(1, (settings.kept?.count ?? 0) / 2)
        while runs < runsMax {
            var start = 0
            var hasDropped = false
            while start < (settings.kept?.count ?? 0), runs < runsMax {
                var candidate = settings
                let end = min(start + size, candidate.kept?.count ?? 0)
                candidate.kept?.removeSubrange(start..<end)
                if accepts(candidate) { hasDropped = true } else { start += size }
            }
            if size == 1, !hasDropped { return }
            if size > 1 { size /= 2 }
        }
    }
}
