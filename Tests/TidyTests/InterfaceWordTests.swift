import Foundation
import Testing

/// Words that a reader sees or hears come from `InterfaceStrings`, so that they are there in every language.
@Suite struct InterfaceWordTests {
    /// Literals of a line that read like words for people: two words, or one that begins with a capital letter.
    private func sentences(in line: String) -> [String] {
        guard line.utf8.contains(UInt8(ascii: "\"")) else { return [] }
        // Every other part is a literal; none of these files has a quotation mark inside of one.
        let parts = line.replacing("\\\"", with: "'").split(separator: "\"", omittingEmptySubsequences: false)
        return stride(from: 1, to: parts.count, by: 2).map { String(parts[$0]) }.filter {
            isForPeople(withoutValues($0))
        }
    }

    /// A literal without the values that are put into it.
    private func withoutValues(_ text: String) -> String {
        var result = ""
        var depth = 0
        var isEscaped = false
        for character in text {
            if depth > 0 {
                depth += character == "(" ? 1 : character == ")" ? -1 : 0
            } else if isEscaped, character == "(" {
                depth = 1
            } else if character != "\\" {
                result.append(character)
            }
            isEscaped = character == "\\"
        }
        return result
    }

    private func isForPeople(_ text: String) -> Bool {
        if text.unicodeScalars.contains(where: { (0x4E00...0x9FFF).contains($0.value) }) { return true }
        let words = text.split { !$0.isLetter }
        if words.first.map({ text.hasPrefix($0) && $0.count > 1 && ($0.first?.isUppercase ?? false) })
            ?? false
        {
            return true
        }
        return text.split(separator: " ").count { $0.count > 1 && $0.allSatisfy(\.isLetter) } > 1
    }

    @Test func `the views say nothing in words of their own`() throws {
        for file in try SourceTree.swiftFiles(in: ["Sources"]) where file.target == "RivuletUI" {
            var isStyleSheet = false
            for (index, line) in file.lines.enumerated() {
                // The style sheet is the one text of several lines.
                if line.contains("\"\"\"") { isStyleSheet.toggle() }
                let trimmed = line.drop { $0 == " " }
                guard !isStyleSheet, !trimmed.hasPrefix("//"), !trimmed.contains("precondition") else {
                    continue
                }
                for sentence in sentences(in: line) {
                    Issue.record("\(file):\(index + 1) says “\(sentence)” in one language only")
                }
            }
        }
    }

    @Test func `the check finds words, and takes names for none`() {
        #expect(sentences(in: #"label.show("Try again")"#) == ["Try again"])
        #expect(sentences(in: #"label = "Messages""#) == ["Messages"])
        #expect(sentences(in: #"label = "消息""#) == ["消息"])
        #expect(sentences(in: #"words = "\(count) new messages""#) == [#"\(count) new messages"#])
        #expect(sentences(in: #"input.addStyleClass("rivulet-input"); let scheme = "https://""#) == [])
    }
}
