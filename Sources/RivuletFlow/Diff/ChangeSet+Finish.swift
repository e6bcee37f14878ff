extension ChangeSet {
    /// Turns the pairs of the middle into removals, insertions, moves and updates.
    @usableFromInline
    mutating func finish(_ pairing: PairingResult, offset: Int) {
        for (index, isTaken) in pairing.isTaken.enumerated() where !isTaken {
            removals.append(index + offset)
        }
        var isAscending = true
        var last: Int32 = -1
        for (index, old) in pairing.oldOfNew.enumerated() {
            if old < 0 {
                insertions.append(index + offset)
            } else {
                isAscending = isAscending && old > last
                last = old
            }
        }
        if !isAscending {
            let isStill = Self.longestAscending(in: pairing.oldOfNew)
            for (index, old) in pairing.oldOfNew.enumerated() where old >= 0 && !isStill[index] {
                moves.append(Move(from: Int(old) + offset, to: index + offset))
            }
        }
        let found = pairing.needsSorting ? pairing.updates.sorted { $0.new < $1.new } : pairing.updates
        for update in found {
            updates.append(Update(old: update.old + offset, new: update.new + offset))
        }
    }

    /// Marks one longest ascending subsequence of the values that are not negative (Fredman 1975: n log n).
    ///
    /// Its members can stay where they are; every other pair has to move, and with fewer moves it cannot be done.
    static func longestAscending(in values: [Int32]) -> [Bool] {
        // ends[length] is the index with the smallest value at which an ascending run of that length + 1 ends;
        // endValues are those values, side by side for the search.
        var ends: [Int32] = []
        var endValues: [Int32] = []
        var previous = [Int32](repeating: -1, count: values.count)
        for (index, value) in values.enumerated() where value >= 0 {
            var place = ends.count
            if let last = endValues.last, last >= value {
                var low = 0
                while low < place {
                    let middle = (low + place) / 2
                    if endValues[middle] < value { low = middle + 1 } else { place = middle }
                }
            }
            if place > 0 { previous[index] = ends[place - 1] }
            if place == ends.count {
                ends.append(Int32(index))
                endValues.append(value)
            } else {
                ends[place] = Int32(index)
                endValues[place] = value
            }
        }
        var isStill = [Bool](repeating: false, count: values.count)
        var index = ends.last ?? -1
        while index >= 0 {
            isStill[Int(index)] = true
            index = previous[Int(index)]
        }
        return isStill
    }
}
