/// One content as a `JSONEncoder` writes it.
struct ContentWriting: Encodable {
    var envelope: ContentEnvelope
    var body: DecodedContent.Body

    var kind: MessageKind {
        switch body {
        case .message(let content): content.kind
        case .control: MessageKind(rawValue: "control")
        }
    }

    func encode(to encoder: any Encoder) throws {
        var object = encoder.container(keyedBy: JSONKey.self)
        try EnvelopeWriting(envelope: envelope).write(to: &object)
        switch body {
        case .message(let content): try write(content, to: &object)
        case .control(let control): try write(control, to: &object)
        }
    }

    private func write(_ content: MessageContent, to object: inout JSONObjectWriter) throws {
        if try writeShared(content, to: &object) { return }
        if try writeCall(content, to: &object) { return }
        try writeOther(content, to: &object)
    }

    private func writeShared(_ content: MessageContent, to object: inout JSONObjectWriter) throws -> Bool {
        switch content {
        case .text(let text):
            try object.encode(text.text, forKey: "text")
            try write(text.mentions, to: &object)
            try object.encodeIfPresent(text.format?.rawValue, forKey: "format")
            if text.isStreaming { try object.encode(1, forKey: "stream") }
        case .image(let image):
            // Both forms, so that every generation of clients can read it (docs/protocol.md, section 21, pitfall 30).
            try object.encode(image.url, forKey: "image")
            var inner = object.nestedContainer(keyedBy: JSONKey.self, forKey: "image2")
            try inner.encode(image.url, forKey: "url")
            try inner.encode(image.width, forKey: "width")
            try inner.encode(image.height, forKey: "height")
        case .audio(let audio):
            var inner = object.nestedContainer(keyedBy: JSONKey.self, forKey: "audio")
            try inner.encode(audio.url, forKey: "url")
            try inner.encode(audio.durationSeconds, forKey: "duration")
        case .location(let location):
            var inner = object.nestedContainer(keyedBy: JSONKey.self, forKey: "location")
            try inner.encode(location.latitude, forKey: "latitude")
            try inner.encode(location.longitude, forKey: "longitude")
            try inner.encodeIfPresent(location.address, forKey: "address")
        case .video(let video):
            var inner = object.nestedContainer(keyedBy: JSONKey.self, forKey: "video")
            try inner.encode(video.url, forKey: "url")
            try inner.encode(video.thumbnail, forKey: "thumbnail")
            try inner.encode(video.width, forKey: "width")
            try inner.encode(video.height, forKey: "height")
            try inner.encode(video.durationSeconds, forKey: "duration")
            try inner.encode(video.byteCount, forKey: "size")
        case .file(let file):
            var inner = object.nestedContainer(keyedBy: JSONKey.self, forKey: "file")
            try inner.encode(file.url, forKey: "url")
            try inner.encode(file.filename, forKey: "filename")
            try inner.encode(file.byteCount, forKey: "size")
        case .link(let link):
            try object.encode(
                ["url": link.url, "title": link.title, "content": link.content, "image": link.image],
                forKey: "link")
        default:
            return false
        }
        return true
    }

    private func writeCall(_ content: MessageContent, to object: inout JSONObjectWriter) throws -> Bool {
        switch content {
        case .groupNotification(let notification):
            try object.encode(try ContentCodec().encode(notification), forKey: "notification")
        case .call(let call):
            var inner = object.nestedContainer(keyedBy: JSONKey.self, forKey: "voip")
            try inner.encode(call.outcome.rawValue, forKey: "flag")
            try inner.encode(call.durationSeconds, forKey: "duration")
            try inner.encode(call.isVideo, forKey: "video_enabled")
        case .groupCall(let call):
            var inner = object.nestedContainer(keyedBy: JSONKey.self, forKey: "group_voip")
            try inner.encode(call.initiator, forKey: "initiator")
            try inner.encode(call.isFinished, forKey: "finished")
        case .secret(let secret):
            var inner = object.nestedContainer(keyedBy: JSONKey.self, forKey: "secret")
            try inner.encode(secret.ciphertext, forKey: "ciphertext")
            try inner.encode(secret.type, forKey: "type")
        case .refusal(let status):
            try object.encode(["error": status], forKey: "ack")
        case .classroom(let conference):
            try write(conference, to: &object, key: "classroom")
        case .conference(let conference):
            try write(conference, to: &object, key: "conference")
        case .p2pSession(let session):
            try object.encode(
                ["device_id": session.deviceID, "channel_id": session.channelID], forKey: "p2p_session")
        default:
            return false
        }
        return true
    }

    private func writeOther(_ content: MessageContent, to object: inout JSONObjectWriter) throws {
        switch content {
        case .headline(let text):
            try object.encode(text, forKey: "headline")
        case .attachment(let record):
            var inner = object.nestedContainer(keyedBy: JSONKey.self, forKey: "attachment")
            try inner.encode(record.messageNumber, forKey: "msg_id")
            try inner.encodeIfPresent(record.address, forKey: "address")
            try inner.encodeIfPresent(record.url, forKey: "url")
        case .timeBase(let seconds):
            try object.encode(seconds, forKey: "timestamp")
        case .merged(let merged):
            try write(merged, to: &object)
        case .card(let card):
            var inner = object.nestedContainer(keyedBy: JSONKey.self, forKey: "card")
            try inner.encode(card.user, forKey: "uid")
            try inner.encode(card.name, forKey: "name")
            try inner.encodeIfPresent(card.avatar, forKey: "avatar")
        case .sticker(let sticker):
            var inner = object.nestedContainer(keyedBy: JSONKey.self, forKey: "sticker")
            try inner.encode(sticker.url, forKey: "url")
            try inner.encode(sticker.width, forKey: "width")
            try inner.encode(sticker.height, forKey: "height")
            try inner.encodeIfPresent(sticker.emoji, forKey: "emoji")
        case .poll(let poll):
            var inner = object.nestedContainer(keyedBy: JSONKey.self, forKey: "poll")
            try inner.encode(poll.question, forKey: "question")
            try inner.encode(poll.options, forKey: "options")
            try inner.encode(poll.allowsMultiple ? 1 : 0, forKey: "multiple")
            try inner.encodeIfPresent(poll.closesMilliseconds, forKey: "closes_ms")
        case .joinRequest(let request):
            var inner = object.nestedContainer(keyedBy: JSONKey.self, forKey: "join_request")
            try inner.encode(request.groupID, forKey: "group_id")
            try inner.encode(request.reason, forKey: "reason")
        case .custom(let box):
            try write(box, to: &object)
        default:
            throw ContentEncodingError(kind: content.kind, message: "the kind has no JSON")
        }
    }
}

/// The keys beside the kind as a `JSONEncoder` writes them.
struct EnvelopeWriting: Encodable {
    let envelope: ContentEnvelope

    func encode(to encoder: any Encoder) throws {
        var object = encoder.container(keyedBy: JSONKey.self)
        try write(to: &object)
    }

    func write(to object: inout JSONObjectWriter) throws {
        try object.encodeIfPresent(envelope.uuid, forKey: "uuid")
        try object.encodeIfPresent(envelope.reference, forKey: "reference")
        try object.encodeIfPresent(envelope.groupID, forKey: "group_id")
        try object.encodeIfPresent(envelope.storeID, forKey: "store_id")
        try object.encodeIfPresent(envelope.storeName, forKey: "store_name")
        try object.encodeIfPresent(envelope.sessionID, forKey: "session_id")
        try object.encodeIfPresent(envelope.name, forKey: "name")
        try object.encodeIfPresent(envelope.appName, forKey: "app_name")
        try object.encodeIfPresent(envelope.fallback, forKey: "fallback")
        if let seconds = envelope.burnSeconds {
            try object.encode(["seconds": seconds], forKey: "burn")
        }
    }
}
