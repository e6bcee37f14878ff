public import Foundation
internal import GTKKit

/// A window of the desktop over one view.
public final class PlatformWindow {
    private let window: Window
    /// The view that fills the window.
    public let content: PlatformView

    /// Makes a window that is not shown yet.
    public init(title: String, size: CGSize, content: PlatformView) {
        window = Window(title: title, size: size)
        self.content = content
        window.setChild(content.widget)
        window.addStyleClass("rivulet-window")
    }

    /// The name in the title bar.
    public var title: String {
        get { window.title }
        set { window.title = newValue }
    }

    /// Whether it has the keyboard of the desktop.
    public var isActive: Bool { window.isActive }
    /// Shows the window.
    public func show() { window.present() }
    /// Gives it another size.
    public func resize(_ size: CGSize) { window.resize(size) }
    /// Takes it away for good.
    public func close() {
        window.setChild(nil)
        window.close()
    }
    /// Calls the action when the user closes it.
    public func onClose(_ action: @escaping () -> Void) { window.onClose = action }
    /// Calls the action when ``isActive`` changed.
    public func onActiveChange(_ action: @escaping () -> Void) { window.onActiveChange(action) }
    /// Whether keys were used last, so that it is shown where the keyboard is.
    public var showsFocus: Bool { window.showsFocus }

    /// Makes a window that exists without being shown, for views that are only measured.
    static func makeHidden(_ content: PlatformView) -> PlatformWindow {
        let made = PlatformWindow(title: "", size: CGSize(width: 100, height: 100), content: content)
        made.window.realize()
        return made
    }
}

/// The desktop and its event loop.
public enum PlatformApplication {
    /// Connects to the display.
    ///
    /// - Returns: Whether there is one.
    public static func start() -> Bool {
        guard MainLoop.initialize() else { return false }
        return true
    }

    /// Calls the action when the process is asked to end; a second wish ends it at once.
    public static func onStopSignal(_ action: @escaping () -> Void) { MainLoop.onStopSignal(action) }
    /// Handles events and jobs of the main actor until ``quit()``.
    public static func run() { MainLoop.run() }
    /// Ends ``run()``.
    public static func quit() { MainLoop.quit() }
    /// Handles what comes within this time, for tests and benchmarks that hold the main thread.
    public static func run(for duration: Duration) { MainLoop.iterate(for: duration) }
    /// Handles what waits, without blocking.
    public static func runPending() { while MainLoop.iterate() {} }

    /// Whether the user wants dark colours.
    public static var prefersDark: Bool {
        get { Desktop.prefersDark }
        set { Desktop.prefersDark = newValue }
    }

    /// Whether the user wants things to move.
    public static var animates: Bool { Desktop.animates }
    /// The families of the desktop's font, the preferred first.
    static var fontFamily: String { TextLayout.systemFamily }
    /// How much larger than the desktop says this program shows text; 1 is as it says.
    ///
    /// Views that exist must be told, and flows by `FlowEvent.textScaled`.
    public static var textZoom = 1.0
    /// How much larger than designed the user wants text.
    public static var textScale: Double { Desktop.textScale * textZoom }
    /// Whether the user wants strong contrast.
    public static var isHighContrast: Bool { Desktop.isHighContrast }
    /// Whether the interface reads from right to left.
    ///
    /// That is so when the desktop's language does; setting it counts for views that are made afterwards.
    public static var isRightToLeft: Bool {
        get { Desktop.isRightToLeft }
        set { Desktop.isRightToLeft = newValue }
    }
    /// Opens an address with the user's program for it.
    public static func open(_ address: String) { Desktop.open(address) }
    /// Calls the action with each warning of the platform's libraries.
    public static func onWarning(_ action: @escaping (String) -> Void) { Desktop.onWarning(action) }

    /// Makes the platform's own controls look like the theme.
    static func apply(_ css: String) { Desktop.setStyleSheet(css) }
}
