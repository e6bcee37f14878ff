import RivuletModel

/// What the decoration needs to know of a message, read once.
struct MessageFacts {
    let id: MessageID
    let sender: UserID
    let time: Int64
    let revision: Int
    let isOutgoing: Bool
    /// Whether the message can be in a run; lines in the middle of the flow belong to nobody's.
    let canRun: Bool

    init(_ message: borrowing Message) {
        id = message.id
        sender = message.sender
        time = message.timeMilliseconds
        revision = message.revision
        isOutgoing = message.isOutgoing
        switch message.content {
        case .notice, .revoked, .groupNotification, .refusal, .headline, .timeBase, .attachment, .joinRequest:
            canRun = false
        default: canRun = true
        }
    }

    /// Whether both are of one sender, close in time, and can be in a run.
    func continues(_ previous: MessageFacts?, gap: Int64) -> Bool {
        guard let previous else { return false }
        return canRun && previous.canRun && sender == previous.sender && isOutgoing == previous.isOutgoing
            && Self.gap(time, previous.time) <= gap
    }

    /// How far two times are apart, without overflow.
    static func gap(_ left: Int64, _ right: Int64) -> Int64 {
        let (difference, overflow) = left.subtractingReportingOverflow(right)
        guard !overflow, difference != .min else { return .max }
        return abs(difference)
    }
}
