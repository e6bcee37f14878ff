import Foundation
import RivuletArguments
import Testing

@testable import RivuletCommands

/// The help of every command, compared with the files of `Snapshots/`.
///
/// `RIVULET_UPDATE_SNAPSHOTS=1` in the environment writes them anew; read the difference before committing it.
struct HelpSnapshotTests {
    /// Every command, by the words that lead to it.
    static let paths: [[String]] = collect(RivuletProgram.spec, [])

    private static func collect(_ command: CommandSpec, _ path: [String]) -> [[String]] {
        [path + [command.name]] + command.subcommands.flatMap { collect($0, path + [command.name]) }
    }

    @Test(arguments: paths)
    func `The help is the one that was agreed on`(_ path: [String]) throws {
        let folder = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "Snapshots")
        let file = folder.appending(path: path.joined(separator: "-") + ".txt")
        let words = Array(path.dropFirst()) + ["--help"]
        guard case .print(let help) = RivuletProgram.spec.parse(words, environment: [:]) else {
            Issue.record("no help")
            return
        }
        if ProcessInfo.processInfo.environment["RIVULET_UPDATE_SNAPSHOTS"] == "1" {
            try Data((help + "\n").utf8).write(to: file)
        }
        #expect(try String(contentsOf: file, encoding: .utf8) == help + "\n")
    }

    @Test(arguments: paths)
    func `No line of help is wider than 80`(_ path: [String]) {
        guard
            case .print(let help) = RivuletProgram.spec.parse(
                Array(path.dropFirst()) + ["-h"], environment: [:])
        else {
            Issue.record("no help")
            return
        }
        #expect(help.split(separator: "\n").allSatisfy { $0.count <= 80 })
    }
}
