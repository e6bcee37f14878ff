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
/// | 6 | 1 | identity: 0 none, 1 by uuid, 2 by content for a while |
/// | 7 | 1 | bit 0: burned; bit 1: each queue names its kind and app |
/// | 8 | 8 | author's app |
/// | 16 | 8 | author |
/// | 24 | 8 | author's device number |
/// | 32 | 8 | receiver |
/// | 40 | 8 | receiver's app |
/// | 48 | 4 | timestamp |
/// | 52 | 4 | author's number of the message |
/// | 56 | 8 | hash of the identity |
/// | 64 | 8 | key in the first queue; each further queue has the next key |
/// | 72 | 4 | number of queues, n |
/// | 76 | 16 n | per queue: user, previous key; all of them users of the author's app |
/// | | or 25 n | per queue: kind (0 user, 1 group), app, user or group, previous key |
/// | | | content |
///
/// Rows of format 1, which earlier versions wrote, have records of another layout (`LogRecord+Format1.swift`).
struct LogRecord {
    static let fixedByteCount = 76
    static let stateOffset = 7

    var entry: LogEntry
    var places: [QueuePlace]
    var identity: MessageIdentity?
    var isBurned = false
    /// Where the content stands in the row.
    var content: Range<Int>
    /// The offset behind the record.
    var end: Int

    /// Writes a record at the end of a journal row.
    static func write(
        _ entry: LogEntry, _ places: [QueuePlace], _ identity: MessageIdentity?, to row: inout [UInt8]
    ) {
        let isPlain = entry.queues.allSatisfy {
            if case .user(let account) = $0 { account.app == entry.author.app } else { false }
        }
        let placeByteCount = isPlain ? 16 : 25
        let size = fixedByteCount + placeByteCount * places.count + entry.content.utf8.count
        row.append(littleEndian: UInt32(size))
        row.append(entry.command.rawValue)
        row.append(entry.flags.rawValue)
        row.append(identity.map { $0.isPermanent ? 1 : 2 } ?? 0)
        row.append(isPlain ? 0 : 2)
        row.append(littleEndian: entry.author.app)
        row.append(littleEndian: entry.author.user.rawValue)
        row.append(littleEndian: entry.device.rawValue)
        row.append(littleEndian: entry.receiver)
        row.append(littleEndian: entry.receiverApp)
        row.append(littleEndian: entry.timestamp)
        row.append(littleEndian: entry.msgLocalID)
        row.append(littleEndian: identity?.hash ?? 0)
        row.append(littleEndian: places.first?.key ?? 0)
        row.append(littleEndian: UInt32(places.count))
        for (queue, place) in zip(entry.queues, places) {
            let (kind, app, owner) = queue.numbers
            if !isPlain {
                row.append(UInt8(kind))
                row.append(littleEndian: app)
            }
            row.append(littleEndian: owner)
            row.append(littleEndian: place.previous)
        }
        row.append(contentsOf: entry.content.utf8)
    }

    /// Reads the record at an offset; nil when the bytes are not one.
    ///
    /// Without its places, which is quick for large groups, the record's queues stay empty.
    static func read(_ row: [UInt8], at offset: Int, withPlaces: Bool = true) -> LogRecord? {
        if row.first == 1 { return readFormat1(row, at: offset) }
        guard offset >= 0, let size = row.littleEndian(UInt32.self, at: offset).map(Int.init),
            size >= fixedByteCount, size <= row.count - offset,
            let count = row.littleEndian(UInt32.self, at: offset + 72).map(Int.init)
        else { return nil }
        let isPlain = row[offset + stateOffset] & 2 == 0
        let placeByteCount = isPlain ? 16 : 25
        guard count <= (size - fixedByteCount) / placeByteCount, let entry = entry(row, at: offset) else {
            return nil
        }
        let placesEnd = offset + fixedByteCount + placeByteCount * count
        var record = LogRecord(
            entry: entry, places: [], identity: identity(row, at: offset),
            isBurned: row[offset + stateOffset] & 1 != 0, content: placesEnd..<(offset + size),
            end: offset + size)
        record.entry.content = String(decoding: row[record.content], as: UTF8.self)
        if withPlaces { record.readPlaces(row, at: offset, count: count, isPlain: isPlain) }
        return record
    }

    /// The fields of fixed size.
    private static func entry(_ row: [UInt8], at offset: Int) -> LogEntry? {
        guard let app = row.littleEndian(Int64.self, at: offset + 8),
            let user = row.littleEndian(Int64.self, at: offset + 16),
            let device = row.littleEndian(Int64.self, at: offset + 24),
            let receiver = row.littleEndian(Int64.self, at: offset + 32),
            let receiverApp = row.littleEndian(Int64.self, at: offset + 40),
            let timestamp = row.littleEndian(Int32.self, at: offset + 48),
            let number = row.littleEndian(Int32.self, at: offset + 52)
        else { return nil }
        return LogEntry(
            author: Account(app: app, user: UserID(user)), device: DeviceNumber(rawValue: device),
            command: Command(rawValue: row[offset + 4]), flags: PacketFlags(rawValue: row[offset + 5]),
            receiver: receiver, receiverApp: receiverApp, timestamp: timestamp, msgLocalID: number,
            content: "", queues: [])
    }

    private static func identity(_ row: [UInt8], at offset: Int) -> MessageIdentity? {
        guard let hash = row.littleEndian(Int64.self, at: offset + 56) else { return nil }
        return switch row[offset + 6] {
        case 1: MessageIdentity(isPermanent: true, hash: hash)
        case 2: MessageIdentity(isPermanent: false, hash: hash)
        default: nil
        }
    }

    private mutating func readPlaces(_ row: [UInt8], at offset: Int, count: Int, isPlain: Bool) {
        guard let firstKey = row.littleEndian(Int64.self, at: offset + 64) else { return }
        entry.queues.reserveCapacity(count)
        places.reserveCapacity(count)
        var start = offset + Self.fixedByteCount
        for index in 0..<count {
            var (kind, app) = (Int64(0), entry.author.app)
            if !isPlain {
                kind = Int64(row[start])
                app = row.littleEndian(Int64.self, at: start + 1) ?? app
                start += 9
            }
            let owner = row.littleEndian(Int64.self, at: start) ?? 0
            let previous = row.littleEndian(Int64.self, at: start + 8) ?? 0
            start += 16
            entry.queues.append(QueueID(kind: kind, app: app, owner: owner))
            places.append(QueuePlace(key: firstKey &+ Int64(index), previous: previous))
        }
    }
}

extension QueueID {
    /// The three numbers by which files know a queue.
    var numbers: (kind: Int64, app: Int64, owner: Int64) {
        switch self {
        case .user(let account): (0, account.app, account.user.rawValue)
        case .group(let group): (1, 0, group.rawValue)
        }
    }

    /// The queue with these numbers; an unknown kind is taken for a user's.
    init(kind: Int64, app: Int64, owner: Int64) {
        self = kind == 1 ? .group(GroupID(owner)) : .user(Account(app: app, user: UserID(owner)))
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
