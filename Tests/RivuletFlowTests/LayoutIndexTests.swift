import RivuletFlow
import Testing

/// The same answers by adding up.
struct NaiveIndex {
    var heights: [Double] = []

    func offset(_ row: Int) -> Double {
        heights[..<row].reduce(0, +)
    }

    func row(at offset: Double) -> Int? {
        var top = 0.0
        for (row, height) in heights.enumerated() {
            if offset >= top, offset < top + height { return row }
            top += height
        }
        return nil
    }

    /// All rows that overlap the stretch, whether or not they are neighbours.
    func visible(_ offsets: Range<Double>) -> [Int] {
        var top = 0.0
        var rows: [Int] = []
        for (row, height) in heights.enumerated() {
            if top + height > offsets.lowerBound, top < offsets.upperBound, !offsets.isEmpty {
                rows.append(row)
            }
            top += height
        }
        return rows
    }
}

@Suite struct LayoutIndexTests {
    @Test func `An index without rows has no height and shows nothing`() {
        let index = LayoutIndex()
        #expect(index.isEmpty && index.totalHeight == 0)
        #expect(index.offset(ofRow: 0) == 0)
        #expect(index.row(atOffset: 0) == nil)
        #expect(index.visibleRows(in: -10..<10).isEmpty)
    }

    @Test func `A row covers its beginning and not its end`() {
        let index = LayoutIndex(heights: [40, 60.5, 20])
        #expect(index.row(atOffset: 0) == 0)
        #expect(index.row(atOffset: 39.9999) == 0)
        #expect(index.row(atOffset: 40) == 1)
        #expect(index.row(atOffset: 120.4999) == 2)
        #expect(index.row(atOffset: 120.5) == nil)
        #expect(index.row(atOffset: -0.0001) == nil)
        #expect(index.row(atOffset: .nan) == nil)
        #expect(index.row(atOffset: .infinity) == nil)
    }

    @Test func `Touching is not overlapping`() {
        let index = LayoutIndex(heights: [40, 60, 20])
        #expect(index.visibleRows(in: 40..<100) == 1..<2)
        #expect(index.visibleRows(in: 39.99..<100.01) == 0..<3)
        #expect(index.visibleRows(in: 50..<51) == 1..<2)
        #expect(index.visibleRows(in: -50..<0).isEmpty)
        #expect(index.visibleRows(in: 120..<500).isEmpty)
        #expect(index.visibleRows(in: -.infinity..<(.infinity)) == 0..<3)
        #expect(index.visibleRows(in: 50..<50).isEmpty)
    }

    @Test func `A row without height shows only strictly inside`() {
        let index = LayoutIndex(heights: [0, 40, 0, 0, 60, 0])
        #expect(index.visibleRows(in: 0..<40) == 1..<2)
        #expect(index.visibleRows(in: 40..<100) == 4..<5)
        #expect(index.visibleRows(in: 39..<41) == 1..<5)
        #expect(index.visibleRows(in: -1..<101) == 0..<6)
        #expect(index.row(atOffset: 40) == 4)
    }

    @Test func `Heights that are no heights count as nothing`() {
        let index = LayoutIndex(heights: [-5, .nan, -.infinity, .infinity, 1.0 / 512])
        #expect(index.heights(of: 0..<3) == [0, 0, 0])
        #expect(index.height(ofRow: 3) == LayoutIndex.heightMax)
        #expect(index.height(ofRow: 4) == 1.0 / 256)
        #expect(LayoutIndex.rounded(10.001) == 10)
    }

    @Test func `Sums do not drift over many changes`() {
        var random = Seeded(3)
        var index = LayoutIndex(count: 1000, height: 33.3)
        for _ in 0..<20_000 {
            index.resize(
                row: Int.random(in: 0..<1000, using: &random), to: .random(in: 0...500, using: &random))
        }
        let heights = index.heights(of: 0..<1000)
        #expect(index.totalHeight == heights.reduce(0, +))
        for row in 0..<1000 { index.resize(row: row, to: 33.3) }
        #expect(index == LayoutIndex(count: 1000, height: 33.3))
    }

    @Test(arguments: 0...5)
    func `All short lists of heights answer like adding up`(length: Int) {
        for heights in sequences(of: 3, length: length).map({ $0.map { Double($0) * 10 } }) {
            let index = LayoutIndex(heights: heights)
            let naive = NaiveIndex(heights: heights)
            compare(index, naive, offsets: stride(from: -5, through: 105, by: 5).map { $0 })
        }
    }

    @Test(arguments: 0..<40)
    func `Random changes agree with adding up`(seed: Int) {
        var random = Seeded(UInt64(seed))
        let count = [0, 10, 300, 1500][seed % 4]
        var naive = NaiveIndex(heights: (0..<count).map { _ in height(&random) })
        var index = LayoutIndex(heights: naive.heights)
        for step in 0..<40 {
            change(&index, &naive, &random)
            #expect(index.count == naive.heights.count)
            let total = naive.offset(naive.heights.count)
            #expect(index.totalHeight == total, "step \(step)")
            var offsets = (0..<1).map { _ in Double.random(in: -10...total + 10, using: &random) }
            if let row = naive.heights.indices.randomElement(using: &random) {
                offsets.append(naive.offset(row))
            }
            compare(index, naive, offsets: offsets, stepwise: step % 20 == 19)
        }
    }

    @Test func `A copy keeps its heights when the original changes`() {
        var index = LayoutIndex(count: 500, height: 10)
        let copy = index
        index.remove(100..<400)
        index.resize(row: 0, to: 50)
        #expect(copy.totalHeight == 5000 && copy.count == 500)
        #expect(index.totalHeight == 2040)
    }

    @Test func `A million rows work`() {
        var index = LayoutIndex(count: 1_000_000, height: 10)
        index.insert(count: 50, height: 20, at: 0)
        index.remove(500_000..<600_000)
        index.resize(row: 899_999, to: 15)
        #expect(index.count == 900_050)
        #expect(index.totalHeight == 50 * 20 + 900_000 * 10 + 5)
        #expect(index.offset(ofRow: 900_000) == 50 * 20 + 899_950 * 10 + 5)
        #expect(index.row(atOffset: index.totalHeight - 1) == 900_049)
    }

    @Test(arguments: 0..<90)
    func `Following a change set gives the heights of the new list`(seed: Int) {
        var random = Seeded(UInt64(seed))
        let old = Array(0..<[5, 80, 500][seed % 3])
        var new = old
        for _ in 0..<Int.random(in: 0...5, using: &random) where !new.isEmpty {
            let place = Int.random(in: 0..<new.count, using: &random)
            switch Int.random(in: 0..<4, using: &random) {
            case 0: new.remove(at: place)
            case 1:
                let fresh = 10_000 + Int.random(in: 0..<9000, using: &random) * 100
                new.insert(contentsOf: fresh..<fresh + 30, at: place)
            case 2: new.append(new.remove(at: place))
            default: new.insert(new.removeLast(), at: min(place, new.count))
            }
        }
        let changes = ChangeSet.changes(from: rows(old), to: rows(new))
        var index = LayoutIndex(heights: old.map(Double.init))
        #expect(index.apply(changes) { Double(new[$0]) })
        #expect(index.heights(of: 0..<index.count) == new.map(Double.init))
    }

    @Test func `A change set for other lists changes nothing`() {
        var index = LayoutIndex(count: 3, height: 10)
        let wrong = [
            ChangeSet(oldCount: 4, newCount: 4),
            ChangeSet(oldCount: 3, newCount: 4),
            ChangeSet(oldCount: 3, newCount: 2, removals: [3]),
            ChangeSet(oldCount: 3, newCount: 1, removals: [0, 0]),
            ChangeSet(oldCount: 3, newCount: 3, moves: [.init(from: 7, to: 0)]),
            ChangeSet(oldCount: 3, newCount: 5, insertions: [4, 9]),
        ]
        for changes in wrong {
            #expect(!index.apply(changes) { _ in 1 }, "\(changes)")
        }
        #expect(index == LayoutIndex(count: 3, height: 10))
    }

    // MARK: Helpers

    private func height(_ random: inout Seeded) -> Double {
        Int.random(in: 0..<5, using: &random) == 0 ? 0 : Double(Int.random(in: 0...8000, using: &random)) / 64
    }

    private func compare(_ index: LayoutIndex, _ naive: NaiveIndex, offsets: [Double], stepwise: Bool = true)
    {
        if stepwise {
            #expect(index.heights(of: 0..<index.count) == naive.heights)
            var top = 0.0
            var isRight = true
            for (row, height) in naive.heights.enumerated() {
                isRight = isRight && index.offset(ofRow: row) == top && index.height(ofRow: row) == height
                top += height
            }
            #expect(isRight)
        }
        for offset in offsets {
            #expect(index.row(atOffset: offset) == naive.row(at: offset), "\(offset)")
            for height in [0, 5, 700.0] {
                let visible = index.visibleRows(in: offset..<offset + height)
                #expect(Array(visible) == naive.visible(offset..<offset + height), "\(offset) \(height)")
            }
        }
    }

    private func change(_ index: inout LayoutIndex, _ naive: inout NaiveIndex, _ random: inout Seeded) {
        let count = naive.heights.count
        let row = Int.random(in: 0...count, using: &random)
        switch Int.random(in: 0..<6, using: &random) {
        case 0, 1:
            let size = [1, 1, 3, 50, 300][Int.random(in: 0..<5, using: &random)]
            let added = (0..<size).map { _ in height(&random) }
            index.insert(added, at: row)
            naive.heights.insert(contentsOf: added, at: row)
        case 2:
            let end = min(count, row + [1, 2, 60, 900][Int.random(in: 0..<4, using: &random)])
            index.remove(row..<end)
            naive.heights.removeSubrange(row..<end)
        case 3 where count > 0:
            let from = Int.random(in: 0..<count, using: &random)
            let to = Int.random(in: 0..<count, using: &random)
            index.move(from: from, to: to)
            naive.heights.insert(naive.heights.remove(at: from), at: to)
        default:
            guard row < count else { return }
            let height = height(&random)
            let change = index.resize(row: row, to: height)
            #expect(change == height - naive.heights[row])
            naive.heights[row] = height
        }
    }
}
