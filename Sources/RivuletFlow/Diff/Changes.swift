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
        let shorter = min(old.count, new.count)
        var prefix = 0
        while prefix < shorter, old[prefix].diffID == new[prefix].diffID {
            if !old[prefix].hasSameContent(as: new[prefix]) {
                set.updates.append(Update(old: prefix, new: prefix))
            }
            prefix += 1
        }
        var suffix = 0
        var suffixUpdates: [Update] = []
        let suffixMax = shorter - prefix
        while suffix < suffixMax {
            let (oldIndex, newIndex) = (old.count - 1 - suffix, new.count - 1 - suffix)
            guard old[oldIndex].diffID == new[newIndex].diffID else { break }
            if !old[oldIndex].hasSameContent(as: new[newIndex]) {
                suffixUpdates.append(Update(old: oldIndex, new: newIndex))
            }
            suffix += 1
        }
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
}
