/// How the body of a command is laid out, or why the command is not read (docs/protocol.md, section 6).
enum BodyLayout: UInt8 {
    /// No command has this number in this profile, as far as the receiver can tell.
    case unknown
    /// The number is defined, for the other direction or another era.
    case notAllowed
    /// The number is allowed and dropped unread.
    case retired
    case empty, auth, authStatus, im, ack, text, peerACK, inputing, onlineStateSubscription, onlineState
    case authToken, loginPoint, room, roomID, unreadCount, customerService, customer, syncKey, groupSyncKey
    case metadata, voip, customerV2
    /// An app registered the number.
    case custom

    /// The size of the fixed part, in bytes: no shorter body is this layout.
    var minimum: UInt8 {
        switch self {
        case .unknown, .notAllowed, .retired, .empty, .text, .custom: 0
        case .authStatus, .ack, .authToken, .unreadCount, .onlineStateSubscription: 4
        case .loginPoint: 5
        case .auth, .roomID, .syncKey: 8
        case .onlineState: 12
        case .inputing, .room, .groupSyncKey, .metadata, .voip: 16
        case .peerACK, .customerService: 20
        case .im: 24
        case .customer, .customerV2: 36
        }
    }

    /// Whether a receiver reads such bodies at all.
    var isRead: Bool {
        switch self {
        case .unknown, .notAllowed, .retired: false
        default: true
        }
    }
}

/// What a receiver does with one command number, in eight bytes.
struct CommandRule {
    /// The layout of the body.
    let layout: BodyLayout
    /// How a decoder goes on with it.
    let kind: FrameStep.Kind
    /// The shortest body that is read, in bytes, for header version 1 and later.
    var minimum: UInt8
    /// Whether a body that is not empty is an error: a server closes on a PING with a body, a client ignores it.
    var mustBeEmpty = false {
        didSet { maximum = layout.isRead && !mustBeEmpty ? .max : layout.isRead ? 0 : -1 }
    }
    /// The longest body that the layout allows; −1, which no body fits, for one that is not read.
    private var maximum: Int32

    init(_ layout: BodyLayout) {
        self.layout = layout
        kind = layout == .empty ? .empty : layout == .im ? .im : .other
        minimum = layout.minimum
        maximum = layout.isRead ? .max : -1
    }

    /// Whether the header lets the body be read, or at least waited for.
    @inline(__always)
    func accepts(_ header: PacketHeader, bodyBytesMax: Int) -> Bool {
        // Version 0 has no timestamp in IM and GROUP_IM. No overflow: the minimum of that layout is 24.
        let minimum = kind == .im && header.version == 0 ? minimum &- 4 : minimum
        // A negative length is below every minimum.
        return header.length >= Int32(minimum) && header.length <= maximum
            && Int(header.length) <= bodyBytesMax
    }
}

/// The rules of one receiver, indexed by command number: always 256 of them.
typealias CommandRules = [CommandRule]

/// The four tables that the protocol defines (docs/protocol.md, section 5).
enum StandardRules {
    static let tables: [CommandRules] = Role.allCases.flatMap { role in
        Profile.allCases.map { profile in make(role: role, profile: profile) }
    }

    /// The place of a receiver's table in ``tables``.
    static func index(role: Role, profile: Profile) -> Int {
        (role == .server ? 0 : 2) + (profile == .seed ? 0 : 1)
    }

    /// The numbers that the protocol gives a meaning to, in any era.
    static func isDefined(_ number: UInt8) -> Bool {
        (1...37).contains(number) || number == 64 || number == 65
    }

    private static func make(role: Role, profile: Profile) -> CommandRules {
        let received = numbers(receivedBy: role, in: profile)
        return (UInt8.min...UInt8.max).map { number in
            guard received.contains(number) else {
                // A server tells a number of another direction or era from a number it never heard of. A client
                // does not: to it, everything that servers do not send is unknown.
                let isKnown = role == .server && number != 65 && isDefined(number)
                return rule(forRefused: number, isKnown: isKnown, role: role, profile: profile)
            }
            var rule = CommandRule(layout(of: number, in: profile))
            switch (role, rule.layout) {
            case (.server, .metadata): rule.minimum = 32
            case (.server, .voip): rule.minimum = 17
            case (.server, .empty): rule.mustBeEmpty = true
            case (.server, .customer) where profile == .current: rule = CommandRule(.retired)
            default: break
            }
            return rule
        }
    }

    private static func rule(forRefused number: UInt8, isKnown: Bool, role: Role, profile: Profile)
        -> CommandRule
    {
        var rule = CommandRule(isKnown ? .notAllowed : .unknown)
        if role == .server, profile == .seed, layout(of: number, in: profile) == .empty {
            rule.mustBeEmpty = true
        }
        return rule
    }

    /// The command numbers that this receiver reads.
    private static func numbers(receivedBy role: Role, in profile: Profile) -> Set<UInt8> {
        switch (role, profile) {
        case (.server, .seed): [1, 2, 4, 5, 8, 10, 11, 13, 14, 15, 17, 18, 19, 20, 22, 23, 24, 25, 64, 65]
        case (.server, .current): [4, 5, 8, 13, 14, 15, 17, 18, 19, 20, 22, 24, 25, 26, 30, 34, 35, 37, 64]
        case (.client, .seed): [3, 4, 5, 6, 7, 8, 9, 10, 12, 14, 16, 17, 20, 21, 23, 24, 25, 64, 65]
        case (.client, .current):
            [3, 4, 5, 6, 7, 8, 14, 17, 20, 21, 24, 25, 27, 28, 29, 31, 32, 33, 36, 37, 64]
        }
    }

    /// The layout of a number's body, whoever sends it.
    private static func layout(of number: UInt8, in profile: Profile) -> BodyLayout {
        switch number {
        case 1, 6, 13, 14: .empty
        case 2: .auth
        case 3: .authStatus
        case 4, 8: .im
        case 5: .ack
        case 7, 21, 36: .text
        case 9: .peerACK
        case 10: .inputing
        case 11: .onlineStateSubscription
        case 12: .onlineState
        case 15: .authToken
        case 16: .loginPoint
        case 17, 20: .room
        case 18, 19: .roomID
        case 22: .unreadCount
        case 23: .customerService
        case 24, 25: .customer
        case 26, 27, 28, 29, 34: .syncKey
        case 30, 31, 32, 33, 35: .groupSyncKey
        case 37: .metadata
        case 64: profile == .seed ? .voip : .customerV2
        case 65: .voip
        default: .unknown
        }
    }
}
