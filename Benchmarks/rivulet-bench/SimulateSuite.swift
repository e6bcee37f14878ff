import Foundation
import RivuletSimulation

extension BenchmarkSuite {
    /// How fast clients and a server live in a simulated world, with more than a message in a client-minute and more
    /// than ten faults in an hour.
    static let simulate = BenchmarkSuite(
        name: "simulate", summary: "the simulation: events in a second of one core",
        options: [Option(name: "seeds", placeholder: "N", help: "how many worlds are run for a sample (8)")]
    ) { report, options in
        let seeds = max(1, try options.integer("seeds", default: 8))
        for (name, hasStore, bar) in [
            ("simulate.events", false, 100_000.0 as Double?), ("simulate.events.store", true, nil),
        ] where options.includes(name) {
            var totals = SimulationTotals()
            let samples = Samples(count: min(5, options.sampleCount), time: .cpu) {
                totals = SimulationTotals()
                for seed in 1...UInt64(seeds) {
                    var settings = SimulationSettings(seed: seed)
                    settings.milliseconds = 4 * 3_600_000
                    settings.hasStore = hasStore
                    totals.add(Simulation.run(settings).totals)
                }
            }
            let events = Double(totals.events)
            report.add(
                Figure(
                    suite: "simulate", name: name,
                    parameters: [
                        ("clients", 6), ("client_hours", Int(totals.clientMilliseconds / 3_600_000)),
                        ("messages", totals.messages), ("faults", totals.faults), ("crashes", totals.crashes),
                    ],
                    value: events / samples.median, best: events / samples.best, unit: "events/s",
                    better: .higher, bar: bar))
        }
    }
}
