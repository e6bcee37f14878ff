import Synchronization

/// Gives numbers to the names of a foreign kit, whose users, conversations or messages are known by text.
///
/// Users, sessions and messages of the flow are numbers. The number of a name is the same on every device and in every run,
/// so a reading position that was saved still names its message; the way back works for names that were asked for since
/// the book was made. Use one book for users, one for conversations and one for messages. It may be used from any thread,
/// and grows with the names it is asked for.
///
/// ```swift
/// let users = NumberBook()
/// let ben = UserID(users.number(of: "ben@example.org"))
/// users.name(of: ben.rawValue)   // "ben@example.org"
/// ```
public final class NumberBook: Sendable {
    private struct State {
        var numbers: [String: Int64] = [:]
        var names: [Int64: String] = [:]
    }

    /// Numbers stay well below those that the flow gives to messages of its own.
    private static let numberMax: Int64 = 1 << 60

    private let state = Mutex(State())

    /// Makes a book without names.
    public init() {}

    /// The number of a name, from 1 to 2⁶⁰.
    ///
    /// Two names get the same number with a chance of one in 2⁶⁰; the one that is asked for later gets the next one then.
    public func number(of name: String) -> Int64 {
        state.withLock { state in
            if let known = state.numbers[name] { return known }
            var number = Self.hash(name)
            while state.names[number] != nil { number = number % Self.numberMax + 1 }
            state.numbers[name] = number
            state.names[number] = name
            return number
        }
    }

    /// The name of a number; nil when nobody asked for it.
    public func name(of number: Int64) -> String? {
        state.withLock { $0.names[number] }
    }

    /// FNV-1a with 64 bits, and the upper bits folded into the lower ones.
    private static func hash(_ name: String) -> Int64 {
        var hash: UInt64 = 14_695_981_039_346_656_037
        for byte in name.utf8 { hash = (hash ^ UInt64(byte)) &* 1_099_511_628_211 }
        hash ^= hash >> 32
        return Int64(hash % UInt64(numberMax)) + 1
    }
}
