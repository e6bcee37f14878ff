import RivuletClient
import RivuletClientCore
public import RivuletFlow
public import RivuletModel
import RivuletWire
import Synchronization

/// The engine of chat rooms: live messages through the connection, history from the server, nothing on this device.
///
/// A room's messages carry no key on the wire, so those that come live stand after the history in the order in which
/// they came; a page of history that has one of them, known by its uuid, gives it its place. A room is entered while its
/// events are listened to by anybody, and a connection is in one room at a time: the one that was asked for last
/// (docs/protocol.md, section 13).
///
/// ```swift
/// let rooms = RoomEngine(account: account, history: HTTPEngine(…, mapping: .rivuletHistory(user: ada)))
/// let manager = DataManager(session: .room(12), engine: rooms.engine, now: …, makeUUID: …)
/// ```
public final class RoomEngine: Sendable {
    private struct State {
        var lastID: Int64 = 1 << 60
        var lastPosition: Int64 = 1 << 60
        /// How many listen to each room.
        var listenerCounts: [Int64: Int] = [:]
    }

    private let account: ChatAccount
    private let history: (any SessionMessageProvider)?
    private let now: @Sendable () -> Int64
    private let hub = SessionEventHub()
    private let state = Mutex(State())

    /// Makes the engine of an account's rooms.
    ///
    /// - Parameters:
    ///   - account: The account.
    ///   - history: Gives what was said before; nil for a server without room history.
    ///   - now: The time in milliseconds since 1970, which room messages do not carry.
    public init(
        account: ChatAccount, history: (any SessionMessageProvider)? = nil,
        now: @escaping @Sendable () -> Int64 = ChatAccount.systemTime
    ) {
        self.account = account
        self.history = history
        self.now = now
    }

    /// The engine for a `DataManager`.
    public var engine: Engine {
        Engine(user: account.user, provider: self, service: self, events: self)
    }

    /// The message that a packet of a room is; nil for a change of other messages.
    private func message(_ packet: RoomMessage) -> (message: Message?, control: ControlContent?) {
        let decoded = account.codec.decode(packet.content)
        guard let content = decoded.message else { return (nil, decoded.control) }
        return (
            make(
                content, from: UserID(packet.sender), in: .room(packet.receiver),
                uuid: decoded.envelope.uuid, reference: decoded.envelope.reference), nil
        )
    }

    private func make(
        _ content: MessageContent, from sender: UserID, in session: Session, uuid: String?,
        reference: String?
    ) -> Message {
        let (id, position) = state.withLock { state in
            state.lastID += 1
            state.lastPosition += 1
            return (state.lastID, state.lastPosition)
        }
        let isOwn = sender == account.user
        return Message(
            id: MessageID(id), session: session, sender: sender, isOutgoing: isOwn, uuid: uuid,
            position: MessagePosition(position), timeMilliseconds: now(), content: content,
            reference: reference, state: isOwn ? .accepted : .received)
    }
}

extension RoomEngine: SessionMessageProvider {
    /// A page of the server's history.
    public func messages(
        in session: Session, anchorMessage: Message?, direction: PageDirection, limit: Int
    ) async throws -> MessagePage {
        guard let history, session.kind == .room else {
            return MessagePage(messages: [], hasOlder: false, hasNewer: false)
        }
        // What came live has no key from which the server could go on.
        if direction == .newer, anchorMessage?.serverKey == nil, anchorMessage != nil {
            return MessagePage(messages: [], hasOlder: true, hasNewer: false)
        }
        return try await history.messages(
            in: session, anchorMessage: anchorMessage, direction: direction, limit: limit)
    }
}

extension RoomEngine: MessageServiceInterface {
    /// Sends a message to the room; it fails without a connection, for rooms do not wait.
    public func send(message: Message, in session: Session) async throws -> Message {
        guard session.kind == .room else { throw ChatAccountError(code: .unsupportedSession) }
        let uuid = message.uuid ?? account.makeUUID()
        let raw = try account.codec.encode(
            message.content, envelope: ContentEnvelope(uuid: uuid, reference: message.reference))
        try await account.service.send(
            .room(RoomMessage(sender: account.user.rawValue, receiver: session.id, content: raw)))
        return make(
            message.content, from: account.user, in: session, uuid: uuid, reference: message.reference)
    }

    /// Sends a message again.
    public func resend(message: Message) async throws -> Message {
        try await send(message: message, in: message.session)
    }

    /// Sends the content to a room, or to any other conversation of the account.
    public func forward(message: Message, to session: Session) async throws -> Message {
        guard message.burnSeconds == nil else { throw InteractionError.burning }
        guard session.kind == .room else { return try await account.send(message.content, to: session) }
        var new = message
        new.uuid = account.makeUUID()
        new.reference = nil
        let sent = try await send(message: new, in: session)
        hub.publish(.arrived([sent]), in: session)
        return sent
    }

    /// Withdraws a message, for those who are in the room now.
    public func revoke(message: Message) async throws {
        guard let uuid = message.uuid else { throw ChatAccountError(code: .noUUID) }
        let raw = try account.codec.encode(.revoke(target: uuid))
        try await account.service.send(
            .room(RoomMessage(sender: account.user.rawValue, receiver: message.session.id, content: raw)))
    }

    /// Shows a local message for as long as the room is on screen; nothing is kept of rooms.
    public func save(message: Message, in session: Session) async throws {
        guard session.kind == .room else { throw ChatAccountError(code: .unsupportedSession) }
    }

    /// Takes a message off this screen; the server keeps its history.
    public func delete(message: Message) async throws {}
}

extension RoomEngine: SessionEventSource {
    /// Enters the room and tells what is said there; the room is left when nobody listens any more.
    public func events(in session: Session) -> AsyncStream<SessionEvent> {
        let published = hub.events(in: session)
        guard session.kind == .room else { return published }
        let live = account.service.notifications()
        let (stream, continuation) = AsyncStream.makeStream(
            of: SessionEvent.self, bufferingPolicy: .bufferingNewest(hub.backlogMax))
        state.withLock { $0.listenerCounts[session.id, default: 0] += 1 }
        account.service.enterRoom(session.id)
        let work = Task {
            await withDiscardingTaskGroup { group in
                group.addTask {
                    for await event in published { Self.yield(event, to: continuation) }
                }
                group.addTask {
                    for await notification in live {
                        guard case .livePacket(let live) = notification, live.command == .roomIM,
                            case .room(let packet) = live.body, packet.receiver == session.id
                        else { continue }
                        self.tell(packet, to: continuation)
                    }
                }
            }
            continuation.finish()
        }
        continuation.onTermination = { _ in
            work.cancel()
            self.endListening(to: session.id)
        }
        return stream
    }

    /// Leaves a room when the last one who listened to it is gone.
    private func endListening(to room: Int64) {
        let isLast = state.withLock { state in
            let left = (state.listenerCounts[room] ?? 1) - 1
            state.listenerCounts[room] = left > 0 ? left : nil
            return left <= 0
        }
        if isLast { account.service.leaveRoom(room) }
    }

    private func tell(_ packet: RoomMessage, to events: AsyncStream<SessionEvent>.Continuation) {
        let (message, control) = message(packet)
        if let message { Self.yield(.arrived([message]), to: events) }
        if let control {
            Self.yield(
                .control(control, by: UserID(packet.sender), milliseconds: now()), to: events)
        }
    }

    private static func yield(
        _ event: SessionEvent, to events: AsyncStream<SessionEvent>.Continuation
    ) {
        if case .dropped = events.yield(event) { events.yield(.reset) }
    }
}

extension ChatAccount {
    /// The engines of this account by the kind of session: users, groups and customer service from the store and the
    /// outbox, rooms live.
    ///
    /// - Parameter roomHistory: Gives what was said in rooms before; nil for a server without room history.
    /// - Returns: The engines; ask for that of a session.
    public func engines(roomHistory: (any SessionMessageProvider)? = nil) -> SessionEngines {
        SessionEngines(
            engine, [.room: RoomEngine(account: self, history: roomHistory).engine], makeUUID: makeUUID)
    }
}
