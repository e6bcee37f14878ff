public import RivuletModel

/// The layout snapshots: sizes of components kept for the next time, least recently used first out.
///
/// Keeping is opt-in (``ComponentLayout/usesSnapshots``), for components whose size depends on nothing but the key.
/// Look-up, insertion and eviction are O(1); clearing a message is O(its entries), clearing a kind O(all entries).
public struct LayoutSnapshots: Sendable {
    /// How well the cache serves.
    public struct Counters: Hashable, Sendable {
        /// Look-ups that found a size.
        public var hits = 0
        /// Look-ups that found none.
        public var misses = 0
        /// Sizes that had to go because the cache was full.
        public var evictions = 0

        /// Makes counters at zero.
        public init() {}
    }

    private struct Entry: Sendable {
        var key: MeasureKey
        var kind: MessageKind
        var size: LayoutSize
        var previous: Int
        var next: Int
    }

    /// The greatest number of sizes kept.
    public let countMax: Int
    /// How well the cache has served since it was made.
    public private(set) var counters = Counters()

    private var entries: [Entry] = []
    private var slots: [MeasureKey: Int] = [:]
    private var slotsByMessage: [MessageID: [Int]] = [:]
    private var free: [Int] = []
    private var newest = -1
    private var oldest = -1

    /// Makes an empty cache; with a bound of zero or less it keeps nothing.
    public init(countMax: Int = 10_000) {
        self.countMax = max(0, countMax)
    }

    /// The number of sizes kept.
    public var count: Int { slots.count }

    /// The size under this key, which becomes the most recently used; counted as hit or miss.
    public mutating func size(for key: MeasureKey) -> LayoutSize? {
        guard let slot = slots[key] else {
            counters.misses += 1
            return nil
        }
        counters.hits += 1
        if newest != slot {
            unlink(slot)
            linkAsNewest(slot)
        }
        return entries[slot].size
    }

    /// Keeps a size; the least recently used one goes when there is no room.
    public mutating func insert(_ size: LayoutSize, kind: MessageKind, for key: MeasureKey) {
        guard countMax > 0 else { return }
        if let slot = slots[key] {
            entries[slot].size = size
            entries[slot].kind = kind
            unlink(slot)
            linkAsNewest(slot)
            return
        }
        if slots.count == countMax {
            counters.evictions += 1
            remove(oldest)
        }
        let entry = Entry(key: key, kind: kind, size: size, previous: -1, next: -1)
        let slot: Int
        if let reused = free.popLast() {
            slot = reused
            entries[slot] = entry
        } else {
            slot = entries.count
            entries.append(entry)
        }
        slots[key] = slot
        slotsByMessage[key.message, default: []].append(slot)
        linkAsNewest(slot)
    }

    /// Forgets the sizes of one message.
    public mutating func clear(message: MessageID) {
        for slot in slotsByMessage[message] ?? [] { remove(slot) }
    }

    /// Forgets the sizes of one kind.
    public mutating func clear(kind: MessageKind) {
        for slot in slots.values.filter({ entries[$0].kind == kind }) { remove(slot) }
    }

    /// Forgets all sizes; the counters stay.
    public mutating func clearAll() {
        entries = []
        slots = [:]
        slotsByMessage = [:]
        free = []
        newest = -1
        oldest = -1
    }

    private mutating func remove(_ slot: Int) {
        unlink(slot)
        let key = entries[slot].key
        slots[key] = nil
        free.append(slot)
        slotsByMessage[key.message]?.removeAll { $0 == slot }
        if slotsByMessage[key.message]?.isEmpty == true { slotsByMessage[key.message] = nil }
    }

    private mutating func unlink(_ slot: Int) {
        let entry = entries[slot]
        if entry.previous >= 0 { entries[entry.previous].next = entry.next } else { newest = entry.next }
        if entry.next >= 0 { entries[entry.next].previous = entry.previous } else { oldest = entry.previous }
    }

    private mutating func linkAsNewest(_ slot: Int) {
        entries[slot].previous = -1
        entries[slot].next = newest
        if newest >= 0 { entries[newest].previous = slot } else { oldest = slot }
        newest = slot
    }
}
