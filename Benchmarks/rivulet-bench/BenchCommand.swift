import Foundation

/// The command line of `rivulet-bench`.
enum BenchCommand {
    /// Runs what the arguments ask for and gives the exit status: 0, or 1 when a suite failed, or 2 for bad usage.
    static func run(_ arguments: [String]) async -> Int32 {
        do {
            guard let (suites, options) = try parse(arguments) else {
                FileHandle.standardOutput.write(Data(help.utf8))
                return 0
            }
            var report = BenchmarkReport(isJSON: options.isJSON)
            report.begin()
            for suite in suites { try await suite.run(&report, options) }
            return 0
        } catch let error as BenchmarkUsageError {
            complain("\(error.message)\nSee 'rivulet-bench --help'.")
            return 2
        } catch {
            complain("\(error)")
            return 1
        }
    }

    /// The suites and options of a command line; nil when it asks for help.
    private static func parse(
        _ arguments: [String]
    ) throws(BenchmarkUsageError) -> ([BenchmarkSuite], BenchmarkOptions)? {
        var options = BenchmarkOptions()
        var names: [String] = []
        var given: [(name: String, value: String?)] = []
        var rest = arguments[...]
        while let argument = rest.popFirst() {
            switch argument {
            case "--help", "-h": return nil
            case "--json": options.isJSON = true
            case _ where argument.hasPrefix("--"):
                given.append((String(argument.dropFirst(2)), rest.popFirst()))
            case _ where argument.hasPrefix("-"):
                throw BenchmarkUsageError(message: "unknown option '\(argument)'")
            default: names.append(argument)
            }
        }
        let suites = try suites(named: names)
        let known = Set(["samples", "only"] + suites.flatMap(\.options).map(\.name))
        for (name, value) in given {
            guard known.contains(name) else {
                throw BenchmarkUsageError(message: "unknown option '--\(name)'")
            }
            guard let value else { throw BenchmarkUsageError(message: "--\(name) wants a value") }
            options.values[name] = value
        }
        options.sampleCount = try options.integer("samples", default: options.sampleCount)
        options.only = options.values["only"] ?? ""
        guard options.sampleCount > 0 else { throw BenchmarkUsageError(message: "--samples wants 1 or more") }
        return (suites, options)
    }

    private static func suites(named names: [String]) throws(BenchmarkUsageError) -> [BenchmarkSuite] {
        guard let name = names.first else { throw BenchmarkUsageError(message: "name a suite") }
        guard names.count == 1 else { throw BenchmarkUsageError(message: "name one suite, or 'all'") }
        if name == "all" { return BenchmarkSuite.all }
        let suites = BenchmarkSuite.all.filter { $0.name == name }
        if suites.isEmpty { throw BenchmarkUsageError(message: "no suite is named '\(name)'") }
        return suites
    }

    private static var help: String {
        var lines = [
            "Usage: rivulet-bench SUITE [--json] [--samples N] [--only NAME] [options]",
            "",
            "Measures and prints one figure a line: the median of N samples (9) and the best of them.",
            "",
            "Suites:",
        ]
        for suite in BenchmarkSuite.all {
            lines.append("  " + suite.name.padding(toLength: 10, withPad: " ", startingAt: 0) + suite.summary)
        }
        lines.append("  all       every suite")
        lines += ["", "Options:", "  --json              one JSON object a line instead of a table"]
        lines.append("  --samples N         how often each figure is measured")
        lines.append("  --only NAME         only the figure NAME, or those below it, such as wire.decode")
        for suite in BenchmarkSuite.all {
            for option in suite.options {
                let name = "--\(option.name) \(option.placeholder)"
                let column = name.padding(toLength: max(20, name.count + 1), withPad: " ", startingAt: 0)
                lines.append("  \(column)\(suite.name): \(option.help)")
            }
        }
        return lines.joined(separator: "\n") + "\n"
    }

    private static func complain(_ message: String) {
        FileHandle.standardError.write(Data(("rivulet-bench: " + message + "\n").utf8))
    }
}
