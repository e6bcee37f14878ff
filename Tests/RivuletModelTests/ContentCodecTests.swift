import RivuletModel
import Testing

private struct Dice: CustomContent {
    static let kind = MessageKind(rawValue: "dice")
    var eyes: Int
    var summary: String { "Dice: \(eyes)" }
    var searchText: String { "dice \(eyes)" }
}

private struct Buzz: CustomContent {
    static let kind = MessageKind(rawValue: "buzz")
    static let behavior = ContentBehavior.control
    var target: Int64
    var summary: String { "" }
}

@Suite("Content JSON")
struct ContentCodecTests {
    let codec = ContentCodec()

    static let contents: [MessageContent] = [
        .text("plain"),
        .text(
            TextContent(
                "hi @Ada", mentions: [.init(user: UserID(7), name: "@Ada")], format: .markdown,
                isStreaming: true)),
        .image(ImageContent(url: "https://x/1.png", width: 3, height: 4)),
        .audio(AudioContent(url: "u", durationSeconds: 9)),
        .location(LocationContent(latitude: 31.25, longitude: -121.5, address: "外滩")),
        .location(LocationContent(latitude: 0, longitude: 0)),
        .video(
            VideoContent(
                url: "u", thumbnail: "t", width: 1, height: 2, durationSeconds: 3, byteCount: 1 << 40)),
        .file(FileContent(url: "u", filename: "ä.pdf", byteCount: 12)),
        .link(LinkContent(url: "u", title: "t", content: "c", image: "i")),
        .groupNotification(GroupNotification(groupID: 5, time: 9, change: .renamed("x"))),
        .call(CallContent(outcome: .missed, durationSeconds: 0, isVideo: true)),
        .groupCall(GroupCallContent(initiator: UserID(3), isFinished: true)),
        .secret(SecretContent(ciphertext: "zzz", type: 2)),
        .refusal(status: 65),
        .classroom(ConferenceContent(master: UserID(1), channelID: "c", serverID: 2, microphoneMode: "m")),
        .conference(ConferenceContent(master: UserID(1), channelID: "c", serverID: 2, microphoneMode: "m")),
        .p2pSession(P2PSessionContent(deviceID: "d", channelID: "c")),
        .headline("news"),
        .attachment(AttachmentContent(messageNumber: 3, address: "a")),
        .timeBase(1_700_000_000),
        .merged(
            MergedContent(
                title: "t", items: [.init(sender: UserID(1), name: "n", time: 2, content: #"{"text":"x"}"#)])),
        .merged(MergedContent(title: "t", items: [], upload: .init(url: "u", count: 200, digest: "d"))),
        .card(CardContent(user: UserID(9), name: "Ada", avatar: "a")),
        .sticker(StickerContent(url: "u", width: 1, height: 2, emoji: "🀄️")),
        .poll(PollContent(question: "q", options: ["a", "b"], allowsMultiple: true, closesMilliseconds: 5)),
        .joinRequest(JoinRequestContent(groupID: 4, reason: "please")),
    ]

    @Test(arguments: contents) func `every kind comes back from its JSON`(content: MessageContent) throws {
        var envelope = ContentEnvelope(
            uuid: "u-1", reference: "u-0", groupID: 3, fallback: "f", burnSeconds: 10)
        envelope.storeID = 8
        envelope.storeName = "s"
        envelope.sessionID = "i"
        envelope.name = "n"
        envelope.appName = "a"
        let json = try codec.encode(content, envelope: envelope)
        #expect(codec.decode(json) == DecodedContent(envelope: envelope, body: .message(content)))
    }

    static let controls: [ControlContent] = [
        .revoke(target: "a"), .readed(target: "a"), .tag(target: "a", tag: "t", isAdded: true),
        .tag(target: "a", tag: "t", isAdded: false), .edit(EditContent(target: "a", change: .replace("b"))),
        .edit(EditContent(target: "a", change: .append("b"))),
        .edit(EditContent(target: "a", change: .none, endsStream: true)),
        .reaction(target: "a", emoji: "👍", isOn: true), .reaction(target: "a", emoji: "👍", isOn: false),
        .readMark(session: Session(kind: .customer, id: 4, appID: 2), target: "a"),
        .vote(target: "a", options: [0, 2]), .pin(target: "a", isOn: true),
    ]

    @Test(arguments: controls) func `every control comes back from its JSON`(control: ControlContent) throws {
        let json = try codec.encode(control, envelope: ContentEnvelope(uuid: "u"))
        #expect(
            codec.decode(json)
                == DecodedContent(envelope: ContentEnvelope(uuid: "u"), body: .control(control)))
    }

    @Test(arguments: [
        (#"{"image":"u"}"#, MessageContent.image(ImageContent(url: "u", width: 0, height: 0))),
        (
            #"{"image":"old","image2":{"url":"new","width":5,"height":6}}"#,
            .image(ImageContent(url: "new", width: 5, height: 6))
        ),
        (#"{"headline":{"headline":"h"}}"#, .headline("h")),
        (#"{"timebase":12}"#, .timeBase(12)),
        (#"{"timestamp":12}"#, .timeBase(12)),
        (
            #"{"video":{"url":"u"}}"#,
            .video(VideoContent(url: "u", thumbnail: "", width: 0, height: 0, durationSeconds: 0))
        ),
        (#"{"audio":{"url":"u","duration":3.7}}"#, .audio(AudioContent(url: "u", durationSeconds: 3))),
        (#"{"audio":{"url":"u","duration":-1e300}}"#, .audio(AudioContent(url: "u", durationSeconds: 0))),
        (
            #"{"voip":{"flag":3,"video_enabled":1}}"#,
            .call(CallContent(outcome: .accepted, durationSeconds: 0, isVideo: true))
        ),
        (
            #"{"attachment":{"msg_id":3,"url":"u"}}"#,
            .attachment(AttachmentContent(messageNumber: 3, url: "u"))
        ),
        (
            #"{"text":"t","at":[1,2],"at_name":["a"]}"#,
            .text(
                TextContent(
                    "t", mentions: [.init(user: UserID(1), name: "a"), .init(user: UserID(2), name: "")]))
        ),
        (#"{"text":"t","at":"nobody","stream":"x"}"#, .text("t")),
        (" \n{\"text\":\"\\u0000\"}", .text("\u{0}")),
    ]) func `forms of other generations are read`(raw: String, content: MessageContent) {
        #expect(codec.decode(raw).message == content)
    }

    @Test(arguments: [
        "", "hello", "[1]", "null", "3", #""text""#, "{", #"{"text":5}"#, #"{"image2":"u"}"#, "{}",
        #"{"revoke":{}}"#, #"{"revoke":{"msgid":""}}"#, #"{"tag":{"msgid":"a"}}"#, #"{"edit":{"msgid":"a"}}"#,
        #"{"vote":{"msgid":"a","options":["x"]}}"#, #"{"timestamp":"soon"}"#, #"{"text":"\ud800"}"#,
        #"{"new_kind":{"x":1}}"#, #"{"reaction":{"msgid":"a","emoji":"","on":1}}"#,
    ]) func `what is not understood keeps its raw text`(raw: String) throws {
        let content = codec.decode(raw)
        #expect(content.message == .unknown(raw: raw, fallback: nil))
        #expect(try codec.encode(.unknown(raw: raw, fallback: nil), envelope: ContentEnvelope()) == raw)
    }

    @Test func `an unknown kind keeps its uuid and shows its fallback`() {
        let raw = #"{"uuid":"u","new_kind":{},"fallback":"something new"}"#
        let content = codec.decode(raw)
        #expect(content.envelope.uuid == "u")
        #expect(content.message == .unknown(raw: raw, fallback: "something new"))
        #expect(content.message?.summary == "something new")
    }

    @Test(arguments: [#"{"uuid":"","text":"x"}"#, #"{"uuid":null,"text":"x"}"#, #"{"uuid":5,"text":"x"}"#])
    func `an empty or strange uuid is none`(raw: String) {
        #expect(codec.decode(raw).envelope.uuid == nil)
        #expect(codec.decode(raw).message == .text("x"))
    }

    @Test(arguments: [
        (#"{"link":{"url":"u","title":"t"},"text":"x"}"#, MessageKind.text),
        (#"{"revoke":{"msgid":"a"},"audio":{"url":"u"}}"#, .audio),
        (#"{"headline":"h","ack":{"error":1}}"#, .refusal),
        (#"{"poll":{"question":"q","options":[]},"file":{"url":"u"}}"#, .file),
    ]) func `the order of detection is fixed`(raw: String, kind: MessageKind) {
        #expect(codec.decode(raw).message?.kind == kind)
    }

    @Test func `deeply nested JSON is only unknown`() {
        let raw = #"{"x":"# + String(repeating: "[", count: 100_000)
        #expect(codec.decode(raw).message?.kind == .unknown)
    }

    @Test func `contents without JSON are refused`() {
        #expect(throws: ContentEncodingError.self) { try codec.encode(.revoked, envelope: ContentEnvelope()) }
        #expect(throws: ContentEncodingError.self) {
            try codec.encode(.notice("x"), envelope: ContentEnvelope())
        }
        let item = MergedContent.Item(sender: UserID(1), name: "", time: 0, content: "")
        let merged = MergedContent(title: "", items: Array(repeating: item, count: 101))
        #expect(throws: ContentEncodingError.self) {
            try codec.encode(.merged(merged), envelope: ContentEnvelope())
        }
    }

    @Test func `a registered kind is read, written and described`() throws {
        var registry = ContentRegistry()
        try registry.register(Dice.self)
        try registry.register(Buzz.self)
        let codec = ContentCodec(registry: registry)
        let json = try codec.encode(.custom(Dice(eyes: 6)), envelope: ContentEnvelope(uuid: "u"))
        #expect(json == #"{"dice":{"eyes":6},"uuid":"u"}"#)
        let content = try #require(codec.decode(json).message)
        #expect(content == .custom(Dice(eyes: 6)))
        #expect(content != .custom(Dice(eyes: 5)))
        #expect(content.kind == Dice.kind)
        #expect(content.summary == "Dice: 6")
        #expect(content.searchText == "dice 6")
        #expect(codec.decode(#"{"buzz":{"target":7}}"#).control == .custom(CustomContentBox(Buzz(target: 7))))
        #expect(codec.decode(#"{"dice":{"eyes":"many"}}"#).message?.kind == .unknown)
        #expect(ContentCodec().decode(json).message?.kind == .unknown)
    }

    @Test func `a kind cannot take a key that has a meaning`() throws {
        struct Text: CustomContent {
            static let kind = MessageKind(rawValue: "text")
            var summary: String { "" }
        }
        var registry = ContentRegistry()
        #expect(throws: ContentRegistry.RegistrationError.self) { try registry.register(Text.self) }
        try registry.register(Dice.self)
        #expect(throws: ContentRegistry.RegistrationError.self) { try registry.register(Dice.self) }
    }
}

@Suite("Group notification JSON")
struct GroupNotificationTests {
    let codec = ContentCodec()

    static let changes: [GroupNotification.Change] = [
        .created(master: UserID(1), name: "g", members: [UserID(1), UserID(2)]), .disbanded,
        .memberLeft(UserID(3), name: "Ada"), .memberAdded(UserID(3), name: nil), .renamed("n"),
        .noticeChanged("n"), .upgraded,
    ]

    @Test(arguments: changes) func `every change comes back from its JSON`(change: GroupNotification.Change)
        throws
    {
        let notification = GroupNotification(groupID: 4, time: 8, change: change)
        #expect(codec.decodeGroupNotification(try codec.encode(notification)) == notification)
    }

    @Test func `members may be objects`() {
        let raw = #"{"create":{"group_id":1,"master":2,"name":"g","members":[{"uid":2,"name":"x"},3]}}"#
        #expect(
            codec.decodeGroupNotification(raw).change
                == .created(master: UserID(2), name: "g", members: [UserID(2), UserID(3)]))
    }

    @Test func `an upgrade is recognised by its value under any key`() {
        let notification = codec.decodeGroupNotification(#"{"anything":{"group_id":9,"super":1}}"#)
        #expect(notification == GroupNotification(groupID: 9, time: 0, change: .upgraded))
    }

    @Test(arguments: ["", "[]", "{}", #"{"create":5}"#, #"{"future":{"group_id":3}}"#, #"{"x":1}"#])
    func `what is not understood is an unknown change`(raw: String) {
        guard case .unknown = codec.decodeGroupNotification(raw).change else {
            Issue.record("understood")
            return
        }
    }
}
