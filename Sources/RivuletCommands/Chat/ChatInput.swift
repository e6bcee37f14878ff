/// What a line at the prompt means.
enum ChatInput: Hashable, Sendable {
    /// Nothing was typed.
    case nothing
    /// Send this.
    case text(String)
    /// Show the commands.
    case help
    /// Leave.
    case quit
    /// Show the latest messages again.
    case history(Int)
    /// Not understood; the text says why.
    case mistake(String)

    static let historyCountDefault = 20
    static let historyCountMax = 1000

    static let helpLines = [
        "/history [N]  show the last N messages (20)",
        "/quit         leave; Ctrl-D does the same",
        "/help         show this",
        "//text        send a text that begins with /",
    ]

    /// Reads a line.
    init(_ line: String) {
        guard line.contains(where: { !$0.isWhitespace }) else {
            self = .nothing
            return
        }
        guard line.hasPrefix("/") else {
            self = .text(line)
            return
        }
        guard !line.hasPrefix("//") else {
            self = .text(String(line.dropFirst()))
            return
        }
        let words = line.split(separator: " ").map(String.init)
        switch (words[0], words.count) {
        case ("/help", 1): self = .help
        case ("/quit", 1), ("/exit", 1): self = .quit
        case ("/history", 1): self = .history(ChatInput.historyCountDefault)
        case ("/history", 2):
            guard let count = Int(words[1]), (1...ChatInput.historyCountMax).contains(count) else {
                self = .mistake("/history takes a number from 1 to \(ChatInput.historyCountMax)")
                return
            }
            self = .history(count)
        default:
            self = .mistake("\(words[0]) is no command; /help shows all, //… sends a text that begins with /")
        }
    }
}
