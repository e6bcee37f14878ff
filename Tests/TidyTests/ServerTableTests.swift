import Foundation
import Testing

/// The tables of docs/server.md, kept true: every row of the protocol is there, and every test that is named exists.
@Suite struct ServerTableTests {
    private static func lines(of document: String, from start: String, to end: String) throws -> [String] {
        let text = try String(
            contentsOf: SourceTree.root.appending(path: "docs/\(document).md"), encoding: .utf8)
        let lines = text.split(separator: "\n").map(String.init)
        let first = try #require(lines.firstIndex { $0.hasPrefix(start) })
        let last = end.isEmpty ? nil : lines[(first + 1)...].firstIndex { $0.hasPrefix(end) }
        return Array(lines[first..<(last ?? lines.endIndex)])
    }

    /// The cells of the rows of the tables among these lines, without the rows above and below the heads.
    private static func rows(_ lines: [String]) -> [[String]] {
        let rows = lines.filter { $0.hasPrefix("|") }.map { line in
            line.split(separator: "|").map { $0.trimmingCharacters(in: .whitespaces) }
        }
        return zip(rows.indices, rows).filter { index, row in
            let next = rows.indices.contains(index + 1) ? rows[index + 1] : []
            return !isRule(row) && !isRule(next)
        }.map(\.1)
    }

    private static func isRule(_ row: [String]) -> Bool {
        row.first?.hasPrefix("---") ?? false
    }

    /// The tests of a target, by name.
    private static func tests(in target: String) throws -> Set<String> {
        var names: Set<String> = []
        for file in try SourceTree.swiftFiles(in: ["Tests/\(target)"]) {
            for line in file.lines {
                for match in line.matches(of: /func `([^`]+)`/) { names.insert(String(match.1)) }
            }
        }
        return names
    }

    private static func named(_ cell: String) -> [String] {
        cell.matches(of: /`([^`]+)`/).map { String($0.1) }
    }

    @Test func `every row of section 12 of the protocol has a test over sockets and one of the core`() throws
    {
        let wanted = Self.rows(try Self.lines(of: "protocol", from: "## 12.", to: "## 13.")).map { $0[0] }
        let rows = Self.rows(try Self.lines(of: "server", from: "## 1 ", to: "## 2 "))
        #expect(wanted.count > 10)
        #expect(rows.map { $0[0] } == wanted)
        let (sockets, core) = (
            try Self.tests(in: "RivuletServerTests"), try Self.tests(in: "RivuletServerCoreTests")
        )
        for row in rows {
            try #require(row.count == 3, "\(row)")
            #expect(!Self.named(row[1]).isEmpty && !Self.named(row[2]).isEmpty, "\(row[0])")
            for name in Self.named(row[1]) { #expect(sockets.contains(name), "\(row[0]): \(name)") }
            for name in Self.named(row[2]) { #expect(core.contains(name), "\(row[0]): \(name)") }
        }
    }

    @Test func `every test that the page names exists`() throws {
        let core = try Self.tests(in: "RivuletServerCoreTests")
        let all = core.union(try Self.tests(in: "RivuletServerTests"))
        let decisions = Self.rows(try Self.lines(of: "server", from: "## 2 ", to: "## 3 "))
        #expect(decisions.count > 30)
        for row in decisions {
            try #require(row.count == 2, "\(row)")
            #expect(!Self.named(row[1]).isEmpty, "\(row[0])")
            for name in Self.named(row[1]) { #expect(core.contains(name), "\(row[0]): \(name)") }
        }
        let promises = Self.rows(try Self.lines(of: "server", from: "## 3 ", to: ""))
        #expect(promises.count >= 5)
        for row in promises {
            for name in row.dropFirst().flatMap(Self.named) { #expect(all.contains(name), "\(name)") }
        }
        let prose = try Self.lines(of: "server", from: "## 1 ", to: "").filter { !$0.hasPrefix("|") }
        for name in Self.named(prose.joined(separator: "\n")) where name.contains(" ") {
            #expect(all.contains(name), "\(name)")
        }
    }
}
