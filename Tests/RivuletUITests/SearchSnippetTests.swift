import RivuletModel
import Testing

@testable import rivulet_chat

/// What a search shows of the messages that it found.
struct SearchSnippetTests {
    /// The stretches that are marked, as texts.
    private func hits(_ snippet: SearchSnippet) -> [String] {
        let bytes = Array(snippet.text.utf8)
        return snippet.hits.map { String(decoding: bytes[$0], as: UTF8.self) }
    }

    @Test(arguments: [
        ("Bus 17 leaves at 07:20", "bus", ["Bus"]),
        ("Bus 17 leaves at 07:20", "at le", ["le", "at"]),
        ("The late bus is a minibus", "bus", ["bus"]),
        ("Über die Brücke, uber alles", "uber", ["Über", "uber"]),
        ("山顶日落，没修图", "日落", ["日落"]),
        ("我在山顶 summit山顶", "山", ["山", "山"]),
        ("(Really?) Really!", "really?!", ["Really", "Really"]),
        ("one two", "", []), ("", "bus", []), ("one", "?!", []),
        ("a\nb\tc", "b", ["b"]),
        ("go gone", "go gone", ["go", "go"]),
    ])
    func `the beginnings of words are marked, and characters without spaces anywhere`(
        text: String, query: String, expected: [String]
    ) {
        let snippet = SearchSnippet(of: text, query: query)
        #expect(hits(snippet) == expected)
        #expect(!snippet.text.contains("\n"))
    }

    @Test func `a hit far inside is brought near the beginning, and no word is cut for it`() {
        let text = "We should leave early. The car park at the reservoir is full by nine."
        let snippet = SearchSnippet(of: text, query: "full")
        #expect(snippet.text == "…the reservoir is full by nine.")
        #expect(hits(snippet) == ["full"])
    }

    @Test func `a very long text without spaces, and one of emoji, are cut`() {
        let long = String(repeating: "山", count: 30_000) + "终"
        #expect(SearchSnippet(of: long, query: "山").text.count == SearchSnippet.characterCountMax)
        #expect(SearchSnippet(of: long, query: "终").hits.isEmpty)
        let emoji = String(repeating: "👨‍👩‍👧‍👦", count: 400)
        #expect(SearchSnippet(of: emoji, query: "x").text.count == SearchSnippet.characterCountMax)
    }

    @Test func `any text with any query gives marks that lie within it and do not overlap`() {
        let pieces = ["山顶", "ab", "É", "e\u{301}", "👍🏽", " ", "\u{0}", "ß", "İ", "ﬁ", "\u{200D}", "مرحبا"]
        for number in 0..<1_728 {
            let text = pieces[number % 12] + pieces[number / 12 % 12] + pieces[number / 144]
            for query in ["a", "e", "山", "ss", "i", "fi", "ﬁ", "م", "\u{301}"] {
                let snippet = SearchSnippet(of: text, query: query)
                var end = 0
                for hit in snippet.hits {
                    #expect(hit.lowerBound >= end && hit.upperBound <= snippet.text.utf8.count)
                    end = hit.upperBound
                }
            }
        }
    }
}

/// Going from hit to hit in one conversation.
struct FindCursorTests {
    private let hits = [MessageID(9), MessageID(5), MessageID(1)]

    @Test func `it begins at the newest and goes round`() {
        var cursor = FindCursor(hits)
        #expect(cursor.words == "1 of 3" && cursor.current == MessageID(9))
        cursor.step(toOlder: true)
        #expect(cursor.words == "2 of 3" && cursor.current == MessageID(5))
        cursor.step(toOlder: false)
        cursor.step(toOlder: false)
        #expect(cursor.words == "3 of 3" && cursor.current == MessageID(1))
        cursor.step(toOlder: true)
        #expect(cursor.current == MessageID(9))
    }

    @Test func `nothing found is nothing to go to, and a full page may not be all`() {
        var none = FindCursor()
        none.step(toOlder: true)
        #expect(none.words.isEmpty && none.current == nil)
        #expect(FindCursor(hits, limit: 3).words == "1 of 3+")
    }
}
