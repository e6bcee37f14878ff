/// A text message without anything unusual, read in one pass over its bytes.
///
/// Nearly all messages are `{"text":"…","uuid":"…"}`, and reading one with `JSONDecoder` took a third of a first sync.
/// Whatever is not exactly of this form (other keys, other types, a key twice, a surrogate pair) is nil here, and left to
/// the decoder; a test compares the two.
struct FlatText {
    private let bytes: UnsafeBufferPointer<UInt8>
    private var index = 0

    /// The message; nil when it must be read by the decoder.
    static func read(_ raw: String) -> DecodedContent? {
        var raw = raw
        return raw.withUTF8 { bytes in
            var reader = FlatText(bytes: bytes)
            return reader.object()
        }
    }

    private init(bytes: UnsafeBufferPointer<UInt8>) {
        self.bytes = bytes
    }

    private mutating func object() -> DecodedContent? {
        var text: String?
        var envelope = ContentEnvelope()
        var hasUUID = false
        var hasReference = false
        skipSpace()
        guard take(UInt8(ascii: "{")) else { return nil }
        repeat {
            skipSpace()
            guard let key = string() else { return nil }
            skipSpace()
            guard take(UInt8(ascii: ":")) else { return nil }
            skipSpace()
            guard let value = string() else { return nil }
            switch key {
            case "text" where text == nil: text = value
            case "uuid" where !hasUUID:
                hasUUID = true
                envelope.uuid = value.isEmpty ? nil : value
            case "reference" where !hasReference:
                hasReference = true
                envelope.reference = value.isEmpty ? nil : value
            case "fallback" where envelope.fallback == nil: envelope.fallback = value
            default: return nil
            }
            skipSpace()
        } while take(UInt8(ascii: ","))
        guard take(UInt8(ascii: "}")) else { return nil }
        skipSpace()
        guard index == bytes.count, let text else { return nil }
        return DecodedContent(envelope: envelope, body: .message(.text(TextContent(text))))
    }

    private mutating func take(_ byte: UInt8) -> Bool {
        guard index < bytes.count, bytes[index] == byte else { return false }
        index += 1
        return true
    }

    private mutating func skipSpace() {
        while index < bytes.count {
            switch bytes[index] {
            case 0x20, 0x09, 0x0A, 0x0D: index += 1
            default: return
            }
        }
    }

    /// A string; its bytes are UTF-8, since they are those of a string.
    private mutating func string() -> String? {
        guard take(UInt8(ascii: "\"")) else { return nil }
        let start = index
        while index < bytes.count {
            switch bytes[index] {
            case UInt8(ascii: "\""):
                index += 1
                return String(decoding: bytes[start..<(index - 1)], as: UTF8.self)
            case UInt8(ascii: "\\"): return escapedString(from: start)
            case 0..<0x20: return nil
            default: index += 1
            }
        }
        return nil
    }

    /// A string with escapes, of which the first stands here.
    private mutating func escapedString(from start: Int) -> String? {
        var text = Array(bytes[start..<index])
        while index < bytes.count {
            let byte = bytes[index]
            index += 1
            switch byte {
            case UInt8(ascii: "\""): return String(decoding: text, as: UTF8.self)
            case UInt8(ascii: "\\"):
                guard let scalar = escape() else { return nil }
                text.append(contentsOf: UTF8.encode(scalar) ?? UTF8.encodedReplacementCharacter)
            case 0..<0x20: return nil
            default: text.append(byte)
            }
        }
        return nil
    }

    /// What stands behind a backslash; nil for surrogates and everything else that needs a second look.
    private mutating func escape() -> Unicode.Scalar? {
        guard index < bytes.count else { return nil }
        let byte = bytes[index]
        index += 1
        switch byte {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): return Unicode.Scalar(byte)
        case UInt8(ascii: "b"): return "\u{8}"
        case UInt8(ascii: "f"): return "\u{C}"
        case UInt8(ascii: "n"): return "\n"
        case UInt8(ascii: "r"): return "\r"
        case UInt8(ascii: "t"): return "\t"
        case UInt8(ascii: "u"):
            guard bytes.count - index >= 4 else { return nil }
            var value: UInt32 = 0
            for digit in bytes[index..<(index + 4)] {
                switch digit {
                case 0x30...0x39: value = value << 4 | UInt32(digit - 0x30)
                case 0x41...0x46, 0x61...0x66: value = value << 4 | UInt32((digit | 0x20) - 0x57)
                default: return nil
                }
            }
            index += 4
            return Unicode.Scalar(value)
        default: return nil
        }
    }
}
