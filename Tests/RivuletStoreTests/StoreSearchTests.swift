import RivuletModel
import RivuletStore
import Testing

@Suite("Store contract: search")
struct StoreSearchTests {
    private func filled(_ kind: StoreKind) async throws -> StoreFixture {
        let fixture = try StoreFixture(kind)
        try await fixture.apply(
            .receive(try fixture.text("我们明天去北京大学", uuid: "1", time: 1_000)),
            .receive(try fixture.text("北京 weather is Fine", uuid: "2", in: .group(7), time: 2_000)),
            .receive(try fixture.text("大连北海", uuid: "3", from: UserID(3), in: .group(7), time: 3_000)),
            .receive(try fixture.text("Café près de l'hôtel, don't ask", uuid: "4", time: 4_000)),
            .receive(
                fixture.incoming(#"{"uuid":"5","file":{"url":"u","filename":"北京 plan.pdf"}}"#, time: 5_000)),
            .send(try fixture.outgoing("iPhone手机 finest", uuid: "6", send: 1, time: 6_000)))
        return fixture
    }

    private func find(_ fixture: StoreFixture, _ query: SearchQuery) async throws -> [String] {
        try await fixture.store.search(query).compactMap(\.uuid)
    }

    @Test(
        arguments: StoreKind.allCases,
        [
            ("北京", ["5", "2", "1"]), ("京", ["5", "2", "1"]), ("京北", []), ("北", ["5", "3", "2", "1"]),
            ("fin", ["6", "2"]), ("FINE", ["6", "2"]), ("ine", []), ("cafe", ["4"]), ("CAFÉ", ["4"]),
            ("hotel pres", ["4"]), ("don't", ["4"]), ("weather 北京", ["2"]), ("iphone手", ["6"]), ("手机", ["6"]),
            ("plan.p", ["5"]), ("", []), ("\"", []), ("* AND OR NOT (", []), ("fine OR cafe", []), ("🀄️", []),
            ("text", []), ("s1", []), ("u2", []), ("ktext", []), ("{scope} : s1", []),
        ] as [(String, [String])])
    func `words are found, the newest first`(kind: StoreKind, search: (String, [String])) async throws {
        #expect(try await find(try await filled(kind), SearchQuery(search.0)) == search.1)
    }

    @Test(arguments: StoreKind.allCases) func `a search is narrowed`(kind: StoreKind) async throws {
        let fixture = try await filled(kind)
        #expect(try await find(fixture, SearchQuery("北", session: .group(7))) == ["3", "2"])
        #expect(try await find(fixture, SearchQuery("北", sender: UserID(3))) == ["3"])
        #expect(try await find(fixture, SearchQuery("北", kinds: [.file, .image])) == ["5"])
        #expect(try await find(fixture, SearchQuery("北", kinds: [.text, .image])) == ["3", "2", "1"])
        #expect(try await find(fixture, SearchQuery("北", session: .group(8))) == [])
        var dated = SearchQuery("北")
        dated.fromMilliseconds = 2_000
        dated.untilMilliseconds = 5_000
        #expect(try await find(fixture, dated) == ["3", "2"])
        let newest = try await fixture.store.search(SearchQuery("北", limit: 2))
        #expect(newest.compactMap(\.uuid) == ["5", "3"])
        #expect(try await find(fixture, SearchQuery("北", before: newest[1].id)) == ["2", "1"])
        #expect(Set(try await find(fixture, SearchQuery("北", order: .rank))) == ["1", "2", "3", "5"])
    }

    @Test(arguments: StoreKind.allCases)
    func `what was withdrawn, deleted or changed is not found by its old text`(kind: StoreKind) async throws {
        let fixture = try await filled(kind)
        let second = try #require(try await fixture.message("2"))
        let edit = EditContent(target: "4", change: .replace("tea instead"))
        try await fixture.apply(
            .receive(try fixture.control(.revoke(target: "1"), time: 9_000)), .delete(second.id),
            .receive(try fixture.control(.edit(edit), uuid: "e", time: 9_000)))
        #expect(try await find(fixture, SearchQuery("北京")) == ["5"])
        #expect(try await find(fixture, SearchQuery("cafe")) == [])
        #expect(try await find(fixture, SearchQuery("tea")) == ["4"])
        try await fixture.apply(.clear(.peer(StoreFixture.ada)), .clear(.group(7)))
        #expect(try await find(fixture, SearchQuery("北")) == [])
    }

    @Test(arguments: StoreKind.allCases) func `history is older than what arrived`(kind: StoreKind)
        async throws
    {
        let fixture = try StoreFixture(kind)
        try await fixture.apply(.receive(try fixture.text("word live", uuid: "3")))
        try await fixture.apply(
            .insertHistory([try fixture.text("word a", uuid: "1"), try fixture.text("word b", uuid: "2")]))
        #expect(try await find(fixture, SearchQuery("word")) == ["3", "2", "1"])
    }

    /// Numbers of history and of live messages lie in different shards of the index.
    @Test(arguments: StoreKind.allCases) func `pages of results go on from shard to shard`(kind: StoreKind)
        async throws
    {
        let fixture = try StoreFixture(kind)
        try await fixture.apply(
            .receive(try fixture.text("word d", uuid: "4")), .receive(try fixture.text("word e", uuid: "5")),
            .insertHistory([
                try fixture.text("word a", uuid: "1"), try fixture.text("word b word", uuid: "2"),
                try fixture.text("word c", uuid: "3"),
            ]))
        let first = try await fixture.store.search(SearchQuery("word", limit: 3))
        #expect(first.compactMap(\.uuid) == ["5", "4", "3"])
        let last = try #require(first.last)
        #expect(try await find(fixture, SearchQuery("word", before: last.id, limit: 3)) == ["2", "1"])
        #expect(try await find(fixture, SearchQuery("word", order: .rank, limit: 4)).count == 4)
    }

    /// Numbers grow with arrival, times only nearly: a message with a wrong clock must not be passed over.
    @Test(arguments: StoreKind.allCases, [1, 2] as [UInt64]) func `a search by date misses nothing`(
        kind: StoreKind, seed: UInt64
    ) async throws {
        let fixture = try StoreFixture(kind)
        var generator = SplitMix(state: seed)
        var times: [String: Int64] = [:]
        func messages(_ range: Range<Int>, from start: Int64) throws -> [IncomingMessage] {
            try range.map { index in
                let isWrong = generator.next() % 100 == 0
                let time = isWrong ? Int64(generator.next() % 9_000) : start + Int64(index)
                times["\(index)"] = time
                return try fixture.text("word", uuid: "\(index)", time: time)
            }
        }
        _ = try await fixture.store.apply(try messages(0..<1_300, from: 3_000).map { .receive($0) })
        _ = try await fixture.store.apply([.insertHistory(try messages(1_300..<1_400, from: 1_000))])
        // A copy from the server corrects the time of an own message.
        try await fixture.apply(
            .send(try fixture.outgoing("word", uuid: "own", send: 1, time: 8_000)),
            .receive(try fixture.text("word", uuid: "own", from: StoreFixture.me, time: 20)))
        times["own"] = 20
        let ranges: [(Int64?, Int64?)] = [
            (nil, 100), (20, 21), (3_100, 3_140), (4_290, 4_400), (2_300, 2_330), (8_000, nil),
            (9_000, 9_001), (500, 400),
        ]
        for (from, until) in ranges {
            var query = SearchQuery("word", limit: 500)
            query.fromMilliseconds = from
            query.untilMilliseconds = until
            let found = try await fixture.store.search(query).compactMap(\.uuid)
            let expected = times.filter { $0.value >= from ?? .min && $0.value < until ?? .max }.map(\.key)
            #expect(
                Set(found) == Set(expected) && found.count == expected.count, "\(from ?? -1) \(until ?? -1)")
            query.order = .rank
            #expect(Set(try await fixture.store.search(query).compactMap(\.uuid)) == Set(expected))
        }
    }
}
