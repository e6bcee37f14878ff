import RivuletModel

/// Where messages are kept: every queue, in order, each message once (docs/protocol.md, section 11).
///
/// An implementation belongs to one thread. Keys lie between 1 and 2^53, grow within a queue and are never used
/// twice; gaps are normal. Two implementations exist, one in memory and one on SQLite, under the same contract tests.
public protocol MessageLog: AnyObject {
    /// Stores the entries, all or none; they are safe when this returns.
    ///
    /// An entry with the identity of one already stored, or of an earlier one in the same call, is answered with the
    /// places of the first and stored no second time (``MessageIdentity``). An entry whose content is
    /// `{"burned":{"msgid":…}}` takes with it the stored message that its author received under that uuid: it keeps
    /// its place and loses its content, and no page holds it any more. An entry that is only to be recognised
    /// (``LogEntry/isRepeatOnly``) is stored in no case.
    ///
    /// - Throws: What the storage throws; then nothing was stored.
    func append(_ entries: [LogEntry], at now: WallTime) throws -> [AppendOutcome]

    /// The messages after a key, oldest first, at most this many places and about this many content bytes.
    func messages(in queue: QueueID, after key: Int64, limit: PageLimit) throws -> QueueSlice

    /// The messages before a key, newest first, at most this many places.
    func messages(in queue: QueueID, before key: Int64, countMax: Int) throws -> QueueSlice

    /// The newest key ever given in the queue; 0 when none was.
    func newestKey(of queue: QueueID) throws -> Int64

    /// The newest key ever given in any queue; every later one is greater.
    var lastKey: Int64 { get }

    /// The key of a queue that the reader's clients reported last; 0 when none did.
    func reportedKey(of queue: QueueID, by reader: Account) throws -> Int64

    /// Keeps a reported key; it may be lost in a crash, but not in an orderly stop.
    func setReportedKey(_ key: Int64, of queue: QueueID, by reader: Account) throws

    /// The number of unread messages that a user's client reported since the last login; 0 when none did.
    func unreadCount(of account: Account) throws -> Int32

    /// Keeps a number of unread messages; the next message that is stored makes it safe, and so does an orderly stop.
    func setUnreadCount(_ count: Int32, of account: Account) throws

    /// Removes messages that were taken before a time, some at each call; their keys are not used again.
    ///
    /// A message may stay a while longer, together with newer ones.
    ///
    /// - Returns: Whether there is more to remove.
    func removeMessages(before time: WallTime, countMax: Int) throws -> Bool
}

/// How much one page of a queue may hold.
public struct PageLimit: Sendable, Hashable {
    /// The most messages.
    public var countMax: Int
    /// The most content bytes; one message may exceed it alone.
    public var bytesMax: Int

    /// Makes a limit; both are at least 1.
    public init(countMax: Int = 1000, bytesMax: Int = 512 * 1024) {
        self.countMax = max(1, countMax)
        self.bytesMax = max(1, bytesMax)
    }
}

/// Consecutive messages of one queue.
public struct QueueSlice: Sendable, Equatable {
    /// The messages in the order asked for; those that were burned are left out.
    public var messages: [StoredMessage]
    /// The key of the last place that was looked at, message or not; the key asked with when there was none.
    public var end: Int64
    /// Whether the queue holds more places beyond.
    public var hasMore: Bool

    /// Makes a slice.
    public init(messages: [StoredMessage], end: Int64, hasMore: Bool) {
        self.messages = messages
        self.end = end
        self.hasMore = hasMore
    }
}

/// The answer to one SYNC or SYNC_GROUP.
public struct SyncPage: Sendable, Equatable {
    /// The key from which the page was read.
    public var start: Int64
    /// The messages.
    public var messages: [StoredMessage]
    /// The key that the client holds after this page.
    public var end: Int64
    /// Whether another round would bring more.
    public var hasMore: Bool

    /// Makes a page.
    public init(start: Int64, messages: [StoredMessage], end: Int64, hasMore: Bool) {
        self.start = start
        self.messages = messages
        self.end = end
        self.hasMore = hasMore
    }
}

extension MessageLog {
    /// Answers SYNC(key): 0 means the reported key, a negative key everything, and a key above everything is
    /// answered with the real last one (docs/protocol.md, sections 11.2 and 23.4).
    public func page(_ request: PageRequest, limit: PageLimit) throws -> SyncPage {
        let newest = try newestKey(of: request.queue)
        var start = request.after
        if start == 0 { start = try reportedKey(of: request.queue, by: request.reader) }
        start = min(max(start, request.joinedKey, 0), newest)
        var slice = try messages(in: request.queue, after: start, limit: limit)
        slice.messages.removeAll { $0.timestamp < request.notBefore }
        return SyncPage(start: start, messages: slice.messages, end: slice.end, hasMore: slice.hasMore)
    }

    /// Takes a key that a client reports: only a greater one counts, unless the kept one exceeds everything the
    /// queue holds (docs/protocol.md, section 21, pitfall 16).
    public func report(_ key: Int64, of queue: QueueID, by reader: Account) throws {
        guard key > 0 else { return }
        let kept = try reportedKey(of: queue, by: reader)
        if key > kept {
            try setReportedKey(key, of: queue, by: reader)
            return
        }
        let newest = try newestKey(of: queue)
        if key < kept, kept > newest { try setReportedKey(key, of: queue, by: reader) }
    }
}
