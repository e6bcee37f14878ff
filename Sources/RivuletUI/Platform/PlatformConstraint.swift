/// A linear relation between edges of views that are children of one view.
public struct PlatformConstraint {
    /// An edge or extent; leading and trailing follow the reading direction.
    public enum Edge: Hashable, Sendable {
        /// Where a line begins.
        case leading
        /// Where a line ends.
        case trailing
        /// The upper edge.
        case top
        /// The lower edge.
        case bottom
        /// The extent along a line.
        case width
        /// The extent down.
        case height
        /// The middle along a line.
        case centerX
        /// The middle down.
        case centerY
    }

    /// How both sides compare.
    public enum Relation: Hashable, Sendable {
        /// They are equal.
        case equal
        /// The left side is not smaller.
        case atLeast
        /// The left side is not larger.
        case atMost
    }

    let view: PlatformView?
    let edge: Edge
    let relation: Relation
    let other: PlatformView?
    let otherEdge: Edge
    let constant: Double
    /// Whether the right side is the constant alone.
    let isConstant: Bool

    /// Relates the edge of a view to that of another; nil stands for the view that holds both.
    public init(
        _ view: PlatformView?, _ edge: Edge, _ relation: Relation = .equal, to other: PlatformView?,
        _ otherEdge: Edge, constant: Double = 0
    ) {
        self.view = view
        self.edge = edge
        self.relation = relation
        self.other = other
        self.otherEdge = otherEdge
        self.constant = constant
        isConstant = false
    }

    /// Relates the extent of a view to a constant.
    public init(_ view: PlatformView?, _ edge: Edge, _ relation: Relation = .equal, constant: Double) {
        self.view = view
        self.edge = edge
        self.relation = relation
        other = nil
        otherEdge = edge
        self.constant = constant
        isConstant = true
    }
}

extension PlatformConstraint.Edge {
    var isHorizontal: Bool {
        switch self {
        case .leading, .trailing, .width, .centerX: true
        case .top, .bottom, .height, .centerY: false
        }
    }

    var onAxis: ConstraintAxis.Edge {
        switch self {
        case .leading, .top: .start
        case .trailing, .bottom: .end
        case .width, .height: .extent
        case .centerX, .centerY: .middle
        }
    }
}

extension PlatformConstraint.Relation {
    var value: LinearProgram.Relation {
        switch self {
        case .equal: .equal
        case .atLeast: .atLeast
        case .atMost: .atMost
        }
    }
}
