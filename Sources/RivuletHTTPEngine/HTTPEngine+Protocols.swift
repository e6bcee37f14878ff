public import RivuletFlow
public import RivuletModel

extension HTTPEngine: SessionMessageProvider {
    /// Asks the server for a page.
    @concurrent public func messages(
        in session: Session, anchorMessage: Message?, direction: PageDirection, limit: Int
    ) async throws -> MessagePage {
        let question = HTTPPageQuestion(
            session: session, anchor: anchorMessage, direction: direction, limit: limit)
        do {
            if let read = mapping.readHistory {
                // From a message that has no key on the server nothing newer can be asked for; older pages begin anew.
                if direction == .newer, anchorMessage != nil, question.key == nil {
                    return MessagePage(messages: [], hasOlder: true, hasNewer: false)
                }
                let page = try await readHistory(question, with: read)
                return MessagePage(
                    messages: page.messages, hasOlder: direction == .older ? page.hasMore : true,
                    hasNewer: direction == .newer ? page.hasMore : anchorMessage != nil)
            }
            return try mapping.readPage(try await perform(try mapping.page(question)), question)
        } catch let error as HTTPEngineError {
            throw error.flowFailure
        }
    }
}

extension HTTPEngine: MessageServiceInterface {
    /// Sends a message.
    @concurrent public func send(message: Message, in session: Session) async throws -> Message {
        try await deliver(mapping.send, message, session)
    }

    /// Sends a message again, as the mapping says or as it was sent.
    @concurrent public func resend(message: Message) async throws -> Message {
        try await deliver(mapping.resend ?? mapping.send, message, message.session)
    }

    /// Sends a message on, as the mapping says or as a new message of the user.
    @concurrent public func forward(message: Message, to session: Session) async throws -> Message {
        guard message.burnSeconds == nil else { throw InteractionError.burning }
        var new = message
        new.session = session
        new.sender = user
        new.isOutgoing = true
        new.serverKey = nil
        new.reference = nil
        new.reactions = []
        new.isEdited = false
        if mapping.forward == nil { new.uuid = nil }
        return try await deliver(mapping.forward ?? mapping.send, new, session)
    }

    /// Withdraws a message.
    @concurrent public func revoke(message: Message) async throws {
        _ = try await call(mapping.revoke, message, message.session)
    }

    /// Writes a local message on the server.
    @concurrent public func save(message: Message, in session: Session) async throws {
        _ = try await call(mapping.save, message, session)
    }

    /// Removes a message.
    @concurrent public func delete(message: Message) async throws {
        _ = try await call(mapping.delete, message, message.session)
    }

    private func deliver(
        _ make: HTTPMapping.Call?, _ message: Message, _ session: Session
    ) async throws -> Message {
        var sent = message
        sent.session = session
        sent.state = .accepted
        return try mapping.readMessage(try await call(make, message, session), sent)
    }

    private func call(
        _ make: HTTPMapping.Call?, _ message: Message, _ session: Session
    ) async throws -> HTTPAnswer {
        guard let make else { throw InteractionError(.unsupported) }
        return try await perform(try make(message, session), progressOf: message.uuid)
    }
}

extension HTTPEngine: MessageControlService {
    /// Carries out a change of messages.
    @concurrent public func apply(_ control: ControlContent, in session: Session) async throws {
        guard let make = mapping.control else { throw InteractionError(.unsupported) }
        _ = try await perform(try make(control, session))
    }
}

extension HTTPEngine: SessionEventSource {
    /// What is published, and, with an interval, what asking for newer messages brings for as long as somebody listens.
    public func events(in session: Session) -> AsyncStream<SessionEvent> {
        guard let interval = options.pollInterval else { return hub.events(in: session) }
        let published = hub.events(in: session)
        let (stream, continuation) = AsyncStream.makeStream(
            of: SessionEvent.self, bufferingPolicy: .bufferingNewest(hub.backlogMax))
        let work = Task {
            await withDiscardingTaskGroup { group in
                group.addTask {
                    for await event in published {
                        if case .dropped = continuation.yield(event) { continuation.yield(.reset) }
                    }
                }
                group.addTask { await self.poll(session, every: interval, into: continuation) }
            }
            continuation.finish()
        }
        continuation.onTermination = { _ in work.cancel() }
        return stream
    }

    private func poll(
        _ session: Session, every interval: Duration, into events: AsyncStream<SessionEvent>.Continuation
    ) async {
        var place = PollPlace()
        while !Task.isCancelled {
            do {
                let (messages, hasMore) = try await news(in: session, after: &place)
                let own = messages.filter { $0.session == session }
                if !own.isEmpty {
                    if case .dropped = events.yield(.arrived(own)) { events.yield(.reset) }
                }
                if hasMore { continue }
            } catch is FlowFailure {
                // The next round asks again; what is on screen stays.
            } catch is HTTPEngineError {
                // Likewise.
            } catch {
                return
            }
            do { try await clock.sleep(for: interval) } catch { return }
        }
    }

    /// What came after a place, which is moved on, and whether there is more at once.
    private func news(
        in session: Session, after place: inout PollPlace
    ) async throws -> (messages: [Message], hasMore: Bool) {
        let isFirst = place.newest == nil && place.key == nil
        let direction = isFirst ? PageDirection.older : .newer
        let before = place
        if let read = mapping.readHistory {
            let question = HTTPPageQuestion(session: session, key: place.key, direction: direction, limit: 50)
            let page = try await readHistory(question, with: read)
            let keys =
                page.messages.compactMap(\.serverKey) + [isFirst ? nil : page.lastKey].compactMap(\.self)
            place.key = (keys + [place.key].compactMap(\.self)).max()
            return (page.messages, !isFirst && page.hasMore && place.key != before.key)
        }
        let page = try await messages(
            in: session, anchorMessage: place.newest, direction: direction, limit: 50)
        let own = page.messages.filter { $0.session == session }
        place.newest = (own + [place.newest].compactMap(\.self)).max { $0.position < $1.position }
        return (own, !isFirst && page.hasNewer && place.newest?.id != before.newest?.id)
    }
}

/// Up to where new messages were asked for.
private struct PollPlace {
    /// By the newest message, for histories that are paged by messages.
    var newest: Message?
    /// By the newest key.
    var key: Int64?
}
