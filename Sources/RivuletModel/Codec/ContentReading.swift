/// One content as a `JSONDecoder` reads it.
struct ContentReading: Decodable {
    var envelope: ContentEnvelope
    /// Nil when no kind was recognised.
    var body: DecodedContent.Body?

    static let registryKey = CodingUserInfoKey(rawValue: "rivulet.contentRegistry")

    init(from decoder: any Decoder) throws {
        let object = try decoder.container(keyedBy: JSONKey.self)
        envelope = ContentEnvelope(reading: object)
        body = nil
        do {
            body = try Self.body(of: object)
            guard body == nil else { return }
            let registry = Self.registryKey.flatMap { decoder.userInfo[$0] } as? ContentRegistry
            for type in registry?.types ?? [] where object.contains(JSONKey(type.key)) {
                body = try Self.custom(type, object)
                return
            }
        } catch is DecodingError {
            // The key is known and its value is not as described: shown like an unknown kind.
        }
    }

    private static func custom<Content: CustomContent>(
        _ type: Content.Type, _ object: JSONObjectReader
    ) throws -> DecodedContent.Body {
        let value = try object.decode(type, forKey: JSONKey(type.key))
        return type.behavior.contains(.isShown)
            ? .message(.custom(value)) : .control(.custom(CustomContentBox(value)))
    }

    /// The body by the first known key in the fixed order.
    private static func body(of object: JSONObjectReader) throws -> DecodedContent.Body? {
        if let content = try sharedContent(object) { return .message(content) }
        if let control = try control(object) { return .control(control) }
        if let content = try otherContent(object) { return .message(content) }
        if let control = try extensionControl(object) { return .control(control) }
        return try extensionContent(object).map { .message($0) }
    }

    private static func sharedContent(_ object: JSONObjectReader) throws -> MessageContent? {
        if object.contains("text") { return .text(try TextContent(reading: object)) }
        if object.contains("image2") { return .image(try ImageContent(reading: object.object("image2"))) }
        if object.contains("image") {
            return .image(ImageContent(url: try object.required("image"), width: 0, height: 0))
        }
        if object.contains("audio") { return .audio(try AudioContent(reading: object.object("audio"))) }
        if object.contains("location") {
            return .location(try LocationContent(reading: object.object("location")))
        }
        if object.contains("video") { return .video(try VideoContent(reading: object.object("video"))) }
        if object.contains("file") { return .file(try FileContent(reading: object.object("file"))) }
        if object.contains("link") { return .link(LinkContent(reading: try object.object("link"))) }
        if object.contains("notification") {
            return .groupNotification(
                ContentCodec().decodeGroupNotification(try object.required("notification")))
        }
        if object.contains("voip") { return .call(CallContent(reading: try object.object("voip"))) }
        if object.contains("group_voip") {
            return .groupCall(GroupCallContent(reading: try object.object("group_voip")))
        }
        if object.contains("secret") { return .secret(try SecretContent(reading: object.object("secret"))) }
        return nil
    }

    private static func control(_ object: JSONObjectReader) throws -> ControlContent? {
        if object.contains("revoke") { return .revoke(target: try object.object("revoke").target()) }
        if object.contains("readed") { return .readed(target: try object.object("readed").target()) }
        guard object.contains("tag") else { return nil }
        let tag = try object.object("tag")
        if let added = tag.nonEmptyString("add_tag") {
            return .tag(target: try tag.target(), tag: added, isAdded: true)
        }
        return .tag(target: try tag.target(), tag: try tag.required("delete_tag"), isAdded: false)
    }

    private static func otherContent(_ object: JSONObjectReader) throws -> MessageContent? {
        if object.contains("ack") { return .refusal(status: Int(try object.object("ack").integer("error"))) }
        if object.contains("classroom") {
            return .classroom(ConferenceContent(reading: try object.object("classroom")))
        }
        if object.contains("conference") {
            return .conference(ConferenceContent(reading: try object.object("conference")))
        }
        if object.contains("p2p_session") {
            let session = try object.object("p2p_session")
            return .p2pSession(
                P2PSessionContent(
                    deviceID: session.string("device_id"), channelID: session.string("channel_id")))
        }
        if object.contains("headline") {
            // iOS writes a string, Android an object around it (docs/protocol.md, section 21, pitfall 31).
            if let text = object.optional(String.self, "headline") { return .headline(text) }
            return .headline(try object.object("headline").required("headline"))
        }
        if object.contains("attachment") {
            let record = try object.object("attachment")
            return .attachment(
                AttachmentContent(
                    messageNumber: record.integer("msg_id"), address: record.optional(String.self, "address"),
                    url: record.optional(String.self, "url")))
        }
        if let time = object.optionalInteger("timestamp") ?? object.optionalInteger("timebase") {
            return .timeBase(time)
        }
        return nil
    }

    private static func extensionControl(_ object: JSONObjectReader) throws -> ControlContent? {
        if object.contains("edit") {
            return .edit(try EditContent(reading: object.object("edit"), beside: object))
        }
        if object.contains("reaction") {
            let reaction = try object.object("reaction")
            let emoji = try reaction.target("emoji")
            return .reaction(target: try reaction.target(), emoji: emoji, isOn: reaction.flag("on"))
        }
        if object.contains("read_mark") {
            let mark = try object.object("read_mark")
            let session = Session(
                kind: Session.Kind(rawValue: try mark.target("kind")), id: mark.integer("id"),
                appID: mark.integer("app"))
            return .readMark(session: session, target: try mark.target())
        }
        if object.contains("vote") {
            let vote = try object.object("vote")
            return .vote(target: try vote.target(), options: try vote.decode([Int].self, forKey: "options"))
        }
        if object.contains("pin") {
            let pin = try object.object("pin")
            return .pin(target: try pin.target(), isOn: pin.flag("on"))
        }
        return nil
    }

    private static func extensionContent(_ object: JSONObjectReader) throws -> MessageContent? {
        if object.contains("merged") { return .merged(try MergedContent(reading: object.object("merged"))) }
        if object.contains("card") {
            let card = try object.object("card")
            return .card(
                CardContent(
                    user: UserID(try card.decode(Int64.self, forKey: "uid")), name: card.string("name"),
                    avatar: card.optional(String.self, "avatar")))
        }
        if object.contains("sticker") {
            let sticker = try object.object("sticker")
            return .sticker(
                StickerContent(
                    url: try sticker.required("url"), width: sticker.size("width"),
                    height: sticker.size("height"), emoji: sticker.optional(String.self, "emoji")))
        }
        if object.contains("poll") { return .poll(try PollContent(reading: object.object("poll"))) }
        if object.contains("join_request") {
            let request = try object.object("join_request")
            return .joinRequest(
                JoinRequestContent(
                    groupID: try request.decode(Int64.self, forKey: "group_id"),
                    reason: request.string("reason")))
        }
        return nil
    }
}
