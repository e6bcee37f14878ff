internal import Foundation
internal import RivuletModel

/// Mira, who keeps a lighthouse and answers in the demonstration.
///
/// What she says is a function of what she hears and of how often she has spoken, so that it can be tested.
enum DemoPartner {
    static let name = "Mira"

    static let greeting =
        "Good evening from the lighthouse! I am Mira. The lamp is lit and the kettle is on. Who is out there?"

    private static let topics: [(words: [String], answer: String)] = [
        (["hello", "hi", "hey", "good evening", "good morning"], "Hello, sailor! Good to see your light."),
        (["how are you", "how do you do"], "Dry, warm and a little salty. And you?"),
        (
            ["weather", "storm", "wind", "rain"],
            "Wind from the north-west, four to five. The gulls walk, so it will rain."
        ),
        (["your name", "who are you"], "Mira. I keep the lamp, the log and two goats."),
        (
            ["ship", "boat", "sail"],
            "I log every ship that passes. Yours is the first tonight that talks back."
        ),
        (
            ["lamp", "light"],
            "One flash every eleven seconds. I know it by heart, and so does every captain on this coast."
        ),
        (["goat"], "Port and Starboard. They are never where I left them."),
        (
            ["server", "rivulet", "protocol", "code"],
            "They say each word here is written to disk before it is answered. I do the same with my log."
        ),
        (["thank"], "You are welcome. That is what the lamp is for."),
        (["bye", "good night", "see you", "quit"], "Fair winds! I leave the lamp on for you."),
    ]

    private static let others = [
        "I have written that into the log.", "Say more; the night is long and the kettle is still warm.",
        "The sea says the same, but with more foam.", "That would make a fine name for a ship.",
        "I had to climb 112 steps to read that. It was worth it.",
    ]

    private static let chinese = ["你好！灯塔的灯亮着，我也在。", "我记在航海日志里了。", "海上风大，多穿一点。", "慢慢说，夜还长，茶也还热。"]

    /// What she answers to a text as her `count`-th answer, counted from 0.
    static func answer(to text: String, count: Int) -> String {
        if text.unicodeScalars.contains(where: { (0x4E00...0x9FFF).contains($0.value) }) {
            return chinese[count % chinese.count]
        }
        let words = " " + text.lowercased().map { $0.isLetter ? String($0) : " " }.joined() + " "
        // A topic's word begins a word of the text: "sail" is in "sailing", "hi" not in "ship".
        for topic in topics {
            for word in topic.words where words.contains(" \(word)") {
                if word.count > 3 || words.contains(" \(word) ") { return topic.answer }
            }
        }
        if text.contains("?") || text.contains("？") {
            return "A good question. The stars may know; I only keep the lamp."
        }
        return others[count % others.count]
    }

    /// Lives at the other end of the demonstration until cancelled.
    ///
    /// - Parameters:
    ///   - backend: Her own connection, not started yet.
    ///   - guest: The person at the terminal.
    ///   - pause: How long she thinks before she answers.
    /// - Throws: what her backend cannot do.
    static func run(_ backend: any ChatBackend, guest: UserID, pause: Duration) async throws {
        try await backend.start()
        var count = 0
        var seen: Set<MessageID> = []
        do {
            _ = try await backend.send(greeting, to: guest)
            for await event in backend.events {
                guard case .message(let message) = event, !message.isOutgoing,
                    seen.insert(message.id).inserted
                else { continue }
                try await Task.sleep(for: pause)
                _ = try await backend.send(
                    answer(to: message.content.summary, count: count), to: message.sender)
                count += 1
            }
        } catch is CancellationError {
            // The demonstration is over.
        }
        await backend.stop()
    }
}
