import RivuletFlow
import Testing

/// A row whose hash can be made as bad as a test wants it.
struct TestRow: DiffElement, Hashable {
    var diffID: Int
    var content = 0
    var isBadlyHashed = false

    var diffHash: UInt64 {
        isBadlyHashed ? 7 : UInt64(bitPattern: Int64(diffID))
    }

    func hasSameContent(as other: TestRow) -> Bool {
        content == other.content
    }
}

func rows(_ ids: some Sequence<Int>) -> [TestRow] {
    ids.map { TestRow(diffID: $0) }
}

/// The fewest moves, by trying all subsets of pairs to keep (for short lists of unique identities).
func fewestMoves(from old: [Int], to new: [Int]) -> Int {
    let places = new.compactMap { old.firstIndex(of: $0) }
    var longest = 0
    for subset in 0..<(1 << places.count) {
        let kept = places.indices.filter { subset & (1 << $0) != 0 }.map { places[$0] }
        if zip(kept, kept.dropFirst()).allSatisfy({ $0 < $1 }) { longest = max(longest, kept.count) }
    }
    return places.count - longest
}

@Suite struct DiffTests {
    @Test func `Lists that are equal have no changes`() {
        #expect(ChangeSet.changes(from: rows(0..<5), to: rows(0..<5)).isEmpty)
        #expect(ChangeSet.changes(from: rows([]), to: rows([])).isEmpty)
    }

    @Test func `A block inserted before others moves none of them`() {
        let changes = ChangeSet.changes(from: rows(0..<200), to: rows(1000..<1050) + rows(0..<200))
        #expect(changes == ChangeSet(oldCount: 200, newCount: 250, insertions: Array(0..<50)))
    }

    @Test func `A block deleted in the middle moves nothing`() {
        let changes = ChangeSet.changes(from: rows(0..<200), to: rows(0..<80) + rows(120..<200))
        #expect(changes == ChangeSet(oldCount: 200, newCount: 160, removals: Array(80..<120)))
    }

    @Test func `Content that changes under one identity is an update`() {
        var new = rows(0..<100)
        new[0].content = 1
        new[50].content = 1
        new[99].content = 1
        let updates = [0, 50, 99].map { ChangeSet.Update(old: $0, new: $0) }
        #expect(
            ChangeSet.changes(from: rows(0..<100), to: new)
                == ChangeSet(oldCount: 100, newCount: 100, updates: updates))
    }

    @Test func `A row that moves to the other end is the only move`() {
        let changes = ChangeSet.changes(from: rows(0..<100), to: rows(1..<100) + rows([0]))
        #expect(changes == ChangeSet(oldCount: 100, newCount: 100, moves: [.init(from: 0, to: 99)]))
    }

    @Test func `A row that moves and changes is a move and an update`() {
        var new = rows([2, 0, 1])
        new[0].content = 5
        let changes = ChangeSet.changes(from: rows([0, 1, 2]), to: new)
        #expect(changes.moves == [.init(from: 2, to: 0)])
        #expect(changes.updates == [.init(old: 2, new: 0)])
    }

    @Test(arguments: 0...5)
    func `All pairs of short lists with repeated identities are changed into each other`(length: Int) {
        // What the symbols are called makes no difference, so the old list uses them in order of appearance.
        for old in sequences(of: 4, length: length) where isCanonical(old) {
            for newLength in 0...5 {
                for new in sequences(of: 4, length: newLength) {
                    check(from: rows(old), to: rows(new))
                }
            }
        }
    }

    @Test func `All orders of six rows need as few moves as possible`() {
        for order in permutations(of: Array(0..<6)) {
            let changes = ChangeSet.changes(from: rows(0..<6), to: rows(order))
            #expect(changes.moves.count == fewestMoves(from: Array(0..<6), to: order), "\(order)")
            #expect(changes.removals.isEmpty && changes.insertions.isEmpty)
        }
    }

    @Test(arguments: 0..<300)
    func `Random changes applied to the old list give the new one`(seed: Int) {
        var random = Seeded(UInt64(seed))
        let count = Int.random(in: 0...400, using: &random)
        let old = rows((0..<count).shuffled(using: &random))
        var new = old
        var fresh = 10_000
        for _ in 0..<Int.random(in: 0...12, using: &random) {
            mutate(&new, fresh: &fresh, random: &random)
        }
        check(from: old, to: new)
        check(from: new, to: old)
    }

    @Test(arguments: 0..<100)
    func `Random short lists need as few moves as possible`(seed: Int) {
        var random = Seeded(UInt64(seed))
        let old = Array((0..<12).shuffled(using: &random).prefix(Int.random(in: 0...10, using: &random)))
        let new = Array((0..<12).shuffled(using: &random).prefix(Int.random(in: 0...10, using: &random)))
        let changes = ChangeSet.changes(from: rows(old), to: rows(new))
        #expect(changes.moves.count == fewestMoves(from: old, to: new))
        #expect(changes.removals.count == Set(old).subtracting(new).count)
        #expect(changes.insertions.count == Set(new).subtracting(old).count)
    }

    @Test(arguments: 0..<40)
    func `Identities whose hashes all collide are still told apart`(seed: Int) {
        var random = Seeded(UInt64(seed))
        let old = (0..<600).shuffled(using: &random).map { TestRow(diffID: $0 / 2, isBadlyHashed: true) }
        var new = old.shuffled(using: &random)
        new.removeLast(100)
        check(from: old, to: new)
    }

    @Test func `New identities that all collide with one old one cost a second attempt, not the result`() {
        let old = rows(0..<2000) + [TestRow(diffID: 5000, isBadlyHashed: true)]
        let new =
            rows((0..<2000).reversed()) + (0..<3000).map { TestRow(diffID: 6000 + $0, isBadlyHashed: true) }
        check(from: old, to: new)
        check(from: new, to: old)
    }

    @Test func `The public workload has exactly its changes`() {
        for scale in [1, 20] {
            var random = Seeded(9)
            let old = rows(0..<5000 * scale)
            var new = old
            let (from, inserted, shuffled) =
                scale == 1 ? (2000..<3000, 1000, 200) : (20_000..<30_000, 10_000, 2000)
            new.removeSubrange(from)
            new.insert(contentsOf: rows(1_000_000..<1_000_000 + inserted), at: from.upperBound)
            new[0..<shuffled].shuffle(using: &random)
            let changes = ChangeSet.changes(from: old, to: new)
            #expect(changes.removals == Array(from))
            #expect(changes.insertions == Array(from.upperBound..<from.upperBound + inserted))
            #expect(changes.moves.count < shuffled && changes.moves.count > shuffled / 2)
            #expect(changes.moves.allSatisfy { $0.to < shuffled && $0.from < shuffled })
            #expect(changes.updates.isEmpty)
            #expect(changes.apply(to: old, new: new) == new)
        }
    }

    @Test func `One deletion, one edit and one arrival far apart are three changes`() {
        let old = rows(0..<10_000)
        var new = old
        new[5000].content = 1
        new.remove(at: 2500)
        new.append(TestRow(diffID: 10_000))
        #expect(
            ChangeSet.changes(from: old, to: new)
                == ChangeSet(
                    oldCount: 10_000, newCount: 10_000, removals: [2500], insertions: [9999],
                    updates: [.init(old: 5000, new: 4999)]))
    }

    @Test func `A change set that does not fit its lists is not applied`() {
        let changes = ChangeSet.changes(from: rows(0..<5), to: rows(1..<7))
        #expect(changes.apply(to: rows(0..<4), new: rows(1..<7)) == nil)
        #expect(changes.apply(to: rows(0..<5), new: rows(1..<6)) == nil)
        let wrong: [ChangeSet] = [
            ChangeSet(oldCount: 2, newCount: 2, removals: [2]),
            ChangeSet(oldCount: 2, newCount: 1, removals: [-1]),
            ChangeSet(oldCount: 2, newCount: 0, removals: [0, 0]),
            ChangeSet(oldCount: 2, newCount: 3, insertions: [7]),
            ChangeSet(oldCount: 2, newCount: 2, moves: [.init(from: 0, to: 5)]),
            ChangeSet(oldCount: 2, newCount: 2, moves: [.init(from: 0, to: 0), .init(from: 0, to: 1)]),
            ChangeSet(oldCount: 2, newCount: 2, updates: [.init(old: 0, new: 1)]),
            ChangeSet(oldCount: 2, newCount: 2, updates: [.init(old: 9, new: 9)]),
            ChangeSet(oldCount: -1, newCount: 2),
            ChangeSet(oldCount: 2, newCount: 1),
        ]
        for changes in wrong {
            #expect(
                changes.apply(to: rows(0..<2), new: rows(0..<max(0, changes.newCount))) == nil, "\(changes)")
        }
    }

    @Test func `Changes that hide a difference are not valid`() {
        let new = [TestRow(diffID: 0, content: 1), TestRow(diffID: 1)]
        #expect(!ChangeSet(oldCount: 2, newCount: 2).isValid(from: rows(0..<2), to: new))
        #expect(!ChangeSet(oldCount: 2, newCount: 2).isValid(from: rows(0..<2), to: rows([0, 2])))
        let surplus = ChangeSet(oldCount: 2, newCount: 2, updates: [.init(old: 1, new: 1)])
        #expect(!surplus.isValid(from: rows(0..<2), to: rows(0..<2)))
    }

    // MARK: Helpers

    private func check(from old: [TestRow], to new: [TestRow]) {
        let changes = ChangeSet.changes(from: old, to: new)
        let isRight = changes.apply(to: old, new: new) == new && changes.isValid(from: old, to: new)
        if !isRight { Issue.record("\(old.map(\.diffID)) to \(new.map(\.diffID)): \(changes)") }
    }

    private func mutate(_ list: inout [TestRow], fresh: inout Int, random: inout Seeded) {
        let place = Int.random(in: 0...list.count, using: &random)
        let length = Int.random(in: 0...min(90, list.count - place), using: &random)
        switch Int.random(in: 0..<6, using: &random) {
        case 0: list.removeSubrange(place..<place + length)
        case 1:
            list.insert(contentsOf: rows(fresh..<fresh + length), at: place)
            fresh += length
        case 2: list[place..<place + length].shuffle(using: &random)
        case 3: for index in place..<place + length { list[index].content += 1 }
        case 4:
            let block = Array(list[place..<place + length])
            list.removeSubrange(place..<place + length)
            list.insert(contentsOf: block, at: Int.random(in: 0...list.count, using: &random))
        default:
            // Repeats identities.
            list.insert(contentsOf: Array(list[place..<place + length]), at: place)
        }
    }
}

/// Whether each symbol is at most one more than the largest before it.
func isCanonical(_ list: [Int]) -> Bool {
    var largest = -1
    for symbol in list {
        guard symbol <= largest + 1 else { return false }
        largest = max(largest, symbol)
    }
    return true
}

/// All lists of this length over so many symbols.
func sequences(of symbols: Int, length: Int) -> [[Int]] {
    var all: [[Int]] = [[]]
    for _ in 0..<length { all = all.flatMap { list in (0..<symbols).map { list + [$0] } } }
    return all
}

/// All orders of a list.
func permutations(of list: [Int]) -> [[Int]] {
    var all: [[Int]] = [[]]
    for element in list {
        all = all.flatMap { partial in
            (0...partial.count).map { place in
                var longer = partial
                longer.insert(element, at: place)
                return longer
            }
        }
    }
    return all
}
