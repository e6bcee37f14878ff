public import RivuletFlow
public import RivuletModel

/// What the text of a message is and how it is set: one answer for the thread that measures and the one that draws.
public nonisolated enum MessageText {
    /// The greatest number of emoji that are shown large when a message has nothing else.
    public static let largeEmojiCountMax = 3

    /// The text that is shown in the bubble, in the words of the interface where nobody wrote it.
    public static func text(of message: Message, _ strings: InterfaceStrings = .english) -> String {
        strings.text(of: message)
    }

    /// What assistive technology says of the content.
    public static func label(of message: Message, _ strings: InterfaceStrings) -> String {
        if case .audio(let sound) = message.content {
            return strings[.voiceLabel, count: max(0, sound.durationSeconds)]
        }
        guard let face = CardFace.of(message, strings) else { return text(of: message, strings) }
        return [CardFace.line(strings.summary(of: message.content), else: ""), face.detail]
            .filter { !$0.isEmpty }.joined(separator: strings[.separator])
    }

    /// How the text is set, with the reader's text size in it.
    public static func style(of message: Message, _ style: ComponentStyle, scale: Double) -> PlatformTextStyle
    {
        if case .text(let content) = message.content, isLargeEmoji(content.text) {
            return PlatformTextStyle(size: 40 * scale, lineHeight: 52 * scale)
        }
        return PlatformTextStyle(
            size: style.fontSize * scale, lineHeight: style.lineHeight * scale, isBold: style.isBold)
    }

    /// Whether a text is nothing but a few emoji.
    public static func isLargeEmoji(_ text: String) -> Bool {
        guard text.utf8.count <= 96, text.unicodeScalars.first(where: { $0 != " " })?.mayBeginEmoji ?? false
        else {
            return false
        }
        let characters = text.filter { !$0.isWhitespace }
        guard !characters.isEmpty, characters.count <= largeEmojiCountMax else { return false }
        return characters.allSatisfy(\.isEmoji)
    }

    /// The addresses and mentions in the text of a message, as stretches of bytes.
    public static func spans(
        of message: Message, in text: String, link: PlatformColor?, mention: PlatformColor?
    )
        -> [PlatformTextSpan]
    {
        var spans = links(in: text).map { PlatformTextSpan($0, .link(link)) }
        if case .text(let content) = message.content {
            for stretch in mentions(of: content, in: text) {
                spans.append(PlatformTextSpan(stretch, .bold))
                if let mention { spans.append(PlatformTextSpan(stretch, .colored(mention))) }
            }
        }
        return spans
    }

    /// How many different names and how many addresses of one message are looked for.
    ///
    /// A peer can write thousands, and each costs a search, and a stretch of its own to lay out.
    static let spanCountMax = 128

    /// The stretches of bytes at which somebody is named, the first one of each name.
    private static func mentions(of content: TextContent, in text: String) -> [Range<Int>] {
        let bytes = Array(text.utf8)
        var names: Set<String> = []
        var found: [Range<Int>] = []
        for one in content.mentions {
            guard names.count < spanCountMax else { break }
            guard !one.name.isEmpty, names.insert(one.name).inserted else { continue }
            let wanted = Array(("@" + one.name).utf8)
            if let stretch = first(wanted, in: bytes) { found.append(stretch) }
        }
        return found
    }

    private static func first(_ wanted: [UInt8], in bytes: [UInt8]) -> Range<Int>? {
        guard wanted.count <= bytes.count else { return nil }
        for start in 0...(bytes.count - wanted.count)
        where bytes[start] == wanted[0] && bytes[start..<(start + wanted.count)].elementsEqual(wanted) {
            return start..<(start + wanted.count)
        }
        return nil
    }

    /// The stretches of bytes that are addresses of web pages.
    static func links(in text: String) -> [Range<Int>] {
        let bytes = Array(text.utf8)
        guard bytes.count >= 8 else { return [] }
        var found: [Range<Int>] = []
        var position = 0
        while position < bytes.count, found.count < spanCountMax {
            guard bytes[position] == UInt8(ascii: "h"), let length = schemeLength(bytes[position...]) else {
                position += 1
                continue
            }
            var end = position + length
            while end < bytes.count, isPartOfAddress(bytes[end]) { end += 1 }
            while end > position + length, isClosing(bytes[end - 1]) { end -= 1 }
            if end > position + length { found.append(position..<end) }
            position = max(end, position + 1)
        }
        return found
    }

    private static func schemeLength(_ bytes: ArraySlice<UInt8>) -> Int? {
        for scheme in ["https://", "http://"] where bytes.starts(with: scheme.utf8) {
            return scheme.utf8.count
        }
        return nil
    }

    private static func isPartOfAddress(_ byte: UInt8) -> Bool {
        byte > 0x20 && byte < 0x7F
            && ![UInt8(ascii: "<"), UInt8(ascii: ">"), UInt8(ascii: "\"")].contains(byte)
    }

    private static func isClosing(_ byte: UInt8) -> Bool {
        ".,;:!?)]}'".utf8.contains(byte)
    }
}

extension Unicode.Scalar {
    /// Whether an emoji may begin with this one or white space stands here; said at once of what most texts begin with.
    fileprivate nonisolated var mayBeginEmoji: Bool {
        isASCII ? !properties.isAlphabetic : !(0x4E00...0x9FFF).contains(value)
    }
}

extension Character {
    fileprivate nonisolated var isEmoji: Bool {
        guard let first = unicodeScalars.first else { return false }
        if first.properties.isEmojiPresentation { return true }
        // A digit is an emoji scalar, too, so that one scalar alone must be shown as one by itself.
        return first.properties.isEmoji && unicodeScalars.count > 1 && first.value > 0xFF
    }
}
