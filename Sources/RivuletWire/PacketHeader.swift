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
