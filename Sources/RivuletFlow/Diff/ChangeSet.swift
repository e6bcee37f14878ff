/// What turns one version of a list into the next: removals, insertions, moves and updates.
///
/// All changes are simultaneous. Removals and the sources of moves are indexes of the *old* list; insertions and the
/// targets of moves are indexes of the *new* list; an update names both. An element that neither is removed nor
/// moved keeps its order among its like, and there are as many of those as possible: a block inserted or deleted
/// before other rows moves none of them.
public struct ChangeSet: Hashable, Sendable {
    /// An element that changed its place among the others.
    public struct Move: Hashable, Sendable {
        /// Its index in the old list.
        public var from: Int
        /// Its index in the new list.
        public var to: Int

        /// Makes a move.
        @inlinable
        public init(from: Int, to: Int) {
            self.from = from
            self.to = to
        }
    }

    /// An element whose content changed; it may have moved, too.
    public struct Update: Hashable, Sendable {
        /// Its index in the old list.
        public var old: Int
        /// Its index in the new list.
        public var new: Int

        /// Makes an update.
        @inlinable
        public init(old: Int, new: Int) {
            self.old = old
            self.new = new
        }
    }

    /// How long the old list is.
    public var oldCount: Int
    /// How long the new list is.
    public var newCount: Int
    /// Indexes of the old list, ascending.
    public var removals: [Int]
    /// Indexes of the new list, ascending.
    public var insertions: [Int]
    /// Moved elements, ascending by target.
    public var moves: [Move]
    /// Changed elements, ascending by new index.
    public var updates: [Update]

    /// Makes a change set; without changes, it says that a list of this length stays as it is.
    public init(
        oldCount: Int, newCount: Int, removals: [Int] = [], insertions: [Int] = [], moves: [Move] = [],
        updates: [Update] = []
    ) {
        self.oldCount = oldCount
        self.newCount = newCount
        self.removals = removals
        self.insertions = insertions
        self.moves = moves
        self.updates = updates
    }

    /// Whether nothing changed.
    public var isEmpty: Bool {
        removals.isEmpty && insertions.isEmpty && moves.isEmpty && updates.isEmpty
    }

    /// Whether only contents changed, so that every row keeps its index.
    public var keepsOrder: Bool {
        removals.isEmpty && insertions.isEmpty && moves.isEmpty
    }

    /// The removed stretches of the old list, ascending.
    public var removedRanges: [Range<Int>] {
        Self.ranges(of: removals)
    }

    /// The inserted stretches of the new list, ascending.
    public var insertedRanges: [Range<Int>] {
        Self.ranges(of: insertions)
    }

    /// The same changes in longer lists, of which these two were a stretch.
    ///
    /// - Parameters:
    ///   - start: Where the stretch begins, in both lists.
    ///   - oldCount: How long the whole old list is.
    ///   - newCount: How long the whole new list is.
    /// - Returns: The changes with all indexes moved.
    public func shifted(by start: Int, oldCount: Int, newCount: Int) -> ChangeSet {
        ChangeSet(
            oldCount: oldCount, newCount: newCount,
            removals: removals.map { $0 + start },
            insertions: insertions.map { $0 + start },
            moves: moves.map { Move(from: $0.from + start, to: $0.to + start) },
            updates: updates.map { Update(old: $0.old + start, new: $0.new + start) })
    }

    static func ranges(of ascending: [Int]) -> [Range<Int>] {
        var ranges: [Range<Int>] = []
        for index in ascending {
            if let last = ranges.last, last.upperBound == index {
                ranges[ranges.count - 1] = last.lowerBound..<index + 1
            } else {
                ranges.append(index..<index + 1)
            }
        }
        return ranges
    }
}
