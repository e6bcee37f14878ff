public import RivuletWire

/// Something that the server keeps in a queue for this user and has now delivered.
///
/// Commands: IM, GROUP_IM, GROUP_NOTIFICATION, SYSTEM and CUSTOMER_V2; in the seed profile CUSTOMER and
/// CUSTOMER_SUPPORT, too. Live packets (RT, ROOM_IM, NOTIFICATION) are never stored and go to observers alone. A
/// message whose text is not UTF-8 is acknowledged and passed over; it is in no batch.
public struct ReceivedMessage: Sendable, Equatable {
    /// What the packet is.
    public var command: Command
    /// The packet's content; its case fits ``command``.
    public var body: PacketBody
    /// The flags as they came, `isSelf` removed unless the sender is this user; none in the
    /// seed profile.
    public var flags: PacketFlags
    /// Where the message is in its queue, when a METADATA said so (live copies).
    ///
    /// Within a sync round it is nil: there the order of arrival is the order of the queue.
    public var place: QueuePlace?
    /// Whether this user sent the message, from whichever device.
    public var isOwn: Bool
    /// Whether this user sent it from this very device: a copy of something that this storage queued.
    public var isFromThisDevice: Bool

    /// Makes a received message.
    public init(
        command: Command, body: PacketBody, flags: PacketFlags = [], place: QueuePlace? = nil,
        isOwn: Bool = false, isFromThisDevice: Bool = false
    ) {
        self.command = command
        self.body = body
        self.flags = flags
        self.place = place
        self.isOwn = isOwn
        self.isFromThisDevice = isFromThisDevice
    }
}

/// One of the queues in which a server keeps messages, each with keys of its own (docs/protocol.md, section 11.1).
public enum MessageQueue: Sendable, Hashable {
    /// The user's own queue: peer messages, normal groups, notifications, system texts, customer messages.
    case peer
    /// The queue of one super group.
    case group(Int64)
}

/// A place in a queue of the server.
public struct QueuePlace: Sendable, Hashable {
    /// Which queue.
    public var queue: MessageQueue
    /// The key in it; keys grow within a queue and may have gaps.
    public var key: Int64

    /// Makes a place.
    public init(queue: MessageQueue, key: Int64) {
        self.queue = queue
        self.key = key
    }
}
