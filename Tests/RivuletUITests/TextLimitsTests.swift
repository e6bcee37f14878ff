import RivuletModel
import Testing

@testable import GTKKit
@testable import RivuletUI

/// How much of a text is laid out, and where it is cut into pieces: no text of a stranger may hold the program up.
@Suite struct TextLimitsTests {
    @Test(arguments: [
        "", "short", "👨‍👩‍👧‍👦🇨🇳 and a few words",
        String(repeating: "z\u{338}\u{322}\u{31B}\u{301}\u{35C}", count: 2_000),
        String(repeating: "春天的早晨", count: 3_000), String(repeating: "السلام عليكم ", count: 1_500),
        String(repeating: "0123456789 ", count: 910), String(repeating: "line\n", count: 900),
    ])
    func `a text that somebody could read is shown whole`(text: String) {
        #expect(TextLimits(text).byteCount == text.utf8.count)
    }

    @Test func `a text ends where nobody could read on`() {
        let marks = "abc" + String(repeating: "\u{301}", count: 100_000)
        #expect(TextLimits(marks).byteCount == 3 + 2 * TextLimits.partCountMax)
        let joined = String(repeating: "👩\u{200D}", count: 4_000)
        #expect(TextLimits(joined).byteCount <= 7 * TextLimits.partCountMax)
        let turned = String(repeating: "\u{202E}abc", count: 4_000)
        #expect(TextLimits(turned).byteCount == 6 * TextLimits.embeddingCountMax)
        for end in ["\n", "\u{2029}", "\u{85}"] {
            let lines = String(repeating: "a" + end, count: 30_000)
            #expect(TextLimits(lines).byteCount == lines.utf8.count / 30_000 * TextLimits.lineCountMax + 1)
        }
        #expect(TextLimits(String(repeating: "é", count: 600_000)).byteCount == TextLimits.byteCountMax)
    }

    @Test func `what is shown never ends inside a letter`() {
        for shift in 0..<4 {
            let text = String(repeating: "x", count: shift) + String(repeating: "😀", count: 30_000)
            let count = TextLimits(text).byteCount
            let bytes = Array(text.utf8.prefix(count))
            #expect(String(validating: bytes, as: UTF8.self) != nil, "\(shift)")
        }
    }

    @Test(arguments: [
        String(repeating: "x", count: 60_000), String(repeating: "words and ", count: 6_000),
        String(repeating: "春", count: 20_000), String(repeating: "س", count: 30_000),
        String(repeating: "🇨", count: 15_000),
    ])
    func `a long text is cut into pieces of bounded length`(text: String) {
        let limits = TextLimits(text)
        let edges = [0] + limits.cuts + [limits.byteCount]
        let lengths = zip(edges, edges.dropFirst()).map { $1 - $0 }
        #expect(lengths.allSatisfy { $0 > 0 && $0 <= 4_200 }, "\(lengths.max() ?? 0)")
        #expect(lengths.count >= text.utf8.count / 4_200)
    }

    @Test func `a piece begins after a space where there is one, and never inside a word of a joined script`()
    {
        let words = String(repeating: "السلام عليكم ", count: 500)
        let bytes = Array(words.utf8)
        let cuts = TextLimits(words).cuts
        #expect(cuts.count > 10)
        #expect(cuts.allSatisfy { bytes[$0 - 1] == UInt8(ascii: " ") })
        #expect(TextLimits(String(repeating: "س", count: 1_000)).cuts == [])
        #expect(TextLimits(String(repeating: "x", count: 512)).cuts == [])
    }

    @Test func `somebody is named where the text says so, and only the first time`() {
        let text = TextContent(
            "hi @Ada and @Ben, @Ada!",
            mentions: [
                .init(user: UserID(1), name: "Ada"), .init(user: UserID(2), name: "Ben"),
                .init(user: UserID(3), name: ""), .init(user: UserID(4), name: "Nobody"),
            ])
        #expect(bold(text) == [3..<7, 12..<16])
    }

    @Test func `thousands of mentions and addresses cost no more than a few`() {
        let names = (0..<5_000).map { TextContent.Mention(user: UserID(1), name: "n\($0)") }
        let text = names.map { "@" + $0.name }.joined(separator: " ")
        #expect(bold(TextContent(text, mentions: names)).count == MessageText.spanCountMax)
        #expect(
            MessageText.links(in: String(repeating: "http://a ", count: 5_000)).count
                == MessageText.spanCountMax)
    }

    private func bold(_ content: TextContent) -> [Range<Int>] {
        let message = Message(
            id: MessageID(1), session: .peer(UserID(2)), sender: UserID(2), isOutgoing: false,
            position: MessagePosition(1), timeMilliseconds: 0, content: .text(content), state: .received)
        return MessageText.spans(of: message, in: content.text, link: nil, mention: nil).filter {
            $0.look == .bold
        }.map(
            \.range)
    }
}
