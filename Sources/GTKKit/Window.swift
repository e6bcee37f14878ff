internal import CGtk
package import Foundation

/// A window of the desktop.
package final class Window: Widget {
    /// Whether the window stays on closing; it closes when nil.
    package var onClose: (() -> Void)?

    private var window: UnsafeMutablePointer<GtkWindow> {
        UnsafeMutableRawPointer(pointer).assumingMemoryBound(to: GtkWindow.self)
    }

    /// Makes a window that is not shown yet.
    package init(title: String, size: CGSize) {
        guard let pointer = gtk_window_new() else { preconditionFailure("GTK made no window") }
        super.init(floating: pointer)
        gtk_window_set_title(window, title)
        gtk_window_set_default_size(
            window, Int32(points: size.width), Int32(points: size.height))
        Signals.connectRequest(UnsafeMutableRawPointer(pointer), "close-request") { [weak self] in
            self?.onClose?()
            return false
        }
    }

    /// What the window shows.
    package func setChild(_ child: Widget?) { gtk_window_set_child(window, child?.pointer) }
    /// The name in the title bar.
    package var title: String {
        get { gtk_window_get_title(window).map { String(cString: $0) } ?? "" }
        set { gtk_window_set_title(window, newValue) }
    }
    /// Shows it.
    package func present() { gtk_window_present(window) }
    /// Takes it off the screen for good.
    package func close() { gtk_window_destroy(window) }
    /// Gives it another size.
    package func resize(_ size: CGSize) {
        gtk_window_set_default_size(
            window, Int32(points: size.width), Int32(points: size.height))
    }
    /// Whether it has the keyboard of the desktop.
    package var isActive: Bool { gtk_window_is_active(window) != 0 }
    /// Tells when `isActive` changed.
    package func onActiveChange(_ action: @escaping () -> Void) {
        Signals.connectNotify(UnsafeMutableRawPointer(pointer), "is-active", action)
    }
    /// Makes it exist without showing it, so that widgets in it can be measured.
    package func realize() { gtk_widget_realize(pointer) }
    /// Whether keys show where the keyboard is.
    package var showsFocus: Bool { gtk_window_get_focus_visible(window) != 0 }
    /// Shows or hides where the keyboard is.
    package func setShowsFocus(_ shows: Bool) { gtk_window_set_focus_visible(window, shows ? 1 : 0) }
    /// Replaces the title bar; the window's own buttons stay in it.
    package func setTitlebar(_ widget: Widget?) { gtk_window_set_titlebar(window, widget?.pointer) }
}

/// The settings of the desktop.
package enum Desktop {
    /// Whether widgets of GTK are dark.
    package static var prefersDark: Bool {
        get {
            guard let settings = gtk_settings_get_default() else { return false }
            return rivulet_get_boolean(UnsafeMutableRawPointer(settings), "gtk-application-prefer-dark-theme")
                != 0
        }
        set {
            guard let settings = gtk_settings_get_default() else { return }
            rivulet_set_boolean(
                UnsafeMutableRawPointer(settings), "gtk-application-prefer-dark-theme", newValue ? 1 : 0)
        }
    }

    /// Whether the user wants things to move.
    package static var animates: Bool {
        guard let settings = gtk_settings_get_default() else { return true }
        return rivulet_get_boolean(UnsafeMutableRawPointer(settings), "gtk-enable-animations") != 0
    }

    /// How much larger than designed the user wants text; 1 is as designed.
    package static var textScale: Double {
        guard let settings = gtk_settings_get_default() else { return 1 }
        let resolution = rivulet_get_int(UnsafeMutableRawPointer(settings), "gtk-xft-dpi")
        return resolution > 0 ? Double(resolution) / 1_024 / 96 : 1
    }

    /// Whether the theme's name says that it has high contrast.
    package static var isHighContrast: Bool {
        guard let settings = gtk_settings_get_default(),
            let name = rivulet_get_string(UnsafeMutableRawPointer(settings), "gtk-theme-name")
        else { return false }
        defer { g_free(name) }
        return String(cString: name).contains("HighContrast")
    }

    /// Whether text runs from right to left.
    package static var isRightToLeft: Bool {
        get { gtk_widget_get_default_direction() == GTK_TEXT_DIR_RTL }
        set { gtk_widget_set_default_direction(newValue ? GTK_TEXT_DIR_RTL : GTK_TEXT_DIR_LTR) }
    }

    /// Opens an address with the program that the user chose for it.
    package static func open(_ address: String) {
        gtk_show_uri(nil, address, 0)
    }

    private static var provider: UnsafeMutablePointer<GtkCssProvider>?

    /// Replaces the application's style sheet.
    package static func setStyleSheet(_ css: String) {
        guard let display = gdk_display_get_default() else { return }
        if provider == nil {
            provider = gtk_css_provider_new()
            gtk_style_context_add_provider_for_display(display, OpaquePointer(provider), 600)
        }
        gtk_css_provider_load_from_data(provider, css, -1)
    }

    private static var warnings: Callback<String, Void>?

    /// Hears of every warning that GTK and GLib print, which tests and logs want to know.
    package static func onWarning(_ action: @escaping (String) -> Void) {
        warnings = Callback<String, Void>(action)
        listenToLog()
    }

    /// Not of the main actor, and so neither is the closure: GLib's own threads warn, too.
    private nonisolated static func listenToLog() {
        g_log_set_writer_func(
            { level, fields, count, _ in
                if level.rawValue & (G_LOG_LEVEL_WARNING.rawValue | G_LOG_LEVEL_CRITICAL.rawValue) != 0 {
                    var domain: UnsafePointer<CChar>?
                    var message: UnsafePointer<CChar>?
                    rivulet_log_fields(fields, count, &domain, &message)
                    let text = [domain, message].compactMap { $0.map { String(cString: $0) } }
                        .joined(separator: ": ")
                    if rivulet_is_main_thread() != 0 {
                        MainActor.assumeIsolated { Desktop.warnings?.action(text) }
                    } else {
                        Task { @MainActor in Desktop.warnings?.action(text) }
                    }
                }
                return g_log_writer_default(level, fields, count, nil)
            }, nil, nil)
    }
}
