import Foundation
import Testing

/// The table that leads from the described names of the message-flow kit to Rivulet's, kept true.
@Suite struct DescribedNameTests {
    /// What the description of the message-flow kit names, as it spells it.
    static let described = [
        "MessageView", "MessageAbstractView", "canPerformMenuAction", "refresh(with:)", "prepareForReuse()",
        "createSizeStrategy(message:fittingSize:)", "MessageLayoutSizeStrategy", "caclulateSize",
        "MessageAutoLayoutSizeStrategy", "MessageSizeThatFitsStrategy", "SessionMessageProvider",
        "messages(in:anchorMessage:limit:completion:)", "DataManager", "MessageServiceInterface",
        "send(message:in:completion:)", "resend(message:completion:)", "forward(message:to:completion:)",
        "revoke(message:completion:)", "save(message:in:completion:)", "delete(message:completion:)",
        "MessageServiceInterfaceCompletion", "MessageServicePrechecker", "shouldSend(message:in:)",
        "MessageServicePreparation", "prepareSend(message:in:callback:)",
        "MessageServicePreparationCallback",
    ]
    /// What it describes without a name in code.
    static let concepts = [
        "five message components", "style, visibility, layout", "custom strategy", "layout snapshot",
        "clearing a snapshot", "interaction events", "menu", "session configuration", "page size",
        "automatic history", "incremental refresh", "time display", "diff-update", "by session type",
        "chat rooms", "injection", "engine can be exchanged",
    ]

    struct Row {
        var described: String
        var ours: String
    }

    static func rows() throws -> [Row] {
        let text = try String(
            contentsOf: SourceTree.root.appending(path: "docs/names.md"), encoding: .utf8)
        let lines = text.split(separator: "\n")
        let start = try #require(lines.firstIndex { $0.hasPrefix("## 1 ") })
        let end = try #require(lines.firstIndex { $0.hasPrefix("## 2 ") })
        return lines[start..<end].compactMap { line in
            let cells = line.split(separator: "|").map { $0.trimmingCharacters(in: .whitespaces) }
            guard cells.count == 3, cells[0] != "described", !cells[0].hasPrefix("---") else { return nil }
            return Row(described: cells[0], ours: cells[1])
        }
    }

    /// The names in code voice, without arguments: `A.b(c:)` is A and b.
    static func names(in cell: String) -> [String] {
        cell.matches(of: /`([^`]+)`/).flatMap { match in
            match.1.prefix { $0 != "(" && $0 != "<" }.split(separator: ".").map(String.init)
        }
    }

    @Test func `the table has every described name`() throws {
        let cells = try Self.rows().map(\.described)
        for name in Self.described {
            let isThere = cells.contains { cell in
                cell.matches(of: /`([^`]+)`/).contains { $0.1 == name || $0.1.hasSuffix(" \(name)") }
                    || Self.names(in: cell).contains(name)
            }
            #expect(isThere, "docs/names.md does not lead from \(name)")
        }
        let all = cells.joined(separator: "\n")
        for concept in Self.concepts {
            #expect(all.contains(concept), "docs/names.md does not lead from “\(concept)”")
        }
    }

    @Test func `every name that the table leads to is declared`() throws {
        let keywords: Set<Substring> = [
            "class", "struct", "enum", "protocol", "typealias", "actor", "func", "var", "let", "case",
        ]
        var declared: Set<Substring> = []
        for file in try SourceTree.swiftFiles(in: ["Sources"]) {
            for line in file.lines {
                let words = line.split(separator: " ")
                for (keyword, name) in zip(words, words.dropFirst()) where keywords.contains(keyword) {
                    declared.insert(name.prefix { $0.isLetter || $0.isNumber })
                }
            }
        }
        let rows = try Self.rows()
        #expect(rows.count > 30)
        for row in rows {
            // "The same" leads to the names of the first column.
            let names = Self.names(in: row.ours) + (row.ours.contains("the same") ? sameNames(row) : [])
            #expect(!names.isEmpty, "\(row.described) leads nowhere")
            for name in names where name.first?.isLetter == true {
                #expect(isDeclared(name, among: declared), "\(row.described) leads to \(name)")
            }
        }
    }

    /// The described names of a row whose place here has the same name.
    private func sameNames(_ row: Row) -> [String] {
        Self.names(in: row.described).filter { $0 != "caclulateSize" }
    }

    private func isDeclared(_ name: String, among declared: Set<Substring>) -> Bool {
        // Modules are folders, labels of closures are words of the description.
        declared.contains(Substring(name))
            || FileManager.default.fileExists(
                atPath: SourceTree.root.appending(path: "Sources/\(name)").path)
            || ["async", "Result"].contains(name)
    }
}
