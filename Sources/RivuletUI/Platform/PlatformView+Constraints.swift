public import Foundation

/// Layout by constraints: first along the line, then down, since heights follow from widths where text wraps.
extension PlatformView {
    /// Adds a constraint on children, which from now on are laid out by constraints.
    public func addConstraint(_ constraint: PlatformConstraint) {
        constraints.append(constraint)
        setNeedsLayout()
    }

    /// The size that the constraints give the view, with every line broken to fit the width.
    ///
    /// It takes two passes: the first finds how wide each view is, the second breaks lines at these widths and finds
    /// the heights.
    public func systemLayoutSizeFitting(_ fitting: CGSize) -> CGSize {
        let natural = horizontally(in: nil)
        let isNarrow = natural.parent > fitting.width
        let spans = isNarrow ? horizontally(in: fitting.width).spans : natural.spans
        let height = vertically(in: nil, widths: spans).parent
        return CGSize(
            width: min(natural.parent, fitting.width).rounded(.up),
            height: min(height.rounded(.up), fitting.height))
    }

    /// Gives the children their frames in a view of this size.
    func placeByConstraints(in size: CGSize) {
        let across = horizontally(in: size.width).spans
        let down = vertically(in: size.height, widths: across).spans
        for (index, view) in subviews.enumerated() {
            let frame = CGRect(
                x: across[index].start, y: down[index].start, width: across[index].extent,
                height: down[index].extent)
            // Leading is where lines begin, which a mirrored view sees to by itself.
            let isTurned = PlatformApplication.isRightToLeft && !isMirrored
            view.frame = isTurned ? frame.mirrored(in: size.width) : frame
        }
    }

    private func horizontally(in width: Double?) -> (parent: Double, spans: [ConstraintAxis.Span]) {
        var axis = ConstraintAxis(count: subviews.count)
        for constraint in constraints
        where constraint.edge.isHorizontal && (constraint.isConstant || constraint.otherEdge.isHorizontal) {
            add(constraint, to: &axis)
        }
        if let width, let spans = axis.determined(parent: width) { return (width, spans) }
        for (index, view) in subviews.enumerated() { axis.setNatural(index, view.naturalWidth) }
        return axis.solve(parent: width)
    }

    private func vertically(
        in height: Double?, widths: [ConstraintAxis.Span]
    ) -> (parent: Double, spans: [ConstraintAxis.Span]) {
        var axis = ConstraintAxis(count: subviews.count)
        for constraint in constraints where !constraint.edge.isHorizontal {
            if constraint.isConstant || !constraint.otherEdge.isHorizontal {
                add(constraint, to: &axis)
            } else if let other = constraint.other.flatMap(index(of:)), constraint.otherEdge == .width {
                // A height that follows from a width, which is known by now.
                axis.relate(
                    constraint.view.flatMap(index(of:)), constraint.edge.onAxis, constraint.relation.value,
                    to: widths[other].extent + constraint.constant)
            }
        }
        if let height, let spans = axis.determined(parent: height) { return (height, spans) }
        for (index, view) in subviews.enumerated() {
            axis.setNatural(index, view.naturalHeight(forWidth: widths[index].extent))
        }
        return axis.solve(parent: height)
    }

    private func add(_ constraint: PlatformConstraint, to axis: inout ConstraintAxis) {
        // A view that was taken out has no place any more.
        let index = constraint.view.map(index(of:))
        let other = constraint.other.map(index(of:))
        if let index, index == nil { return }
        if let other, other == nil { return }
        if constraint.isConstant {
            axis.relate(
                index ?? nil, constraint.edge.onAxis, constraint.relation.value, to: constraint.constant)
        } else {
            axis.relate(
                index ?? nil, constraint.edge.onAxis, constraint.relation.value, to: other ?? nil,
                constraint.otherEdge.onAxis, constant: constraint.constant)
        }
    }

    private func index(of view: PlatformView) -> Int? { subviews.firstIndex { $0 === view } }

    /// How wide the contents are when no line is broken; nil when nothing is known of them.
    private var naturalWidth: Double? {
        if !constraints.isEmpty { return horizontally(in: nil).parent }
        guard intrinsicContentSize != nil else { return nil }
        breakLines(at: 0)
        return intrinsicContentSize.map { Double($0.width) }
    }

    /// How high the contents are at a width.
    private func naturalHeight(forWidth width: Double) -> Double? {
        if !constraints.isEmpty {
            return vertically(in: nil, widths: horizontally(in: width).spans).parent
        }
        guard let natural = intrinsicContentSize else { return nil }
        guard natural.width > width else { return natural.height }
        breakLines(at: max(1, width))
        return intrinsicContentSize.map { Double($0.height) }
    }

    /// Sets the width of lines for measuring, which is no reason to lay anything out.
    private func breakLines(at width: Double) {
        PlatformView.isMeasuring = true
        preferredMaxLayoutWidth = width
        PlatformView.isMeasuring = false
    }
}
