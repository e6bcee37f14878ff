extension ContentWriting {
    func write(_ control: ControlContent, to object: inout JSONObjectWriter) throws {
        switch control {
        case .revoke(let target):
            try object.encode(["msgid": target], forKey: "revoke")
        case .readed(let target):
            try object.encode(["msgid": target], forKey: "readed")
        case .tag(let target, let tag, let isAdded):
            try object.encode(["msgid": target, isAdded ? "add_tag" : "delete_tag": tag], forKey: "tag")
        case .edit(let edit):
            var inner = object.nestedContainer(keyedBy: JSONKey.self, forKey: "edit")
            try write(edit, to: &inner)
        case .reaction(let target, let emoji, let isOn):
            var inner = object.nestedContainer(keyedBy: JSONKey.self, forKey: "reaction")
            try inner.encode(target, forKey: "msgid")
            try inner.encode(emoji, forKey: "emoji")
            try inner.encode(isOn ? 1 : 0, forKey: "on")
        case .readMark(let session, let target):
            var inner = object.nestedContainer(keyedBy: JSONKey.self, forKey: "read_mark")
            try inner.encode(session.kind.rawValue, forKey: "kind")
            try inner.encode(session.id, forKey: "id")
            if session.appID != 0 { try inner.encode(session.appID, forKey: "app") }
            try inner.encode(target, forKey: "msgid")
        case .vote(let target, let options):
            var inner = object.nestedContainer(keyedBy: JSONKey.self, forKey: "vote")
            try inner.encode(target, forKey: "msgid")
            try inner.encode(options, forKey: "options")
        case .pin(let target, let isOn):
            var inner = object.nestedContainer(keyedBy: JSONKey.self, forKey: "pin")
            try inner.encode(target, forKey: "msgid")
            try inner.encode(isOn ? 1 : 0, forKey: "on")
        case .custom(let box):
            try write(box, to: &object)
        }
    }

    private func write(_ edit: EditContent, to inner: inout JSONObjectWriter) throws {
        try inner.encode(edit.target, forKey: "msgid")
        switch edit.change {
        case .replace(let text): try inner.encode(text, forKey: "text")
        case .append(let text): try inner.encode(text, forKey: "append")
        case .none: break
        }
        try write(edit.mentions, to: &inner)
        if edit.endsStream { try inner.encode(0, forKey: "stream") }
    }

    func write(_ mentions: [TextContent.Mention], to object: inout JSONObjectWriter) throws {
        guard !mentions.isEmpty else { return }
        try object.encode(mentions.map(\.user), forKey: "at")
        try object.encode(mentions.map(\.name), forKey: "at_name")
    }

    func write(_ box: CustomContentBox, to object: inout JSONObjectWriter) throws {
        try write(custom: box.value, to: &object)
    }

    private func write<Content: CustomContent>(
        custom value: Content, to object: inout JSONObjectWriter
    ) throws {
        try object.encode(value, forKey: JSONKey(Content.key))
    }

    func write(_ conference: ConferenceContent, to object: inout JSONObjectWriter, key: JSONKey) throws {
        var inner = object.nestedContainer(keyedBy: JSONKey.self, forKey: key)
        try inner.encode(conference.master, forKey: "master_id")
        try inner.encode(conference.channelID, forKey: "channel_id")
        try inner.encode(conference.serverID, forKey: "server_id")
        try inner.encode(conference.microphoneMode, forKey: "mic_mode")
    }

    func write(_ merged: MergedContent, to object: inout JSONObjectWriter) throws {
        guard merged.items.count <= MergedContent.itemsMax else {
            throw ContentEncodingError(kind: .merged, message: "more than \(MergedContent.itemsMax) items")
        }
        var inner = object.nestedContainer(keyedBy: JSONKey.self, forKey: "merged")
        try inner.encode(merged.title, forKey: "title")
        if let upload = merged.upload {
            try inner.encode(upload.url, forKey: "url")
            try inner.encode(upload.count, forKey: "count")
            try inner.encode(upload.digest, forKey: "digest")
            return
        }
        var list = inner.nestedUnkeyedContainer(forKey: "items")
        for item in merged.items {
            var entry = list.nestedContainer(keyedBy: JSONKey.self)
            try entry.encode(item.sender, forKey: "sender")
            try entry.encode(item.name, forKey: "name")
            try entry.encode(item.time, forKey: "time")
            try entry.encode(item.content, forKey: "content")
        }
    }
}
