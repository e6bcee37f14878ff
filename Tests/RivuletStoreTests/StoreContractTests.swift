import RivuletModel
import RivuletStore
import Testing

@Suite("Store contract: messages")
struct StoreContractTests {
    @Test(arguments: StoreKind.allCases)
    func `messages stand in the order of arrival whatever their clocks say`(kind: StoreKind) async throws {
        let fixture = try StoreFixture(kind)
        try await fixture.apply(
            .receive(try fixture.text("a", uuid: "1", time: 9_000)),
            .receive(try fixture.text("b", uuid: "2", time: 1_000)),
            .receive(try fixture.text("c", uuid: "3", time: 5_000)))
        #expect(try await fixture.flow() == ["a", "b", "c"])
    }

    @Test(arguments: StoreKind.allCases)
    func `a uuid is stored once and for ever`(kind: StoreKind) async throws {
        let fixture = try StoreFixture(kind)
        let first = try await fixture.apply(.receive(try fixture.text("a", uuid: "1")))
        guard case .inserted(let id) = first[0] else { throw Unexpected() }
        #expect(try await fixture.apply(.receive(try fixture.text("a", uuid: "1"))) == [.duplicate(id)])
        try await fixture.apply(.delete(id))
        #expect(try await fixture.apply(.receive(try fixture.text("a", uuid: "1"))) == [.duplicate(id)])
        #expect(try await fixture.flow() == [])
        #expect(try await fixture.store.message(id) == nil)
    }

    @Test(arguments: StoreKind.allCases)
    func `messages without uuid are all kept unless number, time and text are the same`(
        kind: StoreKind
    ) async throws {
        let fixture = try StoreFixture(kind)
        try await fixture.apply(
            .receive(fixture.incoming(#"{"text":"a"}"#)), .receive(fixture.incoming(#"{"text":"a"}"#)),
            .receive(fixture.incoming(#"{"text":"b"}"#, number: 7)),
            .receive(fixture.incoming(#"{"text":"b"}"#, number: 7)),
            .receive(fixture.incoming(#"{"text":"c"}"#, number: 7)))
        #expect(try await fixture.flow() == ["a", "a", "b", "c"])
    }

    @Test(arguments: StoreKind.allCases)
    func `a transaction that fails changes nothing`(kind: StoreKind) async throws {
        let fixture = try StoreFixture(kind)
        try await fixture.apply(.receive(try fixture.text("a", uuid: "1")))
        await fixture.store.close()
        await #expect(throws: StoreError.self) {
            try await fixture.apply(.receive(try fixture.text("b", uuid: "2")))
        }
        await #expect(throws: StoreError.self) { try await fixture.flow() }
    }

    @Test(arguments: StoreKind.allCases)
    func `a sent message waits at the end and moves once when its place is known`(
        kind: StoreKind
    ) async throws {
        let fixture = try StoreFixture(kind)
        try await fixture.apply(
            .send(try fixture.outgoing("mine 1", uuid: "m1", send: 1)),
            .send(try fixture.outgoing("mine 2", uuid: "m2", send: 2)),
            .receive(try fixture.text("theirs", uuid: "t1")))
        #expect(try await fixture.flow() == ["theirs", "mine 1", "mine 2"])
        let before = try #require(try await fixture.message("m1"))
        #expect(before.state == .sending)
        try await fixture.apply(.acknowledge(send: 1, serverKey: 44, isPlaced: true))
        let after = try #require(try await fixture.message("m1"))
        #expect(after.id == before.id)
        #expect(after.position < before.position)
        #expect(after.state == .accepted)
        #expect(after.serverKey == 44)
        try await fixture.apply(.receive(try fixture.text("theirs 2", uuid: "t2")))
        #expect(try await fixture.flow() == ["theirs", "mine 1", "theirs 2", "mine 2"])
        // The copy that comes later finds it in its place.
        let copy = try fixture.text("mine 1", uuid: "m1", from: StoreFixture.me)
        #expect(try await fixture.apply(.receive(copy)) == [.duplicate(before.id)])
        #expect(try await fixture.message("m1")?.position == after.position)
    }

    @Test(arguments: StoreKind.allCases)
    func `an acknowledged message without a place gets it from its copy`(kind: StoreKind) async throws {
        let fixture = try StoreFixture(kind)
        try await fixture.apply(
            .send(try fixture.outgoing("mine", uuid: "m", send: 1)),
            .acknowledge(send: 1, serverKey: nil, isPlaced: false),
            .receive(try fixture.text("before", uuid: "b")),
            .receive(try fixture.text("mine", uuid: "m", from: StoreFixture.me, time: 1_700)),
            .receive(try fixture.text("after", uuid: "a")))
        #expect(try await fixture.flow() == ["before", "mine", "after"])
        #expect(try await fixture.store.clientState().outbox == [])
    }

    @Test(arguments: StoreKind.allCases)
    func `the copy of an own message repairs a send whose answer was lost`(kind: StoreKind) async throws {
        let fixture = try StoreFixture(kind)
        try await fixture.apply(
            .send(try fixture.outgoing("mine", uuid: "m", send: 1)), .fail(send: 1, reason: "lost"))
        #expect(try await fixture.message("m")?.state == .failed(reason: "lost"))
        try await fixture.apply(.receive(try fixture.text("mine", uuid: "m", from: StoreFixture.me)))
        #expect(try await fixture.message("m")?.state == .accepted)
        #expect(try await fixture.flow() == ["mine"])
    }

    @Test(arguments: StoreKind.allCases)
    func `a stranger with the same uuid changes nothing`(kind: StoreKind) async throws {
        let fixture = try StoreFixture(kind)
        try await fixture.apply(.send(try fixture.outgoing("mine", uuid: "m", send: 1)))
        try await fixture.apply(.receive(try fixture.text("forged", uuid: "m", key: 9)))
        let message = try #require(try await fixture.message("m"))
        #expect(message.state == .sending)
        #expect(message.content.text == "mine")
        #expect(message.serverKey == nil)
    }

    @Test(arguments: StoreKind.allCases)
    func `a copy that names another conversation leaves the message in its own`(kind: StoreKind) async throws
    {
        let fixture = try StoreFixture(kind)
        for index in 0..<3 {
            try await fixture.apply(.receive(try fixture.text("\(index)", uuid: "t\(index)")))
        }
        try await fixture.apply(
            .send(try fixture.outgoing("mine", uuid: "m", send: 1)),
            .receive(try fixture.text("mine", uuid: "m", from: StoreFixture.me, in: .group(7))))
        #expect(try await fixture.flow() == ["0", "1", "2", "mine"])
        #expect(try await fixture.message("m")?.state == .accepted)
    }

    @Test(arguments: StoreKind.allCases)
    func `the outbox keeps its order and loses what is answered`(kind: StoreKind) async throws {
        let fixture = try StoreFixture(kind)
        for number in Int64(1)...5 {
            try await fixture.apply(
                .send(try fixture.outgoing("\(number)", uuid: "m\(number)", send: number)))
        }
        let sends = try await fixture.store.clientState().outbox
        #expect(sends.map(\.number) == [1, 2, 3, 4, 5])
        #expect(sends[0].body == [1, 2, 3])
        #expect(sends[0].uuid == "m1")
        try await fixture.apply(
            .acknowledge(send: 2, serverKey: nil, isPlaced: true), .fail(send: 3, reason: "refused"),
            .cancel(send: 4), .acknowledge(send: 99, serverKey: nil, isPlaced: true))
        let state = try await fixture.store.clientState()
        #expect(state.outbox.map(\.number) == [1, 5])
        #expect(state.lastSendNumber == 5)
        #expect(try await fixture.flow() == ["2", "1", "3", "5"])
        #expect(try await fixture.message("m4") == nil)
    }

    @Test(arguments: StoreKind.allCases)
    func `a failed message that is sent again goes behind everything`(kind: StoreKind) async throws {
        let fixture = try StoreFixture(kind)
        try await fixture.apply(
            .send(try fixture.outgoing("one", uuid: "m1", send: 1)), .fail(send: 1, reason: "x"),
            .send(try fixture.outgoing("two", uuid: "m2", send: 2)))
        let id = try await fixture.message("m1")?.id
        try await fixture.apply(.send(try fixture.outgoing("one", uuid: "m1", send: 3)))
        #expect(try await fixture.flow() == ["two", "one"])
        let again = try await fixture.message("m1")
        #expect(again?.id == id)
        #expect(again?.state == .sending)
    }

    @Test(arguments: StoreKind.allCases)
    func `history stands before everything and is not unread`(kind: StoreKind) async throws {
        let fixture = try StoreFixture(kind)
        try await fixture.apply(.receive(try fixture.text("live", uuid: "9")))
        try await fixture.apply(
            .insertHistory([try fixture.text("h3", uuid: "3"), try fixture.text("h4", uuid: "4")]))
        try await fixture.apply(
            .insertHistory([
                try fixture.text("h1", uuid: "1"), try fixture.text("h2", uuid: "2"),
                try fixture.text("h3", uuid: "3"), try fixture.text("h1", uuid: "1"),
            ]))
        #expect(try await fixture.flow() == ["h1", "h2", "h3", "h4", "live"])
        #expect(try await fixture.line()?.unreadCount == 1)
        #expect(try await fixture.line()?.lastMessage?.content.text == "live")
    }

    @Test(arguments: StoreKind.allCases)
    func `pages go both ways, around a message and from a time`(kind: StoreKind) async throws {
        let fixture = try StoreFixture(kind)
        let messages = try (0..<100).map {
            StoreOperation.receive(try fixture.text("\($0)", uuid: "u\($0)", time: Int64($0) * 10))
        }
        _ = try await fixture.store.apply(messages)
        func page(_ place: PageQuery.Place, _ limit: Int) async throws -> ([String], Bool, Bool) {
            let page = try await fixture.store.page(
                PageQuery(session: .peer(StoreFixture.ada), place: place, limit: limit))
            return (page.messages.compactMap(\.content.text), page.hasOlder, page.hasNewer)
        }
        let position = try #require(try await fixture.message("u50")).position
        let id = try #require(try await fixture.message("u50")).id
        #expect(try await page(.newest, 3) == (["97", "98", "99"], true, false))
        #expect(try await page(.oldest, 2) == (["0", "1"], false, true))
        #expect(try await page(.before(position), 2) == (["48", "49"], true, true))
        #expect(try await page(.after(position), 2) == (["51", "52"], true, true))
        #expect(try await page(.around(id), 5) == (["48", "49", "50", "51", "52"], true, true))
        #expect(try await page(.from(milliseconds: 735), 2) == (["74", "75"], true, true))
        #expect(try await page(.from(milliseconds: 0), 1) == (["0"], false, true))
        #expect(try await page(.from(milliseconds: 99_999), 1) == (["99"], true, false))
        #expect(try await page(.newest, 1_000).0.count == 100)
        #expect(try await page(.before(MessagePosition(.min)), 3) == ([], false, true))
        #expect(try await page(.after(MessagePosition(.max)), 3) == ([], true, false))
        #expect(try await page(.around(MessageID(3)), 3) == ([], false, false))
        let first = try #require(try await fixture.message("u0")).id
        #expect(try await page(.around(first), 4) == (["0", "1", "2", "3"], false, true))
        let last = try #require(try await fixture.message("u99")).id
        #expect(try await page(.around(last), 4) == (["96", "97", "98", "99"], true, false))
    }

    @Test(arguments: StoreKind.allCases)
    func `an unknown conversation is empty`(kind: StoreKind) async throws {
        let fixture = try StoreFixture(kind)
        let page = try await fixture.store.page(PageQuery(session: .group(404)))
        #expect(page == .empty)
        #expect(try await fixture.line(.group(404)) == nil)
        #expect(try await fixture.store.clientState() == StoredClientState())
    }

    @Test(arguments: StoreKind.allCases)
    func `keys are kept and may go back`(kind: StoreKind) async throws {
        let fixture = try StoreFixture(kind)
        try await fixture.apply(
            .setKey(group: nil, key: 9), .setKey(group: 5, key: 7), .setKey(group: 0, key: 3),
            .setKey(group: nil, key: 4))
        let state = try await fixture.store.clientState()
        #expect(state.peerKey == 4)
        #expect(state.groupKeys == [5: 7, 0: 3])
    }

    @Test(arguments: StoreKind.allCases)
    func `the key of a super group can be forgotten, and of no other queue`(kind: StoreKind) async throws {
        let fixture = try StoreFixture(kind)
        try await fixture.apply(
            .setKey(group: nil, key: 9), .setKey(group: 5, key: 7), .setKey(group: 6, key: 8),
            .removeKey(group: 5), .removeKey(group: 404), .removeKey(group: 0))
        let state = try await fixture.store.clientState()
        #expect(state.peerKey == 9)
        #expect(state.groupKeys == [6: 8])
    }

    @Test(arguments: StoreKind.allCases)
    func `what was uploaded takes the place of what it was made of`(kind: StoreKind) async throws {
        let fixture = try StoreFixture(kind)
        func picture(_ url: String, send: Int64 = 1) -> QueuedMessage {
            var message = fixture.outgoing(
                json: #"{"uuid":"p","image2":{"url":"\#(url)","width":3,"height":2}}"#, send: send)
            message.send.body = Array(url.utf8)
            return message
        }
        try await fixture.apply(
            .send(picture("file:1")), .send(fixture.outgoing("behind", uuid: "b", send: 2)))
        let before = try #require(try await fixture.message("p"))
        #expect(try await fixture.apply(.replaceSend(picture("https:1"))) == [.applied])
        let after = try #require(try await fixture.message("p"))
        #expect(after.id == before.id && after.position == before.position && after.state == before.state)
        #expect(after.revision > before.revision)
        #expect(try await fixture.store.rawContent(of: after.id)?.contains("https:1") == true)
        let kept = try await fixture.store.clientState().outbox
        #expect(kept.map(\.number) == [1, 2] && kept.first?.body == Array("https:1".utf8))

        // The server has it: nothing of the send is left to replace.
        try await fixture.apply(.acknowledge(send: 1, serverKey: nil, isPlaced: true))
        #expect(try await fixture.apply(.replaceSend(picture("https:2"))) == [.ignored])
        #expect(try await fixture.message("p")?.content == after.content)
    }

    @Test(arguments: StoreKind.allCases)
    func `a text that was replaced is found by its new words, a changed or other one stays`(kind: StoreKind)
        async throws
    {
        let fixture = try StoreFixture(kind)
        try await fixture.apply(
            .send(fixture.outgoing("walnut", uuid: "a", send: 1)),
            .send(fixture.outgoing("hazelnut", uuid: "b", send: 2)),
            .receive(
                fixture.control(
                    .edit(EditContent(target: "b", change: .replace("almond"))), uuid: "e",
                    from: StoreFixture.me)),
            .replaceSend(fixture.outgoing("chestnut", uuid: "a", send: 1)),
            .replaceSend(fixture.outgoing("pistachio", uuid: "b", send: 2)),
            .replaceSend(fixture.outgoing("cashew", uuid: "another", send: 1)))
        #expect(try await fixture.flow() == ["chestnut", "almond"])
        func found(_ text: String) async throws -> [String?] {
            try await fixture.store.search(SearchQuery(text)).map(\.uuid)
        }
        #expect(try await found("chestnut") == ["a"])
        #expect(try await found("walnut") == [])
        #expect(try await found("pistachio") == [])
    }

    struct Unexpected: Error {}
}
