/// A group notification as a `JSONDecoder` reads it: an object with one key (docs/protocol.md, section 16.3).
struct GroupNotificationReading: Decodable {
    let notification: GroupNotification

    init(from decoder: any Decoder) throws {
        let whole = try decoder.container(keyedBy: JSONKey.self)
        guard let (key, change) = try Self.known(whole) else {
            // No client knows the key of an upgrade: it is recognised by its `super` (section 16.3).
            for key in whole.allKeys {
                guard let object = Self.inner(whole, key) else { continue }
                notification = GroupNotification(
                    groupID: object.integer("group_id"), time: object.integer("timestamp"),
                    change: object.flag("super") ? .upgraded : .unknown(key.stringValue))
                return
            }
            notification = GroupNotification(groupID: 0, time: 0, change: .unknown(""))
            return
        }
        let object = try whole.object(key)
        notification = GroupNotification(
            groupID: object.integer("group_id"), time: object.integer("timestamp"), change: change)
    }

    private static func inner(_ whole: JSONObjectReader, _ key: JSONKey) -> JSONObjectReader? {
        do {
            return try whole.object(key)
        } catch {
            return nil
        }
    }

    private static func known(_ whole: JSONObjectReader) throws -> (JSONKey, GroupNotification.Change)? {
        if whole.contains("create") {
            let object = try whole.object("create")
            let members = object.optional([Member].self, "members") ?? []
            return (
                "create",
                .created(
                    master: UserID(object.integer("master")), name: object.string("name"),
                    members: members.map(\.id))
            )
        }
        if whole.contains("disband") { return ("disband", .disbanded) }
        if whole.contains("quit_group") {
            let object = try whole.object("quit_group")
            let member = UserID(object.integer("member_id"))
            return ("quit_group", .memberLeft(member, name: object.nonEmptyString("name")))
        }
        if whole.contains("add_member") {
            let object = try whole.object("add_member")
            let member = UserID(object.integer("member_id"))
            return ("add_member", .memberAdded(member, name: object.nonEmptyString("name")))
        }
        if whole.contains("update_name") {
            return ("update_name", .renamed(try whole.object("update_name").string("name")))
        }
        if whole.contains("update_notice") {
            return ("update_notice", .noticeChanged(try whole.object("update_notice").string("notice")))
        }
        return nil
    }

    /// A member as a number, or as Android also reads it: an object with `uid`.
    private struct Member: Decodable {
        let id: UserID

        init(from decoder: any Decoder) throws {
            do {
                id = UserID(try decoder.singleValueContainer().decode(Int64.self))
            } catch {
                id = UserID(try decoder.container(keyedBy: JSONKey.self).decode(Int64.self, forKey: "uid"))
            }
        }
    }
}

/// A group notification as a `JSONEncoder` writes it.
struct GroupNotificationWriting: Encodable {
    private let notification: GroupNotification

    init(_ notification: GroupNotification) {
        self.notification = notification
    }

    func encode(to encoder: any Encoder) throws {
        var whole = encoder.container(keyedBy: JSONKey.self)
        func object(_ key: JSONKey) throws -> JSONObjectWriter {
            var object = whole.nestedContainer(keyedBy: JSONKey.self, forKey: key)
            try object.encode(notification.groupID, forKey: "group_id")
            try object.encode(notification.time, forKey: "timestamp")
            return object
        }
        switch notification.change {
        case .created(let master, let name, let members):
            var object = try object("create")
            try object.encode(master, forKey: "master")
            try object.encode(name, forKey: "name")
            try object.encode(members, forKey: "members")
        case .disbanded:
            _ = try object("disband")
        case .memberLeft(let member, let name):
            var object = try object("quit_group")
            try object.encode(member, forKey: "member_id")
            try object.encodeIfPresent(name, forKey: "name")
        case .memberAdded(let member, let name):
            var object = try object("add_member")
            try object.encode(member, forKey: "member_id")
            try object.encodeIfPresent(name, forKey: "name")
        case .renamed(let name):
            var object = try object("update_name")
            try object.encode(name, forKey: "name")
        case .noticeChanged(let notice):
            var object = try object("update_notice")
            try object.encode(notice, forKey: "notice")
        case .upgraded:
            var object = try object("upgrade")
            try object.encode(1, forKey: "super")
        case .unknown(let key):
            throw ContentEncodingError(kind: .groupNotification, message: "unknown change \(key)")
        }
    }
}
