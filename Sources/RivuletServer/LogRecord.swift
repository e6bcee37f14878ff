import RivuletModel
import RivuletServerCore
import RivuletWire

/// One message inside a row of the journal; all integers are little-endian.
///
/// | offset | size | field |
/// |---:|---:|---|
/// | 0 | 4 | size of the whole record |
/// | 4 | 1 | command |
/// | 5 | 1 | flags |
/// | 6 | 2 | number of queues, n |
/// | 8 | 8 | author's app |
/// | 16 | 8 | author |
/// | 24 | 8 | author's device number |
/// | 32 | 8 | receiver |
/// | 40 | 4 | timestamp |
/// | 44 | 4 | author's number of the message |
/// | 48 | 1 | identity: 0 none, 1 by uuid, 2 by content for a while |
/// | 49 | 8 | hash of the identity |
/// | 57 | 24 n | per queue: user, key, previous key |
/// | 57 + 24 n | | content |
struct LogRecord {
    static let fixedByteCount = 57
    static let placeByteCount = 24

    var entry: LogEntry
    var places: [QueuePlace]
    var identity: MessageIdentity?

    /// Writes a record at the end of a journal row; answers its offset there.
    static func write(
        _ entry: LogEntry, _ places: [QueuePlace], _ identity: MessageIdentity?, to row: inout [UInt8]
    ) -> Int {
        let offset = row.count
        let size = fixedByteCount + placeByteCount * places.count + entry.content.utf8.count
        row.append(littleEndian: UInt32(size))
        row.append(entry.command.rawValue)
        row.append(entry.flags.rawValue)
        row.append(littleEndian: UInt16(places.count))
        row.append(littleEndian: entry.author.app)
        row.append(littleEndian: entry.author.user.rawValue)
        row.append(littleEndian: entry.device.rawValue)
        row.append(littleEndian: entry.receiver)
        row.append(littleEndian: entry.timestamp)
        row.append(littleEndian: entry.msgLocalID)
        row.append(identity.map { $0.isPermanent ? 1 : 2 } ?? 0)
        row.append(littleEndian: identity?.hash ?? 0)
        for (user, place) in zip(entry.queues, places) {
            row.append(littleEndian: user.rawValue)
            row.append(littleEndian: place.key)
            row.append(littleEndian: place.previous)
        }
        row.append(contentsOf: entry.content.utf8)
        return offset
    }

    /// Reads the record at an offset; nil when the bytes are not one.
    ///
    /// - Returns: The record and the offset behind it.
    static func read(_ row: [UInt8], at offset: Int) -> (record: LogRecord, end: Int)? {
        guard offset >= 0, let size = row.littleEndian(UInt32.self, at: offset).map(Int.init),
            size >= fixedByteCount, size <= row.count - offset,
            let count = row.littleEndian(UInt16.self, at: offset + 6).map(Int.init),
            fixedByteCount + placeByteCount * count <= size,
            let app = row.littleEndian(Int64.self, at: offset + 8),
            let user = row.littleEndian(Int64.self, at: offset + 16),
            let device = row.littleEndian(Int64.self, at: offset + 24),
            let receiver = row.littleEndian(Int64.self, at: offset + 32),
            let timestamp = row.littleEndian(Int32.self, at: offset + 40),
            let number = row.littleEndian(Int32.self, at: offset + 44),
            let hash = row.littleEndian(Int64.self, at: offset + 49)
        else { return nil }
        var queues: [UserID] = []
        var places: [QueuePlace] = []
        for index in 0..<count {
            let start = offset + fixedByteCount + index * placeByteCount
            guard let owner = row.littleEndian(Int64.self, at: start),
                let key = row.littleEndian(Int64.self, at: start + 8),
                let previous = row.littleEndian(Int64.self, at: start + 16)
            else { return nil }
            queues.append(UserID(owner))
            places.append(QueuePlace(key: key, previous: previous))
        }
        let content = row[(offset + fixedByteCount + placeByteCount * count)..<(offset + size)]
        let entry = LogEntry(
            author: Account(app: app, user: UserID(user)), device: DeviceNumber(rawValue: device),
            command: Command(rawValue: row[offset + 4]), flags: PacketFlags(rawValue: row[offset + 5]),
            receiver: receiver, timestamp: timestamp, msgLocalID: number,
            content: String(decoding: content, as: UTF8.self), queues: queues)
        let identity: MessageIdentity? =
            switch row[offset + 48] {
            case 1: MessageIdentity(isPermanent: true, hash: hash)
            case 2: MessageIdentity(isPermanent: false, hash: hash)
            default: nil
            }
        return (LogRecord(entry: entry, places: places, identity: identity), offset + size)
    }
}

extension [UInt8] {
    /// Appends an integer, least significant byte first.
    mutating func append(littleEndian value: some FixedWidthInteger) {
        Swift.withUnsafeBytes(of: value.littleEndian) { append(contentsOf: $0) }
    }

    /// Reads an integer, least significant byte first; nil when it does not lie inside.
    func littleEndian<Value: FixedWidthInteger>(_ type: Value.Type, at offset: Int) -> Value? {
        let size = MemoryLayout<Value>.size
        guard offset >= 0, count >= size, offset <= count - size else { return nil }
        return withUnsafeBytes {
            Value(littleEndian: $0.loadUnaligned(fromByteOffset: offset, as: Value.self))
        }
    }
}
