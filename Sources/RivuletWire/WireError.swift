/// Why bytes are not a packet, or why a packet cannot become bytes.
///
/// It names the fault and its place, never the content.
public struct WireError: Error, Sendable, Equatable, CustomStringConvertible {
    /// The kind of fault; the raw value is stable and equals the `reason` that `rivulet inspect` prints.
    public struct Code: RawRepresentable, Hashable, Sendable {
        /// The stable name.
        public let rawValue: String

        /// Makes the code with this name.
        public init(rawValue: String) {
            self.rawValue = rawValue
        }

        /// The header's length is below zero.
        public static let negativeLength = Code(rawValue: "negative_length")
        /// The header's length is above the receiver's limit.
        public static let lengthOverLimit = Code(rawValue: "length_over_limit")
        /// No command has this number.
        public static let unknownCommand = Code(rawValue: "unknown_command")
        /// The number is defined, but not for this direction or profile.
        public static let commandNotAllowed = Code(rawValue: "command_not_allowed")
        /// The number is allowed and means nothing any more.
        public static let retiredCommand = Code(rawValue: "retired_command")
        /// The body ends before its fixed part does.
        public static let shortBody = Code(rawValue: "short_body")
        /// A command without a body came with one.
        public static let nonemptyBody = Code(rawValue: "nonempty_body")
        /// A string's length byte points past the end of the body.
        public static let stringOverrun = Code(rawValue: "string_overrun")
        /// An element count is negative or disagrees with the body's length.
        public static let badCount = Code(rawValue: "bad_count")
        /// Text is not well-formed UTF-8.
        public static let invalidUTF8 = Code(rawValue: "invalid_utf8")
        /// The stream ended inside a packet.
        public static let needMoreBytes = Code(rawValue: "need_more_bytes")
        /// ``Packet/unpack(_:by:profile:registry:bodyBytesMax:)`` only: bytes follow the packet.
        public static let trailingBytes = Code(rawValue: "trailing_bytes")
        /// Encoding only: the body does not belong to the command.
        public static let bodyMismatch = Code(rawValue: "body_mismatch")
        /// Encoding only: a string does not fit its length byte.
        public static let stringTooLong = Code(rawValue: "string_too_long")
        /// Encoding only: the layout is read, never written.
        public static let decodeOnly = Code(rawValue: "decode_only")
    }

    /// The kind of fault.
    public var code: Code
    /// The command of the packet, when its header was read.
    public var command: Command?
    /// The offset of the fault from the first byte of the packet, in bytes, when it is known.
    public var offset: Int?
    /// The length that was found, in bytes, when the fault is about a length.
    public var length: Int?

    /// Makes an error.
    public init(_ code: Code, command: Command? = nil, offset: Int? = nil, length: Int? = nil) {
        self.code = code
        self.command = command
        self.offset = offset
        self.length = length
    }

    /// One line for logs, without any content of the packet.
    public var description: String {
        var text = code.rawValue
        if let command { text += " in command \(command.rawValue)" }
        if let offset { text += " at byte \(offset)" }
        if let length { text += ", length \(length)" }
        return text
    }
}
