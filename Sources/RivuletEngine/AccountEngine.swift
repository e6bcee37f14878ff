import RivuletClient
import RivuletClientCore
public import RivuletFlow
import RivuletModel
import RivuletStore
import RivuletWire

extension ChatAccount {
    /// The built-in engine for conversations with users, groups and customer service: pages from the store, sends through
    /// the outbox, events from what the store commits.
    ///
    /// Rooms have an engine of their own: ``RoomEngine``.
    public var engine: Engine {
        let join = AccountEngine(account: self)
        return Engine(
            user: user, provider: join, service: join, events: join, controls: join, drafts: join,
            tallies: join)
    }
}

/// Joins an account to the interaction layer.
struct AccountEngine: Sendable {
    let account: ChatAccount
}

extension AccountEngine: SessionMessageProvider {
    func messages(
        in session: Session, anchorMessage: Message?, direction: PageDirection, limit: Int
    ) async throws -> MessagePage {
        let place: PageQuery.Place =
            switch (anchorMessage, direction) {
            case (nil, _): .newest
            case (let anchor?, .older): .before(anchor.position)
            case (let anchor?, .newer): .after(anchor.position)
            }
        return try await page(session, place, limit)
    }

    func messages(in session: Session, around id: MessageID, limit: Int) async throws -> MessagePage {
        try await page(session, .around(id), limit)
    }

    func message(in session: Session, sentFrom milliseconds: Int64) async throws -> Message? {
        try await page(session, .from(milliseconds: milliseconds), 1).messages.first
    }

    func readPosition(in session: Session) async throws -> MessagePosition? {
        try await account.store.conversation(session)?.readPosition
    }

    func rawContent(of message: Message) async throws -> String? {
        try await account.store.rawContent(of: message.id)
    }

    private func page(
        _ session: Session, _ place: PageQuery.Place, _ limit: Int
    ) async throws -> MessagePage {
        let page = try await account.store.page(PageQuery(session: session, place: place, limit: limit))
        return MessagePage(messages: page.messages, hasOlder: page.hasOlder, hasNewer: page.hasNewer)
    }
}

extension AccountEngine: MessageServiceInterface {
    func send(message: Message, in session: Session) async throws -> Message {
        let uuid = message.uuid ?? account.makeUUID()
        try await account.service.send(
            try account.outgoing(message.content, to: session, uuid: uuid, reference: message.reference))
        return try await stored(uuid)
    }

    func resend(message: Message) async throws -> Message {
        guard message.isOutgoing else { throw ChatAccountError(code: .notOwn) }
        guard let uuid = message.uuid else { throw ChatAccountError(code: .noUUID) }
        guard let raw = try await account.store.rawContent(of: message.id) else {
            // It failed before the store had it.
            return try await send(message: message, in: message.session)
        }
        try await account.service.send(
            try account.packet(
                raw: raw, to: message.session, uuid: uuid, isText: message.content.kind == .text))
        return try await stored(uuid)
    }

    func forward(message: Message, to session: Session) async throws -> Message {
        try await account.forward(message, to: session)
    }

    func revoke(message: Message) async throws {
        try await account.revoke(message)
    }

    func save(message: Message, in session: Session) async throws {
        let envelope = ContentEnvelope(uuid: message.uuid, reference: message.reference)
        let raw = try account.codec.encode(message.content, envelope: envelope)
        _ = try await account.store.apply([
            .save(
                IncomingMessage(
                    session: session, sender: message.sender, isOutgoing: message.isOutgoing, raw: raw,
                    content: DecodedContent(envelope: envelope, body: .message(message.content)),
                    timeMilliseconds: message.timeMilliseconds))
        ])
    }

    func delete(message: Message) async throws {
        try await account.delete(message)
    }

    private func stored(_ uuid: String) async throws -> Message {
        guard let message = try await account.store.message(uuid: uuid) else {
            throw ChatAccountError(code: .unknownMessage)
        }
        return message
    }
}

extension AccountEngine: SessionEventSource {
    func events(in session: Session) -> AsyncStream<SessionEvent> {
        let changes = account.changes()
        let (stream, continuation) = AsyncStream.makeStream(
            of: SessionEvent.self, bufferingPolicy: .bufferingNewest(1_024))
        let work = Task {
            var last: UInt64?
            for await change in changes {
                var events = Self.events(of: change, in: session)
                // A gap says that elements were lost on the way here.
                if let last, change.number != last + 1 { events.append(.reset) }
                last = change.number
                for event in events {
                    if case .dropped = continuation.yield(event) { continuation.yield(.reset) }
                }
            }
            continuation.finish()
        }
        continuation.onTermination = { _ in work.cancel() }
        return stream
    }

    /// What a transaction means to one session.
    static func events(of change: StoreChanges, in session: Session) -> [SessionEvent] {
        var events: [SessionEvent] = []
        if change.cleared.contains(session) { events.append(.cleared) }
        let inserted = change.inserted.filter { $0.session == session }
        let sent = inserted.filter { $0.isOutgoing && $0.state.isPending }
        let arrived = inserted.filter { !($0.isOutgoing && $0.state.isPending) }
        if !sent.isEmpty { events.append(.sent(sent)) }
        if !arrived.isEmpty { events.append(.arrived(arrived)) }
        let updated = change.updated.filter { $0.session == session }
        if !updated.isEmpty { events.append(.updated(updated)) }
        // What burned keeps the place that the update may have given it, and the shell that the host chose.
        for message in updated where message.content == .erased {
            if let uuid = message.uuid { events.append(.burned(uuid: uuid)) }
        }
        if !change.deleted.isEmpty { events.append(.deleted(change.deleted)) }
        return events
    }
}

extension AccountEngine: MessageControlService {
    func apply(_ control: ControlContent, in session: Session) async throws {
        if case .readMark(let marked, let target) = control {
            guard let message = try await account.store.message(uuid: target) else { return }
            return try await account.markRead(marked, upTo: message)
        }
        let uuid: String? = if case .revoke = control { nil } else { account.makeUUID() }
        try await account.service.send(try account.control(control, to: session, uuid: uuid))
    }
}

extension AccountEngine: DraftStorage {
    func draft(in session: Session) async throws -> Draft? {
        guard let line = try await account.store.conversation(session) else { return nil }
        return DraftRecord.draft(text: line.draft, record: line.draftDetails)
    }

    func setDraft(_ draft: Draft?, in session: Session) async throws {
        let details = try draft.flatMap { try DraftRecord.text(of: $0) }
        _ = try await account.store.apply([
            .setDraft(session, draft?.text), .setDraftDetails(session, details),
        ])
    }
}

extension AccountEngine: MessageTallySource {
    func votes(on message: Message) async throws -> [UserID: [Int]] {
        try await account.store.votes(on: message.id).filter { !$0.value.isEmpty }
    }

    func readers(of message: Message) async throws -> Set<UserID> {
        Set(try await account.store.readers(of: message.id))
    }
}
