internal import CUV

/// A one-shot deadline that can be set again and again.
///
/// It never fires early and at most a few milliseconds late. Like everything on a loop it is used on that loop only.
/// A timer is open until ``close()`` or the end of its loop, whether or not anybody still holds it.
public final class Timer: Sendable {
    private let core: LoopBound<TimerCore>

    /// Makes a timer that is not set; must be called on the loop.
    ///
    /// - Parameters:
    ///   - loop: The loop on which it fires.
    ///   - fired: Called each time the deadline passes.
    /// - Throws: nothing in practice; libuv only links a timer into its loop.
    public init(on loop: EventLoop, fired: @escaping () -> Void) throws(UVError) {
        loop.preconditionOnLoop()
        core = LoopBound(try TimerCore(loop: loop, fired: fired), loop: loop)
    }

    /// Sets the deadline, replacing the one before; a passed time fires in the next turn.
    ///
    /// - Parameter nanoseconds: A time of ``EventLoop/monotonicNanoseconds``.
    public func arm(at nanoseconds: UInt64) {
        core.value.arm(nanoseconds)
    }

    /// Sets the deadline this long from now, replacing the one before.
    public func arm(after duration: Duration) {
        let (seconds, attoseconds) = duration.components
        // Saturating: a duration that does not fit in 64 bits of nanoseconds is, for a timer, for ever.
        let (product, overflows) = UInt64(clamping: seconds).multipliedReportingOverflow(by: 1_000_000_000)
        let nanoseconds = overflows ? UInt64.max : product
        let delay = nanoseconds.addingReportingOverflow(UInt64(clamping: attoseconds / 1_000_000_000))
        let deadline = EventLoop.monotonicNanoseconds.addingReportingOverflow(
            delay.overflow ? .max : delay.partialValue)
        arm(at: deadline.overflow ? .max : deadline.partialValue)
    }

    /// Takes the deadline back; a timer that is not set stays so.
    public func disarm() {
        core.value.disarm()
    }

    /// Whether a deadline is set.
    public var isArmed: Bool {
        core.value.deadline != nil
    }

    /// Ends the timer; it never fires again.
    public func close() {
        core.value.close(.closedHere)
    }
}

private final class TimerCore: HandleCore {
    var deadline: UInt64?
    private var fired: () -> Void

    init(loop: EventLoop, fired: @escaping () -> Void) throws(UVError) {
        self.fired = fired
        try unsafe super.init(UV_TIMER, operation: "create timer") { memory in
            unsafe uv_timer_init(loop.raw, memory.assumingMemoryBound(to: uv_timer_t.self))
        }
    }

    private var timer: UnsafeMutablePointer<uv_timer_t> {
        unsafe memory.assumingMemoryBound(to: uv_timer_t.self)
    }

    func arm(_ nanoseconds: UInt64) {
        guard !isClosing else { return }
        deadline = nanoseconds
        let now = EventLoop.monotonicNanoseconds
        let remaining = nanoseconds > now ? nanoseconds - now : 0
        // libuv counts whole milliseconds from its cached time, so refresh that and round up.
        unsafe uv_update_time(uv_handle_get_loop(handle))
        let milliseconds = remaining / 1_000_000 + (remaining % 1_000_000 == 0 ? 0 : 1)
        _ = unsafe uv_timer_start(timer, TimerCore.onTimer, milliseconds, 0)
    }

    func disarm() {
        deadline = nil
        guard !isClosing else { return }
        _ = unsafe uv_timer_stop(timer)
    }

    override func didClose(_ reason: CloseReason) {
        deadline = nil
        fired = {}
    }

    private static let onTimer: uv_timer_cb = { handle in
        guard let handle = unsafe handle, let core = unsafe TimerCore.from(data: handle.pointee.data) else {
            return
        }
        core.passed()
    }

    private func passed() {
        guard let deadline else { return }
        // The cached time may be up to a millisecond ahead of the deadline's own clock.
        guard deadline <= EventLoop.monotonicNanoseconds else { return arm(deadline) }
        self.deadline = nil
        fired()
    }
}
