/// Turns the bytes of a keyboard into characters, wherever they were split; what is no UTF-8 becomes U+FFFD.
struct KeyDecoder {
    private var bytes: [UInt8] = []
    private var start = 0

    mutating func append(_ more: some Sequence<UInt8>) {
        bytes.removeFirst(start)
        start = 0
        bytes += more
    }

    /// The next character; nil when more bytes are needed.
    mutating func next() -> Unicode.Scalar? {
        guard start < bytes.count else { return nil }
        let lead = bytes[start]
        let count =
            switch lead {
            case 0xC2...0xDF: 2
            case 0xE0...0xEF: 3
            case 0xF0...0xF4: 4
            default: 1
            }
        for index in start + 1..<start + count {
            guard index < bytes.count else { return nil }
            // A byte that does not continue the character begins the next one.
            guard bytes[index] & 0xC0 == 0x80 else { return take(index - start) }
        }
        return take(count)
    }

    private mutating func take(_ count: Int) -> Unicode.Scalar {
        let slice = bytes[start..<start + count]
        start += count
        let text = String(decoding: slice, as: UTF8.self).unicodeScalars
        guard text.count == 1, let scalar = text.first else { return "\u{FFFD}" }
        return scalar
    }
}
