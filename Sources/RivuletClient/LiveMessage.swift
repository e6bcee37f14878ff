public import RivuletWire

/// Something to send that nobody keeps and nobody acknowledges.
public struct LiveMessage: Sendable, Equatable {
    enum Kind: Sendable, Equatable {
        case rt(RTMessage)
        case call(VOIPControl)
        case typing(MessageInputing, isOn: Bool)
        case groupTyping(MessageInputing, isOn: Bool)
        case unreadCount(Int32)
        case onlineState([Int64])
        case packet(Packet)
    }

    let kind: Kind

    /// A live message to a user, lost when the other side is away.
    public static func rt(_ message: RTMessage) -> LiveMessage {
        LiveMessage(kind: .rt(message))
    }

    /// A signal of a call.
    ///
    /// In the current profile it travels as RT: a content that is JSON as it is, the bytes of the seed era as
    /// `{"voip":{"command":…}}`.
    public static func call(_ control: VOIPControl) -> LiveMessage {
        LiveMessage(kind: .call(control))
    }

    /// "This user is typing"; the seed profile cannot say that it stopped, and sends nothing then.
    public static func typing(_ inputing: MessageInputing, isOn: Bool = true) -> LiveMessage {
        LiveMessage(kind: .typing(inputing, isOn: isOn))
    }

    /// "This user is typing" in a group, whose id is the receiver; the server tells those who look at the group.
    ///
    /// The seed profile has no word for it, and sends nothing.
    public static func groupTyping(_ inputing: MessageInputing, isOn: Bool = true) -> LiveMessage {
        LiveMessage(kind: .groupTyping(inputing, isOn: isOn))
    }

    /// How many messages are unread in all, for the badge; remembered and reported again after each login.
    public static func unreadCount(_ count: Int32) -> LiveMessage {
        LiveMessage(kind: .unreadCount(count))
    }

    /// Asks to be told when these users come and go, as long as the connection lives; at most 500.
    public static func onlineState(of users: [Int64]) -> LiveMessage {
        LiveMessage(kind: .onlineState(users))
    }

    /// Any packet that the server does not acknowledge, such as one of the app's own commands.
    public static func packet(_ packet: Packet) -> LiveMessage {
        LiveMessage(kind: .packet(packet))
    }

    static let watchedCountMax = 500

    /// The packet that carries it in a profile; nil when there is nothing to say.
    func packet(in context: ServiceContext) throws(IMServiceError) -> Packet? {
        switch kind {
        case .rt(let message): return Packet(.rt, .room(message))
        case .unreadCount(let count): return Packet(.unreadCount, .unreadCount(count))
        case .packet(let packet): return packet
        case .call(let control):
            if context.profile == .seed { return Packet(.voipControl, .voip(control)) }
            guard let json = CallSignal.json(control.content) else { throw IMServiceError(.notEncodable) }
            return Self.rt(json, from: control.sender, to: control.receiver)
        case .typing(let inputing, let isOn):
            if context.profile == .seed { return isOn ? Packet(.inputing, .inputing(inputing)) : nil }
            return Self.rt(
                "{\"typing\":{\"on\":\(isOn ? 1 : 0)}}", from: inputing.sender, to: inputing.receiver)
        case .groupTyping(let inputing, let isOn):
            guard context.profile != .seed else { return nil }
            return Self.rt(
                "{\"typing\":{\"on\":\(isOn ? 1 : 0),\"group\":\(inputing.receiver)}}", from: inputing.sender,
                to: inputing.receiver)
        case .onlineState(let users):
            guard users.count <= Self.watchedCountMax else { throw IMServiceError(.notEncodable) }
            if context.profile == .seed {
                return Packet(.subscribeOnlineState, .onlineStateSubscription(users))
            }
            let list = users.map { "\($0)" }.joined(separator: ",")
            return Self.rt("{\"presence\":{\"watch\":[\(list)]}}", from: context.uid, to: 0)
        }
    }

    private static func rt(_ json: String, from sender: Int64, to receiver: Int64) -> Packet {
        Packet(.rt, .room(RTMessage(sender: sender, receiver: receiver, content: json)))
    }
}
