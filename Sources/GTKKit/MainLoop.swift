internal import CGtk
internal import Foundation

/// GLib's main loop, which also runs the jobs of the main actor.
package enum MainLoop {
    private static var loop: OpaquePointer?
    private static var dispatchSource: guint = 0

    /// Connects to the display and joins Dispatch's main queue to the loop.
    ///
    /// - Returns: Whether there is a display.
    package static func initialize() -> Bool {
        let path = CommandLine.arguments.first ?? "rivulet"
        let name = path.split(separator: "/").last.map(String.init) ?? path
        // GTK writes both beside what the user chose in a dialog; without them the list of recent files is damaged.
        if g_get_application_name() == nil { g_set_application_name(name) }
        if g_get_prgname() == nil { g_set_prgname(name) }
        guard gtk_init_check() != 0 else { return false }
        joinDispatch()
        return true
    }

    /// Runs until ``quit()``.
    package static func run() {
        let loop = g_main_loop_new(nil, 0)
        Self.loop = loop
        g_main_loop_run(loop)
        Self.loop = nil
        g_main_loop_unref(loop)
    }

    /// Ends ``run()``.
    package static func quit() {
        if let loop { g_main_loop_quit(loop) }
    }

    /// Calls the action when the process is asked to end (SIGINT, SIGTERM); a second wish ends it at once.
    package static func onStopSignal(_ action: @escaping () -> Void) {
        // Who started the process may have blocked them: a thread of Dispatch does, and a child inherits it.
        var signals = sigset_t()
        sigemptyset(&signals)
        sigaddset(&signals, SIGINT)
        sigaddset(&signals, SIGTERM)
        pthread_sigmask(SIG_UNBLOCK, &signals, nil)
        for signal in [SIGINT, SIGTERM] {
            let box = Unmanaged.passRetained(Callback<Void, Void> { action() }).toOpaque()
            g_unix_signal_add_full(
                G_PRIORITY_DEFAULT, signal,
                { data in
                    guard let data else { return 0 }
                    Unmanaged<Callback<Void, Void>>.fromOpaque(data).takeUnretainedValue().action(())
                    return 0
                }, box,
                { data in
                    if let data { Unmanaged<Callback<Void, Void>>.fromOpaque(data).release() }
                })
        }
    }

    /// Handles what waits, without blocking; for tests.
    ///
    /// - Returns: Whether anything was handled.
    @discardableResult
    package static func iterate() -> Bool {
        g_main_context_iteration(nil, 0) != 0
    }

    /// Handles what comes within this time; for tests and benchmarks that own the main thread.
    package static func iterate(for duration: Duration) {
        let end = ContinuousClock.now.advanced(by: duration)
        let (seconds, attoseconds) = duration.components
        let milliseconds = UInt32(clamping: seconds * 1_000 + attoseconds / 1_000_000_000_000_000)
        let source = g_timeout_add(max(1, milliseconds), { _ in 0 }, nil)
        while ContinuousClock.now < end {
            if g_main_context_iteration(nil, 1) == 0 { continue }
        }
        if g_main_context_find_source_by_id(nil, source) != nil { g_source_remove(source) }
    }

    /// Main-actor jobs, resumed sleeps and blocks of the main queue run when the descriptor becomes readable.
    private static func joinDispatch() {
        guard dispatchSource == 0 else { return }
        let descriptor = _dispatch_get_main_queue_handle_4CF()
        dispatchSource = g_unix_fd_add(
            descriptor, G_IO_IN,
            { descriptor, _, _ in
                // It is an event counter: unread it would stay readable, and the loop would never rest.
                var count: UInt64 = 0
                _ = read(descriptor, &count, 8)
                _dispatch_main_queue_callback_4CF(nil)
                return 1
            }, nil)
    }
}

/// A timer of the main loop; it ends when it is cancelled or released.
package final class LoopTimer {
    private var source: guint = 0
    private let action: () -> Void

    /// Calls the action every so many milliseconds.
    package init(every milliseconds: Int, _ action: @escaping () -> Void) {
        self.action = action
        source = g_timeout_add_full(
            G_PRIORITY_DEFAULT, guint(max(1, milliseconds)),
            { data in
                guard let data else { return 0 }
                return MainActor.assumeIsolated {
                    Unmanaged<WeakTimer>.fromOpaque(data).takeUnretainedValue().fire()
                }
            }, Unmanaged.passRetained(WeakTimer(self)).toOpaque(),
            { data in
                if let data { Unmanaged<WeakTimer>.fromOpaque(data).release() }
            })
    }

    isolated deinit {
        cancel()
    }

    /// Ends the timer.
    package func cancel() {
        guard source != 0 else { return }
        g_source_remove(source)
        source = 0
    }

    fileprivate func fire() {
        action()
    }
}

private final class WeakTimer {
    weak var timer: LoopTimer?

    init(_ timer: LoopTimer) {
        self.timer = timer
    }

    func fire() -> gboolean {
        guard let timer else { return 0 }
        timer.fire()
        return 1
    }
}
