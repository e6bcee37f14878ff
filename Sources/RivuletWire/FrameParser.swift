/// What the header of a frame says is to be done, small enough to travel in registers.
@usableFromInline
struct FrameStep: Sendable {
    /// How to go on.
    @usableFromInline
    enum Kind: UInt8, Sendable {
        /// The frame is not there as a whole.
        case needMore
        /// The packet has no body.
        case empty
        /// The body is an ``IMMessage``.
        case im
        /// The body has any other layout, or the frame is to be skipped.
        case other
    }

    /// The header's first eight and last four bytes, most significant first, as they were loaded.
    @usableFromInline let front: UInt64
    @usableFromInline let back: UInt32
    @usableFromInline let kind: Kind

    /// The parsed header.
    @inlinable var header: PacketHeader {
        PacketHeader(
            length: Int32(truncatingIfNeeded: front >> 32), sequence: Int32(truncatingIfNeeded: front),
            command: Command(rawValue: UInt8(truncatingIfNeeded: back >> 24)),
            version: UInt8(truncatingIfNeeded: back >> 16),
            flags: PacketFlags(rawValue: UInt8(truncatingIfNeeded: back >> 8)))
    }

    init(front: UInt64, back: UInt32, kind: Kind) {
        self.front = front
        self.back = back
        self.kind = kind
    }

    init(_ header: PacketHeader, kind: Kind) {
        front = UInt64(UInt32(bitPattern: header.length)) << 32 | UInt64(UInt32(bitPattern: header.sequence))
        back =
            UInt32(header.command.rawValue) << 24 | UInt32(header.version) << 16 | UInt32(
                header.flags.rawValue) << 8
        self.kind = kind
    }

    /// Nothing can be said: not even a header is there.
    static var needMore: FrameStep { FrameStep(front: 0, back: 0, kind: .needMore) }
}

/// Finds and reads frames in a contiguous piece of a stream; what it knows never changes.
struct FrameParser: Sendable {
    let role: Role
    let profile: Profile
    let bodyBytesMax: Int
    let registry: CommandRegistry
    let rules: CommandRules

    init(role: Role, profile: Profile, registry: CommandRegistry, bodyBytesMax: Int?) {
        self.role = role
        self.profile = profile
        self.registry = registry
        self.rules = registry.rules(role: role, profile: profile)
        self.bodyBytesMax = bodyBytesMax ?? role.bodyBytesMax
    }

    /// Judges the header at `offset` and moves `offset` behind a frame that is there as a whole.
    ///
    /// - Throws: A fault that costs the connection.
    @inline(__always)
    func step(in bytes: RawSpan, at offset: inout Int) throws(WireError) -> FrameStep {
        guard bytes.byteCount &- offset >= PacketHeader.byteCount else { return .needMore }
        // In bounds: the 12 bytes are there, and an offset is never negative.
        let front = UInt64(
            bigEndian: unsafe bytes.unsafeLoadUnaligned(fromUncheckedByteOffset: offset, as: UInt64.self))
        let back = UInt32(
            bigEndian: unsafe bytes.unsafeLoadUnaligned(fromUncheckedByteOffset: offset &+ 8, as: UInt32.self)
        )
        let rule = rules[Int(back >> 24)]
        let step = FrameStep(front: front, back: back, kind: rule.kind)
        guard rule.accepts(step.header, bodyBytesMax: bodyBytesMax) else {
            return try skip(step.header, rule, in: bytes, at: &offset)
        }
        // No overflow: the length is neither negative nor above the limit.
        let end = offset &+ PacketHeader.byteCount &+ Int(step.header.length)
        guard end <= bytes.byteCount else { return .needMore }
        offset = end
        return step
    }

    /// Moves behind a frame whose header alone is at fault; what is wrong is found again by `frame`.
    @inline(never)
    private func skip(
        _ header: PacketHeader, _ rule: CommandRule, in bytes: RawSpan, at offset: inout Int
    ) throws(WireError) -> FrameStep {
        let fault = fault(of: header, rule)
        guard isSkippable(fault, header) else { throw fault }
        let end = offset + PacketHeader.byteCount + Int(header.length)
        guard end <= bytes.byteCount else { return .needMore }
        offset = end
        return FrameStep(header, kind: .other)
    }

    /// Reads the body of a message that ends at `end`; nil when its text is no text.
    @inline(__always)
    func message(in bytes: RawSpan, endingAt end: Int, of header: PacketHeader) -> IMMessage? {
        // In bounds: `step` has moved the offset from the body's start to its end.
        let start = end &- Int(header.length)
        let fixed = header.version == 0 ? 20 : 24
        guard let content = bytes.text(start &+ fixed, Int(header.length) &- fixed) else { return nil }
        return IMMessage(
            sender: bytes.int64(at: start), receiver: bytes.int64(at: start &+ 8),
            timestamp: header.version == 0 ? 0 : bytes.int32(at: start &+ 16),
            msgLocalID: bytes.int32(at: start &+ fixed &- 4), content: content)
    }

    /// Reads a frame of any kind whose body ends at `end`.
    ///
    /// - Throws: A fault that costs the connection.
    func frame(in bytes: RawSpan, endingAt end: Int, of header: PacketHeader) throws(WireError)
        -> DecodedFrame
    {
        let rule = rules[Int(header.command.rawValue)]
        do throws(WireError) {
            guard rule.accepts(header, bodyBytesMax: bodyBytesMax) else { throw fault(of: header, rule) }
            let body = try PacketBody(
                bytes.extracting((end - Int(header.length))..<end), layout: rule.layout,
                context: BodyContext(header: header, profile: profile))
            if case .custom(let content) = body { try registry.validate(content, for: header.command) }
            return .packet(Packet(header, body))
        } catch {
            guard isSkippable(error, header) else { throw error }
            return .skipped(header, error)
        }
    }

    /// What is wrong with a frame as far as its header tells, in the order length, command, body.
    private func fault(of header: PacketHeader, _ rule: CommandRule) -> WireError {
        let command = header.command
        let length = Int(header.length)
        if length < 0 { return WireError(.negativeLength, command: command, offset: 0, length: length) }
        if length > bodyBytesMax {
            return WireError(.lengthOverLimit, command: command, offset: 0, length: length)
        }
        if rule.mustBeEmpty && length != 0 {
            return WireError(.nonemptyBody, command: command, offset: PacketHeader.byteCount, length: length)
        }
        switch rule.layout {
        case .unknown: return WireError(.unknownCommand, command: command, offset: 8)
        case .notAllowed: return WireError(.commandNotAllowed, command: command, offset: 8)
        case .retired: return WireError(.retiredCommand, command: command, offset: 8)
        default:
            return WireError(
                .shortBody, command: command, offset: PacketHeader.byteCount + length, length: length)
        }
    }

    /// Whether a fault costs only its frame and not the connection (docs/protocol.md, section 2).
    private func isSkippable(_ fault: WireError, _ header: PacketHeader) -> Bool {
        switch (role, fault.code) {
        case (_, .negativeLength), (_, .lengthOverLimit): false
        case (.client, _), (.server, .retiredCommand): true
        // Seed servers have no allow list: an empty body under any number passes and does nothing.
        case (.server, .unknownCommand), (.server, .commandNotAllowed): profile == .seed && header.length == 0
        default: false
        }
    }
}
