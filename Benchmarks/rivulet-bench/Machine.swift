import Foundation

/// What a figure was measured on.
enum Machine {
    /// One line: processor, cores, system, build, commit.
    static var description: String {
        [
            processor, "\(ProcessInfo.processInfo.activeProcessorCount) cores", system, build,
            "commit \(commit)",
        ]
        .joined(separator: " · ")
    }

    private static var build: String {
        #if DEBUG
            "debug build, its figures mean nothing"
        #else
            "release build (-O)"
        #endif
    }

    private static var system: String {
        ProcessInfo.processInfo.operatingSystemVersionString
    }

    private static var processor: String {
        let lines =
            (try? String(contentsOfFile: "/proc/cpuinfo", encoding: .utf8))?.split(separator: "\n") ?? []
        let model = lines.first { $0.hasPrefix("model name") }?.split(separator: ":").last
        return model.map { $0.trimmingCharacters(in: .whitespaces) } ?? "unknown processor"
    }

    private static var commit: String {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = ["git", "describe", "--always", "--dirty"]
        let output = Pipe()
        process.standardOutput = output
        process.standardError = FileHandle.nullDevice
        guard (try? process.run()) != nil else { return "unknown" }
        let data = output.fileHandleForReading.readDataToEndOfFile()
        process.waitUntilExit()
        let text = String(decoding: data, as: UTF8.self).trimmingCharacters(in: .whitespacesAndNewlines)
        return text.isEmpty ? "unknown" : text
    }
}
