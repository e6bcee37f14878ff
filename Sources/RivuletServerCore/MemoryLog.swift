public import RivuletModel

/// A log that lives as long as the process: the twin of the SQLite one for tests, demos and simulations.
public final class MemoryLog: MessageLog {
    private struct Remembered {
        var places: [QueuePlace]
        var expires: WallTime?
    }

    private var queues: [UserID: [StoredMessage]] = [:]
    private var reported: [UserID: Int64] = [:]
    private var known: [MessageIdentity: Remembered] = [:]
    private var lastKey: Int64

    /// Makes an empty log.
    ///
    /// - Parameter lastKey: The first key given is one greater.
    public init(lastKey: Int64 = 0) {
        self.lastKey = lastKey
    }

    /// Stores the entries; it never fails.
    public func append(_ entries: [LogEntry], at now: WallTime) throws -> [AppendOutcome] {
        entries.map { entry in
            let identity = MessageIdentity(entry)
            if let identity, let first = known[identity], first.expires.map({ $0 > now }) ?? true {
                return .duplicate(first.places)
            }
            let places = entry.queues.map { store(entry, for: $0) }
            if let identity {
                known[identity] = Remembered(
                    places: places, expires: identity.isPermanent ? nil : now.afterIdentityWindow)
            }
            return .stored(places)
        }
    }

    /// The messages after a key, found in logarithmic time.
    public func messages(of user: UserID, after key: Int64, limit: PageLimit) throws -> QueueSlice {
        let queue = queues[user] ?? []
        // The queue is sorted by key: search for the first later one.
        var low = 0
        var high = queue.count
        while low < high {
            let middle = (low + high) / 2
            if queue[middle].key > key { high = middle } else { low = middle + 1 }
        }
        var taken: [StoredMessage] = []
        var bytes = 0
        for message in queue[low...].prefix(limit.countMax) {
            bytes += message.content.utf8.count
            if !taken.isEmpty, bytes > limit.bytesMax { break }
            taken.append(message)
        }
        return QueueSlice(messages: taken, hasMore: low + taken.count < queue.count)
    }

    /// The newest key of the user's queue; 0 when it is empty.
    public func newestKey(of user: UserID) throws -> Int64 {
        queues[user]?.last?.key ?? 0
    }

    /// The key that the user's clients reported last; 0 when none did.
    public func reportedKey(of user: UserID) throws -> Int64 {
        reported[user] ?? 0
    }

    /// Keeps a reported key.
    public func setReportedKey(_ key: Int64, of user: UserID) throws {
        reported[user] = key
    }

    private func store(_ entry: LogEntry, for user: UserID) -> QueuePlace {
        lastKey += 1
        let place = QueuePlace(key: lastKey, previous: queues[user]?.last?.key ?? 0)
        queues[user, default: []].append(StoredMessage(entry, key: place.key))
        return place
    }
}

extension WallTime {
    /// When a message without a uuid that came now is forgotten.
    public var afterIdentityWindow: WallTime {
        WallTime(milliseconds: milliseconds + MessageIdentity.windowMilliseconds)
    }
}
