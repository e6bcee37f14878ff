import RivuletModel

/// One of the queues in which messages stand: that of a user, or the log of a super group.
public enum QueueID: Hashable, Sendable {
    /// Everything a user is to receive, and what the user sent.
    case user(Account)
    /// The one log of a super group.
    case group(GroupID)
}

/// What a client asked to be read: a page of a queue.
public struct PageRequest: Hashable, Sendable {
    /// The queue.
    public var queue: QueueID
    /// Who asks; a super group's log has a reported key for each reader.
    public var reader: Account
    /// The key of SYNC or SYNC_GROUP: 0 stands for the reported key, a negative one for the beginning.
    public var after: Int64
    /// Seconds since 1970 before which nothing is to be given, since the reader was no member then.
    public var notBefore: Int32
    /// The key up to which nothing is to be given, since the reader joined after it.
    public var joinedKey: Int64

    /// Makes a request.
    public init(
        queue: QueueID, reader: Account, after: Int64, notBefore: Int32 = .min, joinedKey: Int64 = 0
    ) {
        self.joinedKey = joinedKey
        self.queue = queue
        self.reader = reader
        self.after = after
        self.notBefore = notBefore
    }
}
