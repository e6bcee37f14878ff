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
}
