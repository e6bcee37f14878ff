import RivuletModel

/// A change by the user of this device that has no place in the server's order yet.
struct OwnChange: Equatable {
    /// The row of the control.
    var id: Int64
    /// The uuid of the message that it changes.
    var target: String
    /// Its JSON.
    var raw: String
    var timeMilliseconds: Int64
    /// The JSON of the change that counts should the server refuse this one; nil for none.
    var hidden: String?
    /// Whether the message counted as changed before.
    var wasEdited: Bool
}

/// What two devices of one user change at once: the last in the server's order counts, on every device.
///
/// An own edit, reaction or vote shows at once, before the server has put it in order. Until then it stays on top of
/// what other devices of the user say about the same thing; when it gets its place, by an ACK that continues the key or
/// by its copy with SELF, it counts from there, and what comes after it replaces it. One that the server refuses gives
/// way to what it hid.
extension StoreWriter {
    /// Notes an own change that was just applied; `before` is the text that it replaced.
    mutating func noteOwnChange(
        _ control: ControlContent, _ message: IncomingMessage, before: MessageRow
    ) throws {
        guard let target = control.target, let uuid = message.content.envelope.uuid,
            let row = try tables.message(uuid: uuid), Self.isTracked(control)
        else { return }
        var change = OwnChange(
            id: row.id, target: target, raw: message.raw, timeMilliseconds: message.timeMilliseconds,
            wasEdited: before.flags.contains(.edited))
        // What the first of several hides is handed on from one to the next.
        if try covering(control, of: target).isEmpty, case .edit = control,
            case .text(let text)? = codec.decode(before.raw).message
        {
            let edit = EditContent(target: target, change: .replace(text.text), mentions: text.mentions)
            change.hidden = try codec.encode(.edit(edit))
        }
        try tables.insert(change)
    }

    /// Whether a change of another device stays hidden under one of this device that the server has not put in order.
    mutating func isHidden(_ control: ControlContent, _ message: IncomingMessage) throws -> Bool {
        guard Self.isTracked(control), message.isOutgoing, let target = control.target,
            let row = try tables.message(uuid: target), row.position != nil
        else { return false }
        if case .edit = control, !canEdit(row, by: account.rawValue, at: message.timeMilliseconds) {
            return false
        }
        guard var first = try covering(control, of: target).first else { return false }
        try keepHidden(control, row, at: message.timeMilliseconds)
        first.hidden = message.raw
        first.wasEdited = true
        try tables.insert(first)
        return true
    }

    /// The words of an edit that never showed are an earlier text, too.
    private func keepHidden(_ control: ControlContent, _ row: MessageRow, at time: Int64) throws {
        guard case .edit(let edit) = control, case .replace(let text) = edit.change else { return }
        try tables.keepEarlierText(text, of: row.id, timeMilliseconds: time)
    }

    /// The server has put an own change in order: it counts from here, unless a later own one shows.
    mutating func settleOwnChange(_ id: Int64) throws {
        guard let change = try tables.ownChange(id) else { return }
        try tables.deleteOwnChange(id)
        guard let control = codec.decode(change.raw).control,
            let row = try tables.message(uuid: change.target)
        else { return }
        if var next = try covering(control, of: change.target).first {
            next.hidden = change.raw
            next.wasEdited = true
            try tables.insert(next)
        } else if !isShowing(control, on: row) {
            _ = try apply(
                control, raw: change.raw, sender: account.rawValue, timeMilliseconds: change.timeMilliseconds)
        }
    }

    /// The server did not take an own change: what it hid shows again, or a later own one stays.
    mutating func dropOwnChange(uuid: String?) throws {
        guard let uuid, let id = try tables.message(uuid: uuid)?.id, let change = try tables.ownChange(id)
        else {
            return
        }
        try tables.deleteOwnChange(id)
        guard let control = codec.decode(change.raw).control else { return }
        let others = try covering(control, of: change.target)
        if var next = others.first(where: { $0.id > id }) {
            guard others.first?.id == next.id else { return }
            next.hidden = change.hidden
            next.wasEdited = change.wasEdited
            try tables.insert(next)
            return
        }
        // The one before it, which it covered, or what the server has.
        let shown = others.last?.raw ?? change.hidden
        guard let shown, let again = codec.decode(shown).control else { return }
        _ = try apply(again, raw: shown, sender: account.rawValue, timeMilliseconds: change.timeMilliseconds)
        guard others.isEmpty, !change.wasEdited, case .edit = again,
            var row = try tables.message(uuid: change.target), row.flags.contains(.edited)
        else { return }
        row.flags.remove(.edited)
        try update(row)
    }

    private func covering(_ control: ControlContent, of target: String) throws -> [OwnChange] {
        try tables.ownChanges(of: target).filter { change in
            codec.decode(change.raw).control.map { Self.covers($0, control) } ?? false
        }
    }

    /// Whether a text says already what the change says.
    private func isShowing(_ control: ControlContent, on row: MessageRow) -> Bool {
        guard case .edit(let edit) = control, case .replace(let text) = edit.change,
            row.flags.contains(.edited),
            case .text(let shown)? = codec.decode(row.raw).message
        else { return false }
        return shown.text == text && shown.mentions == edit.mentions
    }

    /// Changes that replace what was there; a text that grows has one author at a time, and is not among them.
    private static func isTracked(_ control: ControlContent) -> Bool {
        switch control {
        case .edit(let edit):
            if case .replace = edit.change { true } else { false }
        case .reaction, .vote: true
        default: false
        }
    }

    /// Whether one change of a message takes the place of another one by the same user.
    private static func covers(_ later: ControlContent, _ earlier: ControlContent) -> Bool {
        switch (later, earlier) {
        case (.edit, .edit), (.vote, .vote): true
        case (.reaction(_, let one, _), .reaction(_, let other, _)): one == other
        default: false
        }
    }
}
