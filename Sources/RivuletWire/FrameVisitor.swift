/// Who is told of frames where they lie, without a copy of them (``PacketDecoder/read(_:into:)-(RawSpan,_)``).
///
/// A relay, a filter or a counter looks at most frames once and keeps nothing. A packet of its own, with its text in a
/// string, costs an allocation each; a visitor gets the fields and a view of the text, which was checked to be UTF-8.
/// What has no method of its own here comes as a ``DecodedFrame``, and so does everything to a visitor that implements
/// ``visit(_:)`` alone.
@available(macOS 26, iOS 26, *)
public protocol FrameVisitor {
    /// A packet without a body, such as a PING.
    mutating func visitEmpty(_ header: PacketHeader)

    /// An IM or GROUP_IM; the text may be used until the call returns.
    mutating func visitMessage(_ header: PacketHeader, _ fields: IMMessageFields, text: UTF8Span)

    /// Any other frame.
    mutating func visit(_ frame: DecodedFrame)
}

@available(macOS 26, iOS 26, *)
extension FrameVisitor {
    /// Passes on the frame as one of its own.
    public mutating func visitEmpty(_ header: PacketHeader) {
        visit(.packet(Packet(header, .empty)))
    }

    /// Passes on the frame as one of its own.
    public mutating func visitMessage(_ header: PacketHeader, _ fields: IMMessageFields, text: UTF8Span) {
        visit(.packet(Packet(header, .im(fields.message(text)))))
    }
}

/// The fixed part of an ``IMMessage``: everything but its content.
public struct IMMessageFields: Sendable, Equatable {
    /// The author's user id.
    public var sender: Int64
    /// A user id (IM) or a group id (GROUP_IM).
    public var receiver: Int64
    /// Seconds since 1970; 0 in version 0, which has none.
    public var timestamp: Int32
    /// The author's own number of the message.
    public var msgLocalID: Int32

    /// Makes the fields of a message.
    public init(sender: Int64, receiver: Int64, timestamp: Int32 = 0, msgLocalID: Int32 = 0) {
        self.sender = sender
        self.receiver = receiver
        self.timestamp = timestamp
        self.msgLocalID = msgLocalID
    }

    /// A message of its own with these fields and a copy of the text.
    @available(macOS 26, iOS 26, *)
    public func message(_ text: UTF8Span) -> IMMessage {
        IMMessage(
            sender: sender, receiver: receiver, timestamp: timestamp, msgLocalID: msgLocalID,
            content: String(copying: text))
    }
}

@available(macOS 26, iOS 26, *)
extension PacketDecoder {
    /// Reads the next bytes of the stream and tells the visitor of each frame that they complete, in order.
    ///
    /// Frames are read in the caller's memory; only one that is cut at an end is copied. The same frames come as from
    /// ``append(_:)-(UnsafeRawBufferPointer)`` and ``next()``, and the two ways may be mixed.
    ///
    /// - Throws: ``WireError``, after which the stream is useless; the frames before the fault were visited.
    public mutating func read(_ bytes: RawSpan, into visitor: inout some FrameVisitor) throws(WireError) {
        if let failure { throw failure }
        do throws(WireError) {
            var start = try readBuffered(&visitor)
            // A frame that was cut is completed with just the bytes that it lacks, first of its header, then of its body.
            while bufferedByteCount > 0, start < bytes.byteCount {
                let count = min(missingByteCount, bytes.byteCount - start)
                append(bytes, start, count)
                start += count
                _ = try readBuffered(&visitor)
            }
            guard start < bytes.byteCount else { return }
            let end = try parser.visit(bytes, from: start, &visitor)
            append(bytes, end, bytes.byteCount - end)
        } catch {
            throw fail(error)
        }
    }

    /// Reads the next bytes of the stream, as ``read(_:into:)-(RawSpan,_)``.
    public mutating func read(_ bytes: [UInt8], into visitor: inout some FrameVisitor) throws(WireError) {
        let span = bytes.span
        // A byte has no padding, which is what makes other spans' bytes unsafe.
        try unsafe read(span.bytes, into: &visitor)
    }

    /// Visits the whole frames that were appended before; returns 0, where new bytes begin.
    private mutating func readBuffered(_ visitor: inout some FrameVisitor) throws(WireError) -> Int {
        guard bufferedByteCount > 0 else { return 0 }
        // A byte has no padding, which is what makes other spans' bytes unsafe.
        offset = try unsafe parser.visit(buffer.span.bytes, from: offset, &visitor)
        releaseIfDrained()
        return 0
    }

    /// How many bytes the header or, behind a whole header, the body still lacks.
    private var missingByteCount: Int {
        let count = bufferedByteCount
        guard count >= PacketHeader.byteCount else { return PacketHeader.byteCount - count }
        // The header was judged when it was complete: its length is neither negative nor above the limit.
        let length = buffer[offset..<(offset + 4)].reduce(0) { $0 << 8 | Int($1) }
        return max(1, PacketHeader.byteCount + length - count)
    }

    private mutating func append(_ bytes: RawSpan, _ start: Int, _ count: Int) {
        guard count > 0 else { return }
        unsafe bytes.extracting(start..<(start + count)).withUnsafeBytes { unsafe append($0) }
    }
}

@available(macOS 26, iOS 26, *)
extension FrameParser {
    /// Visits every whole frame from an offset on; returns where the first one begins that is not there as a whole.
    func visit(_ bytes: RawSpan, from start: Int, _ visitor: inout some FrameVisitor) throws(WireError) -> Int
    {
        var offset = start
        while true {
            let step = try step(in: bytes, at: &offset)
            switch step.kind {
            case .needMore:
                return offset
            case .empty:
                visitor.visitEmpty(step.header)
            case .im where visitMessage(bytes, endingAt: offset, step.header, &visitor):
                break
            case .im, .other:
                visitor.visit(try frame(in: bytes, endingAt: offset, of: step.header))
            }
        }
    }

    /// Whether the text is one and the message was visited.
    @inline(__always)
    private func visitMessage(
        _ bytes: RawSpan, endingAt end: Int, _ header: PacketHeader, _ visitor: inout some FrameVisitor
    ) -> Bool {
        // In bounds: `step` has moved the offset from the body's start to its end.
        let start = end &- Int(header.length)
        let fixed = header.version == 0 ? 20 : 24
        let fields = IMMessageFields(
            sender: bytes.int64(at: start), receiver: bytes.int64(at: start &+ 8),
            timestamp: header.version == 0 ? 0 : bytes.int32(at: start &+ 16),
            msgLocalID: bytes.int32(at: start &+ fixed &- 4))
        return unsafe bytes.extracting((start &+ fixed)..<end).withUnsafeBytes { text in
            let isASCII: Bool
            switch unsafe UTF8Verdict(text) {
            case .ascii: isASCII = true
            case .wellFormed: isASCII = false
            case .invalid: return false
            }
            // The bytes were just checked, which is all that `unchecked` asks.
            unsafe text.withMemoryRebound(to: UInt8.self) { text in
                visitor.visitMessage(
                    header, fields, text: unsafe UTF8Span(unchecked: text.span, isKnownASCII: isASCII))
            }
            return true
        }
    }
}
