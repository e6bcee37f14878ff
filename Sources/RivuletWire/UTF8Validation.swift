/// What a check of UTF-8 found.
enum UTF8Verdict {
    /// Every byte is below 0x80.
    case ascii
    /// Well-formed, and not all ASCII.
    case wellFormed
    /// Where the first sequence begins that is not well-formed, counted from the first byte.
    case invalid(Int)
}

/// The bits that no byte of ASCII has.
private let highBits: UInt64 = 0x8080_8080_8080_8080

extension UTF8Verdict {
    /// Checks bytes as the Unicode standard's table 3-7 says: no overlong forms, no surrogates, nothing above U+10FFFF.
    ///
    /// The standard library's own check reads byte by byte behind the first that is not ASCII; Chinese text, three
    /// bytes a character, is what messages are made of, so two such characters are checked with one load here.
    @inline(__always)
    init(_ bytes: UnsafeRawBufferPointer) {
        let count = bytes.count
        let index = unsafe Self.asciiCount(bytes)
        self = index == count ? .ascii : unsafe UTF8Verdict(bytes, from: index)
    }

    /// How many bytes at the front are certainly ASCII: all, or fewer than eight less than there are.
    @inline(__always)
    private static func asciiCount(_ bytes: UnsafeRawBufferPointer) -> Int {
        let count = bytes.count
        var index = 0
        while index &+ 32 <= count {
            // In bounds: index + 32 ≤ count.
            let first = unsafe bytes.word(at: index) | bytes.word(at: index &+ 8)
            let second = unsafe bytes.word(at: index &+ 16) | bytes.word(at: index &+ 24)
            if (first | second) & highBits != 0 { return index }
            index &+= 32
        }
        while index &+ 8 <= count {
            // In bounds: index + 8 ≤ count.
            if unsafe bytes.word(at: index) & highBits != 0 { return index }
            index &+= 8
        }
        // In bounds: the last word overlaps the one before it; shorter texts are read byte by byte.
        if count >= 8 { return unsafe bytes.word(at: count &- 8) & highBits == 0 ? count : index }
        while index < count, unsafe bytes[index] < 0x80 { index &+= 1 }
        return index
    }

    /// Checks the bytes from the first on that is not ASCII.
    @inline(never)
    private init(_ bytes: UnsafeRawBufferPointer, from start: Int) {
        let count = bytes.count
        var index = start
        while index < count {
            // In bounds: index + 14 ≤ count, and the second word begins at index + 6.
            while index &+ 14 <= count,
                unsafe Self.areCommon(bytes.word(at: index), bytes.word(at: index &+ 6))
            {
                index &+= 12
            }
            while index &+ 8 <= count {
                // In bounds: index + 8 ≤ count.
                let word = unsafe bytes.word(at: index)
                if Self.isTwoOfThree(word) {
                    index &+= 6
                } else if word & highBits == 0 {
                    index &+= 8
                } else {
                    // The ASCII before the next sequence, if any.
                    index &+= (word & highBits).trailingZeroBitCount / 8
                    break
                }
            }
            // In bounds: the last eight bytes; those before the index are shifted out.
            if index &+ 8 > count, count >= 8,
                unsafe bytes.word(at: count &- 8) >> (8 &* UInt64(8 &+ index &- count)) & highBits == 0
            {
                break
            }
            let length = unsafe Self.sequenceLength(bytes, at: index)
            guard length > 0 else {
                self = .invalid(index)
                return
            }
            index &+= length
        }
        self = .wellFormed
    }

    /// Whether the low six bytes of both words are two sequences of three bytes whose leads are neither E0 nor ED.
    @inline(__always)
    private static func areCommon(_ first: UInt64, _ second: UInt64) -> Bool {
        let shape = (first ^ 0x80_80E0_8080E0) | (second ^ 0x80_80E0_8080E0)
        guard shape & 0xC0_C0F0_C0C0F0 == 0 else { return false }
        // Any lead's low nibble plus 15 carries into bit 4 unless it is 0; so does its difference from 13.
        let nibbles: UInt64 = 0x0F00_000F
        let leads = (first & nibbles, second & nibbles)
        let carries =
            (leads.0 &+ nibbles) & (leads.1 &+ nibbles) & ((leads.0 ^ 0x0D00_000D) &+ nibbles)
            & ((leads.1 ^ 0x0D00_000D) &+ nibbles)
        return carries & 0x1000_0010 == 0x1000_0010
    }

    /// Whether the low six bytes are two sequences of three bytes, both well-formed.
    @inline(__always)
    private static func isTwoOfThree(_ word: UInt64) -> Bool {
        guard word & 0x00C0_C0F0_C0C0_F0 == 0x0080_80E0_8080_E0 else { return false }
        return isWellFormedThree(word) && isWellFormedThree(word >> 24)
    }

    /// Whether the second byte suits the lead: E0 wants A0 or more (else overlong), ED less than A0 (else a surrogate).
    @inline(__always)
    private static func isWellFormedThree(_ word: UInt64) -> Bool {
        let lead = word & 0x200F
        return lead != 0x0000 && lead != 0x200D
    }

    /// The length of the sequence at an index below the count; 0 when it is not well-formed.
    private static func sequenceLength(_ bytes: UnsafeRawBufferPointer, at index: Int) -> Int {
        // In bounds: the caller's index is, and every other index is checked against the count.
        let lead = unsafe bytes[index]
        let rest = bytes.count &- index
        func byte(_ place: Int) -> UInt8 { place < rest ? unsafe bytes[index &+ place] : 0 }
        func continues(_ place: Int) -> Bool { byte(place) & 0xC0 == 0x80 }
        switch lead {
        case 0x00...0x7F: return 1
        case 0xC2...0xDF: return continues(1) ? 2 : 0
        case 0xE0: return byte(1) & 0xE0 == 0xA0 && continues(2) ? 3 : 0
        case 0xED: return byte(1) & 0xE0 == 0x80 && continues(2) ? 3 : 0
        case 0xE1...0xEF: return continues(1) && continues(2) ? 3 : 0
        case 0xF0: return byte(1) >= 0x90 && continues(1) && continues(2) && continues(3) ? 4 : 0
        case 0xF1...0xF3: return continues(1) && continues(2) && continues(3) ? 4 : 0
        case 0xF4: return byte(1) & 0xF0 == 0x80 && continues(2) && continues(3) ? 4 : 0
        default: return 0
        }
    }
}

extension String {
    /// Makes a text of bytes after one check of them; nil when they are not UTF-8.
    @inline(__always)
    init?(checking bytes: UnsafeRawBufferPointer) {
        switch unsafe UTF8Verdict(bytes) {
        case .ascii: self = unsafe String(known: bytes, isASCII: true)
        case .wellFormed: self = unsafe String(known: bytes, isASCII: false)
        case .invalid: return nil
        }
    }

    /// Copies bytes that were checked to be well-formed.
    @inline(never)
    private init(known bytes: UnsafeRawBufferPointer, isASCII: Bool) {
        if #available(macOS 26, iOS 26, *) {
            // The caller has checked the bytes, which is all that `unchecked` asks; it saves a second check.
            self = unsafe bytes.withMemoryRebound(to: UInt8.self) { bytes in
                unsafe String(copying: UTF8Span(unchecked: bytes.span, isKnownASCII: isASCII))
            }
        } else {
            self = unsafe String(decoding: bytes, as: UTF8.self)
        }
    }
}

extension UnsafeRawBufferPointer {
    /// Eight bytes as a little-endian word: the first byte is the lowest.
    ///
    /// The caller proves that they are in bounds.
    @inline(__always)
    fileprivate func word(at index: Int) -> UInt64 {
        UInt64(littleEndian: unsafe loadUnaligned(fromByteOffset: index, as: UInt64.self))
    }
}
