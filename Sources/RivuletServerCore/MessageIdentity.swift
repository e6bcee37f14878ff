import RivuletModel
import RivuletWire

/// By what a resent message is recognised.
///
/// With a `uuid` among the top-level keys of the content: (app, sender, command, receiver, uuid), for ever. Without
/// one: (app, sender, device, command, receiver, local number, content), for a short window, and only when both the
/// device and the local number are given. Anything else has no identity and is never suppressed, since read receipts
/// and revokes carry none.
///
/// The hash only finds candidates; whether two are the same is decided by ``areSame(_:_:)``.
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
    ///
    /// Fewer than 64 bits of the hash make tests of collisions possible.
    public init?(_ entry: LogEntry, hashBits: Int = 64) {
        var hasher = StableHash()
        hasher.combine(UInt64(bitPattern: entry.author.app))
        hasher.combine(UInt64(bitPattern: entry.author.user.rawValue))
        hasher.combine(UInt64(entry.command.rawValue))
        hasher.combine(UInt64(bitPattern: entry.receiver))
        if entry.receiverApp != entry.author.app { hasher.combine(UInt64(bitPattern: entry.receiverApp)) }
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
        hash = Self.shortened(hasher.finish(), to: hashBits)
    }

    /// The identity of the message that an entry asks to be burned; nil when it asks for none.
    ///
    /// Only the receiver of a message can name it so: the message's author is the entry's receiver.
    public init?(burnedBy entry: LogEntry, hashBits: Int = 64) {
        guard let uuid = ContentScanner.burnedUUID(in: entry.content) else { return nil }
        var hasher = StableHash()
        hasher.combine(UInt64(bitPattern: entry.receiverApp))
        hasher.combine(UInt64(bitPattern: entry.receiver))
        hasher.combine(UInt64(entry.command.rawValue))
        hasher.combine(UInt64(bitPattern: entry.author.user.rawValue))
        if entry.receiverApp != entry.author.app { hasher.combine(UInt64(bitPattern: entry.author.app)) }
        hasher.combine(bytes: uuid)
        isPermanent = true
        hash = Self.shortened(hasher.finish(), to: hashBits)
    }

    /// Whether two entries are the same message, by everything that makes the identity and not by its hash.
    public static func areSame(_ left: LogEntry, _ right: LogEntry) -> Bool {
        guard left.author == right.author, left.command == right.command, left.receiver == right.receiver,
            left.receiverApp == right.receiverApp
        else { return false }
        switch (ContentScanner.uuid(in: left.content), ContentScanner.uuid(in: right.content)) {
        case (let first?, let second?): return first == second
        case (nil, nil):
            return left.msgLocalID != 0 && left.msgLocalID == right.msgLocalID
                && left.device.isSameDevice(as: right.device) && left.content == right.content
        default: return false
        }
    }

    /// Whether an entry asks for this stored message to be burned: its receiver may, if its author sent it to be burned.
    public static func burns(_ entry: LogEntry, _ stored: LogEntry) -> Bool {
        guard stored.command == entry.command, stored.author.user.rawValue == entry.receiver,
            stored.author.app == entry.receiverApp, stored.receiver == entry.author.user.rawValue,
            stored.receiverApp == entry.author.app, let uuid = ContentScanner.burnedUUID(in: entry.content)
        else { return false }
        return uuid == ContentScanner.uuid(in: stored.content) && ContentScanner.isToBeBurned(stored.content)
    }

    /// What is left of a content that was burned: its uuid, by which the message is known again when it is resent.
    public static func burnedContent(_ content: String) -> String {
        guard let raw = ContentScanner.rangeOfString(at: ContentScanner.uuidPath, in: content) else {
            return ""
        }
        let utf8 = content.utf8
        let start = utf8.index(utf8.startIndex, offsetBy: raw.lowerBound)
        let end = utf8.index(start, offsetBy: raw.count)
        return #"{"uuid":"\#(content[start..<end])"}"#
    }

    private static func shortened(_ hash: UInt64, to bits: Int) -> Int64 {
        Int64(bitPattern: bits >= 64 ? hash : hash & (1 << UInt64(max(0, bits)) - 1))
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
