/// The fixed 12 bytes in front of every body.
public struct PacketHeader: Sendable, Equatable {
    /// The number of body bytes that follow.
    public var length: Int32
    /// The sender's number of this frame.
    public var sequence: Int32
    /// What the packet is.
    public var command: Command
    /// Which layout the body has.
    public var version: UInt8
    /// Header byte 10.
    public var flags: PacketFlags

    /// The size of a header, in bytes.
    public static let byteCount = 12

    /// Makes a header.
    @inlinable
    public init(length: Int32, sequence: Int32, command: Command, version: UInt8, flags: PacketFlags) {
        self.length = length
        self.sequence = sequence
        self.command = command
        self.version = version
        self.flags = flags
    }
}

/// What a ``PacketDecoder`` found.
public enum DecodedFrame: Sendable, Equatable {
    /// A well-formed packet.
    case packet(Packet)
    /// A frame that was dropped while the connection stays usable.
    ///
    /// A client still acknowledges a stored message that it cannot read and moves its key past it, which is why the
    /// header is here.
    indirect case skipped(PacketHeader, WireError)
}

extension PacketHeader {
    /// Reads the header at an offset, for tools that show broken frames; nil when its 12 bytes are not there.
    package init?(_ bytes: [UInt8], at offset: Int) {
        guard offset >= 0, bytes.count - offset >= Self.byteCount else { return nil }
        let word = { (place: Int) in
            bytes[(offset + place)..<(offset + place + 4)].reduce(0) { $0 << 8 | UInt32($1) }
        }
        self.init(
            length: Int32(bitPattern: word(0)), sequence: Int32(bitPattern: word(4)),
            command: Command(rawValue: bytes[offset + 8]), version: bytes[offset + 9],
            flags: PacketFlags(rawValue: bytes[offset + 10]))
    }
}
