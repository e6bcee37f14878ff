/// Colours of the terminal, or none.
struct Style: Sendable {
    /// Whether colours are written.
    let usesColour: Bool

    func dim(_ text: String) -> String { wrap("2", text) }
    func own(_ text: String) -> String { wrap("32", text) }
    func other(_ text: String) -> String { wrap("1;36", text) }
    func bad(_ text: String) -> String { wrap("31", text) }
    func good(_ text: String) -> String { wrap("32", text) }

    private func wrap(_ code: String, _ text: String) -> String {
        usesColour && !text.isEmpty ? "\u{1B}[\(code)m\(text)\u{1B}[0m" : text
    }
}
