import RivuletModel
public import RivuletWire

/// One message on its way into the log, with the queues that are to hold it.
public struct LogEntry: Sendable, Equatable {
    /// The author's account.
    public var author: Account
    /// The author's device, by which the author's own copies are told apart.
    public var device: DeviceNumber
    /// IM, GROUP_IM or another stored command.
    public var command: Command
    /// The flags that are kept with the message.
    public var flags: PacketFlags
    /// A user or a group, as the command says.
    public var receiver: Int64
    /// The app of a receiving user; the author's but for CUSTOMER_V2.
    public var receiverApp: Int64
    /// When the server took it, in seconds since 1970.
    public var timestamp: Int32
    /// The author's own number of the message.
    public var msgLocalID: Int32
    /// The content.
    public var content: String
    /// The queues that are to hold it, the author's last; a queue may stand here twice.
    public var queues: [QueueID]
    /// Whether it is only to be recognised: its author may not write this now, but may have been allowed when the
    /// message came first.
    public var isRepeatOnly = false

    /// Makes an entry.
    public init(
        author: Account, device: DeviceNumber, command: Command, flags: PacketFlags, receiver: Int64,
        receiverApp: Int64? = nil, timestamp: Int32, msgLocalID: Int32, content: String, queues: [QueueID]
    ) {
        self.receiverApp = receiverApp ?? author.app
        self.author = author
        self.device = device
        self.command = command
        self.flags = flags
        self.receiver = receiver
        self.timestamp = timestamp
        self.msgLocalID = msgLocalID
        self.content = content
        self.queues = queues
    }
}

/// Where a message stands in one queue.
public struct QueuePlace: Sendable, Hashable {
    /// The message's key there.
    public var key: Int64
    /// The key before it in the same queue; 0 for the first.
    public var previous: Int64

    /// Makes a place.
    public init(key: Int64, previous: Int64) {
        self.key = key
        self.previous = previous
    }
}

/// What became of an entry.
public enum AppendOutcome: Sendable, Equatable {
    /// It was stored; one place for each of the entry's queues, in their order.
    case stored([QueuePlace])
    /// It had been stored before, at these places.
    case duplicate([QueuePlace])
    /// It was only to be recognised (``LogEntry/isRepeatOnly``), and is not known; nothing was stored.
    case unknown
}

/// A message as a queue holds it.
public struct StoredMessage: Sendable, Equatable {
    /// Its key in the queue.
    public var key: Int64
    /// The author.
    public var author: Account
    /// The author's device.
    public var device: DeviceNumber
    /// The command.
    public var command: Command
    /// The kept flags.
    public var flags: PacketFlags
    /// A user or a group.
    public var receiver: Int64
    /// The app of a receiving user.
    public var receiverApp: Int64
    /// Seconds since 1970.
    public var timestamp: Int32
    /// The author's own number.
    public var msgLocalID: Int32
    /// The content.
    public var content: String

    /// Makes the stored form of an entry.
    public init(_ entry: LogEntry, key: Int64) {
        self.key = key
        author = entry.author
        device = entry.device
        command = entry.command
        flags = entry.flags
        receiver = entry.receiver
        receiverApp = entry.receiverApp
        timestamp = entry.timestamp
        msgLocalID = entry.msgLocalID
        content = entry.content
    }

    /// The uuid among the top-level keys of the content; nil when it has none.
    public var uuid: String? {
        ContentScanner.uuid(in: content).map { String(decoding: $0, as: UTF8.self) }
    }
}
