/// A group of figures that are measured together: one subcommand.
///
/// To add a suite, write `NameSuite.swift` beside this file with a `static let` in an extension of this type, and
/// list it in ``all``. Its `run` adds each figure to the report as soon as it is measured; inputs come from a fixed
/// seed (``SeededGenerator``), times from ``Samples``.
struct BenchmarkSuite {
    /// An option of one suite, `--name VALUE`.
    struct Option {
        /// The name without the dashes.
        var name: String
        /// What stands for the value in the help.
        var placeholder: String
        /// One line of help.
        var help: String
    }

    /// The subcommand.
    var name: String
    /// One line of help.
    var summary: String
    /// Options beyond those of every suite.
    var options: [Option] = []
    /// Measures everything.
    var run: @Sendable (inout BenchmarkReport, BenchmarkOptions) async throws -> Void

    /// Every suite, in the order of `rivulet-bench all`.
    static let all: [BenchmarkSuite] = [.wire, .flow, .store, .server, .simulate, .ui]
}

/// What the command line asked for.
struct BenchmarkOptions {
    /// Whether each figure is printed as a JSON object.
    var isJSON = false
    /// How often each figure is measured; the value is the median.
    var sampleCount = 9
    /// Which figures to measure: the one of this name, or those below it (`wire.decode`); empty means all.
    var only = ""
    /// Values of the suite's own options, by name without the dashes.
    var values: [String: String] = [:]

    /// Whether a figure of this name is wanted.
    func includes(_ name: String) -> Bool {
        only.isEmpty || name == only || name.hasPrefix(only + ".")
    }

    /// The integer value of a suite's option.
    ///
    /// - Throws: ``BenchmarkUsageError`` when it is no integer.
    func integer(_ name: String, default fallback: Int) throws(BenchmarkUsageError) -> Int {
        guard let text = values[name] else { return fallback }
        guard let value = Int(text) else {
            throw BenchmarkUsageError(message: "--\(name) wants a whole number, not '\(text)'")
        }
        return value
    }
}

/// A command line that cannot be followed.
struct BenchmarkUsageError: Error {
    /// What is wrong with it.
    var message: String
}
