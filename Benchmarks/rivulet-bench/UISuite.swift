import Foundation

extension BenchmarkSuite {
    /// The flow on a display, measured by `rivulet-ui-probe` in a process of its own, since GTK wants the main thread.
    static let ui = BenchmarkSuite(
        name: "ui", summary: "the flow on a display: fling, snapshots, start, memory",
        options: [.init(name: "frames", placeholder: "N", help: "frames of each fling (600)")]
    ) { report, options in
        let frames = try options.integer("frames", default: 600)
        let probe = URL(filePath: CommandLine.arguments[0]).resolvingSymlinksInPath()
            .deletingLastPathComponent()
            .appending(path: "rivulet-ui-probe")
        guard FileManager.default.isExecutableFile(atPath: probe.path) else {
            throw BenchmarkUsageError(
                message: "'ui' needs rivulet-ui-probe beside rivulet-bench; build that product, too")
        }
        let display = try UIBenchDisplay()
        defer { display.stop() }
        for check in [["start"], ["fling", "\(frames)"]] {
            let lines = try UIBenchDisplay.run(probe, check, environment: display.environment)
            for figure in lines.compactMap({ figure($0, frames: frames) }) where options.includes(figure.name)
            {
                report.add(figure)
            }
        }
    }

    private static let uiBars: [String: (better: Figure.Better, bar: Double)] = [
        "ui.fling.frame_p99.text": (.lower, 4), "ui.fling.frame_p99.autolayout": (.lower, 4),
        "ui.snapshot.peak_cpu_saved": (.higher, 50),
    ]

    /// The figure of a line such as `ui.start 152.4 ms`; nil for other lines.
    private static func figure(_ line: String, frames: Int) -> Figure? {
        let words = line.split(separator: " ")
        guard words.count == 3, words[0].hasPrefix("ui."), let value = Double(words[1]) else { return nil }
        let name = String(words[0])
        let bar = uiBars[name]
        return Figure(
            suite: "ui", name: name, parameters: [("width", 900), ("height", 700), ("frames", frames)],
            value: value,
            unit: String(words[2]), better: bar?.better ?? .lower, bar: bar?.bar)
    }
}

/// A display that nobody sees, for the time of the measurement.
private struct UIBenchDisplay {
    let environment: [String: String]
    private let process = Process()

    init() throws {
        let output = Pipe()
        process.executableURL = URL(filePath: "/usr/bin/Xvfb")
        process.arguments = ["-displayfd", "1", "-screen", "0", "1000x800x24", "-nolisten", "tcp"]
        process.standardOutput = output
        process.standardError = FileHandle.nullDevice
        do {
            try process.run()
        } catch {
            throw BenchmarkUsageError(message: "'ui' needs Xvfb (Debian package xvfb)")
        }
        let number = String(decoding: output.fileHandleForReading.availableData, as: UTF8.self)
            .trimmingCharacters(in: .whitespacesAndNewlines)
        environment = ProcessInfo.processInfo.environment.merging([
            "DISPLAY": ":\(number)", "GDK_BACKEND": "x11", "GSK_RENDERER": "cairo", "GTK_A11Y": "none",
        ]) { $1 }
    }

    func stop() {
        process.terminate()
        process.waitUntilExit()
    }

    static func run(_ program: URL, _ arguments: [String], environment: [String: String]) throws -> [String] {
        let process = Process()
        let output = Pipe()
        process.executableURL = program
        process.arguments = arguments
        process.environment = environment
        process.standardOutput = output
        try process.run()
        let data = output.fileHandleForReading.readDataToEndOfFile()
        process.waitUntilExit()
        guard process.terminationStatus == 0 else {
            throw BenchmarkUsageError(
                message: "rivulet-ui-probe ended with status \(process.terminationStatus)")
        }
        return String(decoding: data, as: UTF8.self).split(separator: "\n").map(String.init)
    }
}
