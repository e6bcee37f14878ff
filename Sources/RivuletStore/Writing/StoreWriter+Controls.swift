import RivuletModel

/// Contents that change other messages (docs/protocol.md, section 16.2; docs/extensions.md, section 1).
extension StoreWriter {
    /// How long after sending an author may change a text.
    private static var editLimitMilliseconds: Int64 { 24 * 3_600 * 1_000 }
    /// How many labels a message can have; any member can add some.
    private static var tagsMax: Int { 32 }

    mutating func receiveControl(
        _ control: ControlContent, _ message: IncomingMessage, isSent: Bool = false
    ) throws -> StoreOutcome {
        if let uuid = message.content.envelope.uuid {
            if let known = try tables.message(uuid: uuid) { return .duplicate(MessageID(known.id)) }
            // The uuid stays known, so that a copy does not take effect twice.
            var row = try makeRow(message, content: .notice(""), id: counters.makeID())
            row.kind = "control"
            row.flags.insert(.control)
            try tables.insert(row)
        }
        if case .custom(let box) = control {
            noteControl(
                StoredControl(
                    session: message.session, sender: message.sender, isOutgoing: message.isOutgoing,
                    timeMilliseconds: message.timeMilliseconds, content: box))
        }
        if !isSent, try isHidden(control, message) { return .applied }
        let before = isSent ? try control.target.flatMap { try tables.message(uuid: $0) } : nil
        let outcome = try apply(
            control, raw: message.raw, sender: message.sender.rawValue,
            timeMilliseconds: message.timeMilliseconds)
        if let before, outcome == .applied { try noteOwnChange(control, message, before: before) }
        return outcome
    }

    /// Applies the controls that came before the message that they speak of.
    mutating func applyWaiting(for uuid: String) throws {
        for waiting in try tables.takeWaiting(for: uuid) {
            guard let control = codec.decode(waiting.raw).control else { continue }
            _ = try apply(
                control, raw: waiting.raw, sender: waiting.sender, timeMilliseconds: waiting.timeMilliseconds)
        }
    }

    mutating func apply(
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
        case .vote(_, let options): return try vote(row, options, by: sender, at: timeMilliseconds)
        case .pin(_, let isOn): return try pin(row, isOn: isOn, by: sender)
        case .tag(_, let tag, let isAdded): return try self.tag(row, tag, isAdded: isAdded)
        case .custom(let box):
            guard case .erase? = box.value.effect else { return .ignored }
            return try erase(row, by: sender)
        }
    }

    /// Leaves an empty shell of a message, when this user may ask for it.
    private mutating func erase(_ row: MessageRow, by sender: Int64) throws -> StoreOutcome {
        guard row.kind != MessageKind.erased.rawValue, row.kind != MessageKind.revoked.rawValue,
            let session = try session(number: row.session)?.session
        else { return .ignored }
        if sender != row.sender {
            guard row.flags.contains(.burning) else { return .ignored }
            let isReader = sender == account.rawValue || session == .peer(UserID(sender))
            guard isReader else { return .ignored }
        }
        var row = row
        for send in try tables.sends(ofMessage: row.id) { try tables.deleteSend(number: send.send.number) }
        try forgetContent(of: &row)
        row.kind = MessageKind.erased.rawValue
        if row.state.isUnderWay {
            row.state = .failed
            row.failure = ""
        }
        try update(row)
        return .applied
    }

    private mutating func tag(_ row: MessageRow, _ tag: String, isAdded: Bool) throws -> StoreOutcome {
        guard row.raw != "" || row.kind == MessageKind.notice.rawValue else { return .ignored }
        let before = try tables.tags(of: row.id)
        guard before.contains(tag) != isAdded, !isAdded || before.count < Self.tagsMax else {
            return .ignored
        }
        try tables.setTag(tag, on: row.id, isOn: isAdded)
        var row = row
        if isAdded {
            row.flags.insert(.tags)
        } else if before.count == 1 {
            row.flags.remove(.tags)
        }
        try update(row)
        return .applied
    }

    /// The last vote of a user counts, while the poll is open and for options that it has.
    private mutating func vote(
        _ row: MessageRow, _ options: [Int], by user: Int64, at time: Int64
    ) throws -> StoreOutcome {
        guard case .poll(let poll)? = codec.decode(row.raw).message else { return .ignored }
        if let end = poll.closesMilliseconds, time >= end { return .ignored }
        let chosen = Set(options).filter(poll.options.indices.contains).sorted()
        guard chosen.count == options.count, poll.allowsMultiple || chosen.count <= 1 else { return .ignored }
        try tables.setVote(chosen, of: user, on: row.id)
        try update(row)
        return .applied
    }

    private mutating func revoke(_ row: MessageRow, by sender: Int64) throws -> StoreOutcome {
        guard sender == row.sender, row.kind != MessageKind.revoked.rawValue,
            row.kind != MessageKind.erased.rawValue
        else { return .ignored }
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
        guard canEdit(row, by: sender, at: time) else { return .ignored }
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
        row.raw = try codec.encode(.text(text), envelope: decoded.envelope, keeping: row.raw)
        try index(&row, decoded.message)
        try update(row)
        return .applied
    }

    func canEdit(_ row: MessageRow, by sender: Int64, at time: Int64) -> Bool {
        // The words of an edit would outlive those of a message that burns.
        sender == row.sender && row.kind == MessageKind.text.rawValue && !row.flags.contains(.burning)
            && time - row.timeMilliseconds <= Self.editLimitMilliseconds
    }

    private mutating func react(
        _ row: MessageRow, _ emoji: String, by user: Int64, isOn: Bool
    ) throws -> StoreOutcome {
        guard row.kind != MessageKind.revoked.rawValue, row.kind != MessageKind.erased.rawValue else {
            return .ignored
        }
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

    private mutating func pin(_ row: MessageRow, isOn: Bool, by user: Int64) throws -> StoreOutcome {
        guard row.kind != MessageKind.revoked.rawValue, row.kind != MessageKind.erased.rawValue,
            row.flags.contains(.pinned) != isOn
        else { return .ignored }
        if let session = try session(number: row.session)?.session, session.kind == .group,
            try tables.group(session.id)?.isPinningRestricted == true,
            try tables.member(UserID(user), of: session.id)?.role.isManaging != true
        {
            return .ignored
        }
        var row = row
        if isOn { row.flags.insert(.pinned) } else { row.flags.remove(.pinned) }
        try update(row)
        return .applied
    }

    // MARK: Content that goes

    /// Removes everything that the message said, here and in the search, and what was counted of it.
    mutating func forgetContent(of row: inout MessageRow) throws {
        try unindex(&row, codec.decode(row.raw).message)
        if row.flags.contains(.burning) { try tables.wipe(row) }
        row.raw = ""
        try tables.deleteReactions(of: row.id)
        try tables.deleteTags(of: row.id)
        try tables.setFavorite(row.id, isOn: false)
        try tables.deleteEarlierTexts(of: row.id)
        if let uuid = row.uuid {
            for change in try tables.ownChanges(of: uuid) { try tables.deleteOwnChange(change.id) }
        }
        if row.flags.contains(.counts), var session = try session(number: row.session),
            row.position ?? .min > session.readPosition ?? .min
        {
            session.unread = max(0, session.unread - 1)
            if row.flags.contains(.mention) { session.mentions = max(0, session.mentions - 1) }
            hold(session)
        }
        row.flags.subtract([
            .counts, .mention, .reactions, .edited, .pinned, .burning, .favorite, .tags,
        ])
    }

    mutating func unindex(_ row: inout MessageRow, _ content: MessageContent?) throws {
        guard row.flags.contains(.indexed) else { return }
        row.flags.remove(.indexed)
        guard let text = content?.searchText else { return }
        try tables.unindex(text, row: row)
    }

    mutating func index(_ row: inout MessageRow, _ content: MessageContent?) throws {
        guard !row.flags.contains(.burning), let text = content?.searchText else { return }
        row.flags.insert(.indexed)
        try tables.index(text, row: row)
    }
}
