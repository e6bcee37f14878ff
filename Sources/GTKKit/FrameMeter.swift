internal import CGtk
internal import Foundation

/// Tells how the main thread's processor time goes in each frame of a widget's window; for benchmarks.
package final class FrameMeter {
    /// The work of one frame, in milliseconds of the main thread's processor time.
    package struct Frame {
        /// Events and jobs of the main actor since the frame before.
        package var between = 0.0
        /// What animations and scrolling did.
        package var update = 0.0
        /// Measuring and placing widgets.
        package var layout = 0.0
        /// Drawing.
        package var paint = 0.0
        /// The time of the frame, in seconds.
        package var time = 0.0
    }

    private let clock: OpaquePointer
    private let onFrame: (Frame) -> Void
    private var frame = Frame()
    private var mark = 0.0

    /// Begins to measure; nil when the widget is in no window that is shown.
    package init?(_ widget: Widget, onFrame: @escaping (Frame) -> Void) {
        guard let clock = gtk_widget_get_frame_clock(widget.pointer) else { return nil }
        self.clock = clock
        self.onFrame = onFrame
        mark = Self.processorTime()
        let raw = UnsafeMutableRawPointer(clock)
        g_object_ref(raw)
        // GTK's own handlers come first, so that each phase's work is done when its end is noted.
        Signals.connect(raw, "before-paint", isLast: true) { [weak self] in self?.note(\.between) }
        Signals.connect(raw, "update", isLast: true) { [weak self] in self?.note(\.update) }
        Signals.connect(raw, "layout", isLast: true) { [weak self] in self?.note(\.layout) }
        Signals.connect(raw, "paint", isLast: true) { [weak self] in self?.note(\.paint) }
        Signals.connect(raw, "after-paint", isLast: true) { [weak self] in self?.finish() }
    }

    isolated deinit {
        g_object_unref(UnsafeMutableRawPointer(clock))
    }

    private func note(_ phase: WritableKeyPath<Frame, Double>) {
        let now = Self.processorTime()
        frame[keyPath: phase] += now - mark
        mark = now
    }

    private func finish() {
        note(\.paint)
        frame.time = Double(gdk_frame_clock_get_frame_time(clock)) / 1_000_000
        onFrame(frame)
        frame = Frame()
        mark = Self.processorTime()
    }

    private static func processorTime() -> Double {
        var time = timespec()
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
        return Double(time.tv_sec) * 1_000 + Double(time.tv_nsec) / 1_000_000
    }
}
