import RivuletServerCore

/// Where a message's record is.
struct RecordLocation: Hashable {
    /// The row of the journal.
    var row: Int64
    /// The byte in it.
    var offset: UInt32
}

/// One message in a queue: its key and where its record is.
struct QueueEntry: Hashable {
    var key: Int64
    var location: RecordLocation
}

/// What the log keeps in memory of one queue: its newest key and the entries that are only in the journal yet.
final class QueueTail {
    /// The newest key; 0 for an empty queue.
    var newestKey: Int64
    /// The entries not yet in a segment, oldest first.
    var entries: [QueueEntry] = []
    /// The reported key, once it was looked up.
    var reportedKey: Int64?

    /// The append that touched the queue last, and what to go back to when that append fails.
    var mark: UInt64 = 0
    var newestKeyBefore: Int64 = 0
    var entryCountBefore = 0

    init(newestKey: Int64) {
        self.newestKey = newestKey
    }

    /// Gives the next place in the queue, remembering the state before this append.
    func add(_ key: Int64, at location: RecordLocation, mark: UInt64) -> Bool {
        let isFirst = self.mark != mark
        if isFirst {
            self.mark = mark
            newestKeyBefore = newestKey
            entryCountBefore = entries.count
        }
        newestKey = key
        entries.append(QueueEntry(key: key, location: location))
        return isFirst
    }

    /// Undoes what the last append added.
    func undo() {
        newestKey = newestKeyBefore
        entries.removeLast(entries.count - entryCountBefore)
        mark = 0
    }
}

/// The packed form of a segment: per entry the key, the journal row and the offset, 20 bytes, little-endian.
enum Segment {
    /// So many entries fill one segment: they stay inside one page of the table.
    static let entriesMax = 48
    static let entryByteCount = 20

    static func pack(_ entries: some Sequence<QueueEntry>, onto packed: inout [UInt8]) {
        for entry in entries {
            packed.append(littleEndian: entry.key)
            packed.append(littleEndian: entry.location.row)
            packed.append(littleEndian: entry.location.offset)
        }
    }

    static func unpack(_ packed: [UInt8]) -> [QueueEntry] {
        stride(from: 0, to: packed.count - packed.count % entryByteCount, by: entryByteCount).compactMap {
            start in
            guard let key = packed.littleEndian(Int64.self, at: start),
                let row = packed.littleEndian(Int64.self, at: start + 8),
                let offset = packed.littleEndian(UInt32.self, at: start + 16)
            else { return nil }
            return QueueEntry(key: key, location: RecordLocation(row: row, offset: offset))
        }
    }
}
