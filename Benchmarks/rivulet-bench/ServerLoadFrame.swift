import RivuletWire

/// A message frame that is made once per user; for each message only the numbers in it change.
struct LoadFrame {
    private static let prefix = Array(#"{"uuid":""#.utf8)
    private static let middle = Array(#"","text":""#.utf8)
    private static let suffix = Array(#""}"#.utf8)
    private static let uuidDigits = 32
    /// The shortest content: a uuid and an empty text.
    static let contentBytesMin = prefix.count + uuidDigits + middle.count + suffix.count

    private var bytes: [UInt8]
    private let run: UInt64
    private let user: UInt64
    private static let headerBytes = PacketHeader.byteCount
    private static let contentStart = headerBytes + 24

    /// Makes the frame of messages from one user to another, or to a group; `run` makes uuids differ between runs.
    init(
        from sender: Int64, to receiver: Int64, contentBytes: Int, run: UInt64, command: Command = .im
    ) throws {
        let fill = contentBytes - Self.contentBytesMin
        let digits = [UInt8](repeating: UInt8(ascii: "0"), count: Self.uuidDigits)
        let text = [UInt8](repeating: UInt8(ascii: "x"), count: fill)
        let content = String(
            decoding: Self.prefix + digits + Self.middle + text + Self.suffix, as: UTF8.self)
        let packet = Packet(command, .im(IMMessage(sender: sender, receiver: receiver, content: content)))
        bytes = try packet.pack(from: .client, profile: .current)
        self.run = run
        user = UInt64(bitPattern: sender)
    }

    /// Appends message number `number`, whose frame has the same number as its sequence.
    mutating func append(_ number: Int32, to output: inout [UInt8]) {
        let word = UInt32(bitPattern: number)
        for index in 0..<4 {
            let byte = UInt8(truncatingIfNeeded: word >> UInt32(24 - 8 * index))
            bytes[4 + index] = byte
            bytes[Self.headerBytes + 20 + index] = byte
        }
        writeHex(run, at: Self.contentStart + Self.prefix.count, digits: 12)
        writeHex(user, at: Self.contentStart + Self.prefix.count + 12, digits: 10)
        writeHex(UInt64(word), at: Self.contentStart + Self.prefix.count + 22, digits: 10)
        output.append(contentsOf: bytes)
    }

    private mutating func writeHex(_ value: UInt64, at offset: Int, digits: Int) {
        for index in 0..<digits {
            let nibble = UInt8(truncatingIfNeeded: value >> UInt64(4 * (digits - 1 - index))) & 15
            bytes[offset + index] = nibble < 10 ? UInt8(ascii: "0") + nibble : UInt8(ascii: "a") + nibble - 10
        }
    }
}

/// Finds frames in what a server sends, reading no more of them than a load generator needs.
struct LoadFrameReader {
    /// The parts of a frame that count.
    enum Frame {
        case loginAnswer(status: Int32)
        case acknowledgement(Int32)
        case message(sender: Int64, number: Int32)
        case roomMessage
        case other
    }

    private var rest: [UInt8] = []

    /// Calls back with each whole frame; keeps what is left.
    mutating func read(_ bytes: UnsafeRawBufferPointer, _ body: (Frame) -> Void) {
        if rest.isEmpty {
            let used = Self.scan(bytes, body)
            if used < bytes.count { rest.append(contentsOf: bytes[used...]) }
        } else {
            rest.append(contentsOf: bytes)
            let used = rest.withUnsafeBytes { Self.scan($0, body) }
            rest.removeFirst(used)
        }
    }

    private static func scan(_ bytes: UnsafeRawBufferPointer, _ body: (Frame) -> Void) -> Int {
        var offset = 0
        while bytes.count - offset >= PacketHeader.byteCount {
            let length = Int(integer(bytes, offset, Int32.self))
            guard length >= 0, bytes.count - offset - PacketHeader.byteCount >= length else { break }
            body(frame(bytes, offset, length))
            offset += PacketHeader.byteCount + length
        }
        return offset
    }

    private static func frame(_ bytes: UnsafeRawBufferPointer, _ offset: Int, _ length: Int) -> Frame {
        let start = offset + PacketHeader.byteCount
        switch Command(rawValue: bytes[offset + 8]) {
        case .ack where length >= 4: return .acknowledgement(integer(bytes, start, Int32.self))
        case .im where length >= 24, .groupIM where length >= 24:
            return .message(
                sender: integer(bytes, start, Int64.self), number: integer(bytes, start + 20, Int32.self))
        case .roomIM: return .roomMessage
        case .authStatus where length >= 4: return .loginAnswer(status: integer(bytes, start, Int32.self))
        default: return .other
        }
    }

    private static func integer<Value: FixedWidthInteger>(
        _ bytes: UnsafeRawBufferPointer, _ offset: Int, _ type: Value.Type
    ) -> Value {
        Value(bigEndian: bytes.loadUnaligned(fromByteOffset: offset, as: Value.self))
    }
}
