/// A list of whole numbers with the sum of any beginning of it: a B+ tree whose nodes live in a few arrays.
///
/// Leaves hold up to 64 values, inner nodes up to 32 children with the row count and the sum of each. All leaves are
/// at the same depth. Freed nodes are kept for reuse, so that a list in steady use allocates nothing. Searching
/// scans at most one node per level, which is five levels at a million rows.
struct SumTree: Sendable {
    static let leafMax = 64
    static let innerMax = 32
    /// How full bulk building makes nodes: an insertion afterwards rarely splits.
    static let leafFill = 48
    static let innerFill = 24

    /// Values of the leaves, `leafMax` for each.
    var values: [Int32] = []
    /// How many values each leaf has.
    var leafCounts: [Int32] = []
    var freeLeaves: [Int32] = []

    /// Children of the inner nodes, `innerMax` for each: inner nodes, or leaves on the lowest level.
    var children: [Child] = []
    /// How many children each inner node has.
    var innerCounts: [Int32] = []
    var freeInners: [Int32] = []

    /// The top: a leaf when `height` is 0.
    var root: Child
    /// How many levels of inner nodes there are.
    var height = 0

    /// A node as its parent sees it.
    struct Child: Sendable {
        var node: Int32
        var rows: Int
        var sum: Int64
    }

    var count: Int { root.rows }
    var total: Int64 { root.sum }

    init(_ values: [Int32] = []) {
        root = Child(node: 0, rows: 0, sum: 0)
        rebuild(values)
    }

    /// Starts anew with these values; O(n).
    mutating func rebuild(_ all: [Int32]) {
        values.removeAll(keepingCapacity: true)
        leafCounts.removeAll(keepingCapacity: true)
        children.removeAll(keepingCapacity: true)
        innerCounts.removeAll(keepingCapacity: true)
        freeLeaves.removeAll()
        freeInners.removeAll()
        let leafCount = all.count / Self.leafFill + 1
        values.reserveCapacity(leafCount * Self.leafMax)
        leafCounts.reserveCapacity(leafCount)
        var level = makeLeaves(all[...])
        height = 0
        while level.count > 1 {
            level = makeInners(level)
            height += 1
        }
        root = level.first ?? makeLeaf([])
    }

    // MARK: Searching

    /// The values before a row, and its own.
    func locate(row: Int) -> (offset: Int64, height: Int32) {
        var (node, left, offset) = (Int(root.node), row, Int64(0))
        for _ in 0..<height {
            var slot = node * Self.innerMax
            while left >= children[slot].rows {
                left -= children[slot].rows
                offset += children[slot].sum
                slot += 1
            }
            node = Int(children[slot].node)
        }
        let start = node * Self.leafMax
        for slot in start..<start + left { offset += Int64(values[slot]) }
        return (offset, values[start + left])
    }

    /// How many rows end at or before an offset.
    func rowCount(endingAtOrBefore offset: Int64) -> Int {
        guard offset >= 0 else { return 0 }
        guard offset < total else { return count }
        // A subtree that ends at or before the offset is passed over whole.
        return descend(from: offset) { end, left in end <= left }
    }

    /// How many rows begin before an offset.
    func rowCount(beginningBefore offset: Int64) -> Int {
        guard offset > 0 else { return 0 }
        guard offset <= total else { return count }
        // A row begins before the offset exactly when the row before it ends before it.
        return descend(from: offset) { end, left in end < left } + 1
    }

    /// Passes over subtrees and rows while the predicate holds for their end; the number of rows passed over.
    private func descend(from offset: Int64, isPassed: (Int64, Int64) -> Bool) -> Int {
        var (node, left, row) = (Int(root.node), offset, 0)
        for _ in 0..<height {
            var slot = node * Self.innerMax
            let last = slot + Int(innerCounts[node]) - 1
            while slot < last, isPassed(children[slot].sum, left) {
                left -= children[slot].sum
                row += children[slot].rows
                slot += 1
            }
            node = Int(children[slot].node)
        }
        let start = node * Self.leafMax
        var slot = start
        while slot < start + Int(leafCounts[node]), isPassed(Int64(values[slot]), left) {
            left -= Int64(values[slot])
            slot += 1
        }
        return row + slot - start
    }

    /// Some of the values, in order.
    func values(of rows: Range<Int>) -> [Int32] {
        var result: [Int32] = []
        result.reserveCapacity(rows.count)
        collect(rows, of: root.node, level: height, into: &result)
        return result
    }

    /// Appends the values of a stretch of one subtree; the depth is that of the tree.
    private func collect(_ rows: Range<Int>, of node: Int32, level: Int, into result: inout [Int32]) {
        if level == 0 {
            let start = Int(node) * Self.leafMax
            result.append(contentsOf: values[start + rows.lowerBound..<start + rows.upperBound])
            return
        }
        var first = 0
        let start = Int(node) * Self.innerMax
        for child in children[start..<start + Int(innerCounts[Int(node)])] where first < rows.upperBound {
            let part = rows.clamped(to: first..<first + child.rows)
            if !part.isEmpty {
                let local = part.lowerBound - first..<part.upperBound - first
                collect(local, of: child.node, level: level - 1, into: &result)
            }
            first += child.rows
        }
    }

    // MARK: Changing a value

    /// Replaces a value and returns by how much it grew.
    mutating func set(row: Int, to value: Int32) -> Int64 {
        let change = Int64(value) - Int64(locate(row: row).height)
        guard change != 0 else { return 0 }
        var (node, left) = (Int(root.node), row)
        root.sum += change
        for _ in 0..<height {
            var slot = node * Self.innerMax
            while left >= children[slot].rows {
                left -= children[slot].rows
                slot += 1
            }
            children[slot].sum += change
            node = Int(children[slot].node)
        }
        values[node * Self.leafMax + left] = value
        return change
    }
}
