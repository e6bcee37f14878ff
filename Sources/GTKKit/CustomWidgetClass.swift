internal import CGtk
internal import Foundation

/// The GObject classes behind `CustomWidget`.
enum CustomWidgetClass {
    /// The key under which an instance keeps its Swift object.
    static let peerKey: GQuark = g_quark_from_static_string("rivulet-peer")
    /// A plain widget.
    static let plain: GType = register("RivuletView", isScrollable: false)
    /// A widget that a `GtkScrolledWindow` can scroll.
    static let scrollable: GType = register("RivuletScrollView", isScrollable: true)

    private enum Property {
        static let horizontalAdjustment: guint = 1
        static let verticalAdjustment: guint = 2
        static let horizontalPolicy: guint = 3
        static let verticalPolicy: guint = 4
    }

    static func peer(of pointer: UnsafeMutableRawPointer?) -> CustomWidget? {
        guard let pointer else { return nil }
        let object = pointer.assumingMemoryBound(to: GObject.self)
        guard let data = g_object_get_qdata(object, peerKey) else { return nil }
        return Unmanaged<CustomWidget>.fromOpaque(data).takeUnretainedValue()
    }

    static func makeInstance(of type: GType) -> UnsafeMutablePointer<GtkWidget> {
        guard let object = g_object_new_with_properties(type, 0, nil, nil) else {
            preconditionFailure("GObject made no instance of a registered class")
        }
        return UnsafeMutableRawPointer(object).assumingMemoryBound(to: GtkWidget.self)
    }

    private static func register(_ name: String, isScrollable: Bool) -> GType {
        var query = GTypeQuery()
        g_type_query(rivulet_type_widget(), &query)
        var info = GTypeInfo()
        info.class_size = guint16(query.class_size)
        info.instance_size = guint16(query.instance_size)
        if isScrollable {
            info.class_init = { pointer, _ in CustomWidgetClass.initializeScrollable(pointer) }
        } else {
            info.class_init = { pointer, _ in CustomWidgetClass.initialize(pointer) }
        }
        let type = g_type_register_static(rivulet_type_widget(), name, &info, GTypeFlags(rawValue: 0))
        if isScrollable {
            var interface = GInterfaceInfo()
            g_type_add_interface_static(type, rivulet_type_scrollable(), &interface)
        }
        return type
    }

    private static func initialize(_ pointer: UnsafeMutableRawPointer?) {
        guard let pointer else { return }
        let widget = pointer.assumingMemoryBound(to: GtkWidgetClass.self)
        widget.pointee.measure = { widget, orientation, extent, minimum, natural, minimumBase, naturalBase in
            let peer = CustomWidgetClass.peer(of: widget)
            let isHorizontal = orientation == GTK_ORIENTATION_HORIZONTAL
            let size: (minimum: Int, natural: Int) = peer?.onMeasure?(isHorizontal, Int(extent)) ?? (0, 0)
            minimum?.pointee = Int32(clamping: size.minimum)
            natural?.pointee = Int32(clamping: max(size.minimum, size.natural))
            minimumBase?.pointee = -1
            naturalBase?.pointee = -1
        }
        widget.pointee.size_allocate = { widget, width, height, _ in
            CustomWidgetClass.peer(of: widget)?.onLayout?(
                CGSize(width: Double(width), height: Double(height)))
        }
        widget.pointee.focus = { widget, direction in
            if let onTab = CustomWidgetClass.peer(of: widget)?.onTab,
                direction == GTK_DIR_TAB_FORWARD || direction == GTK_DIR_TAB_BACKWARD
            {
                return onTab(direction == GTK_DIR_TAB_FORWARD) ? 1 : 0
            }
            let base = g_type_class_peek(rivulet_type_widget())?.assumingMemoryBound(to: GtkWidgetClass.self)
            return base?.pointee.focus?(widget, direction) ?? 0
        }
        widget.pointee.get_request_mode = { widget in
            CustomWidgetClass.peer(of: widget)?.wrapsHeight == true
                ? GTK_SIZE_REQUEST_HEIGHT_FOR_WIDTH : GTK_SIZE_REQUEST_CONSTANT_SIZE
        }
        widget.pointee.snapshot = { widget, snapshot in
            guard let widget, let snapshot else { return }
            let peer = CustomWidgetClass.peer(of: widget)
            let painter = Painter(snapshot)
            peer?.onDraw?(painter)
            var child = gtk_widget_get_first_child(widget)
            while let present = child {
                gtk_widget_snapshot_child(widget, present, snapshot)
                child = gtk_widget_get_next_sibling(present)
            }
            peer?.onDrawAbove?(painter)
        }
    }

    private static func initializeScrollable(_ pointer: UnsafeMutableRawPointer?) {
        initialize(pointer)
        guard let pointer else { return }
        let object = pointer.assumingMemoryBound(to: GObjectClass.self)
        object.pointee.set_property = { object, property, value, _ in
            guard let value else { return }
            CustomWidgetClass.set(property, of: object, to: value)
        }
        object.pointee.get_property = { object, property, value, _ in
            guard let value else { return }
            CustomWidgetClass.get(property, of: object, into: value)
        }
        g_object_class_override_property(object, Property.horizontalAdjustment, "hadjustment")
        g_object_class_override_property(object, Property.verticalAdjustment, "vadjustment")
        g_object_class_override_property(object, Property.horizontalPolicy, "hscroll-policy")
        g_object_class_override_property(object, Property.verticalPolicy, "vscroll-policy")
    }

    private static func set(
        _ property: guint, of object: UnsafeMutablePointer<GObject>?, to value: UnsafePointer<GValue>
    ) {
        guard let peer = peer(of: object) else { return }
        switch property {
        case Property.horizontalAdjustment:
            replace(&peer.horizontalAdjustment, with: g_value_dup_object(value))
        case Property.verticalAdjustment:
            replace(&peer.verticalAdjustment, with: g_value_dup_object(value))
            peer.onScrollModel?(peer.verticalAdjustment.map { ScrollModel($0) })
        default: break
        }
    }

    private static func get(
        _ property: guint, of object: UnsafeMutablePointer<GObject>?, into value: UnsafeMutablePointer<GValue>
    ) {
        let peer = peer(of: object)
        switch property {
        case Property.horizontalAdjustment: g_value_set_object(value, peer?.horizontalAdjustment)
        case Property.verticalAdjustment: g_value_set_object(value, peer?.verticalAdjustment)
        default: g_value_set_enum(value, 0)
        }
    }

    private static func replace(
        _ field: inout UnsafeMutablePointer<GtkAdjustment>?, with object: UnsafeMutableRawPointer?
    ) {
        let old = field
        field = object?.assumingMemoryBound(to: GtkAdjustment.self)
        if let old { g_object_unref(old) }
    }
}

/// What a scroll bar shows and changes.
package final class ScrollModel {
    private let pointer: UnsafeMutablePointer<GtkAdjustment>

    init(_ pointer: UnsafeMutablePointer<GtkAdjustment>) {
        self.pointer = pointer
        g_object_ref(pointer)
    }

    isolated deinit {
        g_object_unref(pointer)
    }

    /// The offset of the viewport.
    package var value: Double {
        get { gtk_adjustment_get_value(pointer) }
        set { gtk_adjustment_set_value(pointer, newValue) }
    }

    /// Sets everything in one step.
    package func configure(value: Double, lower: Double, upper: Double, page: Double) {
        gtk_adjustment_configure(pointer, value, lower, upper, 48, page * 0.9, page)
    }

    /// Calls the action when the value changed, by whomever.
    package func onChange(_ action: @escaping () -> Void) {
        Signals.connect(pointer, "value-changed", action)
    }
}
