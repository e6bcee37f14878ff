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
        guard bytes.count >= 19 else { return false }
        // The first block needs three bytes before it: what lies before the index is ASCII, and two characters may
        // have to be read one by one.
        var index = start
        while index < 3 {
            let length = unsafe sequenceLength(bytes, at: index)
            guard length > 0 else { return false }
            index &+= length
        }
        var findings = Findings()
        unsafe findings.look(at: bytes, from: index)
        if findings.haveFault { return false }
        return findings.haveRareLead ? unsafe areWellFormedWithRareLeads(bytes, from: index) : true
    }

    /// The second look, which judges all of the standard's table 3-7: emoji and a few scripts need it.
    ///
    /// The index is at least 3 and the count at least 19.
    @inline(never)
    private static func areWellFormedWithRareLeads(_ bytes: UnsafeRawBufferPointer, from start: Int) -> Bool {
        let count = bytes.count
        var index = start
        var faults = Block()
        while index &+ 16 <= count {
            // In bounds: 3 ≤ index and index + 16 ≤ count.
            unsafe faults |= Self.faults(bytes, at: index)
            index &+= 16
        }
        // In bounds: 19 ≤ count. The last block overlaps the one before it.
        unsafe faults |= Self.faults(bytes, at: count &- 16)
        // A sequence that the end cuts.
        let isCut = unsafe bytes[count &- 1] >= 0xC0 || bytes[count &- 2] >= 0xE0 || bytes[count &- 3] >= 0xF0
        return faults.isZero && !isCut
    }

    /// Which of sixteen bytes do not suit the three before each of them: 0 for those that do.
    ///
    /// The caller proves that three bytes lie before the index and sixteen from it on.
    @inline(__always)
    private static func faults(_ bytes: UnsafeRawBufferPointer, at index: Int) -> Block {
        let byte = unsafe bytes.block(at: index)
        let first = unsafe bytes.block(at: index &- 1)
        let second = unsafe bytes.block(at: index &- 2)
        let third = unsafe bytes.block(at: index &- 3)
        let mustContinue = first .>= .all(0xC0) .| (second .>= .all(0xE0)) .| (third .>= .all(0xF0))
        // What follows these four leads has a narrower range; C0, C1 and F5 and above lead nothing.
        let isOverlong =
            (first .== .all(0xE0) .& (byte .< .all(0xA0))) .| (first .== .all(0xF0) .& (byte .< .all(0x90)))
        let isTooHigh =
            (first .== .all(0xED) .& (byte .>= .all(0xA0))) .| (first .== .all(0xF4) .& (byte .>= .all(0x90)))
        let isNoLead = (byte .== .all(0xC0)) .| (byte .== .all(0xC1)) .| (byte .>= .all(0xF5))
        return Block((byte.isContinuation .^ mustContinue) .| isOverlong .| isTooHigh .| isNoLead)
    }

    /// What a first look at a text found, gathered over its blocks.
    ///
    /// The look knows sequences of two and three bytes only and takes every lead for a good one; it notes the leads
    /// that need more. Most texts of most languages have none of those, and half of the work is saved.
    private struct Findings {
        /// Not zero where a byte continues nothing, or does not continue what it must.
        private var faults = Block()
        /// Not zero where a lead asks for a second look: C0, C1, E0, ED (and, as one comparison finds both, E1).
        private var rareLeads = Block()
        /// The highest byte at each place: F0 and above ask for a second look.
        private var highest = Block()

        var haveRareLead: Bool {
            !(rareLeads | Block(highest .>= .all(0xF0))).isZero
        }

        /// Whether something is wrong that a second look would find wrong, too.
        var haveFault: Bool {
            !faults.isZero && Block(highest .>= .all(0xF0)).isZero
        }

        /// Looks at everything from an index on, which is at least 3; the count is at least 19.
        @inline(__always)
        mutating func look(at bytes: UnsafeRawBufferPointer, from start: Int) {
            let count = bytes.count
            var index = start
            while index &+ 16 <= count {
                // In bounds: 3 ≤ index and index + 16 ≤ count.
                unsafe look(atBlock: bytes, at: index)
                index &+= 16
            }
            // In bounds: 19 ≤ count. The last block overlaps the one before it.
            unsafe look(atBlock: bytes, at: count &- 16)
            // A sequence that the end cuts.
            if unsafe bytes[count &- 1] >= 0xC0 || bytes[count &- 2] >= 0xE0 { faults = .all(0xFF) }
        }

        /// Looks at sixteen bytes; the caller proves that two lie before the index and sixteen from it on.
        @inline(__always)
        private mutating func look(atBlock bytes: UnsafeRawBufferPointer, at index: Int) {
            let byte = unsafe bytes.block(at: index)
            let first = unsafe bytes.block(at: index &- 1)
            let second = unsafe bytes.block(at: index &- 2)
            let mustContinue = first .>= .all(0xC0) .| (second .>= .all(0xE0))
            faults |= Block(byte.isContinuation .^ mustContinue)
            rareLeads |= Block((byte & .all(0xDE)) .== .all(0xC0)) | Block(byte .== .all(0xED))
            highest = pointwiseMax(highest, byte)
        }
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

/// Sixteen bytes, judged at once.
private typealias Block = SIMD16<UInt8>

extension Block {
    /// Sixteen times a byte.
    ///
    /// Made of words: the operators with a number on the right are generic and were never specialised, and
    /// `init(repeating:)` takes microseconds in a debug build.
    @inline(__always)
    fileprivate static func all(_ value: UInt8) -> Block {
        let word = UInt64(value) &* 0x0101_0101_0101_0101
        return unsafe unsafeBitCast((word, word), to: Block.self)
    }

    /// A mask as bytes: 0 for false, 0xFF for true.
    @inline(__always)
    fileprivate init(_ mask: SIMDMask<SIMD16<Int8>>) {
        self = unsafe unsafeBitCast(mask, to: Block.self)
    }

    /// Which bytes are 0x80 to 0xBF: as signed numbers, the lowest ones.
    @inline(__always)
    fileprivate var isContinuation: SIMDMask<SIMD16<Int8>> {
        unsafe unsafeBitCast(self, to: SIMD16<Int8>.self)
            .< unsafeBitCast(Self.all(0xC0), to: SIMD16<Int8>.self)
    }

    @inline(__always)
    fileprivate var isZero: Bool {
        let words = unsafe unsafeBitCast(self, to: SIMD2<UInt64>.self)
        return words[0] | words[1] == 0
    }
}

extension UnsafeRawBufferPointer {
    /// Sixteen bytes from an index on; the caller proves that they are in bounds.
    @inline(__always)
    fileprivate func block(at index: Int) -> Block {
        unsafe loadUnaligned(fromByteOffset: index, as: Block.self)
    }

    /// Eight bytes as a little-endian word: the first byte is the lowest.
    ///
    /// The caller proves that they are in bounds.
    @inline(__always)
    fileprivate func word(at index: Int) -> UInt64 {
        UInt64(littleEndian: unsafe loadUnaligned(fromByteOffset: index, as: UInt64.self))
    }
}
