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

    /// Reads the frame that begins at `offset` and moves `offset` behind it; nil when more bytes are needed.
    ///
    /// - Throws: A fault that costs the connection.
    func frame(in bytes: RawSpan, at offset: inout Int) throws(WireError) -> DecodedFrame? {
        guard bytes.byteCount &- offset >= PacketHeader.byteCount else { return nil }
        let header = PacketHeader(bytes, at: offset)
        let rule = rules[Int(header.command.rawValue)]
        let fault = fault(of: header, rule)
        if let fault, !isSkippable(fault, header) { throw fault }

        // No overflow: the length is at most the limit, or the fault would have been thrown.
        let length = Int(header.length)
        let start = offset &+ PacketHeader.byteCount
        guard bytes.byteCount &- start >= length else { return nil }
        offset = start &+ length
        if let fault { return .skipped(header, fault) }
        do throws(WireError) {
            return .packet(try packet(header, rule, bytes.extracting(start..<(start &+ length))))
        } catch {
            guard isSkippable(error, header) else { throw error }
            return .skipped(header, error)
        }
    }

    /// Reads a body that passed every check of its header.
    private func packet(
        _ header: PacketHeader, _ rule: CommandRule, _ bytes: RawSpan
    ) throws(WireError) -> Packet {
        let context = BodyContext(command: header.command, version: header.version, profile: profile)
        let body = try PacketBody(bytes, layout: rule.layout, context: context)
        if case .custom(let content) = body { try registry.validate(content, for: header.command) }
        return Packet(
            header.command, body, sequence: header.sequence, version: header.version, flags: header.flags)
    }

    /// What is wrong with a frame as far as its header tells, in the order length, command, body.
    private func fault(of header: PacketHeader, _ rule: CommandRule) -> WireError? {
        let command = header.command
        let length = Int(header.length)
        if length < 0 { return WireError(.negativeLength, command: command, offset: 0, length: length) }
        if length > bodyBytesMax {
            return WireError(.lengthOverLimit, command: command, offset: 0, length: length)
        }
        if rule.mustBeEmpty && length != 0 {
            return WireError(
                .nonemptyBody, command: command, offset: PacketHeader.byteCount, length: length)
        }
        switch rule.layout {
        case .unknown: return WireError(.unknownCommand, command: command, offset: 8)
        case .notAllowed: return WireError(.commandNotAllowed, command: command, offset: 8)
        case .retired: return WireError(.retiredCommand, command: command, offset: 8)
        default: break
        }
        if length < rule.minimum(version: header.version) {
            return WireError(
                .shortBody, command: command, offset: PacketHeader.byteCount + length, length: length)
        }
        return nil
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
