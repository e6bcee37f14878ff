import RivuletModel

/// How text is cut for the search.
///
/// SQLite's tokeniser cuts words at spaces and punctuation, so a Chinese sentence would be one word. Here each
/// character of a script without spaces becomes a word of its own; a Chinese word is then found as a phrase, and a
/// single character as itself. The cut of a released version must not change, since rows are taken out of the index
/// by cutting their text again: a change needs a migration that builds the index anew.
enum SearchText {
    /// How much of a long text the search knows.
    static let charactersMax = 20_000

    /// The text with spaces around every character that is a word of its own.
    static func segmented(_ text: String) -> String {
        var result = String.UnicodeScalarView()
        for scalar in text.unicodeScalars.prefix(charactersMax) {
            if isWord(scalar) {
                result.append(" ")
                result.append(scalar)
                result.append(" ")
            } else {
                // A zero character would end the text for SQLite.
                result.append(scalar.value == 0 ? " " : scalar)
            }
        }
        return String(result)
    }

    /// Whether the scalar stands for itself: Han, kana, Hangul, Thai, Lao, Khmer and Burmese.
    static func isWord(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        case 0x0E00...0x0EFF, 0x1000...0x109F, 0x1780...0x17FF: true
        case 0x3005...0x3007, 0x3040...0x30FF, 0x31F0...0x31FF: true
        case 0x3400...0x4DBF, 0x4E00...0x9FFF, 0xAC00...0xD7AF, 0xF900...0xFAFF: true
        case 0xFF66...0xFF9D, 0x1B000...0x1B16F, 0x20000...0x323AF: true
        default: false
        }
    }

    /// The words by which a search is narrowed: conversation, author and kind.
    static func scope(of row: MessageRow) -> String {
        "\(session(row.session)) \(sender(row.sender)) \(kind(row.kind))"
    }

    static func session(_ number: Int64) -> String {
        "s\(number)"
    }

    static func sender(_ user: Int64) -> String {
        "u\(UInt64(bitPattern: user))"
    }

    static func kind(_ name: String) -> String {
        // Letters and digits alone: anything else would cut the word.
        "k"
            + name.utf8.map {
                (0x30...0x39).contains($0) || (0x61...0x7A).contains($0 | 0x20)
                    ? String(UnicodeScalar($0)) : "x"
            }
            .joined()
    }
}
