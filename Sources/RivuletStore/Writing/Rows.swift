import RivuletModel

/// One message as a table holds it.
struct MessageRow: Equatable {
    struct Flags: OptionSet {
        let rawValue: Int64

        /// The user of the account wrote it.
        static let outgoing = Flags(rawValue: 1)
        /// It counts as unread while it stands behind the read position.
        static let counts = Flags(rawValue: 2)
        /// It addresses the user.
        static let mention = Flags(rawValue: 4)
        /// The author changed it.
        static let edited = Flags(rawValue: 8)
        /// The table of reactions has some for it.
        static let reactions = Flags(rawValue: 16)
        /// It is pinned in its conversation.
        static let pinned = Flags(rawValue: 32)
        /// Only the uuid is left of it.
        static let deleted = Flags(rawValue: 64)
        /// It is a control, kept for its uuid.
        static let control = Flags(rawValue: 128)
        /// The search knows its text.
        static let indexed = Flags(rawValue: 256)
        /// It burns after reading: its JSON is kept apart, where it can be wiped, and the search never knows it.
        static let burning = Flags(rawValue: 512)
        /// It is one of the user's favourites.
        static let favorite = Flags(rawValue: 1_024)
        /// The table of tags has some for it.
        static let tags = Flags(rawValue: 2_048)
    }

    var id: Int64
    var session: Int64
    /// Nil for rows that are not shown: deleted ones and controls.
    var position: Int64?
    var sender: Int64
    var uuid: String?
    var serverKey: Int64?
    var localNumber: Int64 = 0
    var timeMilliseconds: Int64
    var kind: String
    var raw: String
    var state: StateCode
    var failure: String?
    var flags: Flags
    var revision: Int64 = 0

    var isOutgoing: Bool { flags.contains(.outgoing) }
    var isUnsent: Bool { (position ?? 0) >= PositionRules.unsentBase }
}

/// What other tables know of a message.
struct RowExtras {
    var reactions: [Message.Reaction] = []
    var tags: [String] = []
}

/// The state of a message as one number: the case in the low four bits, the count of readers above.
struct StateCode: RawRepresentable, Equatable {
    let rawValue: Int64

    static let received = StateCode(rawValue: 0)
    static let preparing = StateCode(rawValue: 1)
    static let sending = StateCode(rawValue: 2)
    static let accepted = StateCode(rawValue: 3)
    static let delivered = StateCode(rawValue: 4)
    static let failed = StateCode(rawValue: 6)

    static func read(_ count: Int64) -> StateCode {
        StateCode(rawValue: 5 | (max(1, min(count, Int64(Int32.max))) << 4))
    }

    var isUnderWay: Bool { self == .preparing || self == .sending || self == .failed }

    func state(failure: String?) -> Message.State {
        switch rawValue & 15 {
        case 1: .preparing
        case 2: .sending
        case 3: .accepted
        case 4: .delivered
        case 5: .read(count: Int(clamping: max(1, rawValue >> 4)))
        case 6: .failed(reason: failure ?? "")
        default: .received
        }
    }
}

/// Where rows stand within a conversation.
enum PositionRules {
    /// The first position that a conversation gives; history counts down from here.
    static let start: Int64 = 1 << 40
    /// Unsent rows stand here, by the number of their send.
    static let unsentBase: Int64 = 1 << 62

    static func unsent(_ send: Int64) -> Int64 {
        unsentBase + max(0, min(send, (1 << 61) - 1))
    }
}

/// One conversation as a table holds it.
struct SessionRow: Equatable {
    var id: Int64
    var session: Session
    var nextPosition = PositionRules.start
    var firstPosition = PositionRules.start
    var lastMessage: Int64?
    var lastPosition: Int64 = .min
    var activityMilliseconds: Int64 = 0
    var unread: Int64 = 0
    var mentions: Int64 = 0
    var readPosition: Int64?
    var draft: String?
    var draftDetails: String?
    var isPinned = false
    var isMuted = false
    var isHidden = false

    func conversation(last: Message?) -> Conversation {
        var line = Conversation(session: session)
        line.lastMessage = last
        line.unreadCount = Int(clamping: unread)
        line.mentionCount = Int(clamping: mentions)
        line.draft = draft
        line.draftDetails = draftDetails
        line.isPinned = isPinned
        line.isMuted = isMuted
        line.readPosition = readPosition.map(MessagePosition.init(rawValue:))
        return line
    }
}

/// The numbers that an account gives out.
struct Counters: Equatable {
    /// Ids of arriving messages count up from here, those of history down: a greater id is a newer message, which
    /// lets the search find the newest first without sorting.
    static let start: Int64 = 1 << 40

    var nextID = Counters.start
    var firstID = Counters.start
    var lastSend: Int64 = 0

    mutating func makeID() -> Int64 {
        defer { nextID += 1 }
        return nextID
    }

    /// The first of so many ids below all that exist.
    mutating func makeHistoryIDs(_ count: Int) -> Int64 {
        firstID -= Int64(count)
        return firstID
    }
}

/// A send as a table holds it.
struct SendRow: Equatable {
    var send: StoredSend
    /// The row of the message; nil for a control.
    var message: Int64?
    var session: Int64
    /// The JSON of a control that takes effect only when the server has it.
    var control: String?
}

/// A control whose target is not known yet.
struct WaitingControl: Equatable {
    var target: String
    var sender: Int64
    var timeMilliseconds: Int64
    var raw: String
}
