import Foundation
import Testing

/// What the formatter cannot see.
@Suite struct TidyTests {
    static let fileLinesMax = 600
    static let functionLinesMax = 70

    @Test func `no file is longer than 600 lines`() throws {
        for file in try SourceTree.swiftFiles(in: ["Sources", "Tests", "Benchmarks"]) {
            #expect(file.lines.count <= Self.fileLinesMax, "\(file) has \(file.lines.count) lines")
        }
    }

    @Test func `no function is longer than 70 lines`() throws {
        for file in try SourceTree.swiftFiles(in: ["Sources", "Benchmarks"]) {
            for (start, length) in functionLengths(in: file) where length > Self.functionLinesMax {
                Issue.record("\(file):\(start) is a function of \(length) lines")
            }
        }
    }

    @Test func `unchecked claims state their invariant`() throws {
        for file in try SourceTree.swiftFiles(in: ["Sources", "Benchmarks"]) {
            for (index, line) in file.lines.enumerated() {
                let code =
                    line.split(separator: "//", omittingEmptySubsequences: false).first.map(String.init) ?? ""
                guard code.contains("@unchecked Sendable") || code.contains("nonisolated(unsafe)") else {
                    continue
                }
                let near = file.lines[max(0, index - 4)...min(index + 6, file.lines.count - 1)]
                #expect(
                    near.contains { $0.contains("Invariant:") },
                    "\(file):\(index + 1) claims what the compiler cannot check and gives no Invariant:")
            }
        }
    }

    @Test func `libraries do not print, trap on purpose, or swallow errors`() throws {
        let banned = ["try!", "fatalError(", "as!", "debugPrint(", "dump("]
        let programs: Set<String> = ["rivulet", "rivuletd", "RivuletCommands", "rivulet-chat"]
        for file in try SourceTree.swiftFiles(in: ["Sources"]) {
            for (index, line) in file.lines.enumerated() {
                let trimmed = line.drop { $0 == " " }
                guard !trimmed.hasPrefix("//") else { continue }
                let declares = trimmed.hasPrefix("case ") || trimmed.contains("func print(")
                let words = programs.contains(file.target) || declares ? banned : banned + ["print("]
                for word in words where contains(word, asWordIn: trimmed) {
                    Issue.record("\(file):\(index + 1) uses \(word)")
                }
                #expect(!trimmed.hasSuffix("catch {}"), "\(file):\(index + 1) swallows an error")
            }
        }
    }

    @Test func `a to-do names its issue`() throws {
        for file in try SourceTree.swiftFiles(in: ["Sources", "Tests", "Benchmarks"])
        where file.target != "TidyTests" {
            for (index, line) in file.lines.enumerated() where line.contains("TODO") || line.contains("FIXME")
            {
                #expect(line.contains("TODO(#"), "\(file):\(index + 1)")
            }
        }
    }

    @Test func `no test is switched off`() throws {
        for file in try SourceTree.swiftFiles(in: ["Tests"]) where file.target != "TidyTests" {
            for (index, line) in file.lines.enumerated() {
                for word in [".disabled(", "XCTSkip", "withKnownIssue"] where line.contains(word) {
                    Issue.record("\(file):\(index + 1) uses \(word)")
                }
            }
        }
    }

    @Test func `no file names a path of one machine`() throws {
        let folders = ["Sources", "Tests", "Benchmarks", "Scripts", "docs", ".ci"]
        let paths = ["/" + "work/", "/" + "root/", "/" + "home/", "/tmp/" + "team"]
        for file in try SourceTree.files(in: folders, where: { !$0.hasSuffix(".png") }) {
            for (index, line) in file.lines.enumerated() {
                for path in paths where line.contains(path) {
                    Issue.record("\(file):\(index + 1) names \(path)")
                }
            }
        }
    }

    @Test func `the README shows the program that the consumer package runs`() throws {
        let readme = try String(contentsOf: SourceTree.root.appending(path: "README.md"), encoding: .utf8)
        let program = try String(
            contentsOf: SourceTree.root.appending(path: "Tests/Consumer/Sources/consumer/main.swift"),
            encoding: .utf8)
        #expect(readme.contains("```swift\n\(program)```"))
    }

    @Test(arguments: ["protocol", "extensions"])
    func `every section that the code cites exists`(document: String) throws {
        let text = try String(
            contentsOf: SourceTree.root.appending(path: "docs/\(document).md"), encoding: .utf8)
        let headings = Set(
            text.matches(of: /(?m)^#+ ([0-9]+(?:\.[0-9]+)?)[. ]/).map { String($0.1) })
        #expect(!headings.isEmpty)
        let citation = "docs/\(document).md, section "
        for file in try SourceTree.swiftFiles(in: ["Sources", "Tests"]) where file.target != "TidyTests" {
            for (index, line) in file.lines.enumerated() {
                guard let range = line.range(of: citation) else { continue }
                let number = line[range.upperBound...].prefix { $0.isNumber || $0 == "." }
                let parts = number.split(separator: ".")
                // Sections 21 and 23 are numbered lists: their items are cited like sections.
                let isItem = parts.first == "21" || parts.first == "23"
                let section = isItem ? String(parts[0]) : parts.joined(separator: ".")
                #expect(headings.contains(section), "\(file):\(index + 1) cites section \(number)")
            }
        }
    }

    /// The length of each function and initialiser, by indentation: the formatter guarantees the shape.
    private func functionLengths(in file: SourceTree.File) -> [(start: Int, length: Int)] {
        var lengths: [(Int, Int)] = []
        for (index, line) in file.lines.enumerated() {
            let indentation = line.prefix { $0 == " " }
            let code = line.dropFirst(indentation.count)
            guard !code.hasPrefix("//"),
                code.contains("func ") || code.contains("init(") || code.contains("init<")
            else { continue }
            guard let end = file.lines[(index + 1)...].firstIndex(where: { $0 == indentation + "}" }),
                let opening = file.lines[index...].firstIndex(where: { $0.hasSuffix("{") }), opening < end,
                file.lines[index..<opening].dropFirst().allSatisfy({ $0.hasPrefix(indentation) && $0 != "" })
            else { continue }
            lengths.append((index + 1, end - index + 1))
        }
        return lengths
    }

    /// Whether a banned name stands there by itself, not as the end of a longer name.
    private func contains(_ word: String, asWordIn line: Substring) -> Bool {
        line.ranges(of: word).contains { range in
            guard range.lowerBound > line.startIndex else { return true }
            let before = line[line.index(before: range.lowerBound)]
            return !(before.isLetter || before.isNumber || before == "_" || before == ".")
        }
    }
}
