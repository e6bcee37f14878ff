import RivuletModel
import Testing

@testable import RivuletUI

/// The solver behind layout by constraints, without a display.
struct ConstraintTests {
    /// Numbers that are the same in every run, from a seed.
    private struct Numbers {
        var state: UInt64

        mutating func next(_ bound: Int) -> Int {
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return Int((state >> 33) % UInt64(bound))
        }
    }

    private func span(_ start: Double, _ extent: Double) -> ConstraintAxis.Span {
        ConstraintAxis.Span(start: start, extent: extent)
    }

    /// A label with margins of 12, as a bubble has.
    private func bubble(natural: Double) -> ConstraintAxis {
        var axis = ConstraintAxis(count: 1)
        axis.relate(0, .start, .equal, to: nil, .start, constant: 12)
        axis.relate(nil, .end, .equal, to: 0, .end, constant: 12)
        axis.setNatural(0, natural)
        return axis
    }

    @Test func `a parent is as large as its contents with their margins`() {
        let found = bubble(natural: 100).solve(parent: nil)
        #expect(found.parent == 124)
        #expect(found.spans == [span(12, 100)])
    }

    @Test(arguments: [30.0, 124, 400])
    func `contents fill a parent of a given size`(width: Double) {
        let found = bubble(natural: 100).solve(parent: width)
        #expect(found.parent == width)
        #expect(found.spans == [span(12, width - 24)])
    }

    @Test func `two beside each other share what is missing, and none is negative`() {
        var axis = ConstraintAxis(count: 2)
        axis.relate(0, .start, .equal, to: nil, .start, constant: 0)
        axis.relate(1, .start, .equal, to: 0, .end, constant: 8)
        axis.relate(nil, .end, .equal, to: 1, .end, constant: 0)
        axis.relate(0, .extent, .atLeast, to: 20)
        axis.setNatural(0, 40)
        axis.setNatural(1, 200)
        #expect(axis.solve(parent: nil).parent == 248)
        let narrow = axis.solve(parent: 100)
        let sum = narrow.spans.map(\.extent).reduce(0, +)
        #expect(sum == 92)
        #expect(narrow.spans[0].extent >= 20)
        #expect(narrow.spans[1].start == narrow.spans[0].extent + 8)
        #expect(narrow.spans.allSatisfy { $0.extent >= 0 })
    }

    @Test func `constraints that contradict each other are missed by as little as possible`() {
        var axis = ConstraintAxis(count: 1)
        axis.relate(0, .extent, .equal, to: 50)
        axis.relate(0, .extent, .equal, to: 50)
        axis.relate(0, .extent, .equal, to: 90)
        axis.relate(0, .middle, .equal, to: nil, .middle, constant: 0)
        #expect(axis.solve(parent: 200).spans == [span(75, 50)])
    }

    @Test func `what is in no constraint stands at the beginning in its own size`() {
        var axis = ConstraintAxis(count: 2)
        axis.setNatural(0, 33)
        axis.setNatural(1, nil)
        #expect(axis.solve(parent: 80).spans == [span(0, 33), span(0, 0)])
    }

    @Test func `equations with one unknown each need no program, and say the same`() {
        let axis = bubble(natural: 100)
        #expect(axis.determined(parent: 300) == axis.solve(parent: 300).spans)
        // What has to be negative, and what the contents decide, is left to the program.
        #expect(axis.determined(parent: 10) == nil)
        var open = ConstraintAxis(count: 1)
        open.relate(0, .start, .equal, to: nil, .start, constant: 4)
        #expect(open.determined(parent: 50) == nil)
        open.relate(0, .extent, .equal, to: 20)
        #expect(open.determined(parent: 50) == [span(4, 20)])
        open.relate(0, .end, .atMost, to: nil, .end, constant: -30)
        #expect(open.determined(parent: 50) == nil)
    }

    @Test(arguments: 0..<60)
    func `a random chain keeps every constraint`(seed: Int) {
        var numbers = Numbers(state: UInt64(seed) &+ 77)
        let count = 1 + numbers.next(7)
        let gaps = (0...count).map { _ in Double(numbers.next(20)) }
        let naturals = (0..<count).map { _ in Double(numbers.next(300)) }
        let least = (0..<count).map { _ in Double(numbers.next(12)) }
        var axis = ConstraintAxis(count: count)
        for index in 0..<count {
            let before = index > 0 ? index - 1 : nil
            axis.relate(
                index, .start, .equal, to: before, before == nil ? .start : .end, constant: gaps[index])
            axis.relate(index, .extent, .atLeast, to: least[index])
            axis.setNatural(index, naturals[index])
        }
        axis.relate(nil, .end, .equal, to: count - 1, .end, constant: gaps[count])
        let spare = gaps.reduce(0, +)
        let natural = zip(naturals, least).map { max($0, $1) }.reduce(0, +) + spare
        #expect(abs(axis.solve(parent: nil).parent - natural) < 0.01)
        for width in [natural, natural + 37, spare + least.reduce(0, +) + 1] {
            let spans = axis.solve(parent: width).spans
            var end = 0.0
            for (index, span) in spans.enumerated() {
                #expect(abs(span.start - end - gaps[index]) < 0.01)
                #expect(span.extent >= least[index] - 0.01)
                end = span.start + span.extent
            }
            #expect(abs(end + gaps[count] - width) < 0.01)
        }
    }
}
