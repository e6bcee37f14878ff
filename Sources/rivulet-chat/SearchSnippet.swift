import Foundation

/// The part of a message around what was searched for, with the hits in it.
nonisolated struct SearchSnippet: Equatable {
    /// How many characters stand before the first hit at most.
    static let leadMax = 18
    /// How many characters a snippet has at most.
    static let characterCountMax = 160
    /// How many terms are marked; more are searched for and not marked.
    static let termCountMax = 16

    /// The text, in one line.
    var text: String
    /// The hits, in bytes of the text's UTF-8, none within another.
    var hits: [Range<Int>]

    /// Cuts a text for a row.
    init(of text: String, query: String) {
        let terms = Self.terms(of: query)
        let line = Self.line(text)
        guard let first = Self.matches(of: terms, in: line).first else {
            self.text = String(line.prefix(Self.characterCountMax))
            hits = []
            return
        }
        let lead = line.distance(from: line.startIndex, to: first.lowerBound)
        var start = line.startIndex
        if lead > Self.leadMax {
            start = line.index(first.lowerBound, offsetBy: -Self.leadMax)
            // A word is not cut where there is a space close by.
            if let space = line[start..<first.lowerBound].firstIndex(of: " ") {
                start = line.index(after: space)
            }
        }
        let cut = String(line[start...].prefix(Self.characterCountMax))
        let shown = (start > line.startIndex ? "…" : "") + cut
        self.text = shown
        hits = Self.matches(of: terms, in: shown).map { range in
            shown.utf8.distance(
                from: shown.startIndex, to: range.lowerBound)..<shown.utf8.distance(
                    from: shown.startIndex, to: range.upperBound)
        }
    }

    /// Only a stretch of a long text is looked at: enough for what a search can have found near its beginning.
    private static let lookedAtMax = 20_000

    private static func line(_ text: String) -> String {
        String(text.prefix(lookedAtMax).map { $0.isNewline || $0 == "\t" ? " " : $0 })
    }

    /// What was typed, cut at spaces, without the punctuation around.
    static func terms(of query: String) -> [String] {
        query.split(whereSeparator: \.isWhitespace).prefix(termCountMax).map { word in
            String(
                word.drop { !$0.isLetter && !$0.isNumber }.reversed().drop { !$0.isLetter && !$0.isNumber }
                    .reversed())
        }.filter { !$0.isEmpty }
    }

    /// Where the terms are, in order: a word of letters counts where a word begins with it, characters of a script
    /// without spaces anywhere.
    private static func matches(of terms: [String], in line: String) -> [Range<String.Index>] {
        var found: [Range<String.Index>] = []
        for term in terms {
            var from = line.startIndex
            while from < line.endIndex,
                let range = line.range(
                    of: term, options: [.caseInsensitive, .diacriticInsensitive], range: from..<line.endIndex)
            {
                if isWordStart(range.lowerBound, in: line) { found.append(range) }
                from = range.upperBound > from ? range.upperBound : line.index(after: from)
            }
        }
        found.sort { $0.lowerBound < $1.lowerBound }
        return found.reduce(into: []) { kept, range in
            if kept.last.map({ $0.upperBound <= range.lowerBound }) ?? true { kept.append(range) }
        }
    }

    private static func isWordStart(_ index: String.Index, in line: String) -> Bool {
        guard index > line.startIndex, line[index].isLetter || line[index].isNumber else { return true }
        guard !isWithoutSpaces(line[index]) else { return true }
        let before = line[line.index(before: index)]
        return !(before.isLetter || before.isNumber) || isWithoutSpaces(before)
    }

    /// Whether a character belongs to a script that puts no spaces between words.
    private static func isWithoutSpaces(_ character: Character) -> Bool {
        guard let scalar = character.unicodeScalars.first else { return false }
        return switch scalar.value {
        case 0x0E00...0x0EFF, 0x1000...0x109F, 0x1780...0x17FF, 0x3005...0x3007, 0x3040...0x30FF,
            0x3400...0x4DBF, 0x4E00...0x9FFF, 0xAC00...0xD7AF, 0xF900...0xFAFF, 0x20000...0x323AF:
            true
        default: false
        }
    }
}
