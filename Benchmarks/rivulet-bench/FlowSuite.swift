import RivuletFlow

extension BenchmarkSuite {
    /// The flow's algorithms, on one core: difference, layout index, decoration, and one arrival through all of them.
    static let flow = BenchmarkSuite(
        name: "flow", summary: "rows compared, indexed and decorated",
        options: [
            .init(
                name: "rows-max", placeholder: "N", help: "the longest list of the growth tables (1000000)"),
            .init(name: "part", placeholder: "NAME", help: "only diff, index, decorate or live"),
        ]
    ) { report, options in
        let sizeMax = try options.integer("rows-max", default: 1_000_000)
        let sizes = [1000, 10_000, 100_000, 1_000_000].filter { $0 <= sizeMax }
        let parts = ["diff", "index", "decorate", "live"]
        let wanted = options.values["part"].map { [$0] } ?? parts
        guard Set(wanted).isSubset(of: parts) else {
            throw BenchmarkUsageError(message: "--part wants one of \(parts.joined(separator: ", "))")
        }
        if wanted.contains("diff") {
            for workload in FlowDiffWorkload.all {
                for size in (workload.sizes ?? sizes) where size <= sizeMax {
                    report.add(workload.measure(size, samples: options.sampleCount))
                }
            }
        }
        for size in sizes where size >= 100_000 {
            if wanted.contains("index") {
                FlowIndexBench(size: size, samples: options.sampleCount).run(&report)
            }
            if wanted.contains("decorate") {
                FlowDecorationBench(size: size, samples: options.sampleCount).run(&report)
            }
        }
        for size in sizes where size <= 100_000 && wanted.contains("live") {
            FlowLiveBench(size: size, samples: options.sampleCount).run(&report)
        }
    }
}

/// Names, units and bars of the suite's figures.
enum FlowFigure {
    /// How a size is written in a name: `100k`, `1m`.
    static func short(_ size: Int) -> String {
        size % 1_000_000 == 0 ? "\(size / 1_000_000)m" : "\(size / 1000)k"
    }

    /// A figure in milliseconds or microseconds.
    static func make(
        _ name: String, size: Int, _ samples: Samples, micro: Bool = false, per count: Int = 1,
        bar: Double? = nil
    ) -> Figure {
        let factor = (micro ? 1e6 : 1e3) / Double(count)
        return Figure(
            suite: "flow", name: "\(name).\(short(size))", parameters: [("rows", size)],
            value: samples.median * factor, best: samples.best * factor, unit: micro ? "µs" : "ms",
            better: .lower, bar: bar)
    }
}

extension Samples {
    /// Runs work under the clock that changes what it is given, each time on a fresh state made outside of it.
    init<State>(count: Int, preparing prepare: () -> State, of work: (inout State) -> Void) {
        let clock = ContinuousClock()
        var durations: [Double] = []
        for run in 0...max(1, count) {
            var state = prepare()
            let duration = clock.measure { work(&state) }
            // The first run warms up.
            if run > 0 { durations.append(Samples.seconds(duration)) }
        }
        seconds = durations.sorted()
    }
}

/// Keeps the optimiser from leaving work out whose result nobody reads.
@inline(never)
func flowKeep<Value>(_ value: Value) {}
