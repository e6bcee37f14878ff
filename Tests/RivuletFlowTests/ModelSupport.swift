import RivuletModel

@testable import RivuletFlow

/// A generator with a seed, so that a failing case can be repeated.
struct SeededGenerator: RandomNumberGenerator {
    private var state: UInt64

    init(seed: UInt64) {
        // Mixed, or neighbouring seeds would give the same numbers one step apart.
        state = Self.mix(seed &+ 0x1234_5678_9ABC_DEF1)
    }

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        return Self.mix(state)
    }

    private static func mix(_ value: UInt64) -> UInt64 {
        var mixed = value
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }
}

/// Measures text without fonts: seven points a character, broken at the width.
struct MonospaceMeasurer: TextMeasurer {
    nonisolated func size(of text: String, style: ComponentStyle, width: Double) -> LayoutSize {
        let advance = style.fontSize / 2
        let perLine = max(1, Int(width / advance))
        let count = text.unicodeScalars.count
        let lines = max(1, (count + perLine - 1) / perLine)
        return LayoutSize(
            width: Double(min(count, perLine)) * advance, height: Double(lines) * style.lineHeight)
    }
}

extension Message {
    /// A message of the test conversation.
    static func sample(
        _ id: Int64, text: String = "hello", sender: Int64 = 2, isOutgoing: Bool = false,
        position: Int64? = nil, minute: Int64? = nil, session: Session = .peer(UserID(2)),
        state: Message.State? = nil
    ) -> Message {
        Message(
            id: MessageID(id), session: session, sender: UserID(isOutgoing ? 1 : sender),
            isOutgoing: isOutgoing, position: MessagePosition(position ?? id),
            timeMilliseconds: (minute ?? id) * 60_000, content: .text(text),
            state: state ?? (isOutgoing ? .accepted : .received))
    }
}
