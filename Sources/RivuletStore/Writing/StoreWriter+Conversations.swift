import RivuletModel

/// What the user does with messages and conversations on this device.
extension StoreWriter {
    /// How many rows of a cleared conversation are held at a time.
    private static var clearingStep: Int { 500 }

    mutating func delete(_ id: Int64) throws -> StoreOutcome {
        guard var row = try tables.message(id: id), row.position != nil else { return .ignored }
        try forget(&row)
        noteDeleted(row)
        return .applied
    }

    mutating func clear(_ session: Session) throws -> StoreOutcome {
        let number = try self.session(session).id
        var after = Int64.min
        while true {
            let rows = try tables.shown(in: number, after: after, limit: Self.clearingStep)
            guard let last = rows.last?.position else { break }
            after = last
            for var row in rows {
                try forget(&row)
                noteDeleted(row)
            }
        }
        noteCleared(session)
        return .applied
    }

    /// Leaves the uuid of a row alone, so that the message does not come back; what is not sent yet leaves the outbox.
    private mutating func forget(_ row: inout MessageRow) throws {
        if row.isOutgoing, row.state.isUnderWay {
            for send in try tables.sends(ofMessage: row.id) {
                try tables.deleteSend(number: send.send.number)
            }
        }
        try forgetContent(of: &row)
        row.position = nil
        row.kind = "deleted"
        row.flags.insert(.deleted)
        try update(row)
    }

    mutating func markRead(_ session: Session, upTo id: MessageID?) throws -> StoreOutcome {
        var row = try self.session(session)
        var position = row.nextPosition - 1
        if let id {
            guard let message = try tables.message(id: id.rawValue), message.session == row.id,
                let place = message.position
            else { return .ignored }
            position = min(place, position)
        }
        guard position > row.readPosition ?? .min else { return .ignored }
        row.readPosition = position
        if position >= row.nextPosition - 1 {
            row.unread = 0
            row.mentions = 0
        } else {
            (row.unread, row.mentions) = try tables.countUnread(in: row.id, after: position)
        }
        hold(row)
        return .applied
    }

    mutating func setDraft(_ session: Session, _ text: String?) throws -> StoreOutcome {
        try change(session) { row in
            row.draft = text.flatMap { $0.isEmpty ? nil : $0 }
            if row.draft == nil { row.draftDetails = nil }
        }
    }
}
