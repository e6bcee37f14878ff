/// How much of a text is laid out, and in which pieces, so that no text holds the program up.
///
/// Pango's work grows with the square of the length of some texts: a piece of one font without a place to break, marks
/// on one letter, directions within directions. So long texts are cut into pieces that Pango deals with one by one,
/// and a text ends where it becomes something that nobody can read.
nonisolated struct TextLimits {
    /// The most of a text that is shown, in UTF-8 bytes.
    static let byteCountMax = 64 * 1_024
    /// The most parts that are shown of one character, such as marks on a letter or joined emoji.
    static let partCountMax = 64
    /// The most signs that begin a stretch of another direction.
    static let embeddingCountMax = 64
    /// The most ends of lines that are shown.
    static let lineCountMax = 1_000
    /// The length from which a text is cut, and that of a piece unless no place for a cut is found.
    static let pieceByteCount = 512
    /// The length at which a piece is cut wherever it may be.
    private static let pieceByteCountMax = 4_096

    /// How many bytes are shown.
    private(set) var byteCount = 0
    /// Where pieces begin, 0 left out, in bytes.
    private(set) var cuts: [Int] = []

    private var pieceStart = 0
    private var lastGap = 0
    private var partCount = 0
    private var embeddingCount = 0
    private var lineCount = 0
    private var joinsNext = false

    init(_ text: String) {
        guard text.utf8.count > Self.pieceByteCount else {
            byteCount = text.utf8.count
            return
        }
        for scalar in text.unicodeScalars {
            let length = UTF8.width(scalar)
            guard byteCount + length <= Self.byteCountMax, take(scalar) else { break }
            byteCount += length
            if scalar == " " || scalar == "\n" { lastGap = byteCount }
        }
    }

    /// Takes the next scalar; false when the text ends before it.
    private mutating func take(_ scalar: Unicode.Scalar) -> Bool {
        let kind = Self.kind(of: scalar)
        let isPart = kind == .part || joinsNext
        joinsNext = scalar == "\u{200D}"
        partCount = isPart ? partCount + 1 : 0
        if kind == .embedding { embeddingCount += 1 }
        if Self.endsLine(scalar) { lineCount += 1 }
        guard partCount <= Self.partCountMax, embeddingCount <= Self.embeddingCountMax,
            lineCount <= Self.lineCountMax
        else { return false }
        let length = byteCount - pieceStart
        if length >= Self.pieceByteCount {
            if lastGap > pieceStart {
                cut(at: lastGap)
            } else if !isPart, kind == .plain || length >= Self.pieceByteCountMax {
                cut(at: byteCount)
            }
        }
        return true
    }

    private mutating func cut(at place: Int) {
        cuts.append(place)
        pieceStart = place
    }

    private enum Kind {
        /// It can begin a piece.
        case plain
        /// It belongs to what stands before it.
        case part
        /// Its form depends on its neighbours, so that a cut would be seen.
        case joining
        /// A sign that begins a stretch of another direction.
        case embedding
    }

    private static func kind(of scalar: Unicode.Scalar) -> Kind {
        switch scalar.value {
        case ..<0x300: return .plain
        case 0x200D: return .part
        case 0x202A...0x202B, 0x202D...0x202E, 0x2066...0x2068: return .embedding
        // Scripts without marks, and the most frequent ones.
        case 0x3400...0x9FFF, 0xAC00...0xD7A3: return .plain
        // Flags are made of two, Korean syllables of two or three.
        case 0x1F1E6...0x1F1FF, 0x1100...0x11FF: return .joining
        case 0x1F3FB...0x1F3FF: return .part
        // From Hebrew and Arabic to the scripts of India and its neighbours.
        case 0x590...0x10FF, 0x1700...0x1CFF, 0x200B...0x206F, 0xA800...0xABFF, 0xFB1D...0xFDFF,
            0xFE70...0xFEFF,
            0x1_0800...0x1_1FFF, 0x1_E800...0x1_EFFF:
            return isMark(scalar) ? .part : .joining
        default: return isMark(scalar) ? .part : .plain
        }
    }

    private static func endsLine(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        case 0xA...0xD, 0x85, 0x2028...0x2029: true
        default: false
        }
    }

    private static func isMark(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.properties.generalCategory {
        case .nonspacingMark, .enclosingMark, .spacingMark: true
        default: false
        }
    }
}
