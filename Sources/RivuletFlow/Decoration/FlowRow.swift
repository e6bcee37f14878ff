public import RivuletModel

/// One row of the flow: a message, or something that is shown above one.
///
/// A row is small and says everything that decides its look, apart from the message itself: rows that are equal look
/// the same. Everything above a message names that message, so that each identity occurs once even when clocks run
/// backwards.
public struct FlowRow: Hashable, Sendable, Identifiable {
    /// What a row shows.
    public enum Kind: UInt8, Hashable, Sendable {
        /// The message.
        case message
        /// A line with the day of the messages below.
        case day
        /// The line above the first message that was not read.
        case unreadMark
        /// A line with the time of the message below.
        case timeLabel
    }

    /// The identity of a row, stable over every change.
    public struct ID: Hashable, Sendable {
        /// The message that the row shows, or the one below.
        public let message: MessageID
        /// What the row shows.
        public let kind: Kind

        /// Makes an identity.
        @inlinable
        public init(kind: Kind, message: MessageID) {
            self.message = message
            self.kind = kind
        }

        /// The row of a message.
        @inlinable
        public static func message(_ message: MessageID) -> ID {
            ID(kind: .message, message: message)
        }

        /// The day above a message.
        @inlinable
        public static func day(of message: MessageID) -> ID {
            ID(kind: .day, message: message)
        }

        /// The unread mark above a message.
        @inlinable
        public static func unreadMark(above message: MessageID) -> ID {
            ID(kind: .unreadMark, message: message)
        }

        /// The time above a message.
        @inlinable
        public static func timeLabel(of message: MessageID) -> ID {
            ID(kind: .timeLabel, message: message)
        }
    }

    /// The row's place in a run of messages of one sender.
    public struct Grouping: OptionSet, Hashable, Sendable {
        /// The bits.
        public let rawValue: UInt8

        /// Makes a grouping of these bits.
        @inlinable
        public init(rawValue: UInt8) {
            self.rawValue = rawValue
        }

        /// The first message of a run: it may show the sender's name.
        public static let beginsRun = Grouping(rawValue: 1)
        /// The last message of a run: it may show the avatar and the bubble's tail.
        public static let endsRun = Grouping(rawValue: 2)
        /// The only message of its run.
        public static let single: Grouping = [.beginsRun, .endsRun]
    }

    /// The identity.
    public let id: ID
    /// The place in a run; empty for rows that show no message.
    public var grouping: Grouping
    /// How far back the time lies, for a day or a time label; `.today` for other rows.
    public var age: TimeAge
    /// For a day or a time label the seconds by which local time was ahead of UTC; 0 for other rows.
    public var zoneSeconds: Int32
    /// The message's revision; 0 for rows that show no message.
    public var revision: Int
    /// The time of the message, in milliseconds since 1970.
    public var timeMilliseconds: Int64

    /// Makes a row.
    @inlinable
    public init(
        id: ID, grouping: Grouping = [], age: TimeAge = .today, zoneSeconds: Int32 = 0, revision: Int = 0,
        timeMilliseconds: Int64
    ) {
        self.id = id
        self.grouping = grouping
        self.age = age
        self.zoneSeconds = zoneSeconds
        self.revision = revision
        self.timeMilliseconds = timeMilliseconds
    }

    /// The message that the row shows, or the one below.
    @inlinable
    public var message: MessageID {
        id.message
    }

    /// Whether the row shows a message.
    @inlinable
    public var isMessage: Bool {
        id.kind == .message
    }
}

extension FlowRow: DiffElement {
    /// The identity.
    @inlinable
    public var diffID: ID {
        id
    }

    /// The message's number and the kind.
    @inlinable
    public var diffHash: UInt64 {
        UInt64(bitPattern: id.message.rawValue) &* 4 &+ UInt64(id.kind.rawValue)
    }

    /// Whether everything else is equal, too.
    @inlinable
    public func hasSameContent(as other: FlowRow) -> Bool {
        // Two comparisons instead of five: this is asked for every row at every change.
        let numbers = Int64(revision ^ other.revision) | (timeMilliseconds ^ other.timeMilliseconds)
        let look =
            (grouping.rawValue ^ other.grouping.rawValue) | (age.rawValue ^ other.age.rawValue)
        return numbers == 0 && Int32(look) | (zoneSeconds ^ other.zoneSeconds) == 0
    }
}

/// How far back a time lies from now, in local days: which form a label takes.
public enum TimeAge: UInt8, Hashable, Sendable {
    /// On this day.
    case today
    /// On the day before.
    case yesterday
    /// Two to six days ago, so that the name of the weekday is enough.
    case thisWeek
    /// Longer ago, or in the future, within the present year.
    case thisYear
    /// In another year.
    case anotherYear
}
