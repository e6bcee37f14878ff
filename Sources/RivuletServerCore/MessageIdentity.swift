import RivuletModel
import RivuletWire

/// By what a resent message is recognised.
///
/// With a `uuid` among the top-level keys of the content: (app, sender, command, receiver, uuid), for ever. Without
/// one: (app, sender, device, command, receiver, local number, content), for a short window, and only when both the
/// device and the local number are given. Anything else has no identity and is never suppressed, since read receipts
/// and revokes carry none.
public struct MessageIdentity: Hashable, Sendable {
    /// How long a message without a uuid is remembered, in milliseconds.
    public static let windowMilliseconds: Int64 = 120_000

    /// Whether the identity rests on a uuid and holds for ever.
    public let isPermanent: Bool
    /// A stable hash of all that makes the identity; it is stored, so the function must never change.
    public let hash: Int64

    /// Makes an identity that was stored before.
    public init(isPermanent: Bool, hash: Int64) {
        self.isPermanent = isPermanent
        self.hash = hash
    }

    /// The identity of an entry; nil when it has none.
    public init?(_ entry: LogEntry) {
        var hasher = StableHash()
        hasher.combine(UInt64(bitPattern: entry.author.app))
        hasher.combine(UInt64(bitPattern: entry.author.user.rawValue))
        hasher.combine(UInt64(entry.command.rawValue))
        hasher.combine(UInt64(bitPattern: entry.receiver))
        if let uuid = ContentScanner.uuid(in: entry.content) {
            hasher.combine(bytes: uuid)
            isPermanent = true
        } else {
            guard entry.msgLocalID != 0, entry.device != .none else { return nil }
            hasher.combine(UInt64(bitPattern: entry.device.rawValue))
            hasher.combine(UInt64(UInt32(bitPattern: entry.msgLocalID)))
            hasher.combine(string: entry.content)
            isPermanent = false
        }
        hash = Int64(bitPattern: hasher.finish())
    }

    /// Whether both contents carry the same uuid; false when one carries none.
    public static func haveSameUUID(_ left: LogEntry, _ right: LogEntry) -> Bool {
        guard let uuid = ContentScanner.uuid(in: left.content) else { return false }
        return uuid == ContentScanner.uuid(in: right.content)
    }
}

/// A 64-bit hash that gives the same value on every machine and in every run.
struct StableHash {
    private var state: UInt64 = 0x9E37_79B9_7F4A_7C15

    mutating func combine(_ word: UInt64) {
        let product = (state ^ word).multipliedFullWidth(by: 0xBF58_476D_1CE4_E5B9)
        state = (product.high ^ product.low) &+ 0x94D0_49BB_1331_11EB
    }

    mutating func combine(string: String) {
        var string = string
        string.withUTF8 { combine(buffer: $0) }
    }

    mutating func combine(bytes: [UInt8]) {
        bytes.withUnsafeBufferPointer { combine(buffer: $0) }
    }

    private mutating func combine(buffer: UnsafeBufferPointer<UInt8>) {
        combine(UInt64(buffer.count))
        var index = 0
        while index < buffer.count {
            var word: UInt64 = 0
            for offset in 0..<min(8, buffer.count - index) {
                word |= UInt64(buffer[index + offset]) << UInt64(8 * offset)
            }
            combine(word)
            index += 8
        }
    }

    func finish() -> UInt64 {
        var value = state
        value = (value ^ (value >> 30)) &* 0xBF58_476D_1CE4_E5B9
        value = (value ^ (value >> 27)) &* 0x94D0_49BB_1331_11EB
        return value ^ (value >> 31)
    }
}
