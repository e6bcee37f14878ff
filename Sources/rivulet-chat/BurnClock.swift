import RivuletModel

/// The countdowns of messages that burn after reading: each begins when its row was in view (docs/extensions.md,
/// section 1).
nonisolated struct BurnClock {
    /// A message whose time is over.
    struct Burnt: Hashable {
        var uuid: String
        var session: Session
    }

    private struct Countdown {
        var burnt: Burnt
        var end: Duration
    }

    private var countdowns: [MessageID: Countdown] = [:]
    /// Those that burned here, so that a late look at the row begins nothing anew.
    private var over: Set<MessageID> = []

    var isEmpty: Bool { countdowns.isEmpty }

    /// Takes note that a row was in view; only what somebody else wrote burns here.
    mutating func see(_ message: Message, at now: Duration) {
        guard !message.isOutgoing, let seconds = message.burnSeconds, let uuid = message.uuid,
            message.content != .erased, message.content != .revoked, countdowns[message.id] == nil,
            !over.contains(message.id)
        else { return }
        countdowns[message.id] = Countdown(
            burnt: Burnt(uuid: uuid, session: message.session),
            end: now + .seconds(min(max(1, seconds), 7 * 86_400)))
    }

    /// Takes out what has to burn now.
    mutating func takeDue(at now: Duration) -> [Burnt] {
        let due = countdowns.filter { $0.value.end <= now }
        for id in due.keys {
            countdowns[id] = nil
            over.insert(id)
        }
        return due.sorted { $0.key < $1.key }.map(\.value.burnt)
    }

    /// What stands beside each of them now.
    func remarks(at now: Duration) -> [MessageID: String] {
        countdowns.mapValues { Self.words(for: $0.end - now) }
    }

    private static func words(for left: Duration) -> String {
        let (whole, rest) = left.components
        let seconds = max(0, whole + (rest > 0 ? 1 : 0))
        return seconds < 60
            ? Words.say("%1 s", "\(seconds)")
            : seconds < 3_600
                ? Words.say("%1 min", "\(seconds / 60)") : Words.say("%1 h", "\(seconds / 3_600)")
    }
}

/// The reader's word that a message has burned: `{"uuid":…,"burned":{"msgid":"…"}}`.
nonisolated struct BurnedNote: CustomContent {
    static let kind = MessageKind(rawValue: "burned")
    /// No row and no count: it only has an effect.
    static let behavior = ContentBehavior.control

    /// The uuid of the message.
    var msgid: String

    var summary: String { "" }
    var effect: ContentEffect? { .erase(target: msgid) }

    /// The contents that this program knows.
    static func makeCodec() throws -> ContentCodec {
        var kinds = ContentRegistry()
        try kinds.register(BurnedNote.self)
        return ContentCodec(registry: kinds)
    }
}
