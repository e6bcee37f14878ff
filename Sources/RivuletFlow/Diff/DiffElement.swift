/// An element that can be compared across two versions of a list: who it is, and whether it still looks the same.
///
/// The identity must be stable. A message that is sent keeps its identity when the server confirms it, so the
/// confirmation is an update of one row; an identity that changed would be a removal and an insertion.
///
/// ```swift
/// struct Row: DiffElement {
///     var diffID: Int
///     var text: String
///     func hasSameContent(as other: Row) -> Bool { text == other.text }
/// }
/// let changes = ChangeSet.changes(from: old, to: new)
/// ```
///
/// A `Hashable` type that is its own identity conforms without writing anything.
public protocol DiffElement {
    /// What tells elements of one list apart.
    associatedtype DiffID: Hashable

    /// The identity, which outlives every change of content.
    var diffID: DiffID { get }

    /// A number that is equal for equal identities; the default is the identity's own hash value.
    ///
    /// Give a cheap one where the identity is a number. It only has to spread well: lists made to collide cost
    /// a second attempt with the default, never a wrong answer.
    var diffHash: UInt64 { get }

    /// Whether the row would look the same; asked only for elements of one identity.
    func hasSameContent(as other: Self) -> Bool
}

extension DiffElement {
    /// The identity's own hash value.
    @inlinable
    public var diffHash: UInt64 {
        UInt64(truncatingIfNeeded: diffID.hashValue)
    }
}

extension DiffElement where Self: Hashable, DiffID == Self {
    /// The element itself.
    @inlinable
    public var diffID: Self {
        self
    }

    /// True: an element that is its own identity has no other content.
    @inlinable
    public func hasSameContent(as other: Self) -> Bool {
        true
    }
}
