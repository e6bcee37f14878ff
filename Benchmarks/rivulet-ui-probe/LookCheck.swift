import Foundation
import RivuletFlow
import RivuletModel
import RivuletUI

/// How well what is written stands out from its ground, light and dark, with the desktop's contrast.
enum LookCheck {
    static func run() {
        Probe.report("strong \(PlatformApplication.isHighContrast)")
        for (name, theme) in [("light", Theme.light), ("dark", .dark)] {
            Theme.use(theme)
            let now = Theme.current
            let pairs: [(String, PlatformColor, PlatformColor)] = [
                ("text on window", now.text, now.window),
                ("text on incoming", now.text, now.incomingBubble),
                ("text on outgoing", now.outgoingText, now.outgoingBubble),
                ("quiet on window", now.dimText, now.window),
                ("quiet on sidebar", now.dimText, now.sidebar),
                ("quiet on chosen", now.dimText, over(now.fill, now.sidebar)),
                ("accent on window", now.accent, now.window),
                ("accent on incoming", now.accent, now.incomingBubble),
                ("failure on window", now.failure, now.window),
                ("number on badge", PlatformColor(0xFFFFFF), now.badge),
            ]
            for (what, ink, ground) in pairs {
                Probe.report("contrast \(name) \(what) \(String(format: "%.2f", ratio(ink, ground)))")
            }
            let worst =
                (0..<200).map {
                    ratio(PlatformColor(0xFFFFFF), Theme.identityColor($0))
                }.min() ?? 0
            Probe.report("contrast \(name) initials on avatars \(String(format: "%.2f", worst))")
            let line = ratio(over(now.hairline, now.window), now.window)
            Probe.report("line \(name) \(String(format: "%.2f", line))")
        }
    }

    /// A colour that is not quite opaque, on a ground.
    private static func over(_ color: PlatformColor, _ ground: PlatformColor) -> PlatformColor {
        func mix(_ top: Double, _ bottom: Double) -> Double { top * color.alpha + bottom * (1 - color.alpha) }
        return PlatformColor(
            red: mix(color.red, ground.red), green: mix(color.green, ground.green),
            blue: mix(color.blue, ground.blue))
    }

    /// The contrast of two opaque colours, as WCAG 2.1 defines it.
    private static func ratio(_ one: PlatformColor, _ other: PlatformColor) -> Double {
        let (left, right) = (luminance(one), luminance(other))
        return (max(left, right) + 0.05) / (min(left, right) + 0.05)
    }

    private static func luminance(_ color: PlatformColor) -> Double {
        func linear(_ part: Double) -> Double {
            part <= 0.04045 ? part / 12.92 : pow((part + 0.055) / 1.055, 2.4)
        }
        return 0.2126 * linear(color.red) + 0.7152 * linear(color.green) + 0.0722 * linear(color.blue)
    }
}

/// A conversation in an interface that reads from right to left: where things stand.
enum DirectionCheck {
    static func run() {
        PlatformApplication.isRightToLeft = true
        let names = Names()
        let sample = SampleFlow(count: 60) { _ in }
        sample.view.list.directory = names
        sample.view.themeChanged()
        let arabic = SampleFlow.message(60, text: "السلام عليكم، سنلتقي غدا صباحا عند البوابة الشمالية.")
        sample.controller.submit(.arrived([arabic]))
        Probe.wait { sample.view.list.cell(for: arabic.id) != nil }
        Probe.settle()
        let width = sample.view.list.bounds.width
        for cell in sample.view.list.visibleCells {
            guard let message = cell.message, let bubble = cell.view(for: .content)?.frame,
                message.content.kind != .notice
            else { continue }
            let side = bubble.midX < width / 2 ? "left" : "right"
            Probe.report("bubble \(message.isOutgoing ? "own" : "other") \(side)")
            if let avatar = cell.view(for: .avatar)?.frame {
                Probe.report("avatar \(avatar.minX > bubble.maxX ? "right" : "left")")
            }
            if message.id == arabic.id {
                let text = cell.view(for: .content) as? TextMessageView
                let inner = bubble.width - 24
                Probe.report("arabic fits \((text?.drawnTextSize.width ?? .infinity) <= inner)")
            }
        }
        sample.view.list.scroll(by: -900)
        Probe.settle()
        if let jump = sample.view.subviews.first(where: { $0 is PlatformButton }) {
            let place = jump.convert(.zero, to: sample.view) ?? .zero
            Probe.report("jump \(place.x < width / 2 ? "left" : "right")")
        }
        sample.close()
    }

    private final class Names: MessageDirectory {
        func name(of user: UserID, in session: Session) -> String { "ليلى \(user.rawValue)" }
        func role(of user: UserID, in session: Session) -> String? { nil }
        func message(uuid: String, in session: Session) -> Message? { nil }
    }
}

/// A conversation whose bubbles are dragged onto itself: it says where they are, and what was dropped.
enum DragCheck {
    static func run() {
        let sample = SampleFlow(count: 40)
        sample.view.onDrop(
            files: { Probe.report("dropped \($0.count) files") }, text: { Probe.report("dropped text \($0)") }
        )
        if let cell = sample.view.list.visibleCells.last(where: { $0.message?.content.kind == .text }),
            let bubble = cell.view(for: .content), let place = bubble.convert(.zero, to: sample.view)
        {
            let size = bubble.bounds.size
            Probe.report("bubble at \(Int(place.x)) \(Int(place.y)) \(Int(size.width)) \(Int(size.height))")
        }
        Probe.report("ready")
        AccessibleCheck.waitForEndOfInput()
        sample.close()
    }
}
