import RivuletModel

/// A log that lives as long as the process: the twin of the SQLite one for tests, demos and simulations.
public final class MemoryLog: MessageLog {
    private struct Remembered {
        var entry: LogEntry
        var places: [QueuePlace]
        var expires: WallTime?
    }

    private struct Place {
        var message: StoredMessage
        var isBurned = false
    }

    private struct ReportedKey: Hashable {
        var queue: QueueID
        var reader: Account
    }

    private var queues: [QueueID: [Place]] = [:]
    private var newest: [QueueID: Int64] = [:]
    private var reported: [ReportedKey: Int64] = [:]
    private var known: [MessageIdentity: [Remembered]] = [:]
    private var unread: [Account: Int32] = [:]
    /// The newest key ever given in any queue.
    public private(set) var lastKey: Int64
    private let hashBits: Int

    /// Makes an empty log.
    ///
    /// - Parameters:
    ///   - lastKey: The first key given is one greater.
    ///   - hashBits: How much of the hash of an identity is used; tests take fewer to make identities collide.
    public init(lastKey: Int64 = 0, hashBits: Int = 64) {
        self.lastKey = lastKey
        self.hashBits = hashBits
    }

    /// Stores the entries; it never fails.
    public func append(_ entries: [LogEntry], at now: WallTime) throws -> [AppendOutcome] {
        entries.map { entry in
            let identity = MessageIdentity(entry, hashBits: hashBits)
            if let identity, let places = places(ofEarlier: entry, identity, at: now) {
                return .duplicate(places)
            }
            guard !entry.isRepeatOnly else { return .unknown }
            let places = entry.queues.map { store(entry, in: $0) }
            if let identity {
                known[identity, default: []].append(
                    Remembered(
                        entry: entry, places: places,
                        expires: identity.isPermanent ? nil : now.afterIdentityWindow))
            }
            burn(for: entry)
            return .stored(places)
        }
    }

    /// The messages after a key, found in logarithmic time.
    public func messages(in queue: QueueID, after key: Int64, limit: PageLimit) throws -> QueueSlice {
        let places = queues[queue] ?? []
        let low = Self.index(in: places, after: key)
        var slice = QueueSlice(messages: [], end: key, hasMore: false)
        var bytes = 0
        for place in places[low...].prefix(limit.countMax) {
            if !place.isBurned {
                bytes += place.message.content.utf8.count
                if !slice.messages.isEmpty, bytes > limit.bytesMax { break }
                slice.messages.append(place.message)
            }
            slice.end = place.message.key
        }
        slice.hasMore = places.last.map { $0.message.key > slice.end } ?? false
        return slice
    }

    /// The messages before a key, newest first.
    public func messages(in queue: QueueID, before key: Int64, countMax: Int) throws -> QueueSlice {
        let earlier = (queues[queue] ?? []).prefix { $0.message.key < key }
        let taken = earlier.suffix(max(1, countMax)).reversed()
        return QueueSlice(
            messages: taken.filter { !$0.isBurned }.map(\.message), end: taken.last?.message.key ?? key,
            hasMore: taken.count < earlier.count)
    }

    /// The newest key ever given in the queue; 0 when none was.
    public func newestKey(of queue: QueueID) throws -> Int64 {
        newest[queue] ?? 0
    }

    /// The key of a queue that the reader's clients reported last; 0 when none did.
    public func reportedKey(of queue: QueueID, by reader: Account) throws -> Int64 {
        reported[ReportedKey(queue: queue, reader: reader)] ?? 0
    }

    /// Keeps a reported key.
    public func setReportedKey(_ key: Int64, of queue: QueueID, by reader: Account) throws {
        reported[ReportedKey(queue: queue, reader: reader)] = key
    }

    /// The number of unread messages that a user's client reported.
    public func unreadCount(of account: Account) throws -> Int32 {
        unread[account] ?? 0
    }

    /// Keeps a number of unread messages.
    public func setUnreadCount(_ count: Int32, of account: Account) throws {
        unread[account] = count > 0 ? count : nil
    }

    /// Removes everything that was taken before a time, at once.
    public func removeMessages(before time: WallTime, countMax: Int) throws -> Bool {
        for (queue, places) in queues {
            queues[queue] = places.filter { $0.message.timestamp >= time.timestamp }
        }
        for (identity, messages) in known {
            let kept = messages.filter { $0.entry.timestamp >= time.timestamp }
            known[identity] = kept.isEmpty ? nil : kept
        }
        return false
    }

    // MARK: Copies

    /// The log as it is now, which goes its own way from here: what a backup is to the one in a file.
    public func copy() -> MemoryLog {
        let copy = MemoryLog(lastKey: lastKey, hashBits: hashBits)
        (copy.queues, copy.newest, copy.reported) = (queues, newest, reported)
        (copy.known, copy.unread) = (known, unread)
        return copy
    }

    /// Gives keys of a new epoch from now on, since it takes the place of a log that had given others.
    ///
    /// - Parameters:
    ///   - known: The last key that is known to have been given; that of the copy counts by itself.
    ///   - now: When.
    public func beginEpoch(after known: Int64 = 0, at now: WallTime) {
        lastKey = KeyEpoch.start(after: max(lastKey, known), at: now)
    }

    private func places(
        ofEarlier entry: LogEntry, _ identity: MessageIdentity, at now: WallTime
    ) -> [QueuePlace]? {
        known[identity]?.last { earlier in
            (earlier.expires.map { $0 > now } ?? true) && MessageIdentity.areSame(earlier.entry, entry)
        }?.places
    }

    private func store(_ entry: LogEntry, in queue: QueueID) -> QueuePlace {
        lastKey += 1
        let place = QueuePlace(key: lastKey, previous: newest[queue] ?? 0)
        newest[queue] = lastKey
        queues[queue, default: []].append(Place(message: StoredMessage(entry, key: place.key)))
        return place
    }

    private func burn(for entry: LogEntry) {
        guard let identity = MessageIdentity(burnedBy: entry, hashBits: hashBits),
            let index = known[identity]?.firstIndex(where: { MessageIdentity.burns(entry, $0.entry) }),
            let target = known[identity]?[index]
        else { return }
        known[identity]?[index].entry.content = MessageIdentity.burnedContent(target.entry.content)
        for (queue, place) in zip(target.entry.queues, target.places) {
            let index = Self.index(in: queues[queue] ?? [], after: place.key - 1)
            guard queues[queue]?.indices.contains(index) == true else { continue }
            queues[queue]?[index].isBurned = true
            queues[queue]?[index].message.content = ""
        }
    }

    /// The index of the first place after a key; the places are in the order of their keys.
    private static func index(in places: [Place], after key: Int64) -> Int {
        var low = 0
        var high = places.count
        while low < high {
            let middle = (low + high) / 2
            if places[middle].message.key > key { high = middle } else { low = middle + 1 }
        }
        return low
    }
}

extension WallTime {
    /// When a message without a uuid that came now is forgotten.
    public var afterIdentityWindow: WallTime {
        WallTime(milliseconds: milliseconds + MessageIdentity.windowMilliseconds)
    }
}
