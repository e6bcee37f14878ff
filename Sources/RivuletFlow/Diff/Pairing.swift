/// Which element of the new middle is which element of the old one.
@usableFromInline
struct PairingResult {
    /// For each element of the new list its index in the old one, or -1.
    @usableFromInline var oldOfNew: [Int32]
    /// For each element of the old list whether it has a partner.
    @usableFromInline var isTaken: [Bool]
    /// Pairs with different content; indexes relative to the middle.
    @usableFromInline var updates: [ChangeSet.Update] = []
    /// Whether the updates are no longer in ascending order.
    @usableFromInline var needsSorting = false

    @inlinable
    init(oldCount: Int, newCount: Int) {
        oldOfNew = [Int32](repeating: -1, count: newCount)
        isTaken = [Bool](repeating: false, count: oldCount)
    }
}

/// Finds the partner of each element between the common beginning and the common end of two lists.
///
/// With unique identities there is only one answer; the steps differ in what they cost.
@usableFromInline
struct Pairing<Element: DiffElement> {
    @usableFromInline let old: UnsafeBufferPointer<Element>
    @usableFromInline let new: UnsafeBufferPointer<Element>
    @usableFromInline var result: PairingResult
    /// Where the walk in step gave up, in each list.
    @usableFromInline var oldRest = 0
    @usableFromInline var newRest = 0

    @inlinable
    init(old: UnsafeBufferPointer<Element>, new: UnsafeBufferPointer<Element>) {
        precondition(max(old.count, new.count) < Int(Int32.max), "a list of more than two billion rows")
        self.old = old
        self.new = new
        result = PairingResult(oldCount: old.count, newCount: new.count)
    }

    /// Walks both lists side by side, steps over a few removed, inserted or replaced elements, and stops where
    /// the lists have nothing in common nearby.
    @inlinable
    mutating func pairInStep() {
        var (i, j) = (0, 0)
        var effort = 1024 + max(old.count, new.count)
        while i < old.count, j < new.count {
            if old[i].diffID == new[j].diffID {
                pair(i, j)
                i += 1
                j += 1
            } else if let (oldSkip, newSkip) = skip(i, j, effort: &effort) {
                i += oldSkip
                j += newSkip
            } else {
                break
            }
        }
        (oldRest, newRest) = (i, j)
    }

    /// How many elements to step over until the lists agree again; nil when that is too far away.
    @inlinable
    func skip(_ i: Int, _ j: Int, effort: inout Int) -> (Int, Int)? {
        let (oldLeft, newLeft) = (old.count - i, new.count - j)
        let near = min(max(oldLeft, newLeft), 64)
        var distance = 1
        while distance < near {
            if distance < oldLeft, old[i + distance].diffID == new[j].diffID { return (distance, 0) }
            if distance < newLeft, new[j + distance].diffID == old[i].diffID { return (0, distance) }
            if distance < oldLeft, distance < newLeft, old[i + distance].diffID == new[j + distance].diffID {
                return (distance, distance)
            }
            distance += 1
        }
        effort -= 3 * distance
        // A stretch in another order, or replaced, often ends at the same distance in both lists.
        let far = min(oldLeft, newLeft, distance + max(0, effort))
        while distance < far {
            if old[i + distance].diffID == new[j + distance].diffID { return (distance, distance) }
            distance += 1
            effort -= 1
        }
        return nil
    }

    /// Pairs what the walk passed over or did not reach, with a hash table.
    @inlinable
    mutating func pairLeftovers() {
        var oldLeft: [Int32] = []
        var newLeft: [Int32] = []
        for i in 0..<old.count where i >= oldRest || !result.isTaken[i] { oldLeft.append(Int32(i)) }
        for j in 0..<new.count where j >= newRest || result.oldOfNew[j] < 0 { newLeft.append(Int32(j)) }
        guard !oldLeft.isEmpty, !newLeft.isEmpty else { return }
        result.needsSorting = true
        var table = IdentityTable(count: oldLeft.count)
        guard fill(&table, with: oldLeft) else {
            pairByDictionary(oldLeft, newLeft)
            return
        }
        for j in newLeft {
            let element = new[Int(j)]
            let found = table.take(hash: element.diffHash) {
                old[Int(oldLeft[Int($0)])].diffID == element.diffID
            }
            if let found { pair(Int(oldLeft[Int(found)]), Int(j)) }
            if table.hasGivenUp { break }
        }
        if table.hasGivenUp { pairByDictionary(oldLeft, newLeft) }
    }

    @inlinable
    func fill(_ table: inout IdentityTable, with oldLeft: [Int32]) -> Bool {
        // Backwards, so that of equal identities the first is taken first.
        for place in oldLeft.indices.reversed() {
            let element = old[Int(oldLeft[place])]
            let isFine = table.insert(Int32(place), hash: element.diffHash) {
                old[Int(oldLeft[Int($0)])].diffID == element.diffID
            }
            guard isFine else { return false }
        }
        return true
    }

    /// The slow way for identities whose cheap hashes collide too often: the language's seeded hashing.
    @inlinable
    mutating func pairByDictionary(_ oldLeft: [Int32], _ newLeft: [Int32]) {
        var first: [Element.DiffID: Int32] = [:]
        var following = [Int32](repeating: -1, count: oldLeft.count)
        for place in oldLeft.indices.reversed() {
            guard !result.isTaken[Int(oldLeft[place])] else { continue }
            let id = old[Int(oldLeft[place])].diffID
            following[place] = first[id] ?? -1
            first[id] = Int32(place)
        }
        for j in newLeft where result.oldOfNew[Int(j)] < 0 {
            let id = new[Int(j)].diffID
            guard let place = first[id], place >= 0 else { continue }
            first[id] = following[Int(place)]
            pair(Int(oldLeft[Int(place)]), Int(j))
        }
    }

    @inlinable
    mutating func pair(_ i: Int, _ j: Int) {
        result.oldOfNew[j] = Int32(truncatingIfNeeded: i)
        result.isTaken[i] = true
        if !old[i].hasSameContent(as: new[j]) {
            result.updates.append(ChangeSet.Update(old: i, new: j))
        }
    }
}
