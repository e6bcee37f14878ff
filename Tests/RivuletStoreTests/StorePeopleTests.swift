import Foundation
import RivuletModel
import RivuletStore
import Testing

@Suite("Store contract: people, media, favourites, labels")
struct StorePeopleTests {
    private static let group = Session.group(7)

    @Test(arguments: StoreKind.allCases)
    func `contacts are kept and their changes told`(kind: StoreKind) async throws {
        let fixture = try StoreFixture(kind)
        var stream = fixture.store.changes().makeAsyncIterator()
        let ada = Contact(
            id: UserID(2), name: "Ada", remark: "the Countess", avatar: "a.png", isBlocked: true)
        let ben = Contact(id: UserID(3), name: "Ben")
        #expect(try await fixture.apply(.setContact(ben), .setContact(ada)) == [.applied, .applied])
        #expect(await stream.next()?.contacts == [UserID(2), UserID(3)])
        #expect(try await fixture.store.contacts() == [ada, ben])
        #expect(try await fixture.store.contact(UserID(2))?.displayName == "the Countess")
        #expect(
            try await fixture.apply(.setContact(ada), .removeContact(UserID(3)), .removeContact(UserID(9)))
                == [.ignored, .applied, .ignored])
        #expect(try await fixture.store.contacts() == [ada])
        #expect(try await fixture.store.contact(UserID(3)) == nil)
    }

    @Test(arguments: StoreKind.allCases)
    func `a group is what the server's notifications say`(kind: StoreKind) async throws {
        let fixture = try StoreFixture(kind)
        func tell(_ change: GroupNotification.Change) throws -> StoreOperation {
            let notification = GroupNotification(groupID: 7, time: 5, change: change)
            let content = DecodedContent(
                envelope: ContentEnvelope(), body: .message(.groupNotification(notification)))
            return .receive(
                IncomingMessage(
                    session: Self.group, sender: UserID(0), isOutgoing: false,
                    raw: "{}", content: content, timeMilliseconds: 5_000))
        }
        try await fixture.apply(
            tell(.created(master: UserID(2), name: "readers", members: [UserID(1), UserID(2)])),
            tell(.memberAdded(UserID(3), name: nil)), tell(.memberLeft(UserID(1), name: nil)),
            tell(.renamed("writers")), tell(.noticeChanged("Mondays")), tell(.upgraded), tell(.unknown("x")))
        #expect(
            try await fixture.store.group(7)
                == GroupProfile(id: 7, name: "writers", notice: "Mondays", isSuper: true))
        #expect(
            try await fixture.store.members(of: 7)
                == [GroupMemberProfile(id: UserID(2), role: .owner), GroupMemberProfile(id: UserID(3))])
        try await fixture.apply(tell(.disbanded))
        #expect(try await fixture.store.group(7)?.isDisbanded == true)
        let roles = [
            GroupMemberProfile(id: UserID(3), role: .admin, nickname: "Cy", isMuted: true),
            GroupMemberProfile(id: UserID(4)),
        ]
        try await fixture.apply(.setMembers(group: 7, roles))
        #expect(try await fixture.store.members(of: 7) == roles)
        try await fixture.apply(.removeGroup(7))
        #expect(try await fixture.store.groups() == [])
        #expect(try await fixture.store.members(of: 7) == [])
        #expect(try await fixture.flow(Self.group).count == 8)
    }

    @Test(arguments: StoreKind.allCases)
    func `media are found by kind, the newest first`(kind: StoreKind) async throws {
        let fixture = try StoreFixture(kind)
        func image(_ uuid: String) -> IncomingMessage {
            fixture.incoming(#"{"uuid":"\#(uuid)","image2":{"url":"u","width":1,"height":1}}"#)
        }
        try await fixture.apply(
            .receive(image("i1")), .receive(try fixture.text("t", uuid: "t")),
            .receive(fixture.incoming(#"{"uuid":"f","file":{"url":"u","filename":"n"}}"#)),
            .receive(image("i2")), .receive(image("i3")))
        func media(_ query: MediaQuery) async throws -> [String] {
            try await fixture.store.media(query).compactMap(\.uuid)
        }
        let session = Session.peer(StoreFixture.ada)
        #expect(try await media(MediaQuery(session: session)) == ["i3", "i2", "f", "i1"])
        #expect(try await media(MediaQuery(session: session, kinds: [.file, .text])) == ["f"])
        let second = try #require(try await fixture.message("i2"))
        #expect(try await media(MediaQuery(session: session, before: second.position, limit: 1)) == ["f"])
        try await fixture.apply(.receive(try fixture.control(.revoke(target: "i3"))), .delete(second.id))
        #expect(try await media(MediaQuery(session: session, kinds: [.image])) == ["i1"])
        #expect(try await media(MediaQuery(session: .group(404))) == [])
    }

    @Test(arguments: StoreKind.allCases)
    func `favourites stand in the order of choice and go with their message`(kind: StoreKind) async throws {
        let fixture = try StoreFixture(kind)
        for uuid in ["a", "b", "c"] {
            try await fixture.apply(.receive(try fixture.text(uuid, uuid: uuid)))
        }
        func favorites() async throws -> [String] {
            try await fixture.store.favorites(limit: 10, offset: 0).compactMap(\.uuid)
        }
        let ids = try await fixture.store.page(PageQuery(session: .peer(StoreFixture.ada))).messages.map(\.id)
        try await fixture.apply(
            .setFavorite(ids[2], true), .setFavorite(ids[0], true), .setFavorite(ids[1], true))
        #expect(try await favorites() == ["b", "a", "c"])
        #expect(try await fixture.message("a")?.isFavorite == true)
        #expect(try await fixture.apply(.setFavorite(ids[0], true)) == [.ignored])
        try await fixture.apply(.setFavorite(ids[0], false), .delete(ids[1]))
        #expect(try await favorites() == ["c"])
        #expect(try await fixture.message("a")?.isFavorite == false)
        #expect(try await fixture.store.favorites(limit: 1, offset: 1) == [])
    }

    @Test(arguments: StoreKind.allCases)
    func `labels come and go with tag controls`(kind: StoreKind) async throws {
        let fixture = try StoreFixture(kind)
        func tag(_ tag: String, _ isAdded: Bool) throws -> StoreOperation {
            .receive(
                try fixture.control(.tag(target: "1", tag: tag, isAdded: isAdded), in: Self.group))
        }
        try await fixture.apply(
            tag("later", true), .receive(try fixture.text("x", uuid: "1", in: Self.group)),
            tag("urgent", true))
        #expect(try await fixture.message("1")?.tags == ["later", "urgent"])
        try await fixture.apply(tag("later", false), tag("later", false))
        #expect(try await fixture.message("1")?.tags == ["urgent"])
        try await fixture.apply(tag("urgent", false))
        #expect(try await fixture.message("1")?.tags == [])
        for index in 0..<40 { try await fixture.apply(tag("t\(index)", true)) }
        #expect(try await fixture.message("1")?.tags.count == 32)
    }

    @Test(arguments: StoreKind.allCases)
    func `pins are kept, and in a restricted group only its owner and admins pin`(kind: StoreKind)
        async throws
    {
        let fixture = try StoreFixture(kind)
        func pin(_ isOn: Bool, from user: Int64) throws -> StoreOperation {
            .receive(
                try fixture.control(.pin(target: "1", isOn: isOn), from: UserID(user), in: Self.group))
        }
        func pinned() async throws -> [String] {
            try await fixture.store.pinned(in: Self.group).compactMap(\.uuid)
        }
        try await fixture.apply(
            .receive(try fixture.text("x", uuid: "1", in: Self.group)), pin(true, from: 3))
        #expect(try await pinned() == ["1"])
        #expect(try await fixture.message("1")?.isPinned == true)
        try await fixture.apply(
            .setGroup(GroupProfile(id: 7, isPinningRestricted: true)),
            .setMembers(
                group: 7,
                [GroupMemberProfile(id: UserID(3)), GroupMemberProfile(id: UserID(4), role: .admin)]),
            pin(false, from: 3), pin(false, from: 99))
        #expect(try await pinned() == ["1"])
        try await fixture.apply(pin(false, from: 4))
        #expect(try await pinned() == [])
    }

    @Test(arguments: StoreKind.allCases)
    func `the last vote of each user counts while the poll is open`(kind: StoreKind) async throws {
        let fixture = try StoreFixture(kind)
        let poll = PollContent(question: "Tea?", options: ["yes", "no"], closesMilliseconds: 5_000)
        let json = try fixture.codec.encode(.poll(poll), envelope: ContentEnvelope(uuid: "p"))
        func vote(_ options: [Int], from user: Int64, time: Int64 = 2_000) throws -> StoreOperation {
            .receive(
                try fixture.control(
                    .vote(target: "p", options: options), uuid: "v\(options)\(user)\(time)",
                    from: UserID(user),
                    time: time))
        }
        try await fixture.apply(
            .receive(fixture.incoming(json)), vote([0], from: 2), vote([1], from: 2), vote([0], from: 3),
            vote([0, 1], from: 3), vote([5], from: 4), vote([1], from: 3, time: 5_000), vote([], from: 5))
        let id = try #require(try await fixture.message("p")).id
        #expect(
            try await fixture.store.votes(on: id) == [UserID(2): [1], UserID(3): [0], UserID(5): []])
    }

    @Test(arguments: StoreKind.allCases)
    func `readers and earlier texts can be asked for`(kind: StoreKind) async throws {
        let fixture = try StoreFixture(kind)
        try await fixture.apply(
            .send(try fixture.outgoing("one", uuid: "m", send: 1)),
            .acknowledge(send: 1, serverKey: 1, isPlaced: true),
            .receive(try fixture.control(.readed(target: "m"), from: UserID(5))),
            .receive(try fixture.control(.readed(target: "m"), from: UserID(2))),
            .receive(
                try fixture.control(
                    .edit(EditContent(target: "m", change: .replace("two"))), uuid: "e",
                    from: StoreFixture.me)))
        let message = try #require(try await fixture.message("m"))
        #expect(try await fixture.store.readers(of: message.id) == [UserID(2), UserID(5)])
        #expect(message.state == .read(count: 2))
        #expect(try await fixture.store.earlierTexts(of: message.id) == ["one"])
    }

    @Test(arguments: StoreKind.allCases)
    func `an export holds everything but what burns`(kind: StoreKind) async throws {
        let fixture = try StoreFixture(kind)
        let messages = try (0..<1_200).map {
            StoreOperation.receive(try fixture.text("line \($0)", uuid: "u\($0)", time: Int64($0)))
        }
        _ = try await fixture.store.apply(messages)
        try await fixture.apply(
            .setContact(Contact(id: UserID(2), name: "Ada")), .setGroup(GroupProfile(id: 7, name: "g")),
            .setMembers(group: 7, [GroupMemberProfile(id: UserID(2))]), .setDraft(.group(7), "soon"),
            .setHidden(.peer(StoreFixture.ada), true),
            .receive(fixture.incoming(#"{"uuid":"b","text":"hush","burn":{"seconds":3}}"#)))
        var lines: [String] = []
        try await AccountExport(of: fixture.store).write { lines.append($0) }
        let types = try lines.map { line in
            let object = try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any]
            return object?["type"] as? String ?? ""
        }
        #expect(types.prefix(3) == ["account", "contact", "group"])
        #expect(types.count { $0 == "conversation" } == 2)
        #expect(types.count { $0 == "message" } == 1_200)
        #expect(lines.contains { $0.contains("line 1199") })
        #expect(lines.contains { $0.contains(#""draft":"soon""#) })
        #expect(!lines.contains { $0.contains("hush") })
    }

    @Test(arguments: StoreKind.allCases)
    func `an export is read into another store, with drafts and all that belongs to them`(kind: StoreKind)
        async throws
    {
        let fixture = try StoreFixture(kind)
        let details = #"{"editing":"u3","mentions":[{"name":"Ada","user":2}],"reference":"u1"}"#
        let messages = try (0..<600).map {
            StoreOperation.receive(try fixture.text("line \($0)", uuid: "u\($0)", time: Int64($0)))
        }
        _ = try await fixture.store.apply(messages)
        try await fixture.apply(
            .setContact(Contact(id: UserID(2), name: "Ada")), .setGroup(GroupProfile(id: 7, name: "g")),
            .setMembers(group: 7, [GroupMemberProfile(id: UserID(2))]),
            .setDraft(.peer(StoreFixture.ada), "@Ada so"), .setDraftDetails(.peer(StoreFixture.ada), details),
            .setPinned(.group(7), true), .setMuted(.group(7), true),
            .receive(try fixture.control(.revoke(target: "u5"))),
            .setFavorite(try #require(try await fixture.message("u7")).id, true),
            .receive(try fixture.text("mine", uuid: "own", from: StoreFixture.me, in: .group(7))),
            .save(
                fixture.incoming("", in: .group(7)).with(.notice("saved"))))
        var lines: [String] = []
        try await AccountExport(of: fixture.store).write { lines.append($0) }
        let kept = lines

        let other = try StoreFixture(kind)
        try await other.apply(.receive(try other.text("newer", uuid: "new", time: 9_000)))
        var rest = kept[...]
        let summary = try await AccountImport(into: other.store).read { rest.popFirst() }
        #expect(summary.messageCount == 602 && summary.conversationCount == 2)
        #expect(summary.skippedLineCount == 0)
        let ada = Session.peer(StoreFixture.ada)
        let flow = try await other.flow(ada, limit: 1_000)
        #expect(flow.suffix(2) == ["line 599", "newer"])
        let first = try await other.store.page(PageQuery(session: ada, place: .oldest, limit: 8)).messages
        #expect(
            first.map { $0.content.text ?? "" } == [
                "line 0", "line 1", "line 2", "line 3", "line 4", "", "line 6", "line 7",
            ])
        #expect(first[5].content == .revoked && first[7].isFavorite)
        let group = try await other.store.page(PageQuery(session: .group(7))).messages
        #expect(group.map(\.content) == [.text("mine"), .notice("saved")])
        let line = try #require(try await other.line(ada))
        #expect(line.draft == "@Ada so" && line.draftDetails == details && line.unreadCount == 1)
        #expect(try await other.line(.group(7))?.isPinned == true)
        #expect(try await other.line(.group(7))?.isMuted == true)
        #expect(try await other.store.members(of: 7) == [GroupMemberProfile(id: UserID(2))])
        #expect(try await other.store.search(SearchQuery("599")).map(\.uuid) == ["u599"])
        // Once more changes nothing but what has no name.
        rest = kept[...]
        let again = try await AccountImport(into: other.store).read { rest.popFirst() }
        #expect(again.messageCount == 1)
    }

    @Test(arguments: StoreKind.allCases)
    func `what is no export of this account is refused, and what makes no sense passed over`(kind: StoreKind)
        async throws
    {
        let fixture = try StoreFixture(kind)
        func read(_ lines: String...) async throws -> AccountImport.Summary {
            var rest = lines[...]
            return try await AccountImport(into: fixture.store).read { rest.popFirst() }
        }
        let head = #"{"type":"account","format":1,"account":1}"#
        for (first, code) in [
            (#"{"type":"account","format":1,"account":2}"#, StoreError.Code.foreignFile),
            (#"{"type":"account","format":2,"account":1}"#, .newerVersion),
            (#"{"type":"message"}"#, .foreignFile),
        ] {
            let error = await #expect(throws: StoreError.self) { try await read(first, head) }
            #expect(error?.code == code)
        }
        let session = #"{"kind":"peer","id":2,"appID":0}"#
        let summary = try await read(
            head, "rubbish", #"{"type":"future"}"#,
            #"{"type":"message","session":\#(session),"content":"{}"}"#,
            #"{"type":"conversation","session":\#(session)}"#, #"{"type":"contact"}"#,
            #"{"type":"message","session":\#(session),"sender":2,"content":"{\"text\":\"a\",\"uuid\":\"a\"}"}"#
        )
        #expect(summary.skippedLineCount == 3 && summary.messageCount == 1)
        #expect(try await fixture.flow() == ["a"])
    }
}

extension IncomingMessage {
    /// The same with a content that has no JSON of its own.
    fileprivate func with(_ content: MessageContent) -> IncomingMessage {
        var message = self
        message.content = DecodedContent(envelope: ContentEnvelope(), body: .message(content))
        return message
    }
}
