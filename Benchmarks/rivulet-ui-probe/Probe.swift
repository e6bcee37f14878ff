import Foundation
import RivuletUI

/// Looks at the interface from inside, on the main thread as GTK wants it: one check a run, one fact a line.
///
/// The tests and `rivulet-bench ui` start it under a display of their own.
enum Probe {
    private static let usage =
        "Usage: rivulet-ui-probe measure|still|reopen [COUNT]|leak|resize|accessible|cards|sound|look|direction|drag|drive [COUNT] [broken]|hostile|fling [FRAMES]|start"
        + "|profile text|autolayout|unkept"

    static func run(_ arguments: [String]) -> Int32 {
        guard PlatformApplication.start() else {
            complain("no display")
            return 1
        }
        var warnings: [String] = []
        PlatformApplication.onWarning { warnings.append($0) }
        Theme.use(.light)
        switch arguments.first {
        case "measure": MeasureCheck.run()
        case "still": StillCheck.run()
        case "reopen": ReopenCheck.run(count: arguments.dropFirst().first.flatMap { Int($0) } ?? 10)
        case "leak": ReopenCheck.leak()
        case "accessible": AccessibleCheck.run()
        case "resize": ResizeCheck.run()
        case "cards": CardCheck.run()
        case "sound": SoundCheck.run()
        case "look": LookCheck.run()
        case "direction": DirectionCheck.run()
        case "drag": DragCheck.run()
        case "drive": DriveCheck.run(Array(arguments.dropFirst()))
        case "hostile": HostileCheck.run(only: arguments.dropFirst().first ?? "")
        case "start": StartBench.run()
        case "fling": FlingBench.run(frames: arguments.dropFirst().first.flatMap { Int($0) } ?? 600)
        case "profile":
            FlingBench.profile(arguments.dropFirst().first ?? "text", frames: 600)
        default:
            complain(usage)
            return 2
        }
        report("warnings \(warnings.count)")
        for warning in warnings.prefix(5) { report("warning: \(warning)") }
        return 0
    }

    static func report(_ line: String) {
        FileHandle.standardOutput.write(Data((line + "\n").utf8))
    }

    static func complain(_ line: String) {
        FileHandle.standardError.write(Data((line + "\n").utf8))
    }

    /// Lets the main loop work until the condition holds, at most ten seconds.
    @discardableResult
    static func wait(until isDone: () -> Bool) -> Bool {
        let end = ContinuousClock.now.advanced(by: .seconds(10))
        while !isDone() {
            guard ContinuousClock.now < end else { return false }
            PlatformApplication.run(for: .milliseconds(5))
        }
        return true
    }

    /// Waits until a frame was laid out and drawn, without which there is nothing to look at.
    static func waitForFrame(of view: PlatformView) {
        var count = 0
        view.animate { _ in
            count += 1
            return count < 2
        }
        wait { count > 1 }
    }

    /// Lets everything that is under way come to rest.
    static func settle() {
        PlatformApplication.run(for: .milliseconds(400))
    }
}
