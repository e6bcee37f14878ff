internal import RivuletClientCore
internal import RivuletWire

/// That messages of this user have arrived on a device of the other side.
public struct PeerDelivery: Sendable, Hashable {
    /// The other side.
    public var uid: Int64
    /// The identities of the messages; the current profile names them so.
    public var uuids: [String]
    /// The local numbers of the messages; the seed profile names them so.
    public var msgLocalIDs: [Int32]

    /// Makes a delivery.
    public init(uid: Int64, uuids: [String] = [], msgLocalIDs: [Int32] = []) {
        self.uid = uid
        self.uuids = uuids
        self.msgLocalIDs = msgLocalIDs
    }
}

/// That someone is typing, or stopped.
public struct PeerTyping: Sendable, Hashable {
    /// Who types.
    public var uid: Int64
    /// The group in which; nil in a chat between two.
    public var groupID: Int64?
    /// False when the person stopped; the seed profile never says so.
    public var isOn: Bool

    /// Makes a notice.
    public init(uid: Int64, groupID: Int64? = nil, isOn: Bool = true) {
        self.uid = uid
        self.groupID = groupID
        self.isOn = isOn
    }
}

/// Whether somebody is there, and since when not (docs/extensions.md, section 1).
public struct PeerPresence: Sendable, Hashable {
    /// Who.
    public var uid: Int64
    /// Whether a device of this user is connected.
    public var isOnline: Bool
    /// When the last one left, in milliseconds since 1970; nil while online, and when the server does not say.
    public var lastSeenMilliseconds: Int64?

    /// Makes a notice.
    public init(uid: Int64, isOnline: Bool, lastSeenMilliseconds: Int64? = nil) {
        self.uid = uid
        self.isOnline = isOnline
        self.lastSeenMilliseconds = lastSeenMilliseconds
    }
}

/// One live event, in the described terms.
enum LiveEvent: Sendable, Equatable {
    case rt(RTMessage)
    case room(RoomMessage)
    case notification(String)
    case typing(PeerTyping)
    case delivered(PeerDelivery)
    case loginPoint(LoginPoint)
    case onlineState(OnlineState)
    case presence(PeerPresence)
    case call(VOIPControl)
    case custom(Packet)

    /// What a packet says, the plain form first.
    static func events(_ packet: Packet, _ context: ServiceContext) -> [LiveEvent] {
        switch (packet.command, packet.body) {
        case (.rt, .room(let message)): [.rt(message)] + meaning(of: message, context)
        case (.roomIM, .room(let message)): [.room(message)]
        case (.notification, .text(let text)): [.notification(text)] + meaning(of: text)
        case (.inputing, .inputing(let inputing)): [.typing(PeerTyping(uid: inputing.sender))]
        case (.peerACK, .peerACK(let ack)):
            [.delivered(PeerDelivery(uid: ack.sender, msgLocalIDs: [ack.msgLocalID]))]
        case (.loginPoint, .loginPoint(let point)): [.loginPoint(point)]
        case (.onlineState, .onlineState(let state)):
            [.onlineState(state), .presence(PeerPresence(uid: state.uid, isOnline: state.online != 0))]
        case (_, .voip(let control)) where context.profile == .seed && packet.command == .voipControl:
            [.call(control)]
        case (_, .custom): [.custom(packet)]
        default: []
        }
    }

    /// What the content of a live message means in the current profile (docs/extensions.md, section 1).
    private static func meaning(of message: RTMessage, _ context: ServiceContext) -> [LiveEvent] {
        guard context.profile == .current,
            let content = JSONText.decode(LiveContent.self, from: message.content)
        else { return [] }
        var events: [LiveEvent] = []
        if content.isCall {
            events.append(
                .call(
                    VOIPControl(
                        sender: message.sender, receiver: message.receiver,
                        content: Array(message.content.utf8))))
        }
        if let typing = content.typing {
            events.append(
                .typing(PeerTyping(uid: message.sender, groupID: typing.group, isOn: typing.on != 0)))
        }
        if let delivered = content.delivered, !delivered.msgids.isEmpty {
            events.append(.delivered(PeerDelivery(uid: message.sender, uuids: delivered.msgids)))
        }
        // Only the server, user 0, knows who is online.
        if message.sender == 0, let presence = content.presence {
            for state in presence.states {
                events.append(.onlineState(OnlineState(uid: state.uid, online: state.online)))
                events.append(
                    .presence(
                        PeerPresence(
                            uid: state.uid, isOnline: state.online != 0, lastSeenMilliseconds: state.lastSeen)
                    ))
            }
        }
        return events
    }

    private static func meaning(of notification: String) -> [LiveEvent] {
        guard let point = JSONText.decode(LoginPointContent.self, from: notification)?.point else {
            return []
        }
        return [
            .loginPoint(
                LoginPoint(
                    upTimestamp: point.time, platformID: PlatformID(rawValue: point.platform),
                    deviceID: point.device))
        ]
    }
}

/// What observers and streams are told of.
enum ObservedEvent: Sendable, Equatable {
    case state(ConnectionState)
    case status(ConnectionStatus)
    case message(ReceivedMessage)
    case report(SendReport)
    case live(LiveEvent)
    /// This many events were lost, since the observers were too slow.
    case lost(Int)

    /// About how many bytes of memory it takes.
    var weight: Int {
        switch self {
        case .message(let message): message.body.textByteCount + 256
        case .report(let report): report.entry.body.textByteCount + 256
        case .live(.rt(let message)), .live(.room(let message)): message.content.utf8.count + 128
        case .live(.notification(let text)): text.utf8.count + 128
        case .live(.call(let control)): control.content.count + 128
        case .live(.custom(let packet)): packet.body.textByteCount + 128
        case .state, .status, .live, .lost: 128
        }
    }
}

extension PacketBody {
    /// The size of the text or bytes in it.
    var textByteCount: Int {
        switch self {
        case .im(let message): message.content.utf8.count
        case .room(let message): message.content.utf8.count
        case .text(let text): text.utf8.count
        case .customer(let message): message.content.utf8.count
        case .customerV2(let message): message.content.utf8.count
        case .custom(let bytes): bytes.count
        default: 0
        }
    }
}
