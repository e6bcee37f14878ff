public import RivuletFlow
public import RivuletModel

/// A page of a history in which changes of messages stand as items of their own.
///
/// The engine brings the changes into the messages (`HistoryFold`), also into those of earlier pages, and goes on by
/// itself where a stretch of the history holds nothing but changes.
public struct HTTPHistoryPage: Hashable, Sendable {
    /// The messages, as their authors wrote them.
    public var messages: [Message]
    /// The changes.
    public var changes: [HistoryChange]
    /// Whether there is more in the direction that was asked for.
    public var hasMore: Bool
    /// The key of the item that lies farthest in that direction; nil for a page without items.
    public var lastKey: Int64?

    /// Makes a page.
    public init(messages: [Message], changes: [HistoryChange] = [], hasMore: Bool, lastKey: Int64?) {
        self.messages = messages
        self.changes = changes
        self.hasMore = hasMore
        self.lastKey = lastKey
    }
}
