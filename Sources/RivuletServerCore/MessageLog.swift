public import RivuletModel

/// Where messages are kept: the queue of every user, in order, each message once (docs/protocol.md, section 11).
///
/// An implementation belongs to one thread. Keys lie between 1 and 2^53, grow within a queue and are never used
/// twice; gaps are normal. Two implementations exist, one in memory and one on SQLite, under the same contract tests.
public protocol MessageLog: AnyObject {
    /// Stores the entries, all or none; they are safe when this returns.
    ///
    /// An entry with the identity of one already stored, or of an earlier one in the same call, is answered with the
    /// places of the first and stored no second time (``MessageIdentity``).
    ///
    /// - Throws: What the storage throws; then nothing was stored.
    func append(_ entries: [LogEntry], at now: WallTime) throws -> [AppendOutcome]

    /// The messages after a key, oldest first, at most this many and about this many content bytes, at least one.
    func messages(of user: UserID, after key: Int64, limit: PageLimit) throws -> QueueSlice

    /// The newest key of the user's queue; 0 when it is empty.
    func newestKey(of user: UserID) throws -> Int64

    /// The key that the user's clients reported last; 0 when none did.
    func reportedKey(of user: UserID) throws -> Int64

    /// Keeps a reported key; it may be lost in a crash, but not in an orderly stop.
    func setReportedKey(_ key: Int64, of user: UserID) throws
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
    /// The messages, oldest first.
    public var messages: [StoredMessage]
    /// Whether the queue holds later ones.
    public var hasMore: Bool

    /// Makes a slice.
    public init(messages: [StoredMessage], hasMore: Bool) {
        self.messages = messages
        self.hasMore = hasMore
    }
}

/// The answer to one SYNC.
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
    public func page(of user: UserID, after key: Int64, limit: PageLimit) throws -> SyncPage {
        let newest = try newestKey(of: user)
        var start = key
        if key == 0 { start = try reportedKey(of: user) }
        start = min(max(start, 0), newest)
        let slice = try messages(of: user, after: start, limit: limit)
        return SyncPage(
            start: start, messages: slice.messages, end: slice.messages.last?.key ?? start,
            hasMore: slice.hasMore)
    }

    /// Takes a key that a client reports: only a greater one counts, unless the kept one exceeds everything the
    /// queue holds (docs/protocol.md, section 21, pitfall 16).
    public func report(_ key: Int64, of user: UserID) throws {
        guard key > 0 else { return }
        let kept = try reportedKey(of: user)
        if key > kept {
            try setReportedKey(key, of: user)
            return
        }
        let newest = try newestKey(of: user)
        if key < kept, kept > newest { try setReportedKey(key, of: user) }
    }
}
