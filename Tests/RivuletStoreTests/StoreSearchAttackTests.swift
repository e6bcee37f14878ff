import Foundation
import RivuletModel
import RivuletStore
import Testing

/// Whatever is typed into the search field or stands in a message: nothing throws, and what a message says is found.
@Suite("Store contract: search under attack")
struct StoreSearchAttackTests {
    private static let seeds: [UInt64] = [1, 2]

    /// Pieces with a meaning for FTS5, for SQL or for Unicode, and words of many scripts.
    private static let pieces: [String] = [
        "\"", "\"\"", "'", "*", "(", ")", "{", "}", "[", ":", "^", "-", "+", ",", ";", "--", "/*", "\\", "%",
        "_",
        "AND", "OR", "NOT", "NEAR", "NEAR(a b, 3)", "text", "scope", "text:", "{text scope}:", "rank",
        "rowid",
        "s1", "u2", "kfile", "search_8388608", "' OR 1=1 --", "\u{0}", "\u{1}", "\u{7F}", "\u{FEFF}",
        "\u{FFFD}",
        "\u{FFFF}", "\u{10FFFF}", "\u{E000}", "\u{200D}", "\u{202E}", "\u{301}", "e\u{301}", "👩‍👩‍👧", "🀄️", "🇨🇳",
        "①", "½", "ﬁ",
        "ß", "İ", "ı", "Σας", "ΌΣΟΣ", "ＡＢＣ", "１２", "hello", "World", "naïve", "Ünï", "x1y2", "3.14", "a_b",
        "don't", "中", "中文", "北京大学", "ひらがな", "カタカナ", "ｶﾀ", "한국어", "ไทย", "العربية", "हिन्दी", "עברית", "ქართული",
        "𠀀", "𝕏", "iPhone手机", "第3章", "中a文b", "\u{0BA3}\u{0BBF}", "\u{093F}", "   ", "\t", "\n", "\u{3000}",
        "\u{A0}",
    ]

    private func randomText(_ generator: inout SplitMix, pieces: Int) -> String {
        (0..<pieces).map { _ in
            Self.pieces[Int(generator.next() % UInt64(Self.pieces.count))]
                + (generator.next() % 2 == 0 ? " " : "")
        }.joined()
    }

    @Test(arguments: StoreKind.allCases, seeds)
    func `nothing that is typed is an error`(kind: StoreKind, seed: UInt64) async throws {
        let fixture = try StoreFixture(kind)
        try await fixture.apply(.receive(try fixture.text("hello 北京 world", uuid: "1")))
        var generator = SplitMix(state: seed)
        for query in Self.pieces + (0..<60).map({ _ in randomText(&generator, pieces: 6) }) {
            for order in [SearchQuery.Order.newest, .rank] {
                let found = try await fixture.store.search(
                    SearchQuery(
                        query, session: .peer(StoreFixture.ada), sender: StoreFixture.ada, kinds: [.text],
                        order: order))
                #expect(found.count <= 1, "\(query.debugDescription)")
            }
        }
    }

    /// Every part of a message between spaces finds it, unless it has no letter or digit.
    @Test(arguments: StoreKind.allCases, seeds)
    func `a message is found by every part of what it says`(kind: StoreKind, seed: UInt64) async throws {
        let fixture = try StoreFixture(kind)
        var generator = SplitMix(state: seed)
        let texts = (0..<25).map { _ in randomText(&generator, pieces: 8) }
        for (index, text) in texts.enumerated() {
            try await fixture.apply(.receive(try fixture.text(text, uuid: "\(index)")))
        }
        var triedCount = 0
        for (index, text) in texts.enumerated() {
            for part in text.split(whereSeparator: \.isWhitespace) where part.contains(where: Self.isSought) {
                let found = try await fixture.store.search(SearchQuery(String(part), limit: 500))
                #expect(
                    found.contains { $0.uuid == "\(index)" },
                    "\(part.debugDescription) of \(text.debugDescription)")
                triedCount += 1
            }
        }
        #expect(triedCount > 80)
        // Taking the texts out again leaves nothing to find: the index was told the same cut.
        for index in texts.indices {
            try await fixture.apply(.receive(try fixture.control(.revoke(target: "\(index)"))))
        }
        for text in Self.pieces { #expect(try await fixture.store.search(SearchQuery(text)) == []) }
    }

    /// Characters that a user would expect to be found: letters and digits, not a mark alone.
    private static func isSought(_ character: Character) -> Bool {
        (character.isLetter || character.isNumber)
            && character.unicodeScalars.first?.properties.generalCategory != .spacingMark
    }

    @Test(arguments: StoreKind.allCases) func `very long texts and queries are cut, not refused`(
        kind: StoreKind
    )
        async throws
    {
        let fixture = try StoreFixture(kind)
        let long = String(repeating: "long 汉字 ", count: 6_000)
        let zalgo = "z" + String(repeating: "\u{301}", count: 20_000)
        let word = String(repeating: "w", count: 40_000)
        for (index, text) in [long, zalgo, word].enumerated() {
            try await fixture.apply(.receive(try fixture.text(text, uuid: "\(index)")))
        }
        #expect(try await fixture.store.search(SearchQuery("汉字 lon")).map(\.uuid) == ["0"])
        #expect(try await fixture.store.search(SearchQuery("www")).map(\.uuid) == ["2"])
        for query in [
            long, zalgo, word, String(repeating: "a ", count: 3_000), String(repeating: "汉", count: 5_000),
        ] {
            _ = try await fixture.store.search(SearchQuery(query))
            _ = try await fixture.store.search(SearchQuery(query, order: .rank))
        }
        try await fixture.apply(.clear(.peer(StoreFixture.ada)))
        #expect(try await fixture.store.search(SearchQuery("汉字")) == [])
    }

    @Test(arguments: StoreKind.allCases) func `strange names of kinds narrow a search and do no harm`(
        kind: StoreKind
    ) async throws {
        let fixture = try StoreFixture(kind)
        try await fixture.apply(.receive(try fixture.text("word", uuid: "1")))
        for name in ["", "a,text", "text,", "\" OR scope:s1", "*", ") OR (text", "图", "'"] {
            let kinds: Set<MessageKind> = [MessageKind(rawValue: name)]
            #expect(try await fixture.store.search(SearchQuery("word", kinds: kinds)) == [], "\(name)")
        }
    }
}
