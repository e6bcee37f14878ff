import RivuletModel

/// The rules of the store: performs operations on the tables inside one transaction and notes what changed.
struct StoreWriter<Tables: StoreTables> {
    let tables: Tables
    let codec: ContentCodec
    let account: UserID
    var counters: Counters
    private let countersBefore: Counters
    /// The conversations that were touched, written back at the end.
    private var sessions: [Session: SessionRow] = [:]
    private var numbers: [Int64: Session] = [:]
    private var dirty: Set<Session> = []
    /// The conversation in hand: messages come in runs, and looking each up by name was a tenth of their cost.
    private var current: SessionRow?
    private var isCurrentDirty = false
    private var record = ChangeRecord()

    init(tables: Tables, codec: ContentCodec, account: UserID) throws {
        self.tables = tables
        self.codec = codec
        self.account = account
        counters = try tables.counters()
        countersBefore = counters
    }

    /// Performs one operation.
    mutating func perform(_ operation: StoreOperation) throws -> StoreOutcome {
        switch operation {
        case .receive(let message): try receive(message)
        case .insertHistory(let messages): try insertHistory(messages)
        case .send(let message): try send(message)
        case .acknowledge(let send, let key, let isPlaced):
            try acknowledge(send: send, serverKey: key, isPlaced: isPlaced)
        case .fail(let send, let reason): try fail(send: send, reason: reason)
        case .replaceSend(let message): try replaceSend(message)
        case .cancel(let send): try cancel(send: send)
        case .deliver(let uuids): try deliver(uuids: uuids)
        case .setKey(let group, let key): try setKey(group: group, key: key)
        case .removeKey(let group): try removeKey(group: group)
        case .save(let message): try saveLocal(message)
        case .delete(let id): try delete(id.rawValue)
        case .clear(let session): try clear(session)
        case .markRead(let session, let id): try markRead(session, upTo: id)
        case .setDraft(let session, let text): try setDraft(session, text)
        case .setDraftDetails(let session, let details): try change(session) { $0.draftDetails = details }
        case .setPinned(let session, let isOn): try change(session) { $0.isPinned = isOn }
        case .setMuted(let session, let isOn): try change(session) { $0.isMuted = isOn }
        case .setHidden(let session, let isOn): try change(session) { $0.isHidden = isOn }
        case .setFavorite(let id, let isOn): try setFavorite(id.rawValue, isOn: isOn)
        case .setContact(let contact): try setContact(contact)
        case .removeContact(let user): try removeContact(user)
        case .setGroup(let group): try setGroup(group)
        case .setMembers(let group, let members): try setMembers(of: group, members)
        case .removeGroup(let group): try removeGroup(group)
        }
    }

    /// Writes back what was held.
    mutating func finish() throws {
        putBackCurrent()
        for session in dirty {
            guard let row = sessions[session] else { continue }
            try tables.save(row)
        }
        if counters != countersBefore { try tables.save(counters) }
    }

    /// What changed; to be asked after `finish`, and best after the commit, when it is known whether anybody listens.
    func changes() throws -> StoreChanges {
        try record.changes { row, known in try message(of: row, known: known) }
    }

    // MARK: Conversations

    mutating func session(_ session: Session) throws -> SessionRow {
        if let current, current.session == session { return current }
        putBackCurrent()
        let row = try sessions[session] ?? tables.session(session) ?? tables.insert(session)
        take(row)
        return row
    }

    mutating func session(number: Int64) throws -> SessionRow? {
        if let current, current.id == number { return current }
        putBackCurrent()
        if let session = numbers[number], let row = sessions[session] {
            take(row)
            return row
        }
        guard let row = try tables.session(id: number) else { return nil }
        take(row)
        return row
    }

    /// Keeps a changed row; it must be that of the conversation asked for last.
    mutating func hold(_ row: SessionRow) {
        if current?.session != row.session {
            putBackCurrent()
            take(row)
        }
        current = row
        isCurrentDirty = true
    }

    private mutating func take(_ row: SessionRow) {
        current = row
        isCurrentDirty = false
        sessions[row.session] = row
        numbers[row.id] = row.session
    }

    private mutating func putBackCurrent() {
        guard isCurrentDirty, let current else { return }
        sessions[current.session] = current
        dirty.insert(current.session)
        record.touch(current.session)
        isCurrentDirty = false
    }

    /// Changes a conversation's row; ignored when that changes nothing.
    mutating func change(_ session: Session, _ body: (inout SessionRow) -> Void) throws -> StoreOutcome {
        let before = try self.session(session)
        var row = before
        body(&row)
        guard row != before else { return .ignored }
        hold(row)
        return .applied
    }

    // MARK: Rows

    /// Inserts a shown row and keeps the conversation's last message and unread count.
    mutating func insertShown(_ row: MessageRow, content: DecodedContent) throws {
        var row = row
        // What burns is never indexed: the index could not forget its words for certain.
        let searchText = row.flags.contains(.burning) ? nil : content.message?.searchText
        if searchText != nil { row.flags.insert(.indexed) }
        try tables.insert(row)
        if let searchText { try tables.index(searchText, row: row) }
        guard var session = try session(number: row.session), let position = row.position else { return }
        if position > session.lastPosition { Self.setLast(row, of: &session) }
        if position < PositionRules.unsentBase { session.isHidden = false }
        if row.flags.contains(.counts), position > session.readPosition ?? .min {
            session.unread += 1
            if row.flags.contains(.mention) { session.mentions += 1 }
        }
        hold(session)
        record.inserted(row, content: content)
        if let uuid = row.uuid { try applyWaiting(for: uuid) }
    }

    /// Writes a changed row, with a new revision.
    mutating func update(_ row: MessageRow) throws {
        var row = row
        row.revision += 1
        try tables.update(row)
        record.updated(row)
        guard var session = try session(number: row.session) else { return }
        if row.id == session.lastMessage || (row.position ?? .min) >= session.lastPosition {
            if let last = try tables.last(in: row.session) {
                Self.setLast(last, of: &session)
            } else {
                session.lastMessage = nil
                session.lastPosition = .min
            }
            hold(session)
            // The line of the list shows the message, so it changes even when the row of the session does not.
            record.touch(session.session)
        }
    }

    mutating func noteDeleted(_ row: MessageRow) {
        record.deleted(row.id)
    }

    mutating func noteCleared(_ session: Session) {
        record.cleared(session)
    }

    mutating func noteControl(_ control: StoredControl) {
        record.controls.append(control)
    }

    mutating func noteGroup(_ group: Int64) {
        record.groups.insert(group)
    }

    mutating func noteContact(_ user: UserID) {
        record.contacts.insert(user)
    }

    /// The next place at the end of a conversation.
    mutating func takePosition(in session: Session) throws -> Int64 {
        var row = try self.session(session)
        defer { hold(row) }
        row.nextPosition += 1
        return row.nextPosition - 1
    }

    /// The message of a row, as readers see it.
    private func message(of row: MessageRow, known: DecodedContent?) throws -> Message? {
        guard let session = numbers[row.session] else { return nil }
        return try row.message(in: session, codec: codec, known: known, extras: tables.extras(of: row))
    }

    private static func setLast(_ row: MessageRow, of session: inout SessionRow) {
        session.lastMessage = row.id
        session.lastPosition = row.position ?? .min
        session.activityMilliseconds = row.timeMilliseconds
    }
}

extension MessageRow {
    /// The message as readers see it; nil for a row that is not shown.
    ///
    /// `known` spares reading the JSON again.
    func message(
        in session: Session, codec: ContentCodec, known: DecodedContent? = nil, extras: RowExtras
    ) -> Message? {
        guard let position else { return nil }
        var reference: String?
        var burnSeconds: Int?
        let content: MessageContent
        switch kind {
        case MessageKind.revoked.rawValue: content = .revoked
        case MessageKind.erased.rawValue: content = .erased
        case MessageKind.notice.rawValue: content = .notice(raw)
        default:
            let decoded = known ?? codec.decode(raw)
            reference = decoded.envelope.reference
            burnSeconds = decoded.envelope.burnSeconds
            content = decoded.message ?? .unknown(raw: raw, fallback: decoded.envelope.fallback)
        }
        return Message(
            id: MessageID(id), session: session, sender: UserID(sender), isOutgoing: isOutgoing, uuid: uuid,
            serverKey: serverKey, position: MessagePosition(position), timeMilliseconds: timeMilliseconds,
            content: content, reference: reference, reactions: extras.reactions,
            state: state.state(failure: failure), isEdited: flags.contains(.edited),
            revision: Int(clamping: revision), tags: extras.tags, burnSeconds: burnSeconds,
            isPinned: flags.contains(.pinned), isFavorite: flags.contains(.favorite))
    }
}

/// What happened to rows during a transaction, each row once.
struct ChangeRecord {
    private var order: [Int64] = []
    private var rows: [Int64: MessageRow] = [:]
    private var contents: [Int64: DecodedContent] = [:]
    private var insertedIDs: Set<Int64> = []
    private var deletedIDs: [Int64] = []
    private var sessions: Set<Session> = []
    private var clearedSessions: Set<Session> = []
    var controls: [StoredControl] = []
    var groups: Set<Int64> = []
    var contacts: Set<UserID> = []

    mutating func inserted(_ row: MessageRow, content: DecodedContent) {
        contents[row.id] = content
        order.append(row.id)
        insertedIDs.insert(row.id)
        rows[row.id] = row
    }

    mutating func updated(_ row: MessageRow) {
        if rows[row.id]?.raw != row.raw { contents[row.id] = nil }
        if rows.updateValue(row, forKey: row.id) == nil { order.append(row.id) }
    }

    mutating func deleted(_ id: Int64) {
        rows[id] = nil
        if insertedIDs.remove(id) == nil { deletedIDs.append(id) }
    }

    mutating func touch(_ session: Session) {
        sessions.insert(session)
    }

    mutating func cleared(_ session: Session) {
        clearedSessions.insert(session)
        sessions.insert(session)
    }

    func changes(_ message: (MessageRow, DecodedContent?) throws -> Message?) rethrows -> StoreChanges {
        var changes = StoreChanges()
        changes.inserted.reserveCapacity(insertedIDs.count)
        for id in order {
            guard let row = rows[id], let message = try message(row, contents[id]) else { continue }
            if insertedIDs.contains(id) {
                changes.inserted.append(message)
            } else {
                changes.updated.append(message)
            }
        }
        changes.deleted = deletedIDs.map(MessageID.init(rawValue:))
        changes.sessions = sessions
        changes.cleared = clearedSessions
        changes.controls = controls
        changes.groups = groups
        changes.contacts = contacts
        return changes
    }
}
