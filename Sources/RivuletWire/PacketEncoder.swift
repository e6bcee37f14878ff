/// Turns packets into bytes for one peer.
///
/// It refuses what the peer would refuse: a body that does not belong to its command, a command that the peer does
/// not read, a text too long for its length byte, a body above the peer's limit. A refused packet leaves the
/// bytes before it untouched.
///
/// ```swift
/// var encoder = PacketEncoder(role: .client, profile: .current)
/// try encoder.append(.ping, sequence: 1)
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
    /// How large the storage is made when it is empty.
    private var firstCapacity = 0

    private static let firstCapacityMax = 262_144

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
    @inline(__always)
    @inlinable
    public mutating func append(_ packet: Packet) throws(WireError) {
        try append(
            packet.command, packet.body, sequence: packet.sequence, version: packet.version,
            flags: packet.flags)
    }

    /// Adds a packet of these parts behind those that wait, as ``append(_:)``.
    ///
    /// A packet that exists for this call alone need not be put together: building one in memory and destroying it
    /// takes longer than writing a PING.
    ///
    /// - Throws: ``WireError``, and then nothing was added.
    @inline(__always)
    @inlinable
    public mutating func append(
        _ command: Command, _ body: PacketBody = .empty, sequence: Int32 = 0, version: UInt8 = 2,
        flags: PacketFlags = []
    ) throws(WireError) {
        // Inlined, so that the case is known where it is written out. The two most frequent layouts go before the
        // general way.
        let header = PacketHeader(
            length: 0, sequence: sequence, command: command, version: version, flags: flags)
        switch body {
        case .empty: try appendEmpty(header)
        case .im(let message): try append(message, header)
        default: try appendAny(Packet(header, body))
        }
    }

    /// Writes a packet without a body.
    @usableFromInline
    mutating func appendEmpty(_ header: PacketHeader) throws(WireError) {
        guard rules[Int(header.command.rawValue)].layout == .empty else {
            return try appendAny(Packet(header, .empty))
        }
        let frame = Frame(header, bodyByteCount: 0, profile: profile)
        reserve(PacketHeader.byteCount)
        // In bounds: the storage has room for a header behind `byteCount`.
        unsafe storage.withUnsafeMutableBytes { bytes in unsafe frame.write(to: bytes, at: byteCount) }
        byteCount &+= PacketHeader.byteCount
    }

    /// Writes a message.
    @usableFromInline
    mutating func append(_ message: IMMessage, _ header: PacketHeader) throws(WireError) {
        guard rules[Int(header.command.rawValue)].layout == .im else {
            return try appendAny(Packet(header, .im(message)))
        }
        let fixed = header.version == 0 ? 20 : 24
        let length = fixed + message.content.utf8.count
        guard length <= bodyBytesMax else {
            throw WireError(.lengthOverLimit, command: header.command, offset: 0, length: length)
        }
        let frame = Frame(header, bodyByteCount: length, profile: profile)
        reserve(PacketHeader.byteCount + length)
        let start = byteCount &+ PacketHeader.byteCount
        unsafe storage.withUnsafeMutableBytes { bytes in
            // In bounds: the storage has room for the header, the fixed part and the text, one behind the other.
            unsafe frame.write(to: bytes, at: byteCount)
            unsafe bytes.storeBytes(of: message.sender.bigEndian, toByteOffset: start, as: Int64.self)
            unsafe bytes.storeBytes(of: message.receiver.bigEndian, toByteOffset: start &+ 8, as: Int64.self)
            // Version 0 has no timestamp: the id is written over it.
            unsafe bytes.storeBytes(
                of: message.timestamp.bigEndian, toByteOffset: start &+ 16, as: Int32.self)
            let place = start &+ fixed &- 4
            unsafe bytes.storeBytes(of: message.msgLocalID.bigEndian, toByteOffset: place, as: Int32.self)
            var writer = unsafe BodyWriter(bytes, from: start &+ fixed, to: start &+ length)
            unsafe writer.write(message.content)
        }
        byteCount = start &+ length
    }

    /// Writes any packet.
    @usableFromInline
    mutating func appendAny(_ packet: Packet) throws(WireError) {
        let rule = rules[Int(packet.command.rawValue)]
        let length = try packet.checkedBodyLength(rule, profile: profile)
        guard length <= bodyBytesMax else {
            throw WireError(.lengthOverLimit, command: packet.command, offset: 0, length: length)
        }
        if rule.layout == .custom { try validate(packet) }
        reserve(PacketHeader.byteCount + length)
        let header = PacketHeader(
            length: 0, sequence: packet.sequence, command: packet.command, version: packet.version,
            flags: packet.flags)
        let frame = Frame(header, bodyByteCount: length, profile: profile)
        let start = byteCount + PacketHeader.byteCount
        unsafe storage.withUnsafeMutableBytes { bytes in
            // In bounds: the storage has room for the whole frame, and the writer checks each field against it.
            unsafe frame.write(to: bytes, at: byteCount)
            var writer = unsafe BodyWriter(bytes, from: start, to: start + length)
            unsafe packet.body.write(to: &writer, version: packet.version, length: length)
        }
        byteCount = start + length
    }

    /// Takes all bytes that wait, and leaves none.
    public mutating func takeBytes() -> [UInt8] {
        var bytes = storage
        storage = []
        bytes.removeLast(bytes.count - byteCount)
        // The next batch is likely about as large as this one; an encoder that rests holds nothing.
        firstCapacity = min(byteCount + byteCount / 8, Self.firstCapacityMax)
        byteCount = 0
        return bytes
    }

    @inline(never)
    private func validate(_ packet: Packet) throws(WireError) {
        if case .custom(let content) = packet.body { try registry.validate(content, for: packet.command) }
    }

    /// Makes room for a frame behind those that wait.
    @inline(__always)
    private mutating func reserve(_ frameByteCount: Int) {
        // No overflow: a frame is no larger than the peer's limit, or than a body that fits into memory.
        if storage.count &- byteCount < frameByteCount { grow(to: byteCount + frameByteCount) }
    }

    /// Doubles the storage, or makes it as large as it must be, so that each byte is moved a bounded number of times.
    @inline(never)
    private mutating func grow(to count: Int) {
        let target = max(count, 2 * storage.count, firstCapacity)
        let old = storage
        let used = byteCount
        storage = unsafe [UInt8](unsafeUninitializedCapacity: target) { bytes, initializedCount in
            // In bounds: `used` is at most the old count, which is at most the target. The bytes behind it are counted
            // as initialised and never read: each is written before `byteCount` passes it.
            _ = unsafe bytes.initialize(fromContentsOf: old[..<used])
            initializedCount = target
        }
    }
}

/// The header of a frame to be written, in two words.
private struct Frame {
    private let front: UInt64
    private let back: UInt32

    @inline(__always)
    init(_ header: PacketHeader, bodyByteCount: Int, profile: Profile) {
        let flags = profile == .seed ? 0 : header.flags.rawValue & PacketFlags.defined.rawValue
        front =
            UInt64(UInt32(truncatingIfNeeded: bodyByteCount)) << 32
            | UInt64(UInt32(bitPattern: header.sequence))
        // The lowest byte is the reserved one, which stays zero.
        back =
            UInt32(header.command.rawValue) << 24 | UInt32(header.version) << 16 | UInt32(flags) << 8
    }

    /// Writes the header; the caller has made sure that its 12 bytes are inside.
    @inline(__always)
    func write(to bytes: UnsafeMutableRawBufferPointer, at offset: Int) {
        unsafe bytes.storeBytes(of: front.bigEndian, toByteOffset: offset, as: UInt64.self)
        unsafe bytes.storeBytes(of: back.bigEndian, toByteOffset: offset &+ 8, as: UInt32.self)
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
