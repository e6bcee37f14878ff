internal import RivuletModel

/// Writes messages as lines of a terminal.
///
/// Everything that came from other people passes ``UntrustedText`` here, and nowhere else is it printed.
struct ChatFormatter: Sendable {
    let style: Style
    let time: LocalTime
    /// What users are called; others by their numbers.
    var names: [UserID: String] = [:]

    /// The separator before the first message of a day.
    func dayLine(_ milliseconds: Int64) -> String {
        style.dim("— \(time.day(milliseconds)) —")
    }

    /// A message with its time, author and, for own ones, how far it has come.
    func message(_ message: Message) -> String {
        let sender = UntrustedText.line(names[message.sender] ?? "\(message.sender.rawValue)")
        let name = message.isOutgoing ? style.own("you") : style.other(sender)
        let lines = UntrustedText.lines(message.content.summary)
        let head = style.dim(time.time(message.timeMilliseconds)) + " \(name): " + (lines.first ?? "")
        // Further lines stand below the first one's time.
        let rest = lines.dropFirst().map { "      " + $0 }
        let edited = message.isEdited ? style.dim(" (edited)") : ""
        return ([head] + rest).joined(separator: "\n") + edited + suffix(message)
    }

    /// What is said of a message whose line has scrolled away.
    func later(_ message: Message) -> String {
        let text = UntrustedText.line(message.content.summary)
        let short = text.count > 30 ? text.prefix(29) + "…" : text[...]
        return style.dim("      “\(short)”") + suffix(message)
    }

    /// A line of the program itself.
    func notice(_ text: String) -> String {
        style.dim("· \(UntrustedText.line(text))")
    }

    private func suffix(_ message: Message) -> String {
        guard message.isOutgoing else { return "" }
        switch message.state {
        case .received, .accepted: return "  " + style.good("✓")
        case .preparing, .sending: return "  " + style.dim("sending…")
        case .delivered: return "  " + style.good("✓✓ delivered")
        case .read: return "  " + style.good("✓✓ read")
        case .failed(let reason):
            return "  " + style.bad("✗ not sent" + (reason.isEmpty ? "" : ": \(UntrustedText.line(reason))"))
        }
    }
}
