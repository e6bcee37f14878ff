/// Places rectangles along one axis by constraints.
///
/// Constraints weigh far more than contents: a view is made smaller than its contents, and sooner still larger, before
/// a constraint is missed. Constraints that contradict each other are missed by as little as possible.
nonisolated struct ConstraintAxis {
    /// A part of a rectangle along the axis.
    enum Edge {
        case start, end, middle, extent
    }

    /// The place of a rectangle.
    struct Span: Hashable {
        var start: Double
        var extent: Double
    }

    /// How far a rectangle may begin before its parent.
    private static let reach = 100_000.0
    private static let constraintPrice = 1e6
    private static let shrinkPrice = 750.0
    private static let growPrice = 250.0
    private static let parentPrice = 50.0
    private static let idlePrice = 1.0

    private let count: Int
    private var program: LinearProgram

    /// Begins the layout of so many rectangles.
    init(count: Int) {
        self.count = count
        program = LinearProgram(variableCount: 2 * count + 1)
    }

    private var parent: Int { 2 * count }

    /// An edge as terms and a constant; nil stands for the parent.
    private func terms(_ index: Int?, _ edge: Edge, factor: Double) -> (
        terms: [LinearProgram.Term], constant: Double
    ) {
        guard let index else {
            switch edge {
            case .start: return ([], 0)
            case .end, .extent: return ([.init(variable: parent, factor: factor)], 0)
            case .middle: return ([.init(variable: parent, factor: factor / 2)], 0)
            }
        }
        let (start, extent) = (2 * index, 2 * index + 1)
        // No variable is negative, so starts are counted from far before the parent.
        switch edge {
        case .extent: return ([.init(variable: extent, factor: factor)], 0)
        case .start: return ([.init(variable: start, factor: factor)], -factor * Self.reach)
        case .end:
            return (
                [.init(variable: start, factor: factor), .init(variable: extent, factor: factor)],
                -factor * Self.reach
            )
        case .middle:
            return (
                [.init(variable: start, factor: factor), .init(variable: extent, factor: factor / 2)],
                -factor * Self.reach
            )
        }
    }

    /// Relates an edge to another, plus a constant.
    mutating func relate(
        _ index: Int?, _ edge: Edge, _ relation: LinearProgram.Relation, to other: Int?, _ otherEdge: Edge,
        constant: Double
    ) {
        let left = terms(index, edge, factor: 1)
        let right = terms(other, otherEdge, factor: -1)
        program.add(
            left.terms + right.terms, relation, constant - left.constant - right.constant,
            price: Self.constraintPrice)
    }

    /// Relates an edge to a number.
    mutating func relate(
        _ index: Int?, _ edge: Edge, _ relation: LinearProgram.Relation, to constant: Double
    ) {
        let left = terms(index, edge, factor: 1)
        program.add(left.terms, relation, constant - left.constant, price: Self.constraintPrice)
    }

    /// Says how large a rectangle is by its contents; nil when nothing is known of them.
    mutating func setNatural(_ index: Int, _ extent: Double?) {
        let term = LinearProgram.Term(variable: 2 * index + 1, factor: 1)
        // Where nothing else says where it is, it begins where its parent begins.
        program.add(
            [.init(variable: 2 * index, factor: 1)], .equal, Self.reach, price: Self.idlePrice / 10)
        if let extent {
            program.add([term], max(0, extent), over: Self.growPrice, under: Self.shrinkPrice)
        } else {
            program.add([term], 0, over: Self.idlePrice, under: 0)
        }
    }

    /// The places in a parent of this extent; in one that is as small as may be when nil.
    ///
    /// - Returns: The extent of the parent, and the rectangles in their order.
    func solve(parent extent: Double?) -> (parent: Double, spans: [Span]) {
        var program = program
        let term = LinearProgram.Term(variable: parent, factor: 1)
        if let extent {
            program.add([term], .equal, max(0, extent), price: 10 * Self.constraintPrice)
        } else {
            program.add([term], 0, over: Self.parentPrice, under: 0)
        }
        // Whole parts of a point, so that no text breaks for want of a billionth.
        let values = program.solve().map { ($0 * 1_024).rounded() / 1_024 }
        let spans = (0..<count).map { Span(start: values[2 * $0] - Self.reach, extent: values[2 * $0 + 1]) }
        return (values[parent], spans)
    }
}
