import Foundation
import RivuletFlow
import Testing

@testable import rivulet_chat

/// What the program says, in its languages.
struct WordsTests {
    /// The places for values in a phrase.
    private func places(_ text: String) -> Set<Character> {
        Set(zip(text, text.dropFirst()).filter { $0.0 == "%" && $0.1.isNumber }.map(\.1))
    }

    @Test func `every phrase has the same places in both languages, and words in both`() {
        for (english, chinese) in Words.simplifiedChinese {
            #expect(places(english) == places(chinese), "\(english)")
            #expect(!chinese.isEmpty)
        }
    }

    @Test func `a language has the program's phrases and the flow's`() {
        let chinese = Words.strings(for: .simplifiedChinese)
        #expect(chinese[InterfaceStrings.Key(rawValue: "Keep on top")] == "置顶")
        #expect(chinese[InterfaceStrings.Key(rawValue: "%1 is typing…"), "林小雨"] == "林小雨 正在输入…")
        #expect(chinese[.copy] == "复制")
        let english = Words.strings(for: .english)
        #expect(english[InterfaceStrings.Key(rawValue: "%1 members"), count: 1] == "1 member")
        #expect(english[InterfaceStrings.Key(rawValue: "%1 members"), count: 6] == "6 members")
    }

    @Test func `every phrase that the sources say stands in the table, and the other way round`() throws {
        let folder = URL(filePath: #filePath).deletingLastPathComponent()
            .appending(path: "../../Sources/rivulet-chat")
        var said: Set<String> = []
        let files = try FileManager.default.contentsOfDirectory(atPath: folder.path)
        for file in files where file.hasSuffix(".swift") && file != "Words.swift" {
            let source = try String(contentsOf: folder.appending(path: file), encoding: .utf8)
            for match in source.matches(of: /Words\.say\(\s*"([^"]+)"/) {
                said.insert(String(match.output.1))
            }
        }
        #expect(said.subtracting(Words.simplifiedChinese.keys) == [])
        #expect(Set(Words.simplifiedChinese.keys).subtracting(said) == [])
    }
}
