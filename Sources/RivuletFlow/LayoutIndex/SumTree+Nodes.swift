extension SumTree {
    /// Takes a leaf from the free ones, or a new one, and fills it.
    mutating func makeLeaf(_ content: ArraySlice<Int32>) -> Child {
        let leaf: Int
        if let free = freeLeaves.popLast() {
            leaf = Int(free)
        } else {
            leaf = leafCounts.count
            leafCounts.append(0)
            values.append(contentsOf: repeatElement(0, count: Self.leafMax))
        }
        return fillLeaf(leaf, content)
    }

    /// Overwrites a leaf.
    mutating func fillLeaf(_ leaf: Int, _ content: ArraySlice<Int32>) -> Child {
        let start = leaf * Self.leafMax
        let sum = values.withUnsafeMutableBufferPointer { values in
            content.withUnsafeBufferPointer { content in
                var sum: Int64 = 0
                for slot in content.indices {
                    values[start + slot] = content[slot]
                    sum += Int64(content[slot])
                }
                return sum
            }
        }
        leafCounts[leaf] = Int32(content.count)
        return Child(node: Int32(leaf), rows: content.count, sum: sum)
    }

    /// Spreads values evenly over leaves.
    mutating func makeLeaves(_ content: ArraySlice<Int32>) -> [Child] {
        let parts = Self.parts(of: content.indices, fill: Self.leafFill, max: Self.leafMax)
        return parts.map { makeLeaf(content[$0]) }
    }

    /// Takes an inner node from the free ones, or a new one, and fills it.
    mutating func makeInner(_ content: ArraySlice<Child>) -> Child {
        let inner: Int
        if let free = freeInners.popLast() {
            inner = Int(free)
        } else {
            inner = innerCounts.count
            innerCounts.append(0)
            children.append(contentsOf: repeatElement(Child(node: 0, rows: 0, sum: 0), count: Self.innerMax))
        }
        return fillInner(inner, content)
    }

    /// Overwrites an inner node.
    mutating func fillInner(_ inner: Int, _ content: ArraySlice<Child>) -> Child {
        var whole = Child(node: Int32(inner), rows: 0, sum: 0)
        var slot = inner * Self.innerMax
        for child in content {
            children[slot] = child
            whole.rows += child.rows
            whole.sum += child.sum
            slot += 1
        }
        innerCounts[inner] = Int32(content.count)
        return whole
    }

    /// Spreads nodes evenly over parents.
    mutating func makeInners(_ content: [Child]) -> [Child] {
        let parts = Self.parts(of: content.indices, fill: Self.innerFill, max: Self.innerMax)
        return parts.map { makeInner(content[$0]) }
    }

    /// The children of an inner node.
    func content(ofInner inner: Int32) -> ArraySlice<Child> {
        let start = Int(inner) * Self.innerMax
        return children[start..<start + Int(innerCounts[Int(inner)])]
    }

    /// The values of a leaf.
    func content(ofLeaf leaf: Int32) -> ArraySlice<Int32> {
        let start = Int(leaf) * Self.leafMax
        return values[start..<start + Int(leafCounts[Int(leaf)])]
    }

    /// Gives a node and all below it back; the depth is that of the tree.
    mutating func free(_ node: Int32, level: Int) {
        if level == 0 {
            freeLeaves.append(node)
            return
        }
        for child in Array(content(ofInner: node)) { free(child.node, level: level - 1) }
        freeInners.append(node)
    }

    /// Cuts a range into the fewest parts that are full up to `fill`, or one of up to `max`, all nearly equal.
    static func parts(of range: Range<Int>, fill: Int, max: Int) -> [Range<Int>] {
        guard range.count > max else { return range.isEmpty ? [] : [range] }
        let count = (range.count + fill - 1) / fill
        return (0..<count).map { part in
            let from = range.lowerBound + range.count * part / count
            let to = range.lowerBound + range.count * (part + 1) / count
            return from..<to
        }
    }
}
