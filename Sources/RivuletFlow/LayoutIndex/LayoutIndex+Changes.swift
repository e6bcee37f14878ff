extension LayoutIndex {
    /// Follows the changes of a list of rows: rows that stay or move keep their height.
    ///
    /// Updated rows keep theirs, too, until they are resized. O(k log n) for k changed rows, and never more than
    /// O(n + k log k).
    ///
    /// - Parameters:
    ///   - changes: Changes from the present rows to the next ones.
    ///   - height: The height in points of an inserted row, by its index among the next rows.
    /// - Returns: False, and nothing is changed, when the change set is not made for so many rows.
    @discardableResult
    public mutating func apply(_ changes: ChangeSet, height: (Int) -> Double) -> Bool {
        let leaving = (changes.removals + changes.moves.map(\.from)).sorted()
        var arriving = changes.insertions.map { Arrival(row: $0, units: nil) }
        for move in changes.moves {
            guard move.from >= 0, move.from < count else { return false }
            arriving.append(Arrival(row: move.to, units: tree.locate(row: move.from).height))
        }
        if !changes.moves.isEmpty { arriving.sort { $0.row < $1.row } }
        guard
            changes.oldCount == count, changes.newCount == count - leaving.count + arriving.count,
            Self.isAscending(leaving, below: changes.oldCount),
            Self.isAscending(arriving.map(\.row), below: changes.newCount)
        else { return false }

        let added = arriving.map { $0.units ?? Self.units(height($0.row)) }
        if leaving.count + arriving.count > max(64, count / 16) {
            rebuild(leaving: leaving, arriving: arriving.map(\.row), added: added)
            return true
        }
        for rows in ChangeSet.ranges(of: leaving).reversed() { tree.remove(rows) }
        var used = 0
        for rows in ChangeSet.ranges(of: arriving.map(\.row)) {
            tree.insert(Array(added[used..<used + rows.count]), at: rows.lowerBound)
            used += rows.count
        }
        return true
    }

    /// A row that comes in; moved ones bring their height.
    private struct Arrival {
        var row: Int
        var units: Int32?
    }

    private static func isAscending(_ rows: [Int], below end: Int) -> Bool {
        var next = 0
        for row in rows {
            guard row >= next, row < end else { return false }
            next = row + 1
        }
        return true
    }

    private mutating func rebuild(leaving: [Int], arriving: [Int], added: [Int32]) {
        let old = tree.values(of: 0..<count)
        var result: [Int32] = []
        result.reserveCapacity(old.count - leaving.count + arriving.count)
        var (oldRow, gone, come) = (0, 0, 0)
        while oldRow < old.count || come < arriving.count {
            if come < arriving.count, arriving[come] == result.count {
                result.append(added[come])
                come += 1
            } else if gone < leaving.count, leaving[gone] == oldRow {
                gone += 1
                oldRow += 1
            } else {
                result.append(old[oldRow])
                oldRow += 1
            }
        }
        tree.rebuild(result)
    }
}
