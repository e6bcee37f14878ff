/// Turns packets into bytes for one peer.
///
/// It refuses what the peer would refuse: a body that does not belong to its command, a command that the peer does
/// not read, a text too long for its length byte, a body above the peer's limit. A refused packet leaves the
/// bytes before it untouched.
///
/// ```swift
/// var encoder = PacketEncoder(role: .client, profile: .current)
/// try encoder.append(Packet(.ping, sequence: 1))
/// connection.write(encoder.takeBytes())
/// ```
public struct PacketEncoder: Sendable {
    /// This end's own role: a client writes what a server reads.
    public let role: Role
    /// The era that both ends speak.
    public let profile: Profile
    /// The longest body that the peer accepts, in bytes.
    public let bodyBytesMax: Int

    private let registry: CommandRegistry
    private let rules: CommandRules
    /// Every byte of it is initialised; the first `byteCount` are packets.
    private var storage: [UInt8] = []

    /// The number of bytes that wait to be taken.
    public private(set) var byteCount = 0

    /// Makes an encoder without any bytes.
    ///
    /// - Parameters:
    ///   - role: This end's own role.
    ///   - profile: The era that both ends speak.
    ///   - registry: The command numbers that the app added.
    ///   - bodyBytesMax: The longest body to write, in bytes; nil means the default limit of the peer.
    public init(
        role: Role, profile: Profile, registry: CommandRegistry = CommandRegistry(), bodyBytesMax: Int? = nil
    ) {
        let peer: Role = role == .server ? .client : .server
        self.role = role
        self.profile = profile
        self.registry = registry
        self.rules = registry.rules(role: peer, profile: profile)
        self.bodyBytesMax = bodyBytesMax ?? peer.bodyBytesMax
    }

    /// Adds a packet behind those that wait.
    ///
    /// Undefined flag bits and the reserved byte are written as zero; the seed profile has no flags at all.
    ///
    /// - Throws: ``WireError``, and then nothing was added.
    public mutating func append(_ packet: Packet) throws(WireError) {
        let rule = rules[Int(packet.command.rawValue)]
        let length = try packet.checkedBodyLength(rule, profile: profile)
        guard length <= bodyBytesMax else {
            throw WireError(.lengthOverLimit, command: packet.command, offset: 0, length: length)
        }
        if rule.layout == .custom { try validate(packet) }
        let end = byteCount + PacketHeader.byteCount + length
        if end > storage.count { grow(to: end) }
        // One header in two words: the flags' place is above the reserved byte, which stays zero.
        let front =
            UInt64(UInt32(truncatingIfNeeded: length)) << 32
            | UInt64(UInt32(bitPattern: packet.sequence))
        let flags = profile == .seed ? 0 : packet.flags.rawValue & PacketFlags.defined.rawValue
        let back = UInt32(packet.command.rawValue) << 24 | UInt32(packet.version) << 16 | UInt32(flags) << 8
        unsafe storage.withUnsafeMutableBytes { bytes in
            // In bounds: the storage was grown to `end`, and the writer checks each field against its slice.
            var writer = unsafe BodyWriter(bytes, from: byteCount, to: end)
            unsafe writer.write(Int64(bitPattern: front))
            unsafe writer.write(Int32(bitPattern: back))
            if length > 0 { unsafe packet.body.write(to: &writer, version: packet.version, length: length) }
        }
        byteCount = end
    }

    /// Takes all bytes that wait, and leaves none.
    public mutating func takeBytes() -> [UInt8] {
        var bytes = storage
        storage = []
        bytes.removeLast(bytes.count - byteCount)
        byteCount = 0
        return bytes
    }

    @inline(never)
    private func validate(_ packet: Packet) throws(WireError) {
        if case .custom(let content) = packet.body { try registry.validate(content, for: packet.command) }
    }

    /// Doubles the storage, or makes it as large as it must be, so that each byte is moved a bounded number of times.
    @inline(never)
    private mutating func grow(to count: Int) {
        let target = max(count, 2 * storage.count)
        storage.reserveCapacity(target)
        storage.append(contentsOf: repeatElement(0, count: target - storage.count))
    }
}

extension PacketFlags {
    /// All bits that have a meaning.
    static let defined: PacketFlags = [.text, .unpersistent, .group, .isSelf, .push, .superGroup]
}

extension Packet {
    /// Gives the bytes of this packet.
    ///
    /// - Parameters:
    ///   - sender: Whose packet it is.
    ///   - profile: The era that both ends speak.
    ///   - registry: The command numbers that the app added.
    ///   - bodyBytesMax: The longest body to write, in bytes; nil means the default limit of the peer.
    /// - Returns: One whole frame.
    /// - Throws: ``WireError`` for what the peer would refuse.
    public func pack(
        from sender: Role, profile: Profile, registry: CommandRegistry = CommandRegistry(),
        bodyBytesMax: Int? = nil
    ) throws(WireError) -> [UInt8] {
        var encoder = PacketEncoder(
            role: sender, profile: profile, registry: registry, bodyBytesMax: bodyBytesMax)
        try encoder.append(self)
        return encoder.takeBytes()
    }

    /// Reads the bytes of exactly one packet.
    ///
    /// - Parameters:
    ///   - bytes: One whole frame.
    ///   - receiver: Who reads it; a body error is thrown for either role.
    ///   - profile: The era that both ends speak.
    ///   - registry: The command numbers that the app added.
    ///   - bodyBytesMax: The longest body to accept, in bytes; nil means the receiver's own limit.
    /// - Returns: The packet.
    /// - Throws: ``WireError``; `need_more_bytes` when the frame is cut short, `trailing_bytes` when more follows it.
    public static func unpack(
        _ bytes: [UInt8], by receiver: Role, profile: Profile, registry: CommandRegistry = CommandRegistry(),
        bodyBytesMax: Int? = nil
    ) throws(WireError) -> Packet {
        var decoder = PacketDecoder(
            role: receiver, profile: profile, registry: registry, bodyBytesMax: bodyBytesMax)
        decoder.append(bytes)
        switch try decoder.next() {
        case .packet(let packet):
            guard decoder.bufferedByteCount == 0 else {
                throw WireError(
                    .trailingBytes, command: packet.command, offset: bytes.count - decoder.bufferedByteCount)
            }
            return packet
        case .skipped(_, let error):
            throw error
        case nil:
            try decoder.finish()
            throw WireError(.needMoreBytes, offset: bytes.count)
        }
    }
}
