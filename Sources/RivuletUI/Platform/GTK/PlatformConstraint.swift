internal import GTKKit

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

    let value: LayoutConstraint

    /// Relates the edge of a view to that of another; nil stands for the view that holds both.
    public init(
        _ view: PlatformView?, _ edge: Edge, _ relation: Relation = .equal, to other: PlatformView?,
        _ otherEdge: Edge, constant: Double = 0
    ) {
        value = LayoutConstraint(
            target: view?.widget, edge.value, relation.value, source: other?.widget, otherEdge.value,
            constant: constant)
    }

    /// Relates the extent of a view to a constant.
    public init(_ view: PlatformView?, _ edge: Edge, _ relation: Relation = .equal, constant: Double) {
        value = LayoutConstraint(
            target: view?.widget, edge.value, relation.value, constant: constant, isConstant: true)
    }
}

extension PlatformConstraint.Edge {
    fileprivate var value: LayoutConstraint.Edge {
        switch self {
        case .leading: .leading
        case .trailing: .trailing
        case .top: .top
        case .bottom: .bottom
        case .width: .width
        case .height: .height
        case .centerX: .centerX
        case .centerY: .centerY
        }
    }
}

extension PlatformConstraint.Relation {
    fileprivate var value: LayoutConstraint.Relation {
        switch self {
        case .equal: .equal
        case .atLeast: .atLeast
        case .atMost: .atMost
        }
    }
}

/// A pressed key.
public struct PlatformKey: Hashable, Sendable {
    /// The keys that the interface knows.
    public enum Name: Hashable, Sendable {
        /// The arrows.
        case up, down, left, right
        /// The keys that travel.
        case home, end, pageUp, pageDown
        /// The keys that act.
        case enter, escape, menu, space, tab, delete
        /// A key that types.
        case letter(Character)
        /// Any other.
        case other
    }

    /// The key.
    public var name: Name
    /// Whether Shift is held.
    public var isShift: Bool
    /// Whether Control is held.
    public var isControl: Bool

    init(_ press: KeyPress) {
        isShift = press.isShift
        isControl = press.isControl
        name =
            switch press.name {
            case .up: .up
            case .down: .down
            case .left: .left
            case .right: .right
            case .home: .home
            case .end: .end
            case .pageUp: .pageUp
            case .pageDown: .pageDown
            case .enter: .enter
            case .escape: .escape
            case .menu: .menu
            case .f10: press.isShift ? .menu : .other
            case .space: .space
            case .tab: .tab
            case .delete: .delete
            case .letter(let letter): .letter(letter)
            case .other: .other
            }
    }
}
