extension ChangeSet {
    /// Carries the changes out on the old list and returns the result, which equals the new one.
    ///
    /// Elements that stay or move are taken from `old`, inserted and updated ones from `new`. O(n).
    ///
    /// - Parameters:
    ///   - old: The list that the change set starts from.
    ///   - new: The list that holds the inserted and updated elements.
    /// - Returns: The changed list, or nil when the change set does not fit lists of these lengths.
    public func apply<Element>(to old: [Element], new: [Element]) -> [Element]? {
        guard let sources = sources(), old.count == oldCount, new.count == newCount else { return nil }
        var result: [Element] = []
        result.reserveCapacity(newCount)
        for (index, source) in sources.enumerated() {
            if let source {
                result.append(old[source])
            } else {
                result.append(new[index])
            }
        }
        for update in updates {
            result[update.new] = new[update.new]
        }
        return result
    }

    /// Whether these changes are well formed and lead from one list to the other.
    ///
    /// Elements that stay or move must keep their identity, and updates must name exactly those whose content
    /// differs. O(n).
    public func isValid<Element: DiffElement>(from old: [Element], to new: [Element]) -> Bool {
        guard let sources = sources(), old.count == oldCount, new.count == newCount else { return false }
        var updated = updates.makeIterator()
        var next = updated.next()
        for (index, source) in sources.enumerated() {
            guard let source else { continue }
            guard old[source].diffID == new[index].diffID else { return false }
            let isUpdated = next?.new == index
            guard isUpdated != old[source].hasSameContent(as: new[index]) else { return false }
            if isUpdated {
                guard next?.old == source else { return false }
                next = updated.next()
            }
        }
        return next == nil
    }

    /// For each index of the new list, the index of the old list that it comes from; nil for inserted elements.
    ///
    /// The whole is nil when the changes contradict each other or leave the lists' bounds.
    func sources() -> [Int?]? {
        guard oldCount >= 0, newCount >= 0 else { return nil }
        var leaves = [Bool](repeating: false, count: oldCount)
        for index in removals + moves.map(\.from) {
            guard leaves.indices.contains(index), !leaves[index] else { return nil }
            leaves[index] = true
        }
        var sources = [Int?](repeating: nil, count: newCount)
        var isPlaced = [Bool](repeating: false, count: newCount)
        for index in insertions {
            guard isPlaced.indices.contains(index), !isPlaced[index] else { return nil }
            isPlaced[index] = true
        }
        for move in moves {
            guard isPlaced.indices.contains(move.to), !isPlaced[move.to] else { return nil }
            isPlaced[move.to] = true
            sources[move.to] = move.from
        }
        var still = 0
        for index in 0..<newCount where !isPlaced[index] {
            while still < oldCount, leaves[still] { still += 1 }
            guard still < oldCount else { return nil }
            sources[index] = still
            still += 1
        }
        guard !leaves[still...].contains(false) else { return nil }
        for update in updates {
            guard sources.indices.contains(update.new), sources[update.new] == update.old else { return nil }
        }
        return sources
    }
}
