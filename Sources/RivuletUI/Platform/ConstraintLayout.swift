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

    private struct Link {
        var terms: [LinearProgram.Term]
        var relation: LinearProgram.Relation
        var constant: Double
    }

    private let count: Int
    private var program: LinearProgram
    private var links: [Link] = []

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
        link(left.terms + right.terms, relation, constant - left.constant - right.constant)
    }

    /// Relates an edge to a number.
    mutating func relate(
        _ index: Int?, _ edge: Edge, _ relation: LinearProgram.Relation, to constant: Double
    ) {
        let left = terms(index, edge, factor: 1)
        link(left.terms, relation, constant - left.constant)
    }

    private mutating func link(
        _ terms: [LinearProgram.Term], _ relation: LinearProgram.Relation, _ constant: Double
    ) {
        links.append(Link(terms: terms, relation: relation, constant: constant))
        program.add(terms, relation, constant, price: Self.constraintPrice)
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

    /// The places in a parent of this extent, where the constraints alone say all of them; nil otherwise.
    ///
    /// That is so for most views on the screen, and takes no program and no size of contents: one equation after the
    /// other has a single unknown left.
    func determined(parent extent: Double) -> [Span]? {
        var values = [Double?](repeating: nil, count: 2 * count + 1)
        values[parent] = extent
        var isNew = true
        while isNew {
            isNew = false
            for link in links where link.relation == .equal {
                guard let (variable, value) = unknown(of: link, values) else { continue }
                values[variable] = value
                isNew = true
            }
        }
        let known = values.compactMap { $0 }
        guard known.count == values.count, links.allSatisfy({ holds($0, known) }) else { return nil }
        let spans = (0..<count).map { index in
            Span(start: known[2 * index] - Self.reach, extent: known[2 * index + 1])
        }
        return spans.allSatisfy { $0.extent >= 0 } ? spans : nil
    }

    /// The one variable of an equation that has no value yet, with the value that it must have.
    private func unknown(of link: Link, _ values: [Double?]) -> (variable: Int, value: Double)? {
        var found: Int?
        var factor = 0.0
        var rest = link.constant
        for term in link.terms {
            if let value = values[term.variable] {
                rest -= term.factor * value
            } else if found == nil || found == term.variable {
                found = term.variable
                factor += term.factor
            } else {
                return nil
            }
        }
        guard let found, factor != 0 else { return nil }
        return (found, (rest / factor * 1_024).rounded() / 1_024)
    }

    private func holds(_ link: Link, _ values: [Double]) -> Bool {
        let difference = link.terms.reduce(-link.constant) { $0 + $1.factor * values[$1.variable] }
        switch link.relation {
        case .equal: return abs(difference) < 0.01
        case .atLeast: return difference > -0.01
        case .atMost: return difference < 0.01
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
