public import Foundation
public import RivuletFlow
import RivuletModel

/// Two versions of a list, and how long their difference may take.
struct FlowDiffWorkload: Sendable {
    var name: String
    /// The bars in milliseconds, by size.
    var bars: [Int: Double]
    /// The sizes, where they are not those of the growth table.
    var sizes: [Int]?
    var run: @Sendable (_ size: Int, _ samples: Int) -> Samples

    func measure(_ size: Int, samples: Int) -> Figure {
        FlowFigure.make("diff.\(name)", size: size, run(size, samples), bar: bars[size])
    }

    static let all = [
        rows("append1", bar: 0.5) { rows, size in rows.append(row(size)) },
        rows("prepend50", bar: 0.5) { rows, size in
            rows.insert(contentsOf: (size..<size + 50).map(row), at: 0)
        },
        rows("edit1", bar: 0.5) { rows, size in rows[size / 2].revision += 1 },
        rows("mixed", bar: 14) { rows, size in
            rows[size / 2].revision += 1
            rows.remove(at: size / 4)
            rows.append(row(size))
        },
        rows("scattered1pct", bar: 14) { rows, size in
            var generator = SeededGenerator(seed: 1)
            for _ in 0..<size / 100 { rows[Int.random(in: 0..<size, using: &generator)].revision += 1 }
        },
        // Not among the bars: everything in another order, which leaves nothing to trim or to walk along.
        rows("shuffled", bar: nil) { rows, _ in
            var generator = SeededGenerator(seed: 2)
            rows.shuffle(using: &generator)
        },
        FlowDiffWorkload(
            name: "public", bars: [5000: 0.6, 100_000: 14], sizes: [5000, 100_000, 1_000_000], run: publicRun),
    ]

    private static func row(_ number: Int) -> FlowRow {
        FlowRow(
            id: .message(MessageID(Int64(number))), grouping: .single,
            timeMilliseconds: 1_796_000_000_000 + Int64(number))
    }

    private static func rows(
        _ name: String, bar: Double?, change: @escaping @Sendable (inout [FlowRow], Int) -> Void
    ) -> FlowDiffWorkload {
        FlowDiffWorkload(name: name, bars: bar.map { [100_000: $0] } ?? [:], sizes: nil) { size, samples in
            let old = (0..<size).map(row)
            var new = old
            change(&new, size)
            return measured(from: old, to: new, samples)
        }
    }

    private static func publicRun(_ size: Int, _ samples: Int) -> Samples {
        let (removed, insertedCount, shuffled) =
            size == 5000
            ? (2000..<3000, 1000, 0..<200) : (size / 5..<size * 3 / 10, size / 10, 0..<size / 50)
        var generator = SeededGenerator(seed: 3)
        let old = (0..<size).map { _ in uuid(&generator) }
        var new = old
        new.removeSubrange(removed)
        new.insert(contentsOf: (0..<insertedCount).map { _ in uuid(&generator) }, at: removed.upperBound)
        new[shuffled].shuffle(using: &generator)
        return measured(from: old, to: new, samples)
    }

    private static func measured<Row: DiffElement & Equatable>(
        from old: [Row], to new: [Row], _ samples: Int
    ) -> Samples {
        let changes = ChangeSet.changes(from: old, to: new)
        precondition(changes.apply(to: old, new: new) == new, "the changes lead elsewhere")
        // Enough of them for a median that means something where one takes microseconds.
        return Samples(count: samples * (old.count > 100_000 ? 1 : 5)) {
            flowKeep(ChangeSet.changes(from: old, to: new))
        }
    }

    private static func uuid(_ generator: inout SeededGenerator) -> UUID {
        var bytes = (generator.next(), generator.next())
        return withUnsafeBytes(of: &bytes) { UUID(uuid: $0.load(as: uuid_t.self)) }
    }
}

extension UUID: DiffElement {}
