import Foundation
import RivuletFlow
import RivuletModel
import RivuletUI

/// A fast scroll at a fixed speed through a fixed mix of messages, up and down again, with and without snapshots.
enum FlingBench {
    /// Points a frame.
    static let speed = 90.0

    static func run(frames: Int) {
        Probe.report(
            "# window 900x700, 4,000 messages of a fixed mix, \(Int(speed)) points a frame, \(frames) frames")
        let text = fling(frames: frames, constraints: false, snapshots: true)
        Probe.report("ui.fling.frame_p99.text \(text.percentile(0.99)) ms")
        Probe.report("ui.fling.frame_p50.text \(text.percentile(0.5)) ms")
        let without = fling(frames: frames, constraints: true, snapshots: false)
        let with = fling(frames: frames, constraints: true, snapshots: true)
        Probe.report("ui.fling.frame_p99.autolayout \(with.percentile(0.99)) ms")
        Probe.report("ui.fling.frame_p50.autolayout \(with.percentile(0.5)) ms")
        Probe.report("ui.fling.frame_p99.autolayout_without_snapshots \(without.percentile(0.99)) ms")
        Probe.report("ui.fling.peak.autolayout_without_snapshots \(without.peak) ms")
        Probe.report("ui.fling.peak.autolayout \(with.peak) ms")
        Probe.report("ui.fling.cpu.text \(text.cpuSeconds) s")
        Probe.report("ui.fling.cpu.autolayout_without_snapshots \(without.cpuSeconds) s")
        Probe.report("ui.fling.cpu.autolayout \(with.cpuSeconds) s")
        Probe.report("ui.fling.dropped.autolayout \(with.droppedCount) frames")
        Probe.report("ui.snapshot.peak_cpu_saved \(100 * (1 - with.peak / max(0.001, without.peak))) %")
        Probe.report("ui.memory \(Double(ReopenCheck.residentKilobytes()) / 1_024) MiB")
    }

    struct Result {
        /// The work of update and layout in each frame, in milliseconds, in order.
        var frames: [Double] = []
        var cpuSeconds = 0.0
        var droppedCount = 0

        func percentile(_ part: Double) -> Double {
            let sorted = frames.sorted()
            guard !sorted.isEmpty else { return 0 }
            return sorted[min(sorted.count - 1, Int(Double(sorted.count) * part))]
        }

        /// The greatest load over six frames in a row, a tenth of a second, per frame.
        var peak: Double {
            guard frames.count >= 6 else { return frames.max() ?? 0 }
            return (0...(frames.count - 6)).map { start in frames[start..<(start + 6)].reduce(0, +) / 6 }
                .max() ?? 0
        }
    }

    private static func fling(frames: Int, constraints: Bool, snapshots: Bool) -> Result {
        var registry = MessageViewRegistry()
        if constraints { registry.register(ConstraintBubble.self, for: .content) }
        let sample = SampleFlow(count: 4_000, registry: registry) { configuration in
            configuration.windowCountMax = 200
            configuration.appearance.configure(.content, for: .session) {
                $0.layout.usesSnapshots = snapshots
            }
        }
        // Once up and down unmeasured: what is flung through was seen before, as when a reader goes back and forth.
        drive(sample, frames: frames, direction: -1) { _ in }
        drive(sample, frames: frames, direction: 1) { _ in }
        var result = Result()
        let cpu = cpuSeconds()
        drive(sample, frames: frames, direction: -1) { result.frames.append($0) }
        drive(sample, frames: frames, direction: 1) { result.frames.append($0) }
        result.cpuSeconds = cpuSeconds() - cpu
        result.droppedCount = result.frames.filter { $0 > 16.6 }.count
        sample.close()
        return result
    }

    /// Scrolls a step in every frame of the display.
    private static func drive(
        _ sample: SampleFlow, frames: Int, direction: Double, record: @escaping (Double) -> Void
    ) {
        let list = sample.view.list
        var count = 0
        var before = list.workDuration
        var drained = Duration.zero
        list.animate { _ in
            let work = list.workDuration - before + drained
            if count > 0 { record(milliseconds(work)) }
            before = list.workDuration
            count += 1
            guard count <= frames else { return false }
            let start = ContinuousClock.now
            list.scroll(by: direction * speed)
            let applied = list.workDuration
            sample.controller.drain()
            // What applying took is in the list's own account.
            drained = ContinuousClock.now - start - (list.workDuration - applied)
            return true
        }
        while count <= frames { PlatformApplication.run(for: .milliseconds(50)) }
    }

    private static func milliseconds(_ duration: Duration) -> Double {
        let (seconds, attoseconds) = duration.components
        return Double(seconds) * 1_000 + Double(attoseconds) / 1e15
    }

    private static func cpuSeconds() -> Double {
        var time = timespec()
        clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time)
        return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
    }
}

/// From the start of the process to the first page on the screen.
enum StartBench {
    static func run() {
        let sample = SampleFlow(count: 1_000, settles: false)
        Probe.wait { !sample.view.list.visibleCells.isEmpty }
        Probe.report("ui.start \(millisecondsSinceStart()) ms")
        sample.close()
    }

    /// The kernel counts the start of a process in hundredths of a second since it booted.
    private static func millisecondsSinceStart() -> Double {
        guard let stat = try? String(contentsOfFile: "/proc/self/stat", encoding: .utf8),
            let uptime = try? String(contentsOfFile: "/proc/uptime", encoding: .utf8),
            let rest = stat.split(separator: ")").last,
            let now = uptime.split(separator: " ").first.flatMap({ Double($0) })
        else { return 0 }
        let fields = rest.split(separator: " ")
        guard fields.count > 19, let ticks = Double(fields[19]) else { return 0 }
        return (now - ticks / 100) * 1_000
    }
}
