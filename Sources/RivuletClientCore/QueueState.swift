import RivuletWire

/// Where the client stands in one queue of the server, and the round that may run.
struct QueueState: Sendable {
    /// A packet of a round, kept until the round's end.
    struct Collected: Sendable {
        /// Nil when the packet could not be read; it is acknowledged all the same.
        var message: ReceivedMessage?
        var sequence: Int32

        /// About how many bytes of memory it takes.
        var weight: Int { message?.body.weight ?? 0 }
    }

    /// The last key, committed or on its way to the storage; nil before the first round.
    var key: Int64?
    /// The last key that the storage has.
    var committedKey: Int64?
    /// Whether SYNC was written and SYNC_END has not come.
    var isRunning = false
    /// Whether the queue is in line to be asked.
    var isWaiting = false
    /// When a round that stands still may start again.
    var guardAt: ClientInstant?
    /// How many rounds in a row stood still.
    var silentRoundCount = 0
    /// The greatest key that a notify named while a round ran.
    var pending: Int64 = 0
    var collected: [Collected] = []

    init(key: Int64?) {
        self.key = key
        committedKey = key
    }

    /// Whether packets without PUSH belong to a round.
    var isCollecting: Bool { isRunning || !collected.isEmpty }

    /// Whether the server has something above the key.
    var hasMore: Bool { pending > (key ?? 0) }

    mutating func begin(guardAt: ClientInstant) {
        isRunning = true
        pending = 0
        self.guardAt = guardAt
    }

    mutating func abandonRound() {
        isRunning = false
        isWaiting = false
        guardAt = nil
        silentRoundCount = 0
        pending = 0
        collected = []
    }

    mutating func rollBack() {
        key = committedKey
    }
}

extension MessageQueue {
    /// The user's own queue first, then groups by id, so that the same state always gives the same packets.
    static func isOrdered(_ left: MessageQueue, _ right: MessageQueue) -> Bool {
        switch (left, right) {
        case (.peer, .group): true
        case (.group(let left), .group(let right)): left < right
        case (_, .peer): false
        }
    }
}

extension PacketBody {
    /// About how many bytes of memory the body takes: its text, and something for the rest.
    var weight: Int {
        let content =
            switch self {
            case .im(let message): message.content.utf8.count
            case .room(let message): message.content.utf8.count
            case .text(let text): text.utf8.count
            case .customer(let message): message.content.utf8.count
            case .customerV2(let message): message.content.utf8.count
            case .voip(let control): control.content.count
            case .custom(let bytes): bytes.count
            default: 0
            }
        return content + 128
    }
}
