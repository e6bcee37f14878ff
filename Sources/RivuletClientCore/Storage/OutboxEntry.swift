public import RivuletWire

/// The client's own number of one send, unique within a storage for ever.
public struct SendID: RawRepresentable, Hashable, Sendable, Comparable {
    /// The number; the first is 1.
    public let rawValue: Int64

    /// Makes the id with this number.
    public init(rawValue: Int64) {
        self.rawValue = rawValue
    }

    /// Orders by the time of the request.
    public static func < (left: SendID, right: SendID) -> Bool {
        left.rawValue < right.rawValue
    }
}

/// A message on its way to the server, kept until its fate is known.
public struct OutboxEntry: Sendable, Equatable {
    /// The client's number of this send.
    public var id: SendID
    /// The identity of the message, as it stands in its content; nil when the content has none.
    ///
    /// A retry sends the same bytes, hence the same uuid, so that the server and the receivers recognise it.
    public var uuid: String?
    /// IM, GROUP_IM, CUSTOMER_V2; in the seed profile CUSTOMER and CUSTOMER_SUPPORT, too.
    public var command: Command
    /// The message; its case fits ``command``.
    public var body: PacketBody
    /// The header flags to send it with, for example `text`.
    public var flags: PacketFlags
    /// When the user sent it, in milliseconds since 1970 by this device's clock; for display, never for order.
    public var createdMilliseconds: Int64
    /// How often it was written to a connection; counted in memory and 0 after a restart.
    public var attempts: Int
    /// The app's own number of the message, for bodies that have no field for it; a storage need not keep it.
    public var msgLocalID: Int32 = 0
    /// Whether something must be uploaded before the message can be written.
    ///
    /// A storage keeps it, or the shell asks its uploader again after a restart.
    public var needsUpload = false

    /// Makes an entry that was not yet written.
    public init(
        id: SendID, uuid: String?, command: Command, body: PacketBody, flags: PacketFlags = [],
        createdMilliseconds: Int64, attempts: Int = 0
    ) {
        self.id = id
        self.uuid = uuid
        self.command = command
        self.body = body
        self.flags = flags
        self.createdMilliseconds = createdMilliseconds
        self.attempts = attempts
    }
}

/// Why a client gave a message up without an answer of the server; an open set.
public struct SendFailure: RawRepresentable, Hashable, Sendable {
    /// The stable number.
    public let rawValue: Int

    /// Makes the failure with this number.
    public init(rawValue: Int) {
        self.rawValue = rawValue
    }

    /// 1: the message cannot be encoded, for example because it is longer than the server accepts.
    public static let notEncodable = SendFailure(rawValue: 1)
    /// 2: the server answered other packets but never this one, on several connections.
    public static let unanswered = SendFailure(rawValue: 2)
    /// 3: the connection ended before the answer; only for messages that are not kept, those of a room.
    public static let connectionLost = SendFailure(rawValue: 3)
    /// 4: too many messages wait already; nothing was stored.
    public static let outboxFull = SendFailure(rawValue: 4)
    /// 5: what the message refers to could not be uploaded.
    public static let uploadFailed = SendFailure(rawValue: 5)
}
