/// The single kinds, read from their JSON objects: what gives a kind its sense must be there, the rest may be missing.

extension ContentEnvelope {
    init(reading object: JSONObjectReader) {
        self.init(
            uuid: object.nonEmptyString("uuid"), reference: object.nonEmptyString("reference"),
            groupID: object.optionalInteger("group_id"), fallback: object.optional(String.self, "fallback"))
        storeID = object.optionalInteger("store_id")
        storeName = object.optional(String.self, "store_name")
        sessionID = object.optional(String.self, "session_id")
        name = object.optional(String.self, "name")
        appName = object.optional(String.self, "app_name")
        burnSeconds = object.optional(BurnReading.self, "burn")?.seconds
    }

    private struct BurnReading: Decodable {
        let seconds: Int

        init(from decoder: any Decoder) throws {
            seconds = try decoder.container(keyedBy: JSONKey.self).size("seconds")
        }
    }
}

extension TextContent {
    init(reading object: JSONObjectReader) throws {
        self.init(
            try object.required("text"), mentions: Self.mentions(object),
            format: object.nonEmptyString("format").map(Format.init(rawValue:)),
            isStreaming: object.flag("stream"))
    }

    /// Two arrays of one length; a shorter one ends the list.
    static func mentions(_ object: JSONObjectReader) -> [Mention] {
        guard let users = object.optional([Int64].self, "at") else { return [] }
        let names = object.optional([String].self, "at_name") ?? []
        return users.enumerated().map { index, user in
            Mention(user: UserID(user), name: index < names.count ? names[index] : "")
        }
    }
}

extension EditContent {
    init(reading object: JSONObjectReader, beside whole: JSONObjectReader) throws {
        let change: Change =
            if let text = object.optional(String.self, "text") {
                .replace(text)
            } else if let text = object.optional(String.self, "append") {
                .append(text)
            } else {
                .none
            }
        let ends = Self.ends(object) || Self.ends(whole)
        guard ends || change != .none else {
            throw DecodingError.dataCorruptedError(
                forKey: "text", in: object, debugDescription: "nothing is changed")
        }
        self.init(
            target: try object.target(), change: change, mentions: TextContent.mentions(object),
            endsStream: ends)
    }

    private static func ends(_ object: JSONObjectReader) -> Bool {
        object.optionalInteger("stream") == 0
    }
}

extension ImageContent {
    init(reading object: JSONObjectReader) throws {
        self.init(
            url: try object.required("url"), width: object.size("width"), height: object.size("height"))
    }
}

extension AudioContent {
    init(reading object: JSONObjectReader) throws {
        self.init(url: try object.required("url"), durationSeconds: object.size("duration"))
    }
}

extension VideoContent {
    init(reading object: JSONObjectReader) throws {
        self.init(
            url: try object.required("url"), thumbnail: object.string("thumbnail"),
            width: object.size("width"), height: object.size("height"),
            durationSeconds: object.size("duration"), byteCount: Int(max(0, object.integer("size"))))
    }
}

extension FileContent {
    init(reading object: JSONObjectReader) throws {
        self.init(
            url: try object.required("url"), filename: object.string("filename"),
            byteCount: Int(max(0, object.integer("size"))))
    }
}

extension LocationContent {
    init(reading object: JSONObjectReader) throws {
        self.init(
            latitude: try object.decode(Double.self, forKey: "latitude"),
            longitude: try object.decode(Double.self, forKey: "longitude"),
            address: object.nonEmptyString("address"))
    }
}

extension LinkContent {
    init(reading object: JSONObjectReader) {
        self.init(
            url: object.string("url"), title: object.string("title"), content: object.string("content"),
            image: object.string("image"))
    }
}

extension CallContent {
    init(reading object: JSONObjectReader) {
        self.init(
            outcome: Outcome(rawValue: object.size("flag")), durationSeconds: object.size("duration"),
            isVideo: object.flag("video_enabled"))
    }
}

extension GroupCallContent {
    init(reading object: JSONObjectReader) {
        self.init(initiator: UserID(object.integer("initiator")), isFinished: object.flag("finished"))
    }
}

extension ConferenceContent {
    init(reading object: JSONObjectReader) {
        self.init(
            master: UserID(object.integer("master_id")), channelID: object.string("channel_id"),
            serverID: object.optionalInteger("server_id") ?? Int64(object.string("server_id")) ?? 0,
            microphoneMode: object.string("mic_mode"))
    }
}

extension SecretContent {
    init(reading object: JSONObjectReader) throws {
        self.init(ciphertext: try object.required("ciphertext"), type: object.size("type"))
    }
}

extension MergedContent {
    private struct ItemReading: Decodable {
        let item: Item

        init(from decoder: any Decoder) throws {
            let object = try decoder.container(keyedBy: JSONKey.self)
            item = Item(
                sender: UserID(object.integer("sender")), name: object.string("name"),
                time: object.integer("time"), content: try object.required("content"))
        }
    }

    init(reading object: JSONObjectReader) throws {
        let title = object.string("title")
        guard let url = object.optional(String.self, "url") else {
            let items = try object.decode([ItemReading].self, forKey: "items")
            self.init(title: title, items: items.prefix(Self.itemsMax).map(\.item))
            return
        }
        self.init(
            title: title, items: [],
            upload: Upload(url: url, count: object.size("count"), digest: object.string("digest")))
    }
}

extension PollContent {
    init(reading object: JSONObjectReader) throws {
        self.init(
            question: try object.required("question"),
            options: try object.decode([String].self, forKey: "options"),
            allowsMultiple: object.flag("multiple"), closesMilliseconds: object.optionalInteger("closes_ms"))
    }
}
