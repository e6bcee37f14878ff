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
        "five message components", "style of a component", "visibility of a component",
        "layout of a component",
        "custom strategy", "layout snapshot", "clearing a snapshot", "interaction events", "tap to view",
        "long press", "and more", "system-style menu", "menu items configured from above",
        "own menu on the long-press event", "session configuration", "page size", "automatic history",
        "incremental refresh", "time display", "inserting", "changing", "deleting", "incrementally",
        "by session type", "HTTP provider", "services for peer and group", "chat-room service", "injection",
        "isolated", "engine can be exchanged",
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

    /// `Type.member(label:)` is a member of that type, or of an extension of it, with these labels.
    @Test func `every member that the table leads to belongs to its type`() throws {
        let keywords: Set<Substring> = ["struct", "class", "enum", "protocol", "actor", "extension"]
        var homes: [Substring: [String]] = [:]
        for file in try SourceTree.swiftFiles(in: ["Sources"]) {
            var types: Set<Substring> = []
            for line in file.lines {
                let words = line.split(separator: " ")
                for (keyword, name) in zip(words, words.dropFirst()) where keywords.contains(keyword) {
                    types.insert(name.prefix { $0.isLetter || $0.isNumber })
                }
            }
            let text = file.lines.joined(separator: "\n")
            for type in types { homes[type, default: []].append(text) }
        }
        var checkedCount = 0
        for row in try Self.rows() {
            for match in row.ours.matches(of: /`([A-Z][A-Za-z]*)\.([a-zA-Z]+)(?:\(([^`)]*)\))?`/) {
                let (type, member) = (String(match.1), String(match.2))
                let labels = match.3.map { $0.split(separator: ":").map(String.init) }
                checkedCount += 1
                #expect(
                    homes[Substring(type), default: []].contains { Self.declares(member, labels, in: $0) },
                    "\(row.described) leads to \(match.0), which is not there")
            }
        }
        #expect(checkedCount > 60)
    }

    /// Whether a text declares a property, a case, or a function with these labels.
    static func declares(_ member: String, _ labels: [String]?, in text: String) -> Bool {
        guard let labels else {
            return ["var", "let", "case"].contains { keyword in
                text.ranges(of: "\(keyword) \(member)").contains { range in
                    text[range.upperBound...].first.map { !$0.isLetter && !$0.isNumber } ?? true
                }
            }
        }
        for keyword in ["func", "case"] {
            for range in text.ranges(of: "\(keyword) \(member)(") {
                // Up to the bracket that closes the parameters.
                var depth = 1
                var parameters = [""]
                for character in text[range.upperBound...] {
                    if "([{<".contains(character) { depth += 1 }
                    if ")]}>".contains(character), !(parameters.last ?? "").hasSuffix("-") { depth -= 1 }
                    if depth == 0 { break }
                    if depth == 1, character == "," {
                        parameters.append("")
                    } else {
                        parameters[parameters.count - 1].append(character)
                    }
                }
                let found = parameters.filter { !$0.allSatisfy(\.isWhitespace) }.map { parameter in
                    // A case may have values without names.
                    guard parameter.contains(":") else { return "_" }
                    return String(parameter.drop(while: \.isWhitespace).prefix { $0.isLetter || $0 == "_" })
                }
                if found == labels { return true }
            }
        }
        return false
    }

    private func isDeclared(_ name: String, among declared: Set<Substring>) -> Bool {
        // Modules are folders, labels of closures are words of the description.
        declared.contains(Substring(name))
            || FileManager.default.fileExists(
                atPath: SourceTree.root.appending(path: "Sources/\(name)").path)
            || ["async", "Result"].contains(name)
    }
}
