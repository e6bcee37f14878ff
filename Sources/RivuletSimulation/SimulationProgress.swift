import RivuletWire

/// How far a long series of seeds is, so that another run of the program can go on there.
///
/// Seeds may end in any order; only those before the first gap count as done, and the totals are theirs.
public struct SimulationProgress: Sendable, Equatable {
    /// What each run is like; its seed is the first of the series.
    public let settings: SimulationSettings
    /// How many seeds, counted from the first, are done.
    public private(set) var doneCount = 0
    /// What they came to.
    public private(set) var totals = SimulationTotals()
    private var waiting: [Int: SimulationTotals] = [:]

    /// Starts a series.
    public init(settings: SimulationSettings) {
        self.settings = settings
    }

    /// Takes note of a run: the one of the seed that lies so far behind the first.
    public mutating func finish(_ offset: Int, _ totals: SimulationTotals) {
        waiting[offset] = totals
        while let next = waiting.removeValue(forKey: doneCount) {
            self.totals.add(next)
            doneCount += 1
        }
    }

    /// A text from which `init(text:settings:)` makes the same again, without what stands behind a gap.
    public var text: String {
        let numbers: [Int64] = [
            Int64(doneCount), Int64(totals.events), Int64(totals.messages), Int64(totals.stored),
            Int64(totals.faults), Int64(totals.crashes), totals.milliseconds, totals.clientMilliseconds,
        ]
        return "\(Self.name(of: settings))\n\(numbers.map(String.init).joined(separator: " "))\n"
    }

    /// Goes on with a series; nil when the text is none, or one of a series that is otherwise.
    public init?(text: String, settings: SimulationSettings) {
        let lines = text.split(separator: "\n")
        guard lines.count == 2, lines[0] == Self.name(of: settings) else { return nil }
        let numbers = lines[1].split(separator: " ").compactMap { Int64($0) }
        guard numbers.count == 8, numbers.allSatisfy({ $0 >= 0 }) else { return nil }
        self.settings = settings
        doneCount = Int(numbers[0])
        totals.events = Int(numbers[1])
        totals.messages = Int(numbers[2])
        totals.stored = Int(numbers[3])
        totals.faults = Int(numbers[4])
        totals.crashes = Int(numbers[5])
        totals.milliseconds = numbers[6]
        totals.clientMilliseconds = numbers[7]
    }

    private static func name(of settings: SimulationSettings) -> String {
        """
        rivulet-simulate from \(settings.seed): \(settings.clients) clients, \(settings.milliseconds) ms, \
        \(settings.faultsPerHour) faults and \(settings.messagesPerHour) messages in an hour, \
        profile \(settings.profile.map { $0 == .seed ? "seed" : "current" } ?? "any"), \
        store \(settings.hasStore.map { $0 ? "yes" : "no" } ?? "some"), bug \(settings.bug?.rawValue ?? "none")
        """
    }
}
