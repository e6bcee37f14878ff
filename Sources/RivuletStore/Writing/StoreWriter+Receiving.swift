import RivuletModel

/// Messages that arrive, and those that are found.
extension StoreWriter {
    mutating func receive(_ message: IncomingMessage) throws -> StoreOutcome {
        if let known = try knownRow(message) { return try repair(known, with: message) }
        if case .control(let control) = message.content.body {
            return try receiveControl(control, message)
        }
        guard let content = message.content.message else { return .ignored }
        var row = try makeRow(message, content: content, id: counters.makeID())
        guard content.isShown else {
            try tables.insert(row)
            return .inserted(MessageID(row.id))
        }
        if case .groupNotification(let notification) = content { try learn(notification) }
        row.position = try takePosition(in: message.session)
        if !message.isOutgoing, content.countsAsUnread {
            row.flags.insert(.counts)
            if case .text(let text) = content, text.mentions(account) { row.flags.insert(.mention) }
        }
        try insertShown(row, content: message.content)
        return .inserted(MessageID(row.id))
    }

    mutating func insertHistory(_ messages: [IncomingMessage]) throws -> StoreOutcome {
        var fresh: [IncomingMessage] = []
        var seen: Set<String> = []
        for message in messages {
            if let uuid = message.content.envelope.uuid, !seen.insert(uuid).inserted { continue }
            if try knownRow(message) == nil { fresh.append(message) }
        }
        var id = counters.makeHistoryIDs(fresh.count)
        var shownCounts: [Session: Int64] = [:]
        for message in fresh where message.content.message?.isShown == true {
            shownCounts[message.session, default: 0] += 1
        }
        var changed: Set<String> = []
        var positions: [Session: Int64] = [:]
        for (session, count) in shownCounts {
            var row = try self.session(session)
            row.firstPosition -= count
            positions[session] = row.firstPosition
            hold(row)
        }
        for message in fresh {
            defer { id += 1 }
            guard let content = message.content.message else {
                if let control = message.content.control { try receiveEarlier(control, message, &changed) }
                continue
            }
            var row = try makeRow(message, content: content, id: id)
            guard content.isShown, let position = positions[message.session] else {
                try tables.insert(row)
                continue
            }
            row.position = position
            positions[message.session] = position + 1
            try insertShown(row, content: message.content)
        }
        return fresh.isEmpty ? .ignored : .applied
    }

    /// A change in the history came before everything that is known: a text that was changed since stays as it is.
    private mutating func receiveEarlier(
        _ control: ControlContent, _ message: IncomingMessage, _ changed: inout Set<String>
    ) throws {
        if case .edit(let edit) = control {
            let isChanged = try tables.message(uuid: edit.target)?.flags.contains(.edited) ?? false
            guard !isChanged || changed.contains(edit.target) else { return }
            changed.insert(edit.target)
        }
        _ = try receiveControl(control, message)
    }

    mutating func saveLocal(_ message: IncomingMessage) throws -> StoreOutcome {
        if let known = try knownRow(message) { return .duplicate(MessageID(known.id)) }
        guard let content = message.content.message else { return .ignored }
        var row = try makeRow(message, content: content, id: counters.makeID())
        row.position = try takePosition(in: message.session)
        try insertShown(row, content: message.content)
        return .inserted(MessageID(row.id))
    }

    // MARK: Copies

    /// The row of which this message is a copy: by uuid, or, without one, by what the oldest clients write.
    private mutating func knownRow(_ message: IncomingMessage) throws -> MessageRow? {
        if let uuid = message.content.envelope.uuid { return try tables.message(uuid: uuid) }
        guard message.localNumber != 0, message.timeMilliseconds != 0 else { return nil }
        let number = try session(message.session).id
        let like = try tables.message(
            likeSender: message.sender.rawValue, localNumber: message.localNumber,
            timeMilliseconds: message.timeMilliseconds, session: number)
        // The number is only a hint (docs/protocol.md, section 21, pitfall 32): the text must be the same, too.
        guard let like, like.raw == message.raw || like.kind == MessageKind.revoked.rawValue else {
            return nil
        }
        return like
    }

    /// A copy of a known message: the user's own shows that the server has it and where it stands.
    private mutating func repair(_ known: MessageRow, with message: IncomingMessage) throws -> StoreOutcome {
        var row = known
        if let key = message.serverKey { row.serverKey = key }
        // A stranger who uses the same uuid must not change the row.
        let isOwnCopy = message.isOutgoing && row.isOutgoing
        if isOwnCopy, row.state.isUnderWay {
            row.state = .accepted
            row.failure = nil
            if message.timeMilliseconds != 0 { row.timeMilliseconds = message.timeMilliseconds }
            for send in try tables.sends(ofMessage: row.id) {
                try tables.deleteSend(number: send.send.number)
            }
        }
        if isOwnCopy, row.flags.contains(.control) { try settleOwnChange(row.id) }
        // The conversation is the row's own: a copy that names another one does not move it there.
        if isOwnCopy, row.isUnsent, let session = try session(number: row.session)?.session {
            row.position = try takePosition(in: session)
        }
        if row != known, isOwnCopy || row.sender == message.sender.rawValue { try update(row) }
        return .duplicate(MessageID(known.id))
    }

    // MARK: Rows

    mutating func makeRow(
        _ message: IncomingMessage, content: MessageContent, id: Int64
    ) throws -> MessageRow {
        var row = MessageRow(
            id: id, session: try session(message.session).id, position: nil, sender: message.sender.rawValue,
            uuid: message.content.envelope.uuid, serverKey: message.serverKey,
            localNumber: message.localNumber, timeMilliseconds: message.timeMilliseconds,
            kind: content.kind.rawValue, raw: message.raw, state: message.isOutgoing ? .accepted : .received,
            flags: message.isOutgoing ? .outgoing : [])
        if message.content.envelope.burnSeconds != nil { row.flags.insert(.burning) }
        if case .notice(let text) = content {
            row.raw = text
            row.flags.remove(.burning)
        }
        return row
    }
}

extension MessageContent {
    /// Whether it becomes a row that people see.
    var isShown: Bool {
        switch self {
        case .p2pSession, .attachment, .timeBase: false
        case .custom(let box): type(of: box.value).behavior.contains(.isShown)
        default: true
        }
    }

    /// Whether it counts as unread.
    var countsAsUnread: Bool {
        switch self {
        case .groupNotification, .notice, .revoked, .refusal: false
        case .custom(let box): type(of: box.value).behavior.contains(.countsAsUnread)
        default: isShown
        }
    }
}
