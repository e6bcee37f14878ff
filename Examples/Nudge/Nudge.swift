import RivuletModel

/// "Ada nudges you": `{"uuid":…,"nudge":{"target":8}}`.
struct Nudge: CustomContent {
    static let kind = MessageKind(rawValue: "nudge")
    // A line in the middle of the flow, which makes nobody's counter grow.
    static let behavior = ContentBehavior.notice

    /// The user who is nudged.
    var target: Int64

    var summary: String { "👋 Nudge" }
}

/// Decides whether a nudge shakes the window: at most once in ten seconds for each sender.
struct NudgeThrottle {
    static let pauseMilliseconds: Int64 = 10_000
    private var lastShakes: [UserID: Int64] = [:]

    /// Whether the window shakes now; the times are milliseconds of any clock that does not go back.
    mutating func shakes(for sender: UserID, at now: Int64) -> Bool {
        if let last = lastShakes[sender], now - last < Self.pauseMilliseconds { return false }
        lastShakes[sender] = now
        return true
    }
}
