internal import RivuletClientCore
public import RivuletWire

/// A message that an app gives to an ``IMService``.
public struct OutgoingMessage: Sendable, Equatable {
    /// What the packet is.
    public var command: Command
    /// The message; its case fits ``command``.
    public var body: PacketBody
    /// The identity of the message as it stands in its content; nil when the content has none.
    public var uuid: String?
    /// The header flags to send it with.
    public var flags: PacketFlags
    /// The app's own number of the message, where the body has no field for it.
    public var msgLocalID: Int32 = 0

    /// Makes a message of any kind that the server acknowledges.
    public init(command: Command, body: PacketBody, uuid: String? = nil, flags: PacketFlags = []) {
        self.command = command
        self.body = body
        self.uuid = uuid
        self.flags = flags
    }

    /// A message to a user.
    public static func peer(
        _ message: IMMessage, uuid: String? = nil, flags: PacketFlags = []
    ) -> OutgoingMessage {
        OutgoingMessage(command: .im, body: .im(message), uuid: uuid, flags: flags)
    }

    /// A message to a group.
    public static func group(
        _ message: IMMessage, uuid: String? = nil, flags: PacketFlags = []
    ) -> OutgoingMessage {
        OutgoingMessage(command: .groupIM, body: .im(message), uuid: uuid, flags: flags)
    }

    /// A message to a chat room; it is not kept when there is no connection.
    public static func room(_ message: RoomMessage, flags: PacketFlags = []) -> OutgoingMessage {
        OutgoingMessage(command: .roomIM, body: .room(message), flags: flags)
    }

    /// A message of a customer to the staff of a shop, in the form of the profile.
    public static func customer(
        _ message: CustomerMessage, uuid: String? = nil, flags: PacketFlags = []
    ) -> OutgoingMessage {
        OutgoingMessage(command: .customer, body: .customer(message), uuid: uuid, flags: flags)
    }

    /// A message of the staff of a shop to a customer, in the form of the profile.
    public static func customerSupport(
        _ message: CustomerMessage, uuid: String? = nil, flags: PacketFlags = []
    ) -> OutgoingMessage {
        OutgoingMessage(command: .customerSupport, body: .customer(message), uuid: uuid, flags: flags)
    }

    /// A customer-service message of the current profile.
    public static func customer(
        _ message: CustomerMessageV2, uuid: String? = nil, flags: PacketFlags = []
    ) -> OutgoingMessage {
        OutgoingMessage(command: .customerV2, body: .customerV2(message), uuid: uuid, flags: flags)
    }
}

/// Why an ``IMService`` did not send, or does not know whether it did.
public struct IMServiceError: Error, Sendable, Equatable, CustomStringConvertible {
    /// The kind of failure; the raw value is stable.
    public struct Code: RawRepresentable, Hashable, Sendable {
        /// The stable name.
        public let rawValue: String

        /// Makes the code with this name.
        public init(rawValue: String) {
            self.rawValue = rawValue
        }

        /// The service is not started.
        public static let notStarted = Code(rawValue: "not_started")
        /// The service was stopped while the message was on its way; it stays in the outbox.
        public static let stopped = Code(rawValue: "stopped")
        /// The server refused the message; ``IMServiceError/status`` says why.
        public static let refused = Code(rawValue: "refused")
        /// The message was withdrawn before it was written.
        public static let cancelled = Code(rawValue: "cancelled")
        /// The message cannot be encoded, for example because it is too long.
        public static let notEncodable = Code(rawValue: "not_encodable")
        /// Too many messages wait already.
        public static let outboxFull = Code(rawValue: "outbox_full")
        /// The server never answered this message.
        public static let unanswered = Code(rawValue: "unanswered")
        /// There is no connection, and such a message is not kept.
        public static let notConnected = Code(rawValue: "not_connected")
        /// The profile has no way to carry it; see ``IMFeature``.
        public static let notInProfile = Code(rawValue: "not_in_profile")
        /// What the message refers to could not be uploaded.
        public static let uploadFailed = Code(rawValue: "upload_failed")
    }

    /// The kind of failure.
    public var code: Code
    /// The server's reason, when it refused.
    public var status: ACKStatus?

    /// Makes an error.
    public init(_ code: Code, status: ACKStatus? = nil) {
        self.code = code
        self.status = status
    }

    /// One line for logs.
    public var description: String {
        guard let status else { return code.rawValue }
        return "\(code.rawValue), status \(status.rawValue)"
    }

    init?(_ step: SendReport.Step) {
        switch step {
        case .queued, .acknowledged: return nil
        case .refused(let status): self.init(Code.refused, status: status)
        case .cancelled: self.init(Code.cancelled)
        case .failed(.notEncodable): self.init(Code.notEncodable)
        case .failed(.outboxFull): self.init(Code.outboxFull)
        case .failed(.connectionLost): self.init(Code.notConnected)
        case .failed(.uploadFailed): self.init(Code.uploadFailed)
        case .failed: self.init(Code.unanswered)
        }
    }
}
