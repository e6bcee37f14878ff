internal import CGtk
package import Foundation

/// A `GtkWidget` and one reference to it.
///
/// The constructor of a widget returns a floating reference, which is sunk here once and given back when the Swift
/// object goes. A parent widget holds a reference of its own.
package class Widget {
    let pointer: UnsafeMutablePointer<GtkWidget>

    init(floating pointer: UnsafeMutablePointer<GtkWidget>) {
        self.pointer = pointer
        g_object_ref_sink(pointer)
    }

    isolated deinit {
        g_object_unref(pointer)
    }

    // MARK: the tree

    /// Puts a child before another one, or last.
    package func insert(_ child: Widget, before sibling: Widget? = nil) {
        gtk_widget_insert_before(child.pointer, pointer, sibling?.pointer)
    }

    /// Puts a child first.
    package func insertFirst(_ child: Widget) {
        gtk_widget_insert_after(child.pointer, pointer, nil)
    }

    /// Takes the widget out of its parent.
    package func removeFromParent() {
        if gtk_widget_get_parent(pointer) != nil { gtk_widget_unparent(pointer) }
    }

    /// Whether the widget has a parent.
    package var hasParent: Bool { gtk_widget_get_parent(pointer) != nil }

    // MARK: geometry

    /// The size that the parent gave it.
    package var size: CGSize {
        CGSize(width: Double(gtk_widget_get_width(pointer)), height: Double(gtk_widget_get_height(pointer)))
    }

    /// The least and the natural extent along an axis for an extent across it; -1 for any.
    package func measure(isHorizontal: Bool, for extent: Int = -1) -> (minimum: Int, natural: Int) {
        var minimum: Int32 = 0
        var natural: Int32 = 0
        gtk_widget_measure(
            pointer, isHorizontal ? GTK_ORIENTATION_HORIZONTAL : GTK_ORIENTATION_VERTICAL, Int32(extent),
            &minimum, &natural, nil, nil)
        return (Int(minimum), Int(natural))
    }

    /// Gives the widget a place in its parent.
    ///
    /// GTK wants to be asked for the size before it is given one, even where the answer does not matter.
    package func allocate(_ frame: CGRect) {
        let frame = frame.somewhere
        let width = Int32(points: frame.width)
        _ = measure(isHorizontal: true)
        let least = measure(isHorizontal: false, for: Int(width)).minimum
        var allocation = GtkAllocation(
            x: Int32(points: frame.minX), y: Int32(points: frame.minY), width: max(0, width),
            height: max(Int32(clamping: least), Int32(points: frame.height)))
        gtk_widget_size_allocate(pointer, &allocation, -1)
    }

    /// Asks for another layout.
    package func queueResize() { gtk_widget_queue_resize(pointer) }
    /// Asks for placing the children anew; the size stays.
    package func queueAllocate() { gtk_widget_queue_allocate(pointer) }
    /// Asks for drawing anew.
    package func queueDraw() { gtk_widget_queue_draw(pointer) }

    /// Where a point of this widget lies in another; nil when they share no root.
    package func convert(_ point: CGPoint, to other: Widget) -> CGPoint? {
        var x = 0.0
        var y = 0.0
        let isRelated = gtk_widget_translate_coordinates(
            pointer, other.pointer, point.x, point.y, &x, &y)
        return isRelated != 0 ? CGPoint(x: x, y: y) : nil
    }

    // MARK: look and state

    /// Whether its parent shows it; unlike GTK's own visibility it may change while the parent lays its children out.
    package var isShownByParent: Bool {
        get { gtk_widget_get_child_visible(pointer) != 0 }
        set { gtk_widget_set_child_visible(pointer, newValue ? 1 : 0) }
    }

    /// Whether children are cut at its edges.
    package var clips: Bool {
        get { gtk_widget_get_overflow(pointer) == GTK_OVERFLOW_HIDDEN }
        set { gtk_widget_set_overflow(pointer, newValue ? GTK_OVERFLOW_HIDDEN : GTK_OVERFLOW_VISIBLE) }
    }

    /// How opaque it is, from 0 to 1.
    package var opacity: Double {
        get { gtk_widget_get_opacity(pointer) }
        set { gtk_widget_set_opacity(pointer, newValue) }
    }

    /// Whether the pointer can hit it; what lies behind is hit otherwise.
    package var isTargetable: Bool {
        get { gtk_widget_get_can_target(pointer) != 0 }
        set { gtk_widget_set_can_target(pointer, newValue ? 1 : 0) }
    }

    /// Whether it answers the user.
    package var isSensitive: Bool {
        get { gtk_widget_get_sensitive(pointer) != 0 }
        set { gtk_widget_set_sensitive(pointer, newValue ? 1 : 0) }
    }

    /// Adds a class of the style sheet.
    package func addStyleClass(_ name: String) { gtk_widget_add_css_class(pointer, name) }
    /// Removes a class of the style sheet.
    package func removeStyleClass(_ name: String) { gtk_widget_remove_css_class(pointer, name) }

    /// The text shown when the pointer rests; nil for none.
    package func setTooltip(_ text: String?) { gtk_widget_set_tooltip_text(pointer, text) }

    /// The pointer's look over the widget, by its CSS name; nil for the parent's.
    package func setCursor(_ name: String?) {
        gtk_widget_set_cursor_from_name(pointer, name)
    }

    // MARK: focus

    /// Whether the widget takes the keyboard.
    package var isFocusable: Bool {
        get { gtk_widget_get_focusable(pointer) != 0 }
        set { gtk_widget_set_focusable(pointer, newValue ? 1 : 0) }
    }

    /// Whether the widget or one inside it has the keyboard.
    package var containsFocus: Bool {
        guard let root = gtk_widget_get_root(pointer), let focus = gtk_root_get_focus(root) else {
            return false
        }
        return focus == pointer || gtk_widget_is_ancestor(focus, pointer) != 0
    }

    /// Whether the widget itself has the keyboard.
    package var hasFocus: Bool { gtk_widget_is_focus(pointer) != 0 }

    /// Takes the keyboard.
    @discardableResult
    package func grabFocus() -> Bool { gtk_widget_grab_focus(pointer) != 0 }

    // MARK: accessibility

    /// What assistive technology calls it.
    package func setAccessibleLabel(_ label: String) { rivulet_accessible_label(pointer, label) }
    /// What assistive technology says besides.
    package func setAccessibleDescription(_ text: String) { rivulet_accessible_description(pointer, text) }
    /// Whether assistive technology passes over it.
    package func setAccessibleHidden(_ isHidden: Bool) {
        rivulet_accessible_hidden(pointer, isHidden ? 1 : 0)
    }

    /// Offers actions, which assistive technology finds as `PREFIX.NAME`; none takes them away.
    package func setActions(_ names: [String], prefix: String, _ action: @escaping (String) -> Void) {
        guard !names.isEmpty else { return gtk_widget_insert_action_group(pointer, prefix, nil) }
        let group = g_simple_action_group_new()
        for name in names {
            guard let made = g_simple_action_new(name, nil) else { continue }
            Signals.connectActivate(UnsafeMutableRawPointer(made)) { action(name) }
            g_action_map_add_action(OpaquePointer(group), made)
            g_object_unref(UnsafeMutableRawPointer(made))
        }
        gtk_widget_insert_action_group(pointer, prefix, OpaquePointer(group))
        g_object_unref(UnsafeMutableRawPointer(group))
    }

    // MARK: time

    /// Calls the action in every frame until it answers false, with the frame's time in microseconds.
    package func addTick(_ action: @escaping (Int64) -> Bool) {
        let box = Unmanaged.passRetained(Callback<Int64, Bool>(action)).toOpaque()
        gtk_widget_add_tick_callback(
            pointer,
            { _, clock, data in
                guard let data, let clock else { return 0 }
                let time = Int64(gdk_frame_clock_get_frame_time(clock))
                return MainActor.assumeIsolated {
                    Unmanaged<Callback<Int64, Bool>>.fromOpaque(data).takeUnretainedValue().action(time)
                        ? 1 : 0
                }
            }, box,
            { data in
                if let data { Unmanaged<Callback<Int64, Bool>>.fromOpaque(data).release() }
            })
    }

    /// What the widget draws now, as bytes of red, green, blue and opacity, row by row.
    package func pixels() -> [UInt8] {
        let (width, height) = (gtk_widget_get_width(pointer), gtk_widget_get_height(pointer))
        guard width > 0, height > 0, let parent = gtk_widget_get_parent(pointer) else { return [] }
        let snapshot = gtk_snapshot_new()
        gtk_widget_snapshot_child(parent, pointer, snapshot)
        guard let node = gtk_snapshot_free_to_node(snapshot) else { return [] }
        defer { gsk_render_node_unref(node) }
        let surface = cairo_image_surface_create(CAIRO_FORMAT_ARGB32, width, height)
        defer { cairo_surface_destroy(surface) }
        let cairo = cairo_create(surface)
        gsk_render_node_draw(node, cairo)
        cairo_destroy(cairo)
        cairo_surface_flush(surface)
        guard let data = cairo_image_surface_get_data(surface) else { return [] }
        let stride = cairo_image_surface_get_stride(surface)
        return Array(UnsafeBufferPointer(start: data, count: Int(stride * height)))
    }

    /// How many pixels of the screen one point has.
    package var scaleFactor: Int { Int(gtk_widget_get_scale_factor(pointer)) }

    /// The clipboard's text from now on.
    package func copy(_ text: String) {
        gdk_clipboard_set_text(gtk_widget_get_clipboard(pointer), text)
    }
}
