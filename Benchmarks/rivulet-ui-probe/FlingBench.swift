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
            "# window 900x700, 4,000 messages of a fixed mix, \(Int(speed)) points a frame, \(frames) frames each way; "
                + "milliseconds of the main thread's processor time")
        let text = fling(frames: frames, constraints: false, snapshots: true)
        let without = fling(frames: frames, constraints: true, snapshots: false)
        let with = fling(frames: frames, constraints: true, snapshots: true)
        text.report("text")
        with.report("autolayout")
        without.report("autolayout_without_snapshots")
        let phases: KeyPath<PlatformFrame, Double> = \.updateAndLayout
        Probe.report(
            "ui.snapshot.peak_cpu_saved \(saving(without.peak(of: phases), with.peak(of: phases))) %")
        Probe.report(
            "ui.snapshot.peak_cpu_saved_with_jobs \(saving(without.peak(of: \.work), with.peak(of: \.work))) %"
        )
        Probe.report("ui.snapshot.cpu_saved \(saving(without.cpuSeconds, with.cpuSeconds)) %")
        Probe.report("ui.memory \(Double(ReopenCheck.residentKilobytes()) / 1_024) MiB")
    }

    private static func saving(_ before: Double, _ after: Double) -> Double {
        100 * (1 - after / max(0.001, before))
    }

    struct Result {
        /// The frames in order.
        var frames: [PlatformFrame] = []
        var cpuSeconds = 0.0

        func percentile(_ part: Double, of phase: KeyPath<PlatformFrame, Double>) -> Double {
            let sorted = frames.map { $0[keyPath: phase] }.sorted()
            guard !sorted.isEmpty else { return 0 }
            return sorted[min(sorted.count - 1, Int(Double(sorted.count) * part))]
        }

        /// The greatest load over six frames in a row, a tenth of a second, per frame.
        func peak(of phase: KeyPath<PlatformFrame, Double>) -> Double {
            let work = frames.map { $0[keyPath: phase] }
            guard work.count >= 6 else { return work.max() ?? 0 }
            return (0...(work.count - 6)).map { start in work[start..<(start + 6)].reduce(0, +) / 6 }
                .max() ?? 0
        }

        /// The frames of the display that went by between two that were drawn.
        var droppedCount: Int {
            zip(frames, frames.dropFirst()).reduce(0) { count, pair in
                count + max(0, Int(((pair.1.time - pair.0.time) * 60).rounded()) - 1)
            }
        }

        func report(_ name: String) {
            Probe.report("ui.fling.frame_p99.\(name) \(percentile(0.99, of: \.work)) ms")
            Probe.report("ui.fling.frame_p50.\(name) \(percentile(0.5, of: \.work)) ms")
            Probe.report("ui.fling.peak.\(name) \(peak(of: \.updateAndLayout)) ms")
            Probe.report("ui.fling.peak_with_jobs.\(name) \(peak(of: \.work)) ms")
            let phases: [(String, KeyPath<PlatformFrame, Double>)] = [
                ("between", \.between), ("update", \.update), ("layout", \.layout), ("paint", \.paint),
            ]
            for (phase, path) in phases {
                Probe.report("ui.fling.\(phase)_p50.\(name) \(percentile(0.5, of: path)) ms")
                Probe.report("ui.fling.\(phase)_p99.\(name) \(percentile(0.99, of: path)) ms")
            }
            Probe.report("ui.fling.dropped.\(name) \(droppedCount) frames")
            Probe.report("ui.fling.cpu.\(name) \(cpuSeconds) s")
        }
    }

    /// One kind of fling alone, for a profiler.
    static func profile(_ name: String, frames: Int) {
        let result = fling(frames: frames, constraints: name != "text", snapshots: name != "unkept")
        result.report(name)
        let slowest = result.frames.enumerated().sorted { $0.element.work > $1.element.work }.prefix(10)
        for (number, frame) in slowest { Probe.report("# frame \(number): \(frame)") }
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
        defer { sample.close() }
        // Once up and down unmeasured: what is flung through was seen before, as when a reader goes back and forth.
        _ = drive(sample, frames: frames, direction: -1)
        _ = drive(sample, frames: frames, direction: 1)
        var result = Result()
        let cpu = cpuSeconds()
        result.frames += drive(sample, frames: frames, direction: -1)
        result.frames += drive(sample, frames: frames, direction: 1)
        result.cpuSeconds = cpuSeconds() - cpu
        return result
    }

    /// Scrolls a step in every frame of the display; answers what each frame took.
    private static func drive(_ sample: SampleFlow, frames: Int, direction: Double) -> [PlatformFrame] {
        let list = sample.view.list
        var found: [PlatformFrame] = []
        var count = 0
        list.animate { _ in
            count += 1
            guard count <= frames else { return false }
            list.scroll(by: direction * speed)
            return true
        }
        let meter = PlatformFrameMeter(list) { frame in
            // The first frame also has what came before the fling.
            if (2...frames).contains(count) { found.append(frame) }
        }
        while count <= frames { PlatformApplication.run(for: .milliseconds(50)) }
        return withExtendedLifetime(meter) { found }
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
