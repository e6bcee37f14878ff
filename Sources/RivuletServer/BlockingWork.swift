import Foundation
public import RivuletServerCore

/// Runs what blocks on a thread of its own, never on the pool that runs async code.
enum BlockingWork {
    static func run(_ body: @escaping @Sendable () -> Void) {
        Thread.detachNewThread(body)
    }
}

extension WallTime {
    /// The system's wall clock.
    public static var current: WallTime {
        WallTime(milliseconds: Int64(Date().timeIntervalSince1970 * 1000))
    }
}
