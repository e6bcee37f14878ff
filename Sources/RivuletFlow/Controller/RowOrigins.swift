/// Finds the old index of a row that stayed or moved, in O(log changes).
struct RowOrigins {
    private let changes: ChangeSet
    private let leaving: [Int]
    private let coming: [Int]

    init(_ changes: ChangeSet) {
        self.changes = changes
        leaving = (changes.removals + changes.moves.map(\.from)).sorted()
        coming = (changes.insertions + changes.moves.map(\.to)).sorted()
    }

    /// The old index of a row; nil when it was inserted.
    func oldRow(of row: Int) -> Int? {
        let before = Self.countBelow(row, in: coming)
        if before < coming.count, coming[before] == row {
            return changes.moves.first { $0.to == row }?.from
        }
        // The rows that stayed keep their order: this is the `rank`-th of them.
        let rank = row - before
        var (low, high) = (0, leaving.count)
        while low < high {
            let middle = (low + high) / 2
            // leaving[middle] - middle rows stayed before the one that left.
            if leaving[middle] - middle <= rank { low = middle + 1 } else { high = middle }
        }
        return rank + low
    }

    private static func countBelow(_ value: Int, in ascending: [Int]) -> Int {
        var (low, high) = (0, ascending.count)
        while low < high {
            let middle = (low + high) / 2
            if ascending[middle] < value { low = middle + 1 } else { high = middle }
        }
        return low
    }
}
