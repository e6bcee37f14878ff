import RivuletModel
import RivuletServerCore
import RivuletWire

// Records of journal rows of format 1, which are read and not written any more.
extension LogRecord {
    /// Reads the record at an offset; nil when the bytes are not one.
    ///
    /// | offset | size | field |
    /// |---:|---:|---|
    /// | 0 | 4 | size of the whole record |
    /// | 4 | 1 | command |
    /// | 5 | 1 | flags; bit 7 is set here when the message was burned, which no client's flag uses |
    /// | 6 | 2 | number of queues, n |
    /// | 8 | 40 | author's app, author, device, receiver (8 each), timestamp, number (4 each) |
    /// | 48 | 1 | identity |
    /// | 49 | 8 | hash of the identity |
    /// | 57 | 24 n | per queue: user, key, previous key |
    /// | 57 + 24 n | | content |
    static func readFormat1(_ row: [UInt8], at offset: Int) -> LogRecord? {
        guard offset >= 0, let size = row.littleEndian(UInt32.self, at: offset).map(Int.init),
            size >= 57, size <= row.count - offset,
            let count = row.littleEndian(UInt16.self, at: offset + 6).map(Int.init), 57 + 24 * count <= size,
            let app = row.littleEndian(Int64.self, at: offset + 8),
            let user = row.littleEndian(Int64.self, at: offset + 16),
            let device = row.littleEndian(Int64.self, at: offset + 24),
            let receiver = row.littleEndian(Int64.self, at: offset + 32),
            let timestamp = row.littleEndian(Int32.self, at: offset + 40),
            let number = row.littleEndian(Int32.self, at: offset + 44),
            let hash = row.littleEndian(Int64.self, at: offset + 49)
        else { return nil }
        var queues: [QueueID] = []
        var places: [QueuePlace] = []
        for index in 0..<count {
            let start = offset + 57 + index * 24
            guard let owner = row.littleEndian(Int64.self, at: start),
                let key = row.littleEndian(Int64.self, at: start + 8),
                let previous = row.littleEndian(Int64.self, at: start + 16)
            else { return nil }
            queues.append(.user(Account(app: app, user: UserID(owner))))
            places.append(QueuePlace(key: key, previous: previous))
        }
        let content = (offset + 57 + 24 * count)..<(offset + size)
        let flags = row[offset + 5]
        let entry = LogEntry(
            author: Account(app: app, user: UserID(user)), device: DeviceNumber(rawValue: device),
            command: Command(rawValue: row[offset + 4]), flags: PacketFlags(rawValue: flags & 0x7F),
            receiver: receiver, timestamp: timestamp, msgLocalID: number,
            content: String(decoding: row[content], as: UTF8.self), queues: queues)
        let identity: MessageIdentity? =
            switch row[offset + 48] {
            case 1: MessageIdentity(isPermanent: true, hash: hash)
            case 2: MessageIdentity(isPermanent: false, hash: hash)
            default: nil
            }
        return LogRecord(
            entry: entry, places: places, identity: identity, isBurned: flags & 0x80 != 0, content: content,
            end: offset + size)
    }

    /// Marks the record at an offset as burned.
    static func markBurned(_ row: inout [UInt8], at offset: Int) {
        if row.first == 1 { row[offset + 5] |= 0x80 } else { row[offset + stateOffset] |= 1 }
    }
}
