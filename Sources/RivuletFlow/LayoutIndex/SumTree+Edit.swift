extension SumTree {
    /// Adds values before a row; O(log n + k).
    mutating func insert(_ added: [Int32], at row: Int) {
        guard !added.isEmpty else { return }
        if added.count > count / 2 {
            let all = values(of: 0..<row) + added + values(of: row..<count)
            rebuild(all)
            return
        }
        var nodes = insert(added, at: row, into: root, level: height)
        while nodes.count > 1 {
            nodes = makeInners(nodes)
            height += 1
        }
        if let top = nodes.first { root = top }
    }

    /// Adds values to a subtree and returns what takes its place: itself, or several nodes of its level.
    private mutating func insert(_ added: [Int32], at row: Int, into child: Child, level: Int) -> [Child] {
        guard level > 0 else { return insert(added, at: row, intoLeaf: child) }
        let start = Int(child.node) * Self.innerMax
        let last = start + Int(innerCounts[Int(child.node)]) - 1
        var (slot, left) = (start, row)
        while slot < last, left > children[slot].rows {
            left -= children[slot].rows
            slot += 1
        }
        let replacement = insert(added, at: left, into: children[slot], level: level - 1)
        if replacement.count == 1 {
            var grown = child
            grown.rows += replacement[0].rows - children[slot].rows
            grown.sum += replacement[0].sum - children[slot].sum
            children[slot] = replacement[0]
            return [grown]
        }
        var content = Array(content(ofInner: child.node))
        content.replaceSubrange(slot - start...slot - start, with: replacement)
        if content.count <= Self.innerMax { return [fillInner(Int(child.node), content[...])] }
        freeInners.append(child.node)
        return makeInners(content)
    }

    private mutating func insert(_ added: [Int32], at row: Int, intoLeaf child: Child) -> [Child] {
        var content = Array(content(ofLeaf: child.node))
        content.insert(contentsOf: added, at: row)
        if content.count <= Self.leafMax { return [fillLeaf(Int(child.node), content[...])] }
        freeLeaves.append(child.node)
        return makeLeaves(content[...])
    }

    /// Takes values out; O(log n), plus the nodes that are freed.
    mutating func remove(_ rows: Range<Int>) {
        guard !rows.isEmpty else { return }
        if rows.count == count {
            rebuild([])
            return
        }
        root = remove(rows, from: root, level: height)
        while height > 0, innerCounts[Int(root.node)] == 1 {
            let only = children[Int(root.node) * Self.innerMax]
            freeInners.append(root.node)
            root = only
            height -= 1
        }
    }

    /// Takes values out of a subtree, of which some remain.
    private mutating func remove(_ rows: Range<Int>, from child: Child, level: Int) -> Child {
        guard level > 0 else {
            var content = Array(content(ofLeaf: child.node))
            content.removeSubrange(rows)
            return fillLeaf(Int(child.node), content[...])
        }
        var kept: [Child] = []
        var seam = 0
        var first = 0
        for part in Array(content(ofInner: child.node)) {
            let cut = rows.clamped(to: first..<first + part.rows)
            if cut.isEmpty || rows.isEmpty {
                kept.append(part)
            } else if cut.count == part.rows {
                free(part.node, level: level - 1)
            } else {
                let local = cut.lowerBound - first..<cut.upperBound - first
                kept.append(remove(local, from: part, level: level - 1))
            }
            first += part.rows
            if first <= rows.lowerBound { seam = kept.count }
        }
        mend(&kept, from: seam - 1, level: level - 1)
        return fillInner(Int(child.node), kept[...])
    }

    /// Joins nodes around a cut that have become small with a neighbour.
    private mutating func mend(_ nodes: inout [Child], from start: Int, level: Int) {
        var index = max(0, start)
        let end = start + 3
        while index + 1 < nodes.count, index <= end {
            if isSmall(nodes[index], level: level) || isSmall(nodes[index + 1], level: level) {
                let joined = join(nodes[index], nodes[index + 1], level: level)
                nodes.replaceSubrange(index...index + 1, with: joined)
                if joined.count == 1 { continue }
            }
            index += 1
        }
    }

    private func isSmall(_ node: Child, level: Int) -> Bool {
        level == 0
            ? node.rows < Self.leafMax / 4
            : Int(innerCounts[Int(node.node)]) < Self.innerMax / 4
    }

    /// Makes of two neighbours one node, or two of equal size; the depth is that of the tree.
    private mutating func join(_ left: Child, _ right: Child, level: Int) -> [Child] {
        if level == 0 {
            let content = Array(content(ofLeaf: left.node)) + content(ofLeaf: right.node)
            freeLeaves.append(right.node)
            freeLeaves.append(left.node)
            return makeLeaves(content[...])
        }
        var content = Array(content(ofInner: left.node))
        let seam = content.count
        content += self.content(ofInner: right.node)
        freeInners.append(right.node)
        freeInners.append(left.node)
        // What met at the seam may be small on the levels below, too.
        mend(&content, from: seam - 2, level: level - 1)
        return makeInners(content)
    }
}
