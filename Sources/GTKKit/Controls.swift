internal import CGtk
package import Foundation

/// A field for text of several lines; input methods work in it.
package final class TextInput: Widget {
    private let view: UnsafeMutablePointer<GtkTextView>
    private let scroller: Widget

    /// Makes an empty field.
    package init() {
        guard let scrolled = gtk_scrolled_window_new(), let text = gtk_text_view_new() else {
            preconditionFailure("GTK made no text field")
        }
        view = UnsafeMutableRawPointer(text).assumingMemoryBound(to: GtkTextView.self)
        scroller = Widget(floating: text)
        super.init(floating: scrolled)
        gtk_scrolled_window_set_child(OpaquePointer(scrolled), text)
        gtk_scrolled_window_set_policy(OpaquePointer(scrolled), GTK_POLICY_NEVER, GTK_POLICY_AUTOMATIC)
        gtk_scrolled_window_set_propagate_natural_height(OpaquePointer(scrolled), 1)
        gtk_text_view_set_wrap_mode(view, GTK_WRAP_WORD_CHAR)
        gtk_text_view_set_accepts_tab(view, 0)
    }

    private var buffer: UnsafeMutablePointer<GtkTextBuffer>? { gtk_text_view_get_buffer(view) }

    /// The text.
    package var text: String {
        get {
            var start = GtkTextIter()
            var end = GtkTextIter()
            gtk_text_buffer_get_bounds(buffer, &start, &end)
            guard let text = gtk_text_buffer_get_text(buffer, &start, &end, 0) else { return "" }
            defer { g_free(text) }
            return String(cString: text)
        }
        set { gtk_text_buffer_set_text(buffer, newValue, Int32(newValue.utf8.count)) }
    }

    /// Puts text where the cursor is.
    package func insertAtCursor(_ text: String) {
        gtk_text_buffer_insert_at_cursor(buffer, text, Int32(text.utf8.count))
    }

    /// Tells when the text changed.
    package func onChange(_ action: @escaping () -> Void) {
        if let buffer { Signals.connect(UnsafeMutableRawPointer(buffer), "changed", action) }
    }

    /// A key, before the field sees it; the answer says whether it is dealt with.
    package func onInputKey(_ action: @escaping (KeyPress) -> Bool) {
        scroller.onKey(isFirst: true, action)
    }

    /// The space around the text.
    package func setMargins(horizontal: Int, vertical: Int) {
        gtk_text_view_set_left_margin(view, Int32(horizontal))
        gtk_text_view_set_right_margin(view, Int32(horizontal))
        gtk_text_view_set_top_margin(view, Int32(vertical))
        gtk_text_view_set_bottom_margin(view, Int32(vertical))
    }

    /// The height that the text takes at a width; the field's own is never less than its scroll bar wants.
    package func textHeight(forWidth width: Int) -> Int {
        scroller.measure(isHorizontal: false, for: width).natural
    }

    /// Gives the keyboard to the text.
    package func focusText() { scroller.grabFocus() }
    /// Whether the text has the keyboard.
    package var textHasFocus: Bool { scroller.hasFocus }
    /// What assistive technology calls the field.
    package func setInputLabel(_ label: String) { scroller.setAccessibleLabel(label) }
}

/// A field for one line of text.
package final class TextEntry: Widget {
    /// Makes an empty field with a hint.
    package init(placeholder: String) {
        guard let pointer = gtk_entry_new() else { preconditionFailure("GTK made no entry") }
        super.init(floating: pointer)
        gtk_entry_set_placeholder_text(
            UnsafeMutableRawPointer(pointer).assumingMemoryBound(to: GtkEntry.self), placeholder)
    }

    /// Shows another hint.
    package func setPlaceholder(_ hint: String) {
        gtk_entry_set_placeholder_text(
            UnsafeMutableRawPointer(pointer).assumingMemoryBound(to: GtkEntry.self), hint)
    }

    /// The text.
    package var text: String {
        get { gtk_editable_get_text(OpaquePointer(pointer)).map { String(cString: $0) } ?? "" }
        set { gtk_editable_set_text(OpaquePointer(pointer), newValue) }
    }

    /// Tells when the text changed.
    package func onChange(_ action: @escaping () -> Void) {
        Signals.connect(UnsafeMutableRawPointer(pointer), "changed", action)
    }
}

/// A button whose look is a widget.
package final class Button: Widget {
    /// Makes a button.
    package init(_ child: Widget?, action: @escaping () -> Void) {
        guard let pointer = gtk_button_new() else { preconditionFailure("GTK made no button") }
        super.init(floating: pointer)
        let button = UnsafeMutableRawPointer(pointer).assumingMemoryBound(to: GtkButton.self)
        gtk_button_set_child(button, child?.pointer)
        gtk_button_set_has_frame(button, 0)
        Signals.connect(UnsafeMutableRawPointer(pointer), "clicked", action)
    }
}

/// A viewport with a scroll bar, kinetic scrolling and touch.
package final class Scroller: Widget {
    /// Makes a viewport around a scrollable widget.
    package init(_ child: Widget) {
        guard let pointer = gtk_scrolled_window_new() else { preconditionFailure("GTK made no viewport") }
        super.init(floating: pointer)
        let window = OpaquePointer(pointer)
        // The bar lies over the content and shows itself while it is needed; a bar that came and went would resize it.
        gtk_scrolled_window_set_policy(window, GTK_POLICY_NEVER, GTK_POLICY_ALWAYS)
        gtk_scrolled_window_set_child(window, child.pointer)
        gtk_scrolled_window_set_kinetic_scrolling(window, 1)
    }
}

/// A menu of the system that hangs on a widget.
package final class PopupMenu {
    /// One entry.
    package struct Item {
        package var title: String
        package var isChosen: Bool?
        package var action: () -> Void

        package init(title: String, isChosen: Bool? = nil, action: @escaping () -> Void) {
            self.title = title
            self.isChosen = isChosen
            self.action = action
        }
    }

    private let popover: Widget

    /// Shows a menu; it removes itself when it is closed.
    package init(_ items: [Item], on parent: Widget, at rect: CGRect, onClose: @escaping () -> Void) {
        let menu = g_menu_new()
        let actions = g_simple_action_group_new()
        for (number, item) in items.enumerated() {
            g_menu_append(menu, item.title, "row.item\(number)")
            let action =
                item.isChosen.map { chosen in
                    g_simple_action_new_stateful("item\(number)", nil, g_variant_new_boolean(chosen ? 1 : 0))
                } ?? g_simple_action_new("item\(number)", nil)
            if let action { Signals.connectActivate(UnsafeMutableRawPointer(action), item.action) }
            g_action_map_add_action(OpaquePointer(actions), action)
            g_object_unref(UnsafeMutableRawPointer(action))
        }
        guard
            let pointer = gtk_popover_menu_new_from_model(
                UnsafeMutableRawPointer(menu)?.assumingMemoryBound(to: GMenuModel.self))
        else { preconditionFailure("GTK made no menu") }
        popover = Widget(floating: pointer)
        gtk_widget_insert_action_group(pointer, "row", OpaquePointer(actions))
        g_object_unref(UnsafeMutableRawPointer(menu))
        g_object_unref(UnsafeMutableRawPointer(actions))
        gtk_widget_set_parent(pointer, parent.pointer)
        let window = UnsafeMutableRawPointer(pointer).assumingMemoryBound(to: GtkPopover.self)
        var target = GdkRectangle(
            x: Int32(points: rect.minX), y: Int32(points: rect.minY),
            width: max(1, Int32(points: rect.width)), height: max(1, Int32(points: rect.height)))
        gtk_popover_set_pointing_to(window, &target)
        gtk_popover_set_has_arrow(window, 0)
        gtk_widget_set_halign(pointer, GTK_ALIGN_START)
        Signals.connect(UnsafeMutableRawPointer(pointer), "closed") { onClose() }
    }

    /// Opens the menu.
    package func open() {
        gtk_popover_popup(UnsafeMutableRawPointer(popover.pointer).assumingMemoryBound(to: GtkPopover.self))
    }

    /// Places the menu after its parent was laid out.
    package func present() {
        gtk_popover_present(UnsafeMutableRawPointer(popover.pointer).assumingMemoryBound(to: GtkPopover.self))
    }

    /// Takes the menu out of its parent.
    package func remove() {
        popover.removeFromParent()
    }
}

/// Asks the user for a file, with the desktop's own dialog.
package final class FileQuestion {
    private let dialog: UnsafeMutableRawPointer
    /// The one that is open; it is modal, so there is one.
    private static var open: FileQuestion?

    /// Asks for a picture; the answer is a path, and nothing is said when the user gives none.
    package static func askForPicture(
        _ title: String, over widget: Widget, onPath: @escaping (String) -> Void
    ) {
        let parent = gtk_widget_get_root(widget.pointer)
        guard
            let made = gtk_file_chooser_native_new(
                title, parent.map { UnsafeMutablePointer<GtkWindow>($0) },
                GTK_FILE_CHOOSER_ACTION_OPEN, nil, nil)
        else { return }
        let filter = gtk_file_filter_new()
        gtk_file_filter_set_name(filter, "Pictures")
        gtk_file_filter_add_pixbuf_formats(filter)
        gtk_file_chooser_add_filter(made, filter)
        g_object_unref(UnsafeMutableRawPointer(filter))
        let question = FileQuestion(UnsafeMutableRawPointer(made))
        open = question
        Signals.connectResponse(question.dialog) { response in
            // The handler lives as long as the dialog, so it must not hold what holds the dialog.
            let path = response == GTK_RESPONSE_ACCEPT.rawValue ? open?.path : nil
            open = nil
            if let path { onPath(path) }
        }
        gtk_native_dialog_show(question.dialog.assumingMemoryBound(to: GtkNativeDialog.self))
    }

    private init(_ dialog: UnsafeMutableRawPointer) {
        self.dialog = dialog
    }

    isolated deinit {
        gtk_native_dialog_destroy(dialog.assumingMemoryBound(to: GtkNativeDialog.self))
        g_object_unref(dialog)
    }

    private var path: String? {
        guard let file = gtk_file_chooser_get_file(OpaquePointer(dialog)) else { return nil }
        defer { g_object_unref(UnsafeMutableRawPointer(file)) }
        guard let path = g_file_get_path(file) else { return nil }
        defer { g_free(path) }
        return String(cString: path)
    }
}
