public import RivuletWire

/// Where a client keeps what must survive a restart: received messages, unsent messages and sync keys.
///
/// ``ClientCore`` never acknowledges a packet, reports a key or tells an observer before ``commit(_:)`` has returned,
/// so what an app shows and what a server believes to be delivered are always on disk. Implement it over a database
/// with one transaction per batch. `MemoryClientStorage` in RivuletClient keeps everything in memory.
///
/// A storage belongs to one account. Its methods are never called at the same time by one client.
public protocol ClientStorage: Sendable {
    /// Reads what the last run left; called before the first connection, until it succeeds once.
    ///
    /// - Throws: Any error of the storage; the client then reports it, does not connect, and tries again later.
    func restore() async throws -> RestoredState

    /// Applies all changes of a batch, in order, or none of them.
    ///
    /// The storage recognises messages that it already has (by uuid; by whatever the app knows when there is none)
    /// and says so in the outcome; storing such a message again is not an error. Batches come in the order in which
    /// things happened, each after the previous one has returned.
    ///
    /// - Throws: Any error of the storage. Nothing of the batch may then remain. The client closes the connection
    ///   without acknowledging and asks the server again later, so the same messages come back in another batch.
    func commit(_ batch: StorageBatch) async throws -> CommitOutcome
}

/// What a ``ClientStorage`` remembered from earlier runs.
public struct RestoredState: Sendable, Equatable {
    /// The last key of the user's own queue; nil when this installation never finished a sync round.
    ///
    /// With nil the client asks for everything (−1): 0 would mean the key which another device reported.
    public var peerKey: Int64?
    /// The last key of each super group's queue, by group id.
    public var groupKeys: [Int64: Int64]
    /// The messages that were neither acknowledged, refused nor cancelled, in the order in which they were queued.
    public var outbox: [OutboxEntry]
    /// The greatest id that was ever given to a send, 0 when there was none; ids are not used twice.
    public var lastSendID: SendID

    /// Makes a state; the default is that of a new installation.
    public init(
        peerKey: Int64? = nil, groupKeys: [Int64: Int64] = [:], outbox: [OutboxEntry] = [],
        lastSendID: SendID = SendID(rawValue: 0)
    ) {
        self.peerKey = peerKey
        self.groupKeys = groupKeys
        self.outbox = outbox
        self.lastSendID = lastSendID
    }
}

/// The changes that a ``ClientStorage`` applies as one transaction.
///
/// A sync round is one batch: its messages in the order of the queue, then the key that covers them. A round is cut
/// only when it grows beyond the client's limit (3,000 messages by default); the first parts then carry no key, and
/// their messages come again if the client stops in between.
public struct StorageBatch: Sendable, Equatable {
    /// The client's own number of the batch, growing by one, without meaning for the storage.
    public var id: UInt64
    /// What to apply, in order.
    public var changes: [StorageChange]

    /// Makes a batch.
    public init(id: UInt64, changes: [StorageChange] = []) {
        self.id = id
        self.changes = changes
    }
}

/// One step of a ``StorageBatch``.
public enum StorageChange: Sendable, Equatable {
    /// A message, notification or system text came from the server.
    case received(ReceivedMessage)
    /// The user sends this message: keep it until one of the four following changes names it.
    ///
    /// A message with the same uuid that failed before becomes *sending* again and takes its new place.
    case queued(OutboxEntry)
    /// What the message waited for is uploaded: this entry, with the body that names it, takes the place of the one
    /// with the same id; it needs no upload any more.
    case uploaded(OutboxEntry)
    /// The server has the message; it leaves the outbox.
    ///
    /// `place` is where the server put it in the user's own queue (or the super group's), and is nil when the server
    /// did not say or when something lies between the last known key and it: the place is then learned from the
    /// message's own copy in a later round.
    case acknowledged(SendID, place: QueuePlace?)
    /// The server refused the message with this status, never `success`; it leaves the outbox.
    case refused(SendID, ACKStatus)
    /// The client gave the message up; it leaves the outbox.
    case failed(SendID, SendFailure)
    /// The user withdrew the message before it was written to a connection; it leaves the outbox.
    case cancelled(SendID)
    /// Everything of the user's own queue up to this key is stored. It may be lower than the last one.
    case peerKey(Int64)
    /// Everything of a super group's queue up to this key is stored. It may be lower than the last one.
    case groupKey(group: Int64, key: Int64)
    /// The app follows this super group no longer: its key is forgotten, and the next start does not ask for it.
    case groupRemoved(Int64)
}

/// What a ``ClientStorage`` found while it applied a batch.
public struct CommitOutcome: Sendable, Equatable {
    /// For each ``StorageChange/received(_:)`` of the batch, in order: whether the message was not yet known.
    ///
    /// Observers are told of new messages only. A missing element counts as true.
    public var isNew: [Bool]

    /// Makes an outcome; by default every message is new.
    public init(isNew: [Bool] = []) {
        self.isNew = isNew
    }
}
