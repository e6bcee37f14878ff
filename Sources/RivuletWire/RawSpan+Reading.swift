/// The primitive reads of the codec: every integer and every text of a body goes through these.
///
/// Integers are big-endian. Loads are bounds-checked by the span, and callers check lengths before they load, so
/// that a check never fails on input.
extension RawSpan {
    /// The byte at an offset.
    @inline(__always)
    func byte(at offset: Int) -> UInt8 {
        // Safe for any bit pattern: an integer; the span checks the offset.
        unsafe unsafeLoad(fromByteOffset: offset, as: UInt8.self)
    }

    /// The signed 32-bit integer at an offset.
    @inline(__always)
    func int32(at offset: Int) -> Int32 {
        // Safe for any bit pattern: an integer; the span checks the offset.
        Int32(bigEndian: unsafe unsafeLoadUnaligned(fromByteOffset: offset, as: Int32.self))
    }

    /// The signed 64-bit integer at an offset.
    @inline(__always)
    func int64(at offset: Int) -> Int64 {
        // Safe for any bit pattern: an integer; the span checks the offset.
        Int64(bigEndian: unsafe unsafeLoadUnaligned(fromByteOffset: offset, as: Int64.self))
    }

    /// The text from an offset to the end.
    func text(from offset: Int, command: Command) throws(WireError) -> String {
        try text(offset, byteCount &- offset, command: command)
    }

    /// The text after a length byte, and the offset behind it.
    ///
    /// - Throws: `string_overrun` when the length byte is missing, above `lengthMax`, or points past the end.
    func lengthPrefixedText(
        at offset: Int, lengthMax: Int, command: Command
    ) throws(WireError) -> (text: String, end: Int) {
        guard offset < byteCount else {
            throw WireError(.stringOverrun, command: command, offset: PacketHeader.byteCount + offset)
        }
        let length = Int(byte(at: offset))
        let start = offset + 1
        guard length <= lengthMax, length <= byteCount - start else {
            throw WireError(
                .stringOverrun, command: command, offset: PacketHeader.byteCount + offset, length: length)
        }
        return (try text(start, length, command: command), start + length)
    }

    /// All bytes from an offset to the end.
    func array(from offset: Int) -> [UInt8] {
        unsafe extracting(droppingFirst: offset).withUnsafeBytes { bytes in unsafe [UInt8](bytes) }
    }

    /// The text of a part of the bytes, which the caller has checked to be inside; nil when it is not UTF-8.
    @inline(__always)
    func text(_ offset: Int, _ length: Int) -> String? {
        unsafe extracting(offset..<(offset &+ length)).withUnsafeBytes { unsafe String(checking: $0) }
    }

    private func text(_ offset: Int, _ length: Int, command: Command) throws(WireError) -> String {
        if let text = text(offset, length) { return text }
        let fault = unsafe extracting(offset..<(offset &+ length)).withUnsafeBytes { bytes in
            if case .invalid(let place) = unsafe UTF8Verdict(bytes) { place } else { 0 }
        }
        throw WireError(.invalidUTF8, command: command, offset: PacketHeader.byteCount + offset + fault)
    }
}
