import RivuletFlow

/// The layout index at one size.
struct FlowIndexBench {
    var size: Int
    var samples: Int

    private let operations = 20_000

    init(size: Int, samples: Int) {
        self.size = size
        self.samples = samples
    }

    func run(_ report: inout BenchmarkReport) {
        var generator = SeededGenerator(seed: 4)
        let heights = (0..<size).map { _ in Double(Int.random(in: 30...400, using: &generator)) }
        let index = LayoutIndex(heights: heights)
        let rows = (0..<operations).map { _ in Int.random(in: 0..<size, using: &generator) }
        let offsets = rows.map { index.offset(ofRow: $0) + 1 }
        let isBarred = size == 100_000

        let resizing = Samples(count: samples, preparing: { unique(index) }) { index in
            for row in rows { index.resize(row: row, to: Double(row % 300 + 20)) }
        }
        report.add(figure("index.resize", resizing, micro: true, per: operations, bar: isBarred ? 1 : nil))
        let lookup = Samples(count: samples) {
            var sum = 0
            for offset in offsets { sum += index.row(atOffset: offset) ?? 0 }
            flowKeep(sum)
        }
        report.add(figure("index.lookup", lookup, micro: true, per: operations, bar: isBarred ? 1 : nil))
        let offsetting = Samples(count: samples) {
            var sum = 0.0
            for row in rows { sum += index.offset(ofRow: row) }
            flowKeep(sum)
        }
        report.add(figure("index.offset", offsetting, micro: true, per: operations))
        let visible = Samples(count: samples) {
            var sum = 0
            for offset in offsets { sum += index.visibleRows(in: offset..<offset + 900).count }
            flowKeep(sum)
        }
        report.add(figure("index.visible", visible, micro: true, per: operations))
        let page = Array(heights.prefix(50))
        let prepending = Samples(count: samples, preparing: { unique(index) }) { $0.insert(page, at: 0) }
        report.add(figure("index.prepend50", prepending, bar: isBarred ? 0.2 : nil))
        let inserting = Samples(count: samples, preparing: { unique(index) }) { index in
            for row in rows.prefix(1000) { index.insert(CollectionOfOne(44), at: row) }
        }
        report.add(figure("index.insert1", inserting, micro: true, per: 1000))
        let removing = Samples(count: samples, preparing: { unique(index) }) { index in
            for row in rows.prefix(1000) where row < index.count { index.remove(row..<row + 1) }
        }
        report.add(figure("index.remove1", removing, micro: true, per: 1000))
        let building = Samples(count: samples) { flowKeep(LayoutIndex(heights: heights)) }
        report.add(figure("index.build", building))
    }

    private func figure(
        _ name: String, _ samples: Samples, micro: Bool = false, per count: Int = 1, bar: Double? = nil
    ) -> Figure {
        FlowFigure.make(name, size: size, samples, micro: micro, per: count, bar: bar)
    }

    /// A copy that shares no memory, so that the first change does not pay for the copying.
    private func unique(_ index: LayoutIndex) -> LayoutIndex {
        var copy = index
        copy.resize(row: 0, to: copy.height(ofRow: 0) + 1)
        return copy
    }
}
