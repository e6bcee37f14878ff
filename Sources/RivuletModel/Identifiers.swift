/// The id of a user on the server.
public struct UserID: RawRepresentable, Hashable, Comparable, Sendable, Codable {
    /// The number as it travels.
    public let rawValue: Int64

    /// Makes the id with this number.
    public init(rawValue: Int64) {
        self.rawValue = rawValue
    }

    /// Makes the id with this number.
    public init(_ rawValue: Int64) {
        self.rawValue = rawValue
    }

    /// Orders ids by number.
    public static func < (left: UserID, right: UserID) -> Bool {
        left.rawValue < right.rawValue
    }
}

/// The identity of a message row on this device.
///
/// It is given once and never changes, whatever the server later says about the message. The uuid, the server's key
/// and (sender, local number) are attributes by which a message is looked up.
public struct MessageID: RawRepresentable, Hashable, Comparable, Sendable, Codable {
    /// The number; unique within an account.
    public let rawValue: Int64

    /// Makes the id with this number.
    public init(rawValue: Int64) {
        self.rawValue = rawValue
    }

    /// Makes the id with this number.
    public init(_ rawValue: Int64) {
        self.rawValue = rawValue
    }

    /// Orders ids by number, which is the order in which rows were made and not the order of the conversation.
    public static func < (left: MessageID, right: MessageID) -> Bool {
        left.rawValue < right.rawValue
    }
}

/// A place in a conversation: rows sort by position, never by clock.
///
/// The owner of the messages gives it when the place is known. Positions of history lie before the oldest known one,
/// those of unsent messages after all others.
public struct MessagePosition: RawRepresentable, Hashable, Comparable, Sendable, Codable {
    /// The sort key.
    public let rawValue: Int64

    /// Makes the position with this sort key.
    public init(rawValue: Int64) {
        self.rawValue = rawValue
    }

    /// Makes the position with this sort key.
    public init(_ rawValue: Int64) {
        self.rawValue = rawValue
    }

    /// Orders positions from the oldest message to the newest.
    public static func < (left: MessagePosition, right: MessagePosition) -> Bool {
        left.rawValue < right.rawValue
    }
}
