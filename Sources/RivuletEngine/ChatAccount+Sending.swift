internal import RivuletClient
internal import RivuletClientCore
internal import RivuletFlow
public import RivuletModel
internal import RivuletStore
internal import RivuletWire

/// Why an account cannot do something with a message.
public struct ChatAccountError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The reasons, by a stable name.
    public struct Code: RawRepresentable, Hashable, Sendable {
        /// The stable name.
        public let rawValue: String

        /// Makes the code with this name.
        public init(rawValue: String) {
            self.rawValue = rawValue
        }

        /// Messages of this kind of conversation are not sent this way.
        public static let unsupportedSession = Code(rawValue: "unsupported_session")
        /// The message has no uuid, by which others could know it.
        public static let noUUID = Code(rawValue: "no_uuid")
        /// The message is not of this user.
        public static let notOwn = Code(rawValue: "not_own")
        /// The store has no such message.
        public static let unknownMessage = Code(rawValue: "unknown_message")
    }

    /// The reason.
    public var code: Code

    /// Makes an error.
    public init(code: Code) {
        self.code = code
    }

    /// One line for logs.
    public var description: String { code.rawValue }
}

extension ChatAccount {
    /// Sends a text and returns the message once the server has it; waits through lost connections.
    ///
    /// The message shows up in `changes` before that, while it is on its way.
    ///
    /// - Throws: `IMServiceError` with the server's reason, `ChatAccountError`, `CancellationError`.
    @discardableResult
    public func send(text: String, to session: Session) async throws -> Message {
        try await send(.text(text), to: session)
    }

    /// Sends a content and returns the message once the server has it; waits through lost connections.
    ///
    /// With `burnSeconds` it burns so long after it was read (docs/extensions.md, section 1).
    ///
    /// - Throws: `IMServiceError` with the server's reason, `ChatAccountError`, `ContentEncodingError`,
    ///   `CancellationError`.
    @discardableResult
    public func send(
        _ content: MessageContent, to session: Session, reference: String? = nil, burnSeconds: Int? = nil
    ) async throws -> Message {
        let uuid = makeUUID()
        try await service.send(
            try outgoing(content, to: session, uuid: uuid, reference: reference, burnSeconds: burnSeconds))
        guard let message = try await store.message(uuid: uuid) else {
            throw ChatAccountError(code: .unknownMessage)
        }
        return message
    }

    /// Sends a message on, as it was written: keys that this build does not know go along
    /// (docs/extensions.md, section 1).
    func forward(_ message: Message, to session: Session) async throws -> Message {
        // Whoever calls the service itself is refused, too.
        guard message.burnSeconds == nil else { throw InteractionError.burning }
        // A hook may have changed the content; then the stored text is no longer what is to be sent.
        guard let raw = try await store.rawContent(of: message.id) else {
            return try await send(message.content, to: session)
        }
        let decoded = codec.decode(raw)
        let uuid = makeUUID()
        let envelope = ContentEnvelope(uuid: uuid, fallback: decoded.envelope.fallback)
        guard decoded.message == message.content, let copy = codec.rewrap(raw, in: envelope) else {
            return try await send(message.content, to: session)
        }
        try await service.send(
            try packet(raw: copy, to: session, uuid: uuid, isText: message.content.kind == .text))
        guard let sent = try await store.message(uuid: uuid) else {
            throw ChatAccountError(code: .unknownMessage)
        }
        return sent
    }

    /// Takes a content into the outbox and returns its uuid at once; what becomes of it is told by `changes`.
    ///
    /// With `burnSeconds` it burns so long after it was read (docs/extensions.md, section 1).
    ///
    /// - Throws: `IMServiceError` when the account is not started or the message too long, `ChatAccountError`,
    ///   `ContentEncodingError`.
    @discardableResult
    public func post(
        _ content: MessageContent, to session: Session, reference: String? = nil, burnSeconds: Int? = nil
    ) throws -> String {
        let uuid = makeUUID()
        try service.enqueue(
            try outgoing(content, to: session, uuid: uuid, reference: reference, burnSeconds: burnSeconds))
        return uuid
    }

    /// Takes a failed message into the outbox once more, with the same uuid.
    ///
    /// - Throws: `IMServiceError`, `ChatAccountError`, `StoreError`.
    public func resend(_ message: Message) async throws {
        guard message.isOutgoing else { throw ChatAccountError(code: .notOwn) }
        guard let raw = try await store.rawContent(of: message.id) else {
            throw ChatAccountError(code: .unknownMessage)
        }
        let packet = try packet(
            raw: raw, to: message.session, uuid: message.uuid, isText: message.content.kind == .text)
        try service.enqueue(packet)
    }

    /// Withdraws a message of this user, here and everywhere, when the server has taken the request.
    ///
    /// - Throws: `IMServiceError`, `ChatAccountError`.
    public func revoke(_ message: Message) async throws {
        guard message.isOutgoing else { throw ChatAccountError(code: .notOwn) }
        try await service.send(
            try control(.revoke(target: try name(of: message)), to: message.session, uuid: nil))
    }

    /// Removes a message from this device.
    ///
    /// One that is on its way is withdrawn: if no connection had it yet, it never goes out. If one had it, or may have had
    /// it in an earlier run, a withdrawal follows it, so that it does not stay with its receivers. While the account is
    /// not started, the message leaves the outbox, and that is all.
    ///
    /// - Throws: `StoreError`.
    public func delete(_ message: Message) async throws {
        let known = try await store.message(message.id) ?? message
        guard known.isOutgoing, known.state.isPending, let uuid = known.uuid else {
            _ = try await store.apply([.delete(message.id)])
            return
        }
        let withdrawal = await service.withdrawSend(.uuid(uuid))
        _ = try await store.apply([.delete(message.id)])
        guard withdrawal != .withdrawn else { return }
        do {
            try service.enqueue(try control(.revoke(target: uuid), to: known.session, uuid: nil))
        } catch is IMServiceError {
            // Not started: nothing is on its way, and nothing of it is left to be sent.
        }
    }

    /// Replaces the text of a message of this user.
    ///
    /// - Throws: `IMServiceError`, `ChatAccountError`.
    public func edit(_ message: Message, text: String) async throws {
        guard message.isOutgoing else { throw ChatAccountError(code: .notOwn) }
        let edit = EditContent(target: try name(of: message), change: .replace(text))
        try await service.send(try control(.edit(edit), to: message.session, uuid: makeUUID()))
    }

    /// Puts an emoji under a message or takes it away.
    ///
    /// - Throws: `IMServiceError`, `ChatAccountError`.
    public func react(to message: Message, with emoji: String, isOn: Bool = true) async throws {
        let reaction = ControlContent.reaction(target: try name(of: message), emoji: emoji, isOn: isOn)
        try await service.send(try control(reaction, to: message.session, uuid: makeUUID()))
    }

    /// Marks a conversation as read up to its newest message and tells the user's other devices.
    ///
    /// Nothing is sent when nothing was unread or the account is not started.
    ///
    /// - Throws: `StoreError`.
    public func markRead(_ session: Session) async throws {
        let before = try await store.conversation(session)?.unreadCount ?? 0
        _ = try await store.apply([.markRead(session, upTo: nil)])
        guard before > 0, let last = try await store.conversation(session)?.lastMessage, let uuid = last.uuid
        else {
            return
        }
        let mark = ControlContent.readMark(session: session, target: uuid)
        do {
            try service.enqueue(try control(mark, to: .peer(user), uuid: makeUUID()))
        } catch is IMServiceError {
            // The mark stays on this device; another one will show the messages as unread until they are read there.
        }
    }

    /// Marks a conversation as read up to a message and tells the user's other devices; it never goes back.
    ///
    /// - Throws: `StoreError`.
    func markRead(_ session: Session, upTo message: Message) async throws {
        let before = try await store.conversation(session)?.readPosition
        guard before.map({ message.position > $0 }) ?? true, let uuid = message.uuid else { return }
        _ = try await store.apply([.markRead(session, upTo: message.id)])
        do {
            try service.enqueue(
                try control(.readMark(session: session, target: uuid), to: .peer(user), uuid: makeUUID()))
        } catch is IMServiceError {
            // The mark stays on this device, as above.
        }
    }

    // MARK: Packets

    private func name(of message: Message) throws -> String {
        guard let uuid = message.uuid else { throw ChatAccountError(code: .noUUID) }
        return uuid
    }

    func outgoing(
        _ content: MessageContent, to session: Session, uuid: String, reference: String?,
        burnSeconds: Int? = nil
    ) throws -> OutgoingMessage {
        let envelope = ContentEnvelope(uuid: uuid, reference: reference, burnSeconds: burnSeconds)
        let raw = try codec.encode(content, envelope: envelope)
        return try packet(raw: raw, to: session, uuid: uuid, isText: content.kind == .text)
    }

    func control(
        _ control: ControlContent, to session: Session, uuid: String?
    ) throws -> OutgoingMessage {
        let raw = try codec.encode(control, envelope: ContentEnvelope(uuid: uuid))
        return try packet(raw: raw, to: session, uuid: uuid, isText: false)
    }

    func packet(
        raw: String, to session: Session, uuid: String?, isText: Bool
    ) throws -> OutgoingMessage {
        let body = IMMessage(sender: user.rawValue, receiver: session.id, content: raw)
        // Every text carries the flag (docs/protocol.md, section 21, pitfall 33).
        let flags: PacketFlags = isText ? .text : []
        switch session.kind {
        case .peer: return .peer(body, uuid: uuid, flags: flags)
        case .group: return .group(body, uuid: uuid, flags: flags)
        case .customer:
            return .customer(
                CustomerMessageV2(
                    senderAppID: service.appID, sender: user.rawValue, receiverAppID: session.appID,
                    receiver: session.id, content: raw), uuid: uuid, flags: flags)
        default: throw ChatAccountError(code: .unsupportedSession)
        }
    }
}
