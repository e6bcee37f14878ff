internal import CGtk
package import Foundation

/// Listens to pointer and keyboard on a widget, which keeps the listeners.
extension Widget {
    /// A click: the button (1 first, 2 middle, 3 second), how many in a row, and where.
    package func onClick(_ action: @escaping (_ button: Int, _ count: Int, _ point: CGPoint) -> Void) {
        guard let gesture = gtk_gesture_click_new() else { return }
        gtk_gesture_single_set_button(gesture, 0)
        let raw = UnsafeMutableRawPointer(gesture)
        Signals.connectClick(raw, "released") { count, point in
            action(Int(gtk_gesture_single_get_current_button(gesture)), count, point)
        }
        gtk_widget_add_controller(pointer, gesture)
    }

    /// The moment at which a button goes down.
    package func onPress(_ action: @escaping (_ button: Int, _ count: Int, _ point: CGPoint) -> Void) {
        guard let gesture = gtk_gesture_click_new() else { return }
        gtk_gesture_single_set_button(gesture, 0)
        Signals.connectClick(UnsafeMutableRawPointer(gesture), "pressed") { count, point in
            action(Int(gtk_gesture_single_get_current_button(gesture)), count, point)
        }
        gtk_widget_add_controller(pointer, gesture)
    }

    /// A press that lasts.
    package func onLongPress(_ action: @escaping (CGPoint) -> Void) {
        guard let gesture = gtk_gesture_long_press_new() else { return }
        gtk_gesture_single_set_touch_only(gesture, 1)
        Signals.connectPoint(UnsafeMutableRawPointer(gesture), "pressed", action)
        gtk_widget_add_controller(pointer, gesture)
    }

    /// A drag with the first button of a mouse: its beginning, and how far it went.
    package func onMouseDrag(
        began: @escaping (CGPoint) -> Void, moved: @escaping (CGPoint) -> Void,
        ended: @escaping (CGPoint) -> Void
    ) {
        guard let gesture = gtk_gesture_drag_new() else { return }
        let raw = UnsafeMutableRawPointer(gesture)
        let controller = gesture
        Signals.connectPoint(raw, "drag-begin") { point in
            guard rivulet_is_touch(controller) == 0 else { return }
            began(point)
        }
        Signals.connectPoint(raw, "drag-update") { point in
            guard rivulet_is_touch(controller) == 0 else { return }
            moved(point)
        }
        Signals.connectPoint(raw, "drag-end") { point in
            guard rivulet_is_touch(controller) == 0 else { return }
            ended(point)
        }
        gtk_widget_add_controller(pointer, gesture)
    }

    /// A swipe by touch, with its speed and where the finger left.
    package func onSwipe(_ action: @escaping (_ velocity: CGPoint, _ point: CGPoint) -> Void) {
        guard let gesture = gtk_gesture_swipe_new() else { return }
        gtk_gesture_single_set_touch_only(gesture, 1)
        Signals.connectPoint(UnsafeMutableRawPointer(gesture), "swipe") { velocity in
            var (x, y) = (0.0, 0.0)
            // Without a last place there is nothing that was swiped.
            guard gtk_gesture_get_point(gesture, nil, &x, &y) != 0 else { return }
            action(velocity, CGPoint(x: x, y: y))
        }
        gtk_widget_add_controller(pointer, gesture)
    }

    /// Where the pointer is, and nil when it left.
    package func onHover(_ action: @escaping (CGPoint?) -> Void) {
        guard let controller = gtk_event_controller_motion_new() else { return }
        let raw = UnsafeMutableRawPointer(controller)
        Signals.connectPoint(raw, "enter") { action($0) }
        Signals.connectPoint(raw, "motion") { action($0) }
        Signals.connect(raw, "leave") { action(nil) }
        gtk_widget_add_controller(pointer, controller)
    }

    /// A key, before the widgets inside see it if so wished; the answer says whether it is dealt with.
    package func onKey(isFirst: Bool = false, _ action: @escaping (KeyPress) -> Bool) {
        guard let controller = gtk_event_controller_key_new() else { return }
        if isFirst { gtk_event_controller_set_propagation_phase(controller, GTK_PHASE_CAPTURE) }
        Signals.connectKey(UnsafeMutableRawPointer(controller), action)
        gtk_widget_add_controller(pointer, controller)
    }

    /// Whether the keyboard came into the widget or left it.
    package func onFocusChange(_ action: @escaping (Bool) -> Void) {
        guard let controller = gtk_event_controller_focus_new() else { return }
        let raw = UnsafeMutableRawPointer(controller)
        Signals.connect(raw, "enter") { action(true) }
        Signals.connect(raw, "leave") { action(false) }
        gtk_widget_add_controller(pointer, controller)
    }
}
