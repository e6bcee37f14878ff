import Foundation
import RivuletFlow
import RivuletModel
import RivuletUI

/// A reader who has scrolled up: whatever happens elsewhere, no pixel of what is read may move.
enum StillCheck {
    static func run() {
        let sample = SampleFlow(count: 400)
        let list = sample.view.list
        for _ in 0..<20 {
            list.scroll(by: -130)
            PlatformApplication.run(for: .milliseconds(20))
        }
        Probe.settle()
        let first = list.visibleCells.first?.message?.id.rawValue ?? 0
        let last = list.visibleCells.last?.message?.id.rawValue ?? 0
        Probe.report("reading \(first) to \(last) of 400")
        func check(_ name: String, _ events: [FlowEvent]) { Self.check(name, events, sample) }
        check("five messages arrive", [.arrived((400..<405).map { SampleFlow.message($0) })])
        let long = String(repeating: "It grew. ", count: 80)
        check(
            "a message further up grows",
            [.updated([SampleFlow.message(Int(first) - 12, text: long, revision: 1)])])
        check(
            "a message further down grows",
            [.updated([SampleFlow.message(Int(last) + 9, text: long, revision: 1)])])
        var recalled = SampleFlow.message(Int(first) - 7, text: "", revision: 2)
        recalled.content = .revoked
        check("a message further up is recalled", [.updated([recalled])])
        check("messages further up are deleted", [.deleted([MessageID(first - 20), MessageID(first - 21)])])
        check("an older page comes", [.loadRequested(.older)])
        let known = sample.controller.snapshot.messages.map(\.id)
        check(
            "ten thousand messages arrive",
            (0..<100).map { part in
                .arrived((0..<100).map { SampleFlow.message(405 + part * 100 + $0) })
            })
        Probe.report("reader kept \(known.contains { sample.view.list.cell(for: $0) != nil })")
        sample.close()
        runAtNewerEdge()
    }

    /// Pages come in below, to a reader who jumped back.
    private static func runAtNewerEdge() {
        let sample = SampleFlow(count: 2_000) {
            $0.automaticHistory = false
            $0.pageSize = 60
        }
        sample.controller.submit(.jumpRequested(MessageID(500), .center, highlights: false))
        Probe.wait { sample.view.list.cell(for: MessageID(500)) != nil }
        Probe.settle()
        check("a newer page comes", [.loadRequested(.newer)], sample)
        check("an older page comes to one who jumped", [.loadRequested(.older)], sample)
        Probe.report("newest \(sample.controller.snapshot.messages.last?.id.rawValue ?? 0)")
        sample.close()
    }

    private static func check(_ name: String, _ events: [FlowEvent], _ sample: SampleFlow) {
        let list = sample.view.list

        Probe.waitForFrame(of: list)
        let before = list.renderedPixels()
        let version = sample.controller.snapshot.version
        for event in events { sample.controller.submit(event) }
        Probe.wait { sample.controller.snapshot.version > version }
        Probe.settle()
        Probe.waitForFrame(of: list)
        let after = list.renderedPixels()
        let isSame = !before.isEmpty && before == after
        let differing = isSame ? 0 : zip(before, after).reduce(0) { $0 + ($1.0 == $1.1 ? 0 : 1) }
        Probe.report(
            "\(isSame ? "still" : "moved") \(name) (\(differing) of \(before.count) bytes differ)")
    }
}

/// Conversations are opened and left again and again; nothing of them may stay.
enum ReopenCheck {
    private final class Weak {
        weak var view: MessageFlowView?
        weak var controller: FlowController?
        init(_ sample: SampleFlow) {
            view = sample.view
            controller = sample.controller
        }
    }

    /// - Parameter count: How many are opened after the first fifty.
    static func run(count: Int) {
        var opened: [Weak] = []
        for _ in 0..<50 { opened.append(openAndClose()) }
        let early = residentKilobytes()
        Probe.report("resident \(early) KiB after 50")
        for number in 0..<count {
            opened.append(openAndClose())
            if number % 200 == 199 {
                Probe.report("resident \(residentKilobytes()) KiB after \(number + 51)")
            }
        }
        Probe.wait { opened.allSatisfy { $0.view == nil && $0.controller == nil } }
        let views = opened.filter { $0.view != nil }.count
        let controllers = opened.filter { $0.controller != nil }.count
        Probe.report("left \(views) views, \(controllers) flows of \(opened.count)")
        Probe.report("grown \(residentKilobytes() - early) KiB over the last \(count)")
    }

    /// Loses an object on purpose, to prove that who looks for leaks finds one.
    static func leak() {
        _ = Unmanaged.passRetained(Lost())
        Probe.report("lost one on purpose")
    }

    private final class Lost {
        var bytes = [UInt8](repeating: 1, count: 4_096)
    }

    private static func openAndClose() -> Weak {
        let sample = SampleFlow(count: 120, settles: false)
        Probe.wait { sample.controller.state.opening == .shown && !sample.view.list.visibleCells.isEmpty }
        let weak = Weak(sample)
        sample.view.list.scroll(by: -300)
        PlatformApplication.run(for: .milliseconds(5))
        sample.close()
        return weak
    }

    static func residentKilobytes() -> Int {
        guard let text = try? String(contentsOfFile: "/proc/self/status", encoding: .utf8) else { return 0 }
        let line = text.split(separator: "\n").first { $0.hasPrefix("VmRSS:") } ?? ""
        return line.split(whereSeparator: { !$0.isNumber }).first.flatMap { Int($0) } ?? 0
    }
}

/// Flings, jumps, resizes, and changes of theme and text size, for their warnings.
enum ResizeCheck {
    static func run() {
        let sample = SampleFlow(count: 2_000)
        for width in [900.0, 500, 320, 1_200, 40, 12, 2, 700] {
            sample.window.resize(CGSize(width: width, height: 600))
            PlatformApplication.run(for: .milliseconds(120))
            for _ in 0..<10 {
                sample.view.list.scroll(by: -700)
                PlatformApplication.run(for: .milliseconds(16))
            }
        }
        Probe.settle()
        sample.controller.submit(.jumpRequested(MessageID(12), .center, highlights: true))
        Probe.wait { sample.view.list.cell(for: MessageID(12)) != nil }
        Probe.report("jumped \(sample.view.list.cell(for: MessageID(12)) != nil)")
        Theme.use(.dark)
        sample.view.themeChanged()
        sample.controller.submit(.textScaled(2))
        Probe.settle()
        sample.controller.submit(.latestRequested)
        Probe.wait { sample.view.list.cell(for: MessageID(1_999)) != nil }
        Probe.report("latest \(sample.view.list.cell(for: MessageID(1_999)) != nil)")
        Probe.report("cells \(sample.view.list.cellCount)")
        sample.close()
        showNarrow()
    }

    /// Views without room, and one whose frame is nowhere, as a window has them for a moment while it is made.
    private static func showNarrow() {
        let host = PlatformView()
        let header = HeaderMessageView()
        let lost = PlatformView()
        host.addSubview(header)
        host.addSubview(lost)
        header.prepare(ProbeContext.make(scale: 1), message: SampleFlow.message(1))
        header.refresh(with: SampleFlow.message(1))
        header.frame = CGRect(x: 0, y: 0, width: 3, height: 16)
        lost.frame = .null
        let window = PlatformWindow(title: "narrow", size: CGSize(width: 60, height: 60), content: host)
        window.show()
        Probe.wait { header.bounds.width == 3 }
        Probe.report("narrow \(Int(header.bounds.width)) \(Int(lost.bounds.width))")
        window.close()
    }
}
