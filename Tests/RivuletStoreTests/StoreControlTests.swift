import RivuletModel
import RivuletStore
import Testing

@Suite("Store contract: controls, conversations, changes")
struct StoreControlTests {
    @Test(arguments: StoreKind.allCases)
    func `only the author withdraws a message`(kind: StoreKind) async throws {
        let fixture = try StoreFixture(kind)
        try await fixture.apply(
            .receive(try fixture.text("secret", uuid: "1")),
            .receive(try fixture.control(.revoke(target: "1"), from: UserID(9))))
        #expect(try await fixture.flow() == ["secret"])
        try await fixture.apply(.receive(try fixture.control(.revoke(target: "1"))))
        #expect(try await fixture.flow() == ["<revoked>"])
        #expect(try await fixture.message("1")?.content == .revoked)
        let id = try #require(try await fixture.message("1")?.id)
        #expect(try await fixture.store.rawContent(of: id) == "")
        #expect(try await fixture.line()?.unreadCount == 0)
    }

    @Test(arguments: StoreKind.allCases)
    func `a control that comes before its target waits for it`(kind: StoreKind) async throws {
        let fixture = try StoreFixture(kind)
        try await fixture.apply(
            .receive(try fixture.control(.revoke(target: "1"))),
            .receive(try fixture.control(.revoke(target: "2"), from: UserID(9))))
        try await fixture.apply(
            .receive(try fixture.text("gone", uuid: "1")), .receive(try fixture.text("kept", uuid: "2")))
        #expect(try await fixture.flow() == ["<revoked>", "kept"])
    }

    @Test(arguments: StoreKind.allCases)
    func `an own revoke takes effect when the server has it`(kind: StoreKind) async throws {
        let fixture = try StoreFixture(kind)
        let revoke = fixture.outgoing(json: try fixture.codec.encode(.revoke(target: "m")), send: 2)
        try await fixture.apply(
            .send(try fixture.outgoing("mine", uuid: "m", send: 1)),
            .acknowledge(send: 1, serverKey: nil, isPlaced: true), .send(revoke))
        #expect(try await fixture.flow() == ["mine"])
        try await fixture.apply(.acknowledge(send: 2, serverKey: nil, isPlaced: true))
        #expect(try await fixture.flow() == ["<revoked>"])
    }

    @Test(arguments: StoreKind.allCases)
    func `an edit within a day replaces the text`(kind: StoreKind) async throws {
        let fixture = try StoreFixture(kind)
        func edit(_ text: String, _ uuid: String, from: UserID = StoreFixture.ada, time: Int64 = 2_000) throws
            -> StoreOperation
        {
            .receive(
                try fixture.control(
                    .edit(EditContent(target: "1", change: .replace(text))), uuid: uuid, from: from,
                    time: time))
        }
        try await fixture.apply(.receive(try fixture.text("first", uuid: "1")))
        try await fixture.apply(try edit("second", "e1"))
        #expect(try await fixture.message("1")?.content.text == "second")
        #expect(try await fixture.message("1")?.isEdited == true)
        #expect(try await fixture.message("1")?.revision == 1)
        try await fixture.apply(try edit("forged", "e2", from: UserID(9)))
        try await fixture.apply(try edit("late", "e3", time: 1_000 + 25 * 3_600_000))
        try await fixture.apply(try edit("third", "e4"), try edit("second", "e1"))
        #expect(try await fixture.message("1")?.content.text == "third")
    }

    @Test(arguments: StoreKind.allCases)
    func `a streaming text grows and is no edited one`(kind: StoreKind) async throws {
        let fixture = try StoreFixture(kind)
        try await fixture.apply(
            .receive(fixture.incoming(#"{"uuid":"1","text":"One","stream":1}"#)),
            .receive(
                try fixture.control(.edit(EditContent(target: "1", change: .append(" two"))), uuid: "e1")),
            .receive(
                try fixture.control(
                    .edit(EditContent(target: "1", change: .append(" three"), endsStream: true)), uuid: "e2"))
        )
        #expect(try await fixture.message("1")?.content == .text("One two three"))
        #expect(try await fixture.message("1")?.isEdited == false)
    }

    @Test(arguments: StoreKind.allCases)
    func `the last reaction of a user wins`(kind: StoreKind) async throws {
        let fixture = try StoreFixture(kind)
        func react(_ emoji: String, _ on: Bool, _ uuid: String, _ user: Int64) throws -> StoreOperation {
            .receive(
                try fixture.control(
                    .reaction(target: "1", emoji: emoji, isOn: on), uuid: uuid, from: UserID(user)))
        }
        try await fixture.apply(.receive(try fixture.text("a", uuid: "1")))
        try await fixture.apply(
            try react("👍", true, "r1", 2), try react("❤️", true, "r2", 3), try react("👍", true, "r3", 3),
            try react("👍", false, "r4", 2), try react("👍", true, "r1", 2))
        #expect(
            try await fixture.message("1")?.reactions == [
                Message.Reaction(emoji: "❤️", users: [UserID(3)]),
                Message.Reaction(emoji: "👍", users: [UserID(3)]),
            ])
        try await fixture.apply(try react("❤️", false, "r5", 3), try react("👍", false, "r6", 3))
        #expect(try await fixture.message("1")?.reactions == [])
    }

    @Test(arguments: StoreKind.allCases)
    func `receipts of readers and devices move the state forward only`(kind: StoreKind) async throws {
        let fixture = try StoreFixture(kind)
        try await fixture.apply(
            .send(try fixture.outgoing("mine", uuid: "m", send: 1)),
            .acknowledge(send: 1, serverKey: nil, isPlaced: true), .deliver(uuids: ["m", "unknown"]))
        #expect(try await fixture.message("m")?.state == .delivered)
        try await fixture.apply(
            .receive(try fixture.control(.readed(target: "m"))),
            .receive(try fixture.control(.readed(target: "m"))),
            .receive(try fixture.control(.readed(target: "m"), from: UserID(3))), .deliver(uuids: ["m"]))
        #expect(try await fixture.message("m")?.state == .read(count: 2))
    }

    @Test(arguments: StoreKind.allCases)
    func `unread counts messages of others until they are read`(kind: StoreKind) async throws {
        let fixture = try StoreFixture(kind)
        let mention = #"{"uuid":"4","text":"hi @me","at":[1],"at_name":["@me"]}"#
        try await fixture.apply(
            .receive(try fixture.text("a", uuid: "1")), .receive(try fixture.text("b", uuid: "2")),
            .receive(try fixture.text("own", uuid: "3", from: StoreFixture.me)),
            .receive(fixture.incoming(mention)),
            .receive(fixture.incoming(#"{"uuid":"5","voip":{"flag":4}}"#)),
            .receive(fixture.incoming(#"{"uuid":"6","p2p_session":{}}"#)))
        #expect(try await fixture.line()?.unreadCount == 4)
        #expect(try await fixture.line()?.mentionCount == 1)
        #expect(try await fixture.store.unreadTotal() == 4)
        let second = try #require(try await fixture.message("2")).id
        try await fixture.apply(.markRead(.peer(StoreFixture.ada), upTo: second))
        #expect(try await fixture.line()?.unreadCount == 2)
        let first = try #require(try await fixture.message("1")).id
        let outcome = try await fixture.apply(.markRead(.peer(StoreFixture.ada), upTo: first))
        #expect(outcome == [.ignored])
        try await fixture.apply(.setMuted(.peer(StoreFixture.ada), true))
        #expect(try await fixture.store.unreadTotal() == 0)
        try await fixture.apply(.markRead(.peer(StoreFixture.ada), upTo: nil))
        #expect(try await fixture.line()?.unreadCount == 0)
        #expect(try await fixture.line()?.mentionCount == 0)
    }

    @Test(arguments: StoreKind.allCases)
    func `another device's read mark counts and a stranger's does not`(kind: StoreKind) async throws {
        let fixture = try StoreFixture(kind)
        let own = Session.peer(StoreFixture.me)
        let mark = ControlContent.readMark(session: .peer(StoreFixture.ada), target: "1")
        try await fixture.apply(
            .receive(try fixture.text("a", uuid: "1")), .receive(try fixture.text("b", uuid: "2")),
            .receive(try fixture.control(mark, uuid: "x", from: StoreFixture.ada)))
        #expect(try await fixture.line()?.unreadCount == 2)
        try await fixture.apply(
            .receive(try fixture.control(mark, uuid: "y", from: StoreFixture.me, in: own)))
        #expect(try await fixture.line()?.unreadCount == 1)
        // It makes no line of its own in the list.
        #expect(
            try await fixture.store.conversations(limit: 9, offset: 0).map(\.session) == [
                .peer(StoreFixture.ada)
            ])
    }

    @Test(arguments: StoreKind.allCases)
    func `the list shows pinned conversations first, then the newest`(kind: StoreKind) async throws {
        let fixture = try StoreFixture(kind)
        for group in Int64(1)...4 {
            try await fixture.apply(
                .receive(
                    try fixture.text("g\(group)", uuid: "u\(group)", in: .group(group), time: group * 100)))
        }
        func list() async throws -> [Int64] {
            try await fixture.store.conversations(limit: 10, offset: 0).map(\.session.id)
        }
        #expect(try await list() == [4, 3, 2, 1])
        try await fixture.apply(
            .setPinned(.group(2), true), .setHidden(.group(4), true), .setDraft(.group(9), "unsent"))
        #expect(try await list() == [2, 3, 1, 9])
        try await fixture.apply(.receive(try fixture.text("again", uuid: "z", in: .group(4), time: 900)))
        #expect(try await list() == [2, 4, 3, 1, 9])
        try await fixture.apply(.setDraft(.group(9), ""))
        #expect(try await fixture.store.conversations(limit: 2, offset: 1).map(\.session.id) == [4, 3])
        #expect(try await list() == [2, 4, 3, 1])
        #expect(try await fixture.line(.group(4))?.lastMessage?.content.text == "again")
    }

    @Test(arguments: StoreKind.allCases)
    func `the last message of a line follows deletion and clearing`(kind: StoreKind) async throws {
        let fixture = try StoreFixture(kind)
        try await fixture.apply(
            .receive(try fixture.text("a", uuid: "1")), .receive(try fixture.text("b", uuid: "2")))
        let last = try #require(try await fixture.message("2")).id
        try await fixture.apply(.delete(last))
        #expect(try await fixture.line()?.lastMessage?.content.text == "a")
        #expect(try await fixture.line()?.unreadCount == 1)
        try await fixture.apply(.clear(.peer(StoreFixture.ada)))
        #expect(try await fixture.flow() == [])
        #expect(try await fixture.line()?.lastMessage == nil)
        #expect(try await fixture.line()?.unreadCount == 0)
        try await fixture.apply(.receive(try fixture.text("c", uuid: "3")))
        #expect(try await fixture.flow() == ["c"])
    }

    @Test(arguments: StoreKind.allCases)
    func `a local notice is a row that was never sent`(kind: StoreKind) async throws {
        let fixture = try StoreFixture(kind)
        let notice = IncomingMessage(
            session: .peer(StoreFixture.ada), sender: StoreFixture.me, isOutgoing: true, raw: "",
            content: DecodedContent(envelope: ContentEnvelope(), body: .message(.notice("Ada joined"))),
            timeMilliseconds: 5)
        try await fixture.apply(.save(notice))
        #expect(
            try await fixture.store.page(PageQuery(session: .peer(StoreFixture.ada))).messages[0].content
                == .notice("Ada joined"))
        #expect(try await fixture.store.clientState().outbox == [])
    }

    @Test(arguments: StoreKind.allCases)
    func `each transaction is published once, after it was committed`(kind: StoreKind) async throws {
        let fixture = try StoreFixture(kind)
        var stream = fixture.store.changes().makeAsyncIterator()
        try await fixture.apply(
            .receive(try fixture.text("a", uuid: "1")), .receive(try fixture.text("b", uuid: "2")))
        let first = try #require(await stream.next())
        #expect(first.number == 1)
        #expect(first.inserted.compactMap(\.content.text) == ["a", "b"])
        #expect(first.sessions == [.peer(StoreFixture.ada)])
        try await fixture.apply(.receive(try fixture.text("a", uuid: "1")))
        try await fixture.apply(
            .send(try fixture.outgoing("m", uuid: "m", send: 1)),
            .acknowledge(send: 1, serverKey: nil, isPlaced: true))
        let second = try #require(await stream.next())
        #expect(second.number == 2)
        #expect(second.inserted.map(\.state) == [.accepted])
        try await fixture.apply(
            .receive(try fixture.control(.revoke(target: "1"))), .delete(first.inserted[1].id))
        let third = try #require(await stream.next())
        #expect(third.updated.map(\.content) == [.revoked])
        #expect(third.deleted == [first.inserted[1].id])
        await fixture.store.close()
        #expect(await stream.next() == nil)
    }

    @Test(arguments: StoreKind.allCases)
    func `an edit keeps what this build does not know of the message`(kind: StoreKind) async throws {
        let fixture = try StoreFixture(kind)
        let raw = #"{"mood":{"n":1.50},"text":"one","uuid":"m","reference":"r","fallback":"f"}"#
        let edits = ["two", "three"].enumerated().map { index, text in
            #"{"uuid":"e\#(index)","edit":{"msgid":"m","text":"\#(text)"}}"#
        }
        try await fixture.apply(
            .receive(fixture.incoming(raw)), .receive(fixture.incoming(edits[0])),
            .receive(fixture.incoming(edits[1])))
        let message = try #require(try await fixture.message("m"))
        #expect(message.content == .text("three"))
        #expect(message.reference == "r")
        #expect(
            try await fixture.store.rawContent(of: message.id)
                == #"{"fallback":"f","reference":"r","text":"three","uuid":"m","mood":{"n":1.50}}"#)
    }
}
