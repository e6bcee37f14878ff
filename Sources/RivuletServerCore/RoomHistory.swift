import RivuletModel

/// One message of a room, as its history keeps it.
public struct RoomHistoryEntry: Sendable, Hashable {
    /// Its number; grows, and is never given again, also when the server was restarted meanwhile.
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

/// The numbers of messages in rooms.
///
/// Rooms are not stored, so the numbers rest on the clock: who asks after a restart for what came after a number hears
/// of all that came since. A clock that was set back does no harm as long as the node begins above the last number.
public enum RoomKey {
    /// So many numbers are left for each millisecond; all stay below 2^53 until the year 2248.
    private static let shift: Int64 = 10
    private static let millisecondsMax: Int64 = 1 << 43 - 1

    /// The first number of a moment.
    public static func first(at time: WallTime) -> Int64 {
        min(max(0, time.milliseconds), millisecondsMax) << shift
    }

    /// The number after the last one.
    static func next(after last: Int64, at time: WallTime) -> Int64 {
        max(last + 1, first(at: time))
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
