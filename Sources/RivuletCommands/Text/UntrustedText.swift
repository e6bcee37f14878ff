/// Text of other people, made safe for a terminal.
///
/// A message may hold escape sequences that move the cursor, change the title or answer as if the user had typed, and
/// marks that turn the direction of text around. None of them may reach the terminal, so each control character is
/// replaced by its picture, and what has no picture by U+FFFD. Line breaks and tabs become spaces or new lines.
enum UntrustedText {
    /// The text on one line.
    static func line(_ text: some StringProtocol) -> String {
        lines(text).joined(separator: " ")
    }

    /// The text on lines of its own.
    static func lines(_ text: some StringProtocol) -> [String] {
        var lines: [String] = []
        var current = String.UnicodeScalarView()
        var previous: Unicode.Scalar = " "
        for scalar in text.unicodeScalars {
            switch scalar {
            // The second half of a line break that was counted already.
            case "\n" where previous == "\r": break
            case "\n", "\r", "\u{2028}", "\u{2029}", "\u{85}", "\u{0B}", "\u{0C}":
                lines.append(String(current))
                current = String.UnicodeScalarView()
            case "\t": current.append(" ")
            default: current.append(safe(scalar))
            }
            previous = scalar
        }
        return lines + [String(current)]
    }

    /// Escapes inside JSON text what a terminal would obey; JSON itself escapes only what is below U+0020.
    static func json(_ text: String) -> String {
        guard text.unicodeScalars.contains(where: { isUnsafe($0) }) else { return text }
        var result = ""
        for scalar in text.unicodeScalars {
            if isUnsafe(scalar) {
                // All of these lie below U+10000 and, in JSON, inside strings only.
                let digits = String(scalar.value, radix: 16)
                result += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
            } else {
                result.unicodeScalars.append(scalar)
            }
        }
        return result
    }

    private static func safe(_ scalar: Unicode.Scalar) -> Unicode.Scalar {
        guard isUnsafe(scalar) else { return scalar }
        switch scalar.value {
        // U+2400 and the following 31 are the pictures of the control characters.
        case 0x00...0x1F: return Unicode.Scalar(0x2400 + scalar.value) ?? "\u{FFFD}"
        case 0x7F: return "\u{2421}"
        default: return "\u{FFFD}"
        }
    }

    private static func isUnsafe(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        case 0x00...0x1F, 0x7F...0x9F: true
        // Line and paragraph separators; overrides and isolates of the writing direction.
        case 0x2028, 0x2029, 0x202A...0x202E, 0x2066...0x2069: true
        default: false
        }
    }
}
