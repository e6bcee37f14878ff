internal import GTKKit

/// The work of one frame, in milliseconds of the main thread's processor time.
public struct PlatformFrame: Hashable, Sendable {
    /// Events and jobs of the main actor since the frame before.
    public var between = 0.0
    /// What animations and scrolling did.
    public var update = 0.0
    /// Measuring and placing views.
    public var layout = 0.0
    /// Drawing.
    public var paint = 0.0
    /// The time of the frame, in seconds.
    public var time = 0.0

    /// The two phases of a frame that decide what is shown, and where.
    public var updateAndLayout: Double { update + layout }
    /// Everything but drawing: those two phases and what ran since the frame before.
    public var work: Double { between + update + layout }
}

/// Tells how the main thread's time goes in each frame of a view's window; for benchmarks.
public final class PlatformFrameMeter {
    private let meter: FrameMeter

    /// Begins to measure; nil when the view is in no window that is shown.
    public init?(_ view: PlatformView, onFrame: @escaping (PlatformFrame) -> Void) {
        let made = FrameMeter(view.widget) { frame in
            onFrame(
                PlatformFrame(
                    between: frame.between, update: frame.update, layout: frame.layout, paint: frame.paint,
                    time: frame.time))
        }
        guard let made else { return nil }
        meter = made
    }
}
