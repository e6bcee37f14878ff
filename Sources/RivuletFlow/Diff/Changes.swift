extension ChangeSet {
    /// Finds the changes that lead from one list to another.
    ///
    /// The time is linear in the lengths, plus n log n for the elements whose order changed. Beginnings and ends
    /// that agree are compared and never hashed; so are lists in the same order whose contents changed, and lists
    /// that drift apart by a few rows. The moves are the fewest possible.
    ///
    /// An identity should occur once in a list. If it does not, occurrences are paired off at the common beginning
    /// and end first and in their order for the rest; the surplus counts as removed or inserted. The result is
    /// still exact: applied to the old list it gives the new one.
    @inlinable
    public static func changes<Element: DiffElement>(
        from old: [Element], to new: [Element]
    ) -> ChangeSet {
        old.withUnsafeBufferPointer { old in
            new.withUnsafeBufferPointer { new in
                changes(from: old, to: new)
            }
        }
    }

    /// The generic part, over memory: pairs the elements and finds their updates; `finish` does the rest.
    ///
    /// It is inlinable because the element type is the caller's: unspecialised it is about forty times slower.
    @inlinable
    static func changes<Element: DiffElement>(
        from old: UnsafeBufferPointer<Element>, to new: UnsafeBufferPointer<Element>
    ) -> ChangeSet {
        var set = ChangeSet(oldCount: old.count, newCount: new.count)
        let prefix = commonPrefix(old, new, updates: &set.updates)
        var suffixUpdates: [Update] = []
        let suffix = commonSuffix(
            old, new, countMax: min(old.count, new.count) - prefix, updates: &suffixUpdates)
        let oldMiddle = prefix..<(old.count - suffix)
        let newMiddle = prefix..<(new.count - suffix)
        if oldMiddle.isEmpty || newMiddle.isEmpty {
            set.removals = Array(oldMiddle)
            set.insertions = Array(newMiddle)
        } else {
            var pairing = Pairing(
                old: UnsafeBufferPointer(rebasing: old[oldMiddle]),
                new: UnsafeBufferPointer(rebasing: new[newMiddle]))
            pairing.pairInStep()
            pairing.pairLeftovers()
            set.finish(pairing.result, offset: prefix)
        }
        set.updates.append(contentsOf: suffixUpdates.reversed())
        return set
    }

    /// How many rows agree from the beginning on.
    @inlinable
    static func commonPrefix<Element: DiffElement>(
        _ old: UnsafeBufferPointer<Element>, _ new: UnsafeBufferPointer<Element>, updates: inout [Update]
    ) -> Int {
        let countMax = min(old.count, new.count)
        var count = 0
        while count < countMax {
            let blockEnd = min(count + 32, countMax)
            if blockEnd - count == 32, isSame(old, count, new, count, step: 1) { count = blockEnd }
            while count < blockEnd {
                guard old[count].diffID == new[count].diffID else { return count }
                if !old[count].hasSameContent(as: new[count]) {
                    updates.append(Update(old: count, new: count))
                }
                count += 1
            }
        }
        return count
    }

    /// How many rows agree up to the end; their updates come last first.
    @inlinable
    static func commonSuffix<Element: DiffElement>(
        _ old: UnsafeBufferPointer<Element>, _ new: UnsafeBufferPointer<Element>, countMax: Int,
        updates: inout [Update]
    ) -> Int {
        var count = 0
        while count < countMax {
            let blockEnd = min(count + 32, countMax)
            let (oldLast, newLast) = (old.count - 1 - count, new.count - 1 - count)
            if blockEnd - count == 32, isSame(old, oldLast, new, newLast, step: -1) { count = blockEnd }
            while count < blockEnd {
                let (left, right) = (old.count - 1 - count, new.count - 1 - count)
                guard old[left].diffID == new[right].diffID else { return count }
                if !old[left].hasSameContent(as: new[right]) {
                    updates.append(Update(old: left, new: right))
                }
                count += 1
            }
        }
        return count
    }

    /// Whether 32 rows agree in everything, from these two on, forwards or backwards.
    ///
    /// Without a branch per row, so that the processor can look ahead: a fifth less time. Backwards, memory must be
    /// read backwards, too; blocks read forwards from the end took six times as long.
    @inlinable @inline(__always)
    static func isSame<Element: DiffElement>(
        _ old: UnsafeBufferPointer<Element>, _ oldStart: Int, _ new: UnsafeBufferPointer<Element>,
        _ newStart: Int, step: Int
    ) -> Bool {
        var differences = 0
        for index in 0..<32 {
            let (left, right) = (oldStart &+ index &* step, newStart &+ index &* step)
            let isEqual = old[left].diffID == new[right].diffID && old[left].hasSameContent(as: new[right])
            differences |= isEqual ? 0 : 1
        }
        return differences == 0
    }
}
