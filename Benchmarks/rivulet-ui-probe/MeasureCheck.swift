import Foundation
import RivuletFlow
import RivuletModel
import RivuletUI

/// Compares what a strategy measures with what is drawn, for texts that are hard to set.
enum MeasureCheck {
    static let widths = [96.0, 180, 260, 360, 460]
    static let scales = [1.0, 1.5, 2]
    static let texts: [(name: String, text: String)] = [
        ("latin", "The quick brown fox jumps over the lazy dog and runs away from the angry hen."),
        ("han", "春天的早晨，河边的小路上有很多人在散步，空气里都是桂花的味道。"),
        ("japanese", "吾輩は猫である。名前はまだ無い。どこで生れたかとんと見当がつかぬ。"),
        ("arabic", "السلام عليكم، سنلتقي غدا صباحا عند البوابة الشمالية قبل شروق الشمس."),
        ("joined emoji", "👨‍👩‍👧‍👦👩🏽‍🚀🏳️‍🌈🇨🇳 family and flags 👨‍👩‍👧‍👦👨‍👩‍👧‍👦👨‍👩‍👧‍👦👨‍👩‍👧‍👦"),
        ("stacked marks", "Z̸̢̛̫̯͔͌̀a̷̧͇̠͒̈́̚l̵̢̺̘̈́̐̕g̸̡̱̫͐̈́̓o̶̢̗̙͒̾͝ and ordinary words after it"),
        ("over-long word", String(repeating: "Donaudampfschifffahrt", count: 12)),
        ("trailing newline", "one line\n"),
        ("empty lines", "above\n\n\nbelow"),
        ("mixed", "Meet at 9:30 在北门 🚌 https://example.org/a/very/long/path?with=query 再见"),
        ("spaces", "   leading and      inner spaces   "),
        ("one letter", "i"),
        ("ten thousand", String(repeating: "0123456789 ", count: 910)),
    ]

    static func run() {
        let host = PlatformView()
        let window = PlatformWindow(title: "measure", size: CGSize(width: 600, height: 400), content: host)
        window.show()
        Probe.settle()
        for (name, text) in texts {
            for strategy in ["text", "fits", "constraints"] {
                check(name, text, strategy, in: host)
            }
        }
        window.close()
        for strategy in ["values", "fits", "constraints"] { checkFlow(strategy) }
    }

    /// The same in a flow, whose rows are as high as their components were measured.
    private static func checkFlow(_ strategy: String) {
        var registry = MessageViewRegistry()
        if strategy == "fits" { registry.register(FittingBubble.self, for: .content) }
        if strategy == "constraints" { registry.register(ConstraintBubble.self, for: .content) }
        let sample = SampleFlow(count: 0, registry: registry, settles: false)
        sample.controller.submit(
            .arrived(texts.enumerated().map { SampleFlow.message($0.offset, text: $0.element.text) }))
        for scale in scales {
            for width in [420.0, 900] {
                sample.window.resize(CGSize(width: width, height: 700))
                sample.controller.submit(.textScaled(scale))
                Probe.wait {
                    sample.controller.snapshot.textScale == scale
                        && abs(sample.controller.snapshot.width - width) < 40
                        && !sample.controller.state.awaitsViewMeasuring
                }
                var wrong: [String] = []
                for (number, text) in texts.enumerated() {
                    let id = MessageID(Int64(number))
                    sample.controller.submit(.jumpRequested(id, .top, highlights: false))
                    // Rows that are being measured have another height for a moment.
                    let isRight = Probe.wait { fits(sample.view.list.cell(for: id), scale: scale) }
                    guard isRight else {
                        wrong.append(text.name + ": " + describe(sample.view.list.cell(for: id)))
                        break
                    }
                }
                Probe.report(
                    "flow \(wrong.isEmpty ? "same" : "differs") \(strategy) width \(Int(width)) scale \(scale) "
                        + wrong.joined(separator: ", "))
            }
        }
        sample.close()
    }

    private static func describe(_ cell: MessageCell?) -> String {
        guard let cell, let view = cell.view(for: .content) else { return "out of view" }
        let drawn = (view as? TextMessageView)?.drawnTextSize ?? .zero
        return
            "cell \(cell.frame), content \(view.frame) \(view.bounds.size), text \(drawn), scale \(view.context.textScale)"
    }

    private static func fits(_ cell: MessageCell?, scale: Double) -> Bool {
        guard let view = cell?.view(for: .content), let message = cell?.message else { return false }
        let style = view.context.appearance.style
        let drawn =
            (view as? TextMessageView)?.drawnTextSize ?? (view as? FittingBubble)?.drawnTextSize
            ?? (view as? ConstraintBubble)?.drawnTextSize ?? .zero
        let spare = view.bounds.height - style.padding.vertical - drawn.height
        let line = MessageText.style(of: message, style, scale: scale).lineHeight
        return drawn.height > 0 && spare >= 0 && spare < line && view.context.textScale == scale
            && drawn.width <= view.bounds.width - style.padding.horizontal + 1
    }

    private static func check(_ name: String, _ text: String, _ strategy: String, in host: PlatformView) {
        let message = SampleFlow.message(0, text: text)
        var shown: [(view: MessageView, measured: CGSize, width: Double, scale: Double)] = []
        for width in widths {
            for scale in scales {
                let context = ProbeContext.make(scale: scale)
                let fitting = CGSize(width: width, height: 4_000_000)
                let type: MessageView.Type =
                    strategy == "constraints" ? ConstraintBubble.self : TextMessageView.self
                let measured = make(strategy, context).calculateSize(
                    type, message: message, fittingSize: fitting)
                let view = type.init()
                host.addSubview(view)
                view.prepare(context, message: message)
                view.refresh(with: message)
                view.frame = CGRect(origin: .zero, size: measured)
                shown.append((view, measured, width, scale))
            }
        }
        Probe.wait { shown.allSatisfy { $0.view.bounds.size == $0.measured } }
        for one in shown {
            let padding = one.view.context.appearance.style.padding
            let drawn =
                (one.view as? TextMessageView)?.drawnTextSize ?? (one.view as? ConstraintBubble)?
                .drawnTextSize ?? .zero
            let line = MessageText.style(of: message, one.view.context.appearance.style, scale: one.scale)
                .lineHeight
            let spare = one.measured.height - padding.vertical - drawn.height
            let isRight =
                spare >= 0 && spare < line && one.measured.width <= one.width
                && drawn.width <= one.measured.width
            Probe.report(
                "\(isRight ? "same" : "differs") \(strategy) '\(name)' width \(Int(one.width)) scale \(one.scale): "
                    + "measured \(Int(one.measured.width))x\(Int(one.measured.height)), "
                    + "drawn text \(Int(drawn.width))x\(Int(drawn.height))")
            one.view.removeFromSuperview()
        }
    }

    private static func make(_ strategy: String, _ context: MessageViewContext)
        -> any MessageLayoutSizeStrategy
    {
        switch strategy {
        case "text": MessageTextSizeStrategy(context: context, measurer: measurer)
        case "fits": MessageSizeThatFitsStrategy(context: context)
        default: MessageAutoLayoutSizeStrategy(context: context)
        }
    }

    private static let measurer = PlatformTextMeasurer()
}
