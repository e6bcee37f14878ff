public import RivuletModel

/// A stretch of messages that was replaced by another.
public struct MessageEdit: Hashable, Sendable {
    /// The messages that are gone, as indexes before the edit; empty for an insertion.
    public var replaced: Range<Int>
    /// How many messages are there instead.
    public var count: Int

    /// Makes an edit.
    public init(replacing replaced: Range<Int>, withCount count: Int) {
        self.replaced = replaced
        self.count = count
    }

    /// One message changed and stayed in its place.
    public static func changed(at index: Int) -> MessageEdit {
        MessageEdit(replacing: index..<index + 1, withCount: 1)
    }

    /// Messages came in before an index.
    public static func inserted(count: Int, at index: Int) -> MessageEdit {
        MessageEdit(replacing: index..<index, withCount: count)
    }

    /// Messages went away.
    public static func removed(_ range: Range<Int>) -> MessageEdit {
        MessageEdit(replacing: range, withCount: 0)
    }
}

/// A stretch of rows that was replaced by another: all that an edit of the messages changed.
public struct RowEdit: Hashable, Sendable {
    /// Where the stretch begins, before and after.
    public var start: Int
    /// The rows that were there.
    public var old: [FlowRow]
    /// The rows that are there instead.
    public var new: [FlowRow]

    /// The difference of the two stretches, in indexes of the whole lists.
    ///
    /// - Parameter newTotal: How many rows there are after the edit.
    /// - Returns: The changes between the whole lists.
    public func changes(newTotal: Int) -> ChangeSet {
        let oldTotal = newTotal - new.count + old.count
        return ChangeSet.changes(from: old, to: new)
            .shifted(by: start, oldCount: oldTotal, newCount: newTotal)
    }
}

/// The rows of a window of messages, kept right while the messages change.
///
/// Above a message stand, in this order, its day, the unread mark and its time label, each if due. After an edit only
/// the neighbourhood is decorated anew: the edited messages, one on each side, and as many more as the rules make
/// depend on them. The outcome is always that of decorating everything anew.
///
/// ```swift
/// var decoration = Decoration(of: messages, rules: rules, context: context)
/// messages.append(arrived)
/// let edit = decoration.update(
///     messages, edit: .inserted(count: 1, at: messages.count - 1), context: context)
/// let changes = edit.changes(newTotal: decoration.rows.count)
/// ```
public struct Decoration: Sendable {
    /// The rows, oldest first.
    public internal(set) var rows: [FlowRow]
    /// The rules that they follow.
    public let rules: DecorationRules
    /// What else they depend on.
    public internal(set) var context: DecorationContext
    /// How many rows stand above each message.
    var above: SmallCounts
    /// The message below the unread mark.
    var marked: MessageID?

    /// Decorates messages; O(n).
    ///
    /// - Parameters:
    ///   - messages: The messages of the window, by position, oldest first.
    ///   - rules: What stands between them.
    ///   - context: The reader's time zone, the present, and what was unread.
    public init(of messages: [Message], rules: DecorationRules, context: DecorationContext) {
        self.rules = rules
        self.context = context
        rows = []
        above = SmallCounts()
        decorateAll(messages)
    }

    /// How many messages there are.
    public var messageCount: Int {
        above.count
    }

    /// The row of a message, in some ten nanoseconds.
    public func row(ofMessage index: Int) -> Int {
        precondition(index >= 0 && index < above.count, "no message \(index)")
        return index + above.sum(ofFirst: index + 1)
    }

    /// The first of the rows that belong to a message, above it or its own.
    public func firstRow(ofMessage index: Int) -> Int {
        row(ofMessage: index) - Int(above[index])
    }

    /// The message that a row shows, or the one below it, as an index.
    public func message(ofRow row: Int) -> Int {
        precondition(row >= 0 && row < rows.count, "no row \(row)")
        return above.index(exceeding: row)
    }

    /// The message below the unread mark; nil when there is no mark.
    public var firstUnread: MessageID? {
        marked
    }

    mutating func decorateAll(_ messages: [Message]) {
        rows.removeAll(keepingCapacity: true)
        rows.reserveCapacity(messages.count + messages.count / 8)
        above.removeAll(reserving: messages.count)
        var pass = DecorationPass(rules: rules, context: context, messages: messages)
        marked = pass.markIndex.map { messages[$0].id }
        for index in messages.indices {
            above.append(pass.append(index, to: &rows))
        }
    }
}
