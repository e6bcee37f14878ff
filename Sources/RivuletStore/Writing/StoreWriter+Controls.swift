import RivuletModel

/// Contents that change other messages (docs/protocol.md, section 16.2; docs/extensions.md, section 1).
extension StoreWriter {
    /// How long after sending an author may change a text.
    private static var editLimitMilliseconds: Int64 { 24 * 3_600 * 1_000 }

    mutating func receiveControl(
        _ control: ControlContent, _ message: IncomingMessage
    ) throws -> StoreOutcome {
        if let uuid = message.content.envelope.uuid {
            if let known = try tables.message(uuid: uuid) { return .duplicate(MessageID(known.id)) }
            // The uuid stays known, so that a copy does not take effect twice.
            var row = try makeRow(message, content: .notice(""), id: counters.makeID())
            row.kind = "control"
            row.flags.insert(.control)
            try tables.insert(row)
        }
        return try apply(
            control, raw: message.raw, sender: message.sender.rawValue,
            timeMilliseconds: message.timeMilliseconds)
    }

    /// Applies the controls that came before the message that they speak of.
    mutating func applyWaiting(for uuid: String) throws {
        for waiting in try tables.takeWaiting(for: uuid) {
            guard let control = codec.decode(waiting.raw).control else { continue }
            _ = try apply(
                control, raw: waiting.raw, sender: waiting.sender, timeMilliseconds: waiting.timeMilliseconds)
        }
    }

    private mutating func apply(
        _ control: ControlContent, raw: String, sender: Int64, timeMilliseconds: Int64
    ) throws -> StoreOutcome {
        guard let target = control.target else { return .applied }
        guard let row = try tables.message(uuid: target) else {
            try tables.insert(
                WaitingControl(target: target, sender: sender, timeMilliseconds: timeMilliseconds, raw: raw))
            return .applied
        }
        guard row.position != nil else { return .ignored }
        switch control {
        case .revoke: return try revoke(row, by: sender)
        case .readed: return try noteRead(row, by: sender)
        case .edit(let edit): return try self.edit(row, edit, by: sender, at: timeMilliseconds)
        case .reaction(_, let emoji, let isOn): return try react(row, emoji, by: sender, isOn: isOn)
        case .readMark(let session, _):
            guard sender == account.rawValue, try self.session(session).id == row.session else {
                return .ignored
            }
            return try markRead(session, upTo: MessageID(row.id))
        case .vote(_, let options):
            try tables.setVote(options, of: sender, on: row.id)
            try update(row)
            return .applied
        case .pin(_, let isOn): return try pin(row, isOn: isOn)
        case .tag, .custom: return .ignored
        }
    }

    private mutating func revoke(_ row: MessageRow, by sender: Int64) throws -> StoreOutcome {
        guard sender == row.sender, row.kind != MessageKind.revoked.rawValue else { return .ignored }
        var row = row
        try forgetContent(of: &row)
        row.kind = MessageKind.revoked.rawValue
        try update(row)
        return .applied
    }

    private mutating func noteRead(_ row: MessageRow, by reader: Int64) throws -> StoreOutcome {
        if reader == account.rawValue {
            // Another device of the user told the author.
            guard !row.isOutgoing, let session = try session(number: row.session) else { return .ignored }
            return try markRead(session.session, upTo: MessageID(row.id))
        }
        guard row.isOutgoing else { return .ignored }
        var row = row
        let before = row.state
        row.state = .read(try tables.addReader(reader, of: row.id))
        guard row.state != before else { return .ignored }
        try update(row)
        return .applied
    }

    private mutating func edit(
        _ row: MessageRow, _ edit: EditContent, by sender: Int64, at time: Int64
    ) throws -> StoreOutcome {
        guard sender == row.sender, row.kind == MessageKind.text.rawValue,
            time - row.timeMilliseconds <= Self.editLimitMilliseconds
        else { return .ignored }
        var decoded = codec.decode(row.raw)
        guard case .text(var text)? = decoded.message else { return .ignored }
        var row = row
        try unindex(&row, decoded.message)
        let wasStreaming = text.isStreaming
        switch edit.change {
        case .replace(let new):
            try tables.keepEarlierText(text.text, of: row.id, timeMilliseconds: time)
            text.text = new
            text.mentions = edit.mentions
        case .append(let more):
            text.text += more
            text.mentions += edit.mentions
        case .none: break
        }
        if edit.endsStream { text.isStreaming = false }
        // A text that grows while it is written is not a changed one.
        if !wasStreaming { row.flags.insert(.edited) }
        decoded.body = .message(.text(text))
        row.raw = try codec.encode(.text(text), envelope: decoded.envelope)
        try index(&row, decoded.message)
        try update(row)
        return .applied
    }

    private mutating func react(
        _ row: MessageRow, _ emoji: String, by user: Int64, isOn: Bool
    ) throws -> StoreOutcome {
        guard row.kind != MessageKind.revoked.rawValue else { return .ignored }
        try tables.setReaction(emoji, of: user, on: row.id, isOn: isOn)
        var row = row
        if try tables.reactions(of: row.id).isEmpty {
            row.flags.remove(.reactions)
        } else {
            row.flags.insert(.reactions)
        }
        try update(row)
        return .applied
    }

    private mutating func pin(_ row: MessageRow, isOn: Bool) throws -> StoreOutcome {
        var row = row
        if isOn { row.flags.insert(.pinned) } else { row.flags.remove(.pinned) }
        try update(row)
        return .applied
    }

    // MARK: Content that goes

    /// Removes everything that the message said, here and in the search, and what was counted of it.
    mutating func forgetContent(of row: inout MessageRow) throws {
        try unindex(&row, codec.decode(row.raw).message)
        row.raw = ""
        try tables.deleteReactions(of: row.id)
        try tables.deleteEarlierTexts(of: row.id)
        if row.flags.contains(.counts), var session = try session(number: row.session),
            row.position ?? .min > session.readPosition ?? .min
        {
            session.unread = max(0, session.unread - 1)
            if row.flags.contains(.mention) { session.mentions = max(0, session.mentions - 1) }
            hold(session)
        }
        row.flags.subtract([.counts, .mention, .reactions, .edited, .pinned])
    }

    private mutating func unindex(_ row: inout MessageRow, _ content: MessageContent?) throws {
        guard row.flags.contains(.indexed) else { return }
        row.flags.remove(.indexed)
        guard let text = content?.searchText else { return }
        try tables.unindex(text, row: row)
    }

    private mutating func index(_ row: inout MessageRow, _ content: MessageContent?) throws {
        guard let text = content?.searchText else { return }
        row.flags.insert(.indexed)
        try tables.index(text, row: row)
    }
}
