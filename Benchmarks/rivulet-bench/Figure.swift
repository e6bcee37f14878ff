import Foundation

/// One measured figure: a row of the table, or one JSON object on a line of its own.
struct Figure {
    /// Which way is an improvement.
    enum Better: String {
        case higher, lower
    }

    /// The suite that measured it, such as `wire`.
    var suite: String
    /// The stable name, such as `wire.decode.ping`.
    var name: String
    /// What was measured under: sizes, counts, depths.
    var parameters: [(name: String, value: Int)]
    /// The measured value: the median of the samples where there are several.
    var value: Double
    /// The best of the samples, where there are several.
    var best: Double?
    /// The unit of `value`, `best` and `bar`.
    var unit: String
    /// Which way is an improvement.
    var better: Better
    /// What the value is meant to reach, where a bar is set.
    var bar: Double?

    /// Whether the bar is reached; nil without a bar.
    var isMet: Bool? {
        bar.map { bar in better == .higher ? value >= bar : value <= bar }
    }

    /// The line that `--json` prints.
    var json: String {
        var members = [
            ("suite", quoted(suite)), ("name", quoted(name)),
            (
                "parameters",
                "{" + parameters.map { "\(quoted($0.name)):\($0.value)" }.joined(separator: ",") + "}"
            ),
            ("value", number(value)), ("unit", quoted(unit)), ("better", quoted(better.rawValue)),
        ]
        if let best { members.append(("best", number(best))) }
        if let bar { members.append(("bar", number(bar))) }
        if let isMet { members.append(("met", "\(isMet)")) }
        return "{" + members.map { "\(quoted($0.0)):\($0.1)" }.joined(separator: ",") + "}"
    }

    /// The columns of the table.
    var columns: [String] {
        let sign = better == .higher ? "≥" : "≤"
        return [
            name, readable(value), best.map(readable) ?? "", unit,
            bar.map { "\(sign) \(readable($0))" } ?? "",
            isMet.map { $0 ? "met" : "missed" } ?? "",
            parameters.map { "\($0.name)=\($0.value)" }.joined(separator: " "),
        ]
    }

    private func quoted(_ text: String) -> String {
        // Names and units are ours: no character of theirs needs an escape.
        "\"\(text)\""
    }

    private func number(_ value: Double) -> String {
        value.isFinite ? String(format: "%.6g", value) : "null"
    }

    private func readable(_ value: Double) -> String {
        String(format: abs(value) >= 1000 ? "%.0f" : abs(value) >= 10 ? "%.1f" : "%.3f", value)
    }
}

/// Prints figures as they are measured, in one of two forms.
struct BenchmarkReport {
    /// Whether each figure is a JSON object instead of a row.
    let isJSON: Bool
    /// How many bars were missed so far.
    private(set) var missedCount = 0

    private static let widths = [28, 10, 10, 14, 10, 8, 0]

    init(isJSON: Bool) {
        self.isJSON = isJSON
    }

    /// Says on what was measured: on standard error before JSON, as the heading of a table.
    func begin() {
        let lines = ["rivulet-bench · \(Machine.description)"]
        guard !isJSON else {
            FileHandle.standardError.write(Data((lines.joined(separator: "\n") + "\n").utf8))
            return
        }
        for line in lines { emit(line) }
        emit(row(["name", "median", "best", "unit", "bar", "", "parameters"]))
    }

    /// Prints a figure.
    mutating func add(_ figure: Figure) {
        if figure.isMet == false { missedCount += 1 }
        emit(isJSON ? figure.json : row(figure.columns))
    }

    private func row(_ columns: [String]) -> String {
        let cells = zip(columns, Self.widths).map { text, width in
            text + String(repeating: " ", count: max(0, width - text.count))
        }
        return String(cells.joined(separator: " ").reversed().drop { $0 == " " }.reversed())
    }

    private func emit(_ line: String) {
        FileHandle.standardOutput.write(Data((line + "\n").utf8))
    }
}
