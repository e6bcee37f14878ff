import RivuletModel

/// Messages that leave.
extension StoreWriter {
    mutating func send(_ message: QueuedMessage) throws -> StoreOutcome {
        counters.lastSend = max(counters.lastSend, message.send.number)
        let session = try self.session(message.session)
        var entry = SendRow(send: message.send, session: session.id)
        var outcome = StoreOutcome.applied
        switch message.content.body {
        case .message(let content):
            outcome = try sendMessage(message, content: content)
            switch outcome {
            case .inserted(let id), .duplicate(let id): entry.message = id.rawValue
            case .applied, .ignored: break
            }
        case .control(let control):
            entry.control = try sendControl(control, message)
        }
        try tables.insert(entry)
        return outcome
    }

    private mutating func sendMessage(
        _ message: QueuedMessage, content: MessageContent
    ) throws -> StoreOutcome {
        let place = PositionRules.unsent(message.send.number)
        if let uuid = message.content.envelope.uuid, var row = try tables.message(uuid: uuid) {
            // Sent again: it becomes pending once more and goes behind everything else.
            guard row.isOutgoing, row.state.isUnderWay, row.position != nil else {
                return .duplicate(MessageID(row.id))
            }
            row.state = .sending
            row.failure = nil
            row.position = place
            try update(row)
            return .duplicate(MessageID(row.id))
        }
        let incoming = IncomingMessage(
            session: message.session, sender: account, isOutgoing: true, raw: message.raw,
            content: message.content, timeMilliseconds: message.send.createdMilliseconds)
        var row = try makeRow(incoming, content: content, id: counters.makeID())
        row.state = .sending
        guard content.isShown else {
            try tables.insert(row)
            return .inserted(MessageID(row.id))
        }
        row.position = place
        try insertShown(row, content: message.content)
        return .inserted(MessageID(row.id))
    }

    /// Applies a control at once, except a revoke, whose text cannot be brought back when the server refuses it; the
    /// result is what is left to do when the server has it.
    private mutating func sendControl(_ control: ControlContent, _ message: QueuedMessage) throws -> String? {
        if case .revoke = control { return message.raw }
        let incoming = IncomingMessage(
            session: message.session, sender: account, isOutgoing: true, raw: message.raw,
            content: message.content, timeMilliseconds: message.send.createdMilliseconds)
        _ = try receiveControl(control, incoming, isSent: true)
        return nil
    }

    mutating func acknowledge(send: Int64, serverKey: Int64?, isPlaced: Bool) throws -> StoreOutcome {
        guard let entry = try tables.send(number: send) else { return .ignored }
        try tables.deleteSend(number: send)
        if let raw = entry.control, let session = try session(number: entry.session) {
            let content = codec.decode(raw)
            guard let control = content.control else { return .ignored }
            let incoming = IncomingMessage(
                session: session.session, sender: account, isOutgoing: true, raw: raw, content: content,
                timeMilliseconds: entry.send.createdMilliseconds)
            return try receiveControl(control, incoming)
        }
        guard let id = entry.message, var row = try tables.message(id: id) else {
            if isPlaced, let uuid = entry.send.uuid, let control = try tables.message(uuid: uuid) {
                try settleOwnChange(control.id)
            }
            return .applied
        }
        let before = row
        if row.state.isUnderWay {
            row.state = .accepted
            row.failure = nil
        }
        if let serverKey { row.serverKey = serverKey }
        if isPlaced, row.isUnsent, let session = try session(number: row.session) {
            row.position = try takePosition(in: session.session)
        }
        if row != before { try update(row) }
        return .applied
    }

    mutating func fail(send: Int64, reason: String) throws -> StoreOutcome {
        guard let entry = try tables.send(number: send) else { return .ignored }
        try tables.deleteSend(number: send)
        if entry.message == nil { try dropOwnChange(uuid: entry.send.uuid) }
        guard let id = entry.message, var row = try tables.message(id: id), row.state.isUnderWay else {
            return .applied
        }
        row.state = .failed
        row.failure = reason
        try update(row)
        return .applied
    }

    mutating func replaceSend(_ message: QueuedMessage) throws -> StoreOutcome {
        guard var entry = try tables.send(number: message.send.number) else { return .ignored }
        entry.send.body = message.send.body
        try tables.insert(entry)
        guard let id = entry.message, var row = try tables.message(id: id), row.state.isUnderWay,
            !row.flags.contains(.edited), row.uuid == message.content.envelope.uuid,
            let content = message.content.message, content.kind.rawValue == row.kind,
            // What burns stands where it can be wiped; it cannot begin or cease to.
            row.flags.contains(.burning) == (message.content.envelope.burnSeconds != nil)
        else { return .applied }
        try unindex(&row, codec.decode(row.raw).message)
        row.raw = message.raw
        if row.position != nil { try index(&row, content) }
        try update(row)
        return .applied
    }

    mutating func cancel(send: Int64) throws -> StoreOutcome {
        guard let entry = try tables.send(number: send) else { return .ignored }
        try tables.deleteSend(number: send)
        if let id = entry.message {
            _ = try delete(id)
        } else {
            try dropOwnChange(uuid: entry.send.uuid)
        }
        return .applied
    }

    mutating func deliver(uuids: [String]) throws -> StoreOutcome {
        var outcome = StoreOutcome.ignored
        for uuid in uuids {
            guard var row = try tables.message(uuid: uuid), row.isOutgoing, row.state == .accepted else {
                continue
            }
            row.state = .delivered
            try update(row)
            outcome = .applied
        }
        return outcome
    }

    mutating func setKey(group: Int64?, key: Int64) throws -> StoreOutcome {
        try tables.setKey(group: group, key: key)
        return .applied
    }

    mutating func removeKey(group: Int64) throws -> StoreOutcome {
        try tables.deleteKey(group: group)
        return .applied
    }
}
