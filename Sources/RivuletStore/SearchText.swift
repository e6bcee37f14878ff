import RivuletModel

/// How text is cut for the search.
///
/// SQLite's tokeniser cuts words at spaces and punctuation, so a Chinese sentence would be one word. Here each
/// character of a script without spaces becomes a word of its own; a Chinese word is then found as a phrase, and a
/// single character as itself. The cut of a released version must not change, since rows are taken out of the index
/// by cutting their text again: a change needs a migration that builds the index anew.
enum SearchText {
    /// How much of a long text the search knows.
    static let bytesMax = 60_000

    /// The text with spaces around every character that is a word of its own.
    static func segmented(_ text: String) -> String {
        // Most Latin text needs no cutting at all.
        if text.utf8.count <= bytesMax, text.utf8.allSatisfy({ $0 < 0x80 && $0 != 0 }) { return text }
        var result: [UInt8] = []
        result.reserveCapacity(min(text.utf8.count, bytesMax) * 2)
        for scalar in text.unicodeScalars {
            guard result.count < bytesMax else { break }
            // A zero character would end the text for SQLite.
            guard scalar.value != 0 else {
                result.append(0x20)
                continue
            }
            let isWord = isWord(scalar)
            // SQLite takes what its tables do not know for letters, which new emoji are not.
            guard scalar.value < 0x80 || isWord || isLetter(scalar) || isMark(scalar) else {
                result.append(0x20)
                continue
            }
            if isWord { result.append(0x20) }
            result.append(contentsOf: UTF8.encode(scalar) ?? UTF8.encodedReplacementCharacter)
            if isWord { result.append(0x20) }
        }
        return String(decoding: result, as: UTF8.self)
    }

    /// Whether the scalar stands for itself: Han, kana, Hangul, Thai, Lao, Khmer and Burmese.
    static func isWord(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        case 0..<0x0E00: false
        case 0x0E00...0x0EFF, 0x1000...0x109F, 0x1780...0x17FF: true
        case 0x3005...0x3007, 0x3040...0x30FF, 0x31F0...0x31FF: true
        case 0x3400...0x4DBF, 0x4E00...0x9FFF, 0xAC00...0xD7AF, 0xF900...0xFAFF: true
        case 0xFF66...0xFF9D, 0x1B000...0x1B16F, 0x20000...0x323AF: true
        default: false
        }
    }

    /// Letters and digits: what SQLite's tokeniser takes for the beginning of a word.
    static func isLetter(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.properties.generalCategory {
        case .uppercaseLetter, .lowercaseLetter, .titlecaseLetter, .modifierLetter, .otherLetter: true
        case .decimalNumber, .letterNumber, .otherNumber, .privateUse: true
        default: false
        }
    }

    /// A mark belongs to the letter before it; alone it is nothing that can be found.
    static func isMark(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.properties.generalCategory {
        case .nonspacingMark, .spacingMark, .enclosingMark: true
        default: false
        }
    }

    /// The words by which a search is narrowed: conversation, author, and kind unless it is text.
    static func scope(of row: MessageRow) -> String {
        let scope = "\(session(row.session)) \(sender(row.sender))"
        return row.kind == MessageKind.text.rawValue ? scope : "\(scope) \(kind(row.kind))"
    }

    static func session(_ number: Int64) -> String {
        "s\(number)"
    }

    static func sender(_ user: Int64) -> String {
        "u\(UInt64(bitPattern: user))"
    }

    /// Letters and digits alone: anything else would cut the word.
    static func kind(_ name: String) -> String {
        var word = "k"
        for byte in name.utf8 {
            let isPlain = (0x30...0x39).contains(byte) || (0x61...0x7A).contains(byte | 0x20)
            word.unicodeScalars.append(isPlain ? Unicode.Scalar(byte) : "x")
        }
        return word
    }
}

/// What a user typed into a search field, as phrases: each run of letters without a space is one.
struct SearchPhrases: Equatable {
    struct Phrase: Equatable {
        /// The words, in this order and side by side.
        var words: [String]
        /// Whether the last word may go on.
        var isPrefix: Bool
    }

    /// How many phrases are looked for; more are left out.
    static let phrasesMax = 16

    var phrases: [Phrase] = []

    /// The phrases of what was typed.
    init(_ text: String) {
        self.init(cutting: String(text.prefix(500)), phrasesMax: Self.phrasesMax)
    }

    /// All words of a text that is searched.
    init(longText text: String) {
        self.init(cutting: text, phrasesMax: .max)
    }

    private init(cutting text: String, phrasesMax: Int) {
        for chunk in text.split(whereSeparator: { $0.isWhitespace }) {
            var words: [String] = []
            var word = ""
            var isOpen = false
            for scalar in chunk.unicodeScalars {
                isOpen = false
                if SearchText.isWord(scalar) {
                    if !word.isEmpty { words.append(word) }
                    words.append(String(Character(scalar)))
                    word = ""
                } else if SearchText.isLetter(scalar) || !word.isEmpty && SearchText.isMark(scalar) {
                    word.unicodeScalars.append(scalar)
                    isOpen = true
                } else if !word.isEmpty {
                    words.append(word)
                    word = ""
                }
            }
            if !word.isEmpty { words.append(word) }
            guard !words.isEmpty, phrases.count < phrasesMax else { continue }
            phrases.append(Phrase(words: words, isPrefix: isOpen))
        }
    }

    /// The phrases in the language of FTS5; words hold letters alone, so nothing needs escaping.
    var expression: String {
        phrases.map { phrase in
            "\"\(phrase.words.joined(separator: " "))\"\(phrase.isPrefix ? " *" : "")"
        }.joined(separator: " AND ")
    }
}
