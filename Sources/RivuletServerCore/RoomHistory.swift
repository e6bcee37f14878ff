import RivuletModel

/// One message of a room, as its history keeps it.
public struct RoomHistoryEntry: Sendable, Hashable {
    /// Its number; grows within a server's run.
    public var key: Int64
    /// Who wrote it.
    public var author: Account
    /// When the server took it.
    public var time: WallTime
    /// The content.
    public var content: String

    /// The uuid among the top-level keys of the content; nil when it has none.
    public var uuid: String? {
        ContentScanner.uuid(in: content).map { String(decoding: $0, as: UTF8.self) }
    }
}

/// The last messages of one room, bounded in number, bytes and age.
struct RoomHistory: Sendable {
    private var entries: [RoomHistoryEntry] = []
    private var first = 0
    private var byteCount = 0
    /// When something was added last.
    private(set) var lastTime = WallTime(milliseconds: 0)

    mutating func add(_ entry: RoomHistoryEntry, _ rules: NodeRules) {
        entries.append(entry)
        byteCount += entry.content.utf8.count
        lastTime = entry.time
        while entries.count - first > rules.roomHistoryCountMax || byteCount > rules.roomHistoryBytesMax,
            first < entries.count
        {
            dropFirst()
        }
        expire(at: entry.time, rules)
    }

    mutating func expire(at now: WallTime, _ rules: NodeRules) {
        while first < entries.count,
            now.milliseconds - entries[first].time.milliseconds > rules.roomHistoryMilliseconds
        {
            dropFirst()
        }
    }

    var current: ArraySlice<RoomHistoryEntry> {
        entries[first...]
    }

    private mutating func dropFirst() {
        byteCount -= entries[first].content.utf8.count
        entries[first].content = ""
        first += 1
        if first > 64, first > entries.count / 2 {
            entries.removeFirst(first)
            first = 0
        }
    }
}
