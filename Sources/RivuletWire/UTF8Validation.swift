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
        if unsafe Self.areWellFormed(bytes, from: start) {
            self = .wellFormed
            return
        }
        // Short, or at fault somewhere: the slow way finds the place.
        var index = start
        while index < bytes.count {
            let length = unsafe Self.sequenceLength(bytes, at: index)
            guard length > 0 else {
                self = .invalid(index)
                return
            }
            index &+= length
        }
        self = .wellFormed
    }

    /// Whether everything from an index on is well-formed, sixteen bytes at a time; false also for a short text.
    ///
    /// Each byte is judged by the three before it. The index is the begin of a sequence.
    @inline(__always)
    private static func areWellFormed(_ bytes: UnsafeRawBufferPointer, from start: Int) -> Bool {
        let count = bytes.count
        guard count >= 19 else { return false }
        // The first block needs three bytes before it: what lies before the index is ASCII, and two characters may
        // have to be read one by one.
        var index = start
        while index < 3 {
            let length = unsafe sequenceLength(bytes, at: index)
            guard length > 0 else { return false }
            index &+= length
        }
        var faults = SIMD16<UInt8>()
        while index &+ 16 <= count {
            // In bounds: 3 ≤ index and index + 16 ≤ count. Nothing can be wrong with ASCII behind ASCII.
            let words = unsafe bytes.word(at: index) | bytes.word(at: index &+ 8)
            if unsafe (words | UInt64(bytes[index &- 1] | bytes[index &- 2] | bytes[index &- 3])) & highBits
                != 0
            {
                faults |= unsafe Self.faults(bytes, at: index)
            }
            index &+= 16
        }
        // In bounds: 19 ≤ count. The last block overlaps the one before it.
        faults |= unsafe Self.faults(bytes, at: count &- 16)
        // A sequence that the end cuts.
        let isCut = unsafe bytes[count &- 1] >= 0xC0 || bytes[count &- 2] >= 0xE0 || bytes[count &- 3] >= 0xF0
        let words = unsafe unsafeBitCast(faults, to: SIMD2<UInt64>.self)
        return words[0] | words[1] == 0 && !isCut
    }

    /// Which of sixteen bytes do not suit the three before each of them: 0 for those that do.
    ///
    /// The caller proves that three bytes lie before the index and sixteen from it on.
    @inline(__always)
    private static func faults(_ bytes: UnsafeRawBufferPointer, at index: Int) -> SIMD16<UInt8> {
        typealias Block = SIMD16<UInt8>
        let byte = unsafe bytes.loadUnaligned(fromByteOffset: index, as: Block.self)
        let first = unsafe bytes.loadUnaligned(fromByteOffset: index &- 1, as: Block.self)
        let second = unsafe bytes.loadUnaligned(fromByteOffset: index &- 2, as: Block.self)
        let third = unsafe bytes.loadUnaligned(fromByteOffset: index &- 3, as: Block.self)
        // Vectors on both sides, made of words: the operators with a number on the right are generic and were never
        // specialised, and `init(repeating:)` takes microseconds in a debug build.
        func all(_ value: UInt8) -> Block {
            let word = UInt64(value) &* 0x0101_0101_0101_0101
            return unsafe unsafeBitCast((word, word), to: Block.self)
        }
        // As signed numbers, the bytes that continue a sequence are the lowest ones.
        typealias SignedBlock = SIMD16<Int8>
        let signed = unsafe unsafeBitCast(byte, to: SignedBlock.self)
        let isContinuation = unsafe signed .< unsafeBitCast(all(0xC0), to: SignedBlock.self)
        let mustContinue = first .>= all(0xC0) .| (second .>= all(0xE0)) .| (third .>= all(0xF0))
        // What follows these four leads has a narrower range; C0, C1 and F5 and above lead nothing.
        let isOverlong =
            (first .== all(0xE0) .& (byte .< all(0xA0))) .| (first .== all(0xF0) .& (byte .< all(0x90)))
        let isTooHigh =
            (first .== all(0xED) .& (byte .>= all(0xA0))) .| (first .== all(0xF4) .& (byte .>= all(0x90)))
        let isNoLead = (byte .== all(0xC0)) .| (byte .== all(0xC1)) .| (byte .>= all(0xF5))
        let isFault = (isContinuation .^ mustContinue) .| isOverlong .| isTooHigh .| isNoLead
        // A mask is a vector of bytes that are 0 or −1.
        return unsafe unsafeBitCast(isFault, to: Block.self)
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
