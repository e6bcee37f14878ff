internal import CGtk

/// A pressed key.
package struct KeyPress: Hashable, Sendable {
    /// The keys that the interface knows by name.
    package enum Name: Hashable, Sendable {
        case up, down, left, right, home, end, pageUp, pageDown, enter, escape, menu, space, tab, f10
        case delete, letter(Character), other
    }

    /// The key.
    package var name: Name
    /// Whether Shift is held.
    package var isShift: Bool
    /// Whether Control is held.
    package var isControl: Bool

    init(value: guint, modifiers: guint) {
        isShift = modifiers & rivulet_shift_mask() != 0
        isControl = modifiers & rivulet_control_mask() != 0
        name = Self.name(of: value)
    }

    private static func name(of value: guint) -> Name {
        switch Int32(bitPattern: value) {
        case GDK_KEY_Up, GDK_KEY_KP_Up: .up
        case GDK_KEY_Down, GDK_KEY_KP_Down: .down
        case GDK_KEY_Left: .left
        case GDK_KEY_Right: .right
        case GDK_KEY_Home, GDK_KEY_KP_Home: .home
        case GDK_KEY_End, GDK_KEY_KP_End: .end
        case GDK_KEY_Page_Up, GDK_KEY_KP_Page_Up: .pageUp
        case GDK_KEY_Page_Down, GDK_KEY_KP_Page_Down: .pageDown
        case GDK_KEY_Return, GDK_KEY_KP_Enter: .enter
        case GDK_KEY_Escape: .escape
        case GDK_KEY_Menu: .menu
        case GDK_KEY_space: .space
        case GDK_KEY_Tab: .tab
        case GDK_KEY_F10: .f10
        case GDK_KEY_Delete: .delete
        default:
            Unicode.Scalar(gdk_keyval_to_unicode(value)).map { .letter(Character($0)) } ?? .other
        }
    }
}
