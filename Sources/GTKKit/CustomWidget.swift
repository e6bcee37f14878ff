internal import CGtk
package import Foundation

/// A widget whose measuring, layout and drawing are Swift closures.
///
/// The class behind it is registered with GObject once. The instance points to this object without holding it, so a
/// widget that outlives it measures as nothing and draws nothing but its children.
package final class CustomWidget: Widget {
    /// What assistive technology takes it for.
    package enum Role {
        case group, listItem, list, image, button, label, alert, presentation
    }

    /// The least and natural extent along an axis for an extent across it; nothing when nil.
    package var onMeasure: ((_ isHorizontal: Bool, _ extent: Int) -> (minimum: Int, natural: Int))?
    /// Places the children when the size is known.
    package var onLayout: ((CGSize) -> Void)?
    /// Draws what lies behind the children.
    package var onDraw: ((Painter) -> Void)?
    /// Draws what lies above the children.
    package var onDrawAbove: ((Painter) -> Void)?
    /// Takes the keyboard when Tab reaches the widget, forward or back, in place of what is inside; false to let it pass.
    package var onTab: ((_ isForward: Bool) -> Bool)?
    /// Whether the extent down depends on the width.
    package var wrapsHeight = false
    /// For a scrolling widget: the model of the vertical scroll bar, when it is given or taken away.
    package var onScrollModel: ((ScrollModel?) -> Void)?
    /// Whether children of no size are drawn, too.
    package private(set) var isScrollable: Bool

    var horizontalAdjustment: UnsafeMutablePointer<GtkAdjustment>?
    var verticalAdjustment: UnsafeMutablePointer<GtkAdjustment>?
    private var constraints: OpaquePointer?

    /// Makes a widget.
    package init(role: Role = .group, isScrollable: Bool = false) {
        let type = isScrollable ? CustomWidgetClass.scrollable : CustomWidgetClass.plain
        self.isScrollable = isScrollable
        let pointer = CustomWidgetClass.makeInstance(of: type)
        super.init(floating: pointer)
        rivulet_set_enum(pointer, "accessible-role", Int32(Self.value(of: role).rawValue))
        g_object_set_qdata(
            UnsafeMutableRawPointer(pointer).assumingMemoryBound(to: GObject.self), CustomWidgetClass.peerKey,
            Unmanaged.passUnretained(self).toOpaque())
    }

    isolated deinit {
        g_object_set_qdata(
            UnsafeMutableRawPointer(pointer).assumingMemoryBound(to: GObject.self), CustomWidgetClass.peerKey,
            nil)
        while let child = gtk_widget_get_first_child(pointer) { gtk_widget_unparent(child) }
        if let horizontalAdjustment { g_object_unref(horizontalAdjustment) }
        if let verticalAdjustment { g_object_unref(verticalAdjustment) }
    }

    private static func value(of role: Role) -> GtkAccessibleRole {
        switch role {
        case .group: GTK_ACCESSIBLE_ROLE_GROUP
        case .list: GTK_ACCESSIBLE_ROLE_LIST
        case .listItem: GTK_ACCESSIBLE_ROLE_LIST_ITEM
        case .image: GTK_ACCESSIBLE_ROLE_IMG
        case .button: GTK_ACCESSIBLE_ROLE_BUTTON
        case .label: GTK_ACCESSIBLE_ROLE_LABEL
        case .alert: GTK_ACCESSIBLE_ROLE_ALERT
        case .presentation: GTK_ACCESSIBLE_ROLE_PRESENTATION
        }
    }

    /// Draws a child where it is placed; only for use inside `onDraw`.
    package func drawChild(_ child: Widget, with painter: Painter) {
        gtk_widget_snapshot_child(pointer, child.pointer, painter.snapshot)
    }

    // MARK: constraints

    /// Lays the children out by constraints from now on.
    package func useConstraints() {
        guard constraints == nil else { return }
        let layout = gtk_constraint_layout_new()
        gtk_widget_set_layout_manager(pointer, layout)
        constraints = OpaquePointer(layout)
    }

    /// Adds a constraint between children or a child and this widget (nil).
    package func addConstraint(_ constraint: LayoutConstraint) {
        useConstraints()
        let strength = Int32(constraint.strength)
        let made =
            constraint.isConstant
            ? gtk_constraint_new_constant(
                UnsafeMutableRawPointer(constraint.target?.pointer), constraint.targetEdge.value,
                constraint.relation.value, constraint.constant, strength)
            : gtk_constraint_new(
                UnsafeMutableRawPointer(constraint.target?.pointer), constraint.targetEdge.value,
                constraint.relation.value, UnsafeMutableRawPointer(constraint.source?.pointer),
                constraint.sourceEdge.value, constraint.multiplier, constraint.constant, strength)
        gtk_constraint_layout_add_constraint(constraints, made)
    }

    /// Takes all constraints away.
    package func removeConstraints() {
        if let constraints { gtk_constraint_layout_remove_all_constraints(constraints) }
    }
}

/// One linear relation between edges of widgets.
package struct LayoutConstraint {
    /// An edge or extent.
    package enum Edge {
        case leading, trailing, left, right, top, bottom, width, height, centerX, centerY

        var value: GtkConstraintAttribute {
            switch self {
            case .leading: GTK_CONSTRAINT_ATTRIBUTE_START
            case .trailing: GTK_CONSTRAINT_ATTRIBUTE_END
            case .left: GTK_CONSTRAINT_ATTRIBUTE_LEFT
            case .right: GTK_CONSTRAINT_ATTRIBUTE_RIGHT
            case .top: GTK_CONSTRAINT_ATTRIBUTE_TOP
            case .bottom: GTK_CONSTRAINT_ATTRIBUTE_BOTTOM
            case .width: GTK_CONSTRAINT_ATTRIBUTE_WIDTH
            case .height: GTK_CONSTRAINT_ATTRIBUTE_HEIGHT
            case .centerX: GTK_CONSTRAINT_ATTRIBUTE_CENTER_X
            case .centerY: GTK_CONSTRAINT_ATTRIBUTE_CENTER_Y
            }
        }
    }

    /// How the two sides compare.
    package enum Relation {
        case equal, atLeast, atMost

        var value: GtkConstraintRelation {
            switch self {
            case .equal: GTK_CONSTRAINT_RELATION_EQ
            case .atLeast: GTK_CONSTRAINT_RELATION_GE
            case .atMost: GTK_CONSTRAINT_RELATION_LE
            }
        }
    }

    /// The widget on the left side; nil for the parent.
    package var target: Widget?
    package var targetEdge: Edge
    package var relation: Relation
    /// The widget on the right side; nil for the parent.
    package var source: Widget?
    package var sourceEdge: Edge
    package var multiplier: Double
    package var constant: Double
    /// Whether the right side is the constant alone.
    package var isConstant: Bool
    /// How much it counts; 1,001,001,000 must hold.
    package var strength: Int

    /// The strength of a constraint that must hold.
    package static let required = 1_001_001_000

    package init(
        target: Widget?, _ targetEdge: Edge, _ relation: Relation, source: Widget? = nil,
        _ sourceEdge: Edge = .width, multiplier: Double = 1, constant: Double = 0, isConstant: Bool = false,
        strength: Int = LayoutConstraint.required
    ) {
        self.target = target
        self.targetEdge = targetEdge
        self.relation = relation
        self.source = source
        self.sourceEdge = sourceEdge
        self.multiplier = multiplier
        self.constant = constant
        self.isConstant = isConstant
        self.strength = strength
    }
}
