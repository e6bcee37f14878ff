import Foundation
import RivuletFlow
import RivuletModel
import RivuletUI

/// Bubbles of contents that are no text: what is measured has room for what is drawn, whatever a stranger wrote.
enum CardCheck {
    static let huge = String(repeating: "very long name ", count: 4_000)
    static let turning = "\u{202E}gpj.exe\u{2066}\u{200F} ضع\nsecond line\u{0}"

    static let contents: [MessageContent] = ["", "notes.pdf", huge, turning, "   ", "山顶日落.jpg"].flatMap {
        words -> [MessageContent] in
        [
            .file(FileContent(url: words, filename: words, byteCount: -5)),
            .file(FileContent(url: words, filename: words, byteCount: .max)),
            .location(LocationContent(latitude: .nan, longitude: .infinity, address: words)),
            .location(LocationContent(latitude: -33.86, longitude: 151.2, address: nil)),
            .link(LinkContent(url: words, title: words, content: words)),
            .card(CardContent(user: UserID(.min), name: words)),
            .merged(MergedContent(title: words, items: [], upload: .init(url: "", count: -3, digest: ""))),
            .call(CallContent(outcome: .accepted, durationSeconds: .max, isVideo: true)),
            .groupCall(GroupCallContent(initiator: UserID(0), isFinished: false)),
            .audio(AudioContent(url: words, durationSeconds: .min)),
            .audio(AudioContent(url: words, durationSeconds: .max)),
        ]
    }

    static func run() {
        let measurer = PlatformTextMeasurer()
        let table = MessageViewRegistry()
        let host = PlatformView()
        let window = PlatformWindow(title: "cards", size: CGSize(width: 600, height: 400), content: host)
        window.show()
        Probe.settle()
        for strings in [InterfaceStrings.english, .simplifiedChinese] {
            for (number, content) in contents.enumerated() {
                for width in MeasureCheck.widths {
                    for scale in MeasureCheck.scales {
                        var message = SampleFlow.message(number)
                        message.content = content
                        check(message, strings, width, scale, table, measurer, host)
                    }
                }
            }
        }
        window.close()
    }

    private static func check(
        _ message: Message, _ strings: InterfaceStrings, _ width: Double, _ scale: Double,
        _ table: MessageViewRegistry, _ measurer: PlatformTextMeasurer, _ host: PlatformView
    ) {
        let kind = message.content.kind
        let type = table.type(for: .content, kind: kind)
        let appearance = AppearanceSheet().appearance(of: .content, for: message)
        let key = MeasureKey(
            message: message.id, component: .content, revision: 0, width: width, textScale: scale,
            styleEpoch: 0)
        let request = MeasureRequest(
            key: key, message: message, fittingSize: LayoutSize(width: width, height: 4_000),
            appearance: appearance, strings: strings)
        let measured = type.valueSizing(measurer: measurer)?.size(for: request) ?? .zero
        var context = MessageViewContext()
        context.appearance = appearance
        context.textScale = scale
        context.strings = strings
        let view = type.init()
        host.addSubview(view)
        view.prepare(context, message: message)
        view.refresh(with: message)
        view.frame = CGRect(x: 0, y: 0, width: measured.width, height: measured.height)
        let said = view.sizeThatFits(CGSize(width: width, height: 4_000))
        let isAlike = abs(said.width - measured.width) <= 1 && said.height == measured.height
        var isRoomy = measured.width <= width && measured.height >= 44 && measured.height <= 44 + 60 * scale
        if let card = view as? CardMessageView {
            card.frame = CGRect(origin: .zero, size: CGSize(width: measured.width, height: measured.height))
            isRoomy = isRoomy && card.drawnTextHeight <= measured.height
        }
        Probe.report(
            "\(isAlike && isRoomy ? "same" : "differs") \(kind.rawValue) \(message.id.rawValue) width \(Int(width)) "
                + "scale \(scale): \(measured), fits \(said)")
        view.removeFromSuperview()
    }
}

/// A voice message in a conversation, played by the menu's action, with and without bytes.
enum SoundCheck {
    static func run() {
        let sample = SampleFlow(count: 4) { _ in }
        let sounds = Sounds()
        sample.view.list.sounds = sounds
        sample.view.themeChanged()
        for (number, address) in [(4, "tone"), (5, "garbage"), (6, "nothing")] {
            var message = SampleFlow.message(number)
            message.content = .audio(AudioContent(url: address, durationSeconds: 1))
            let player = sample.view.list.player
            sample.controller.submit(.arrived([message]))
            Probe.wait { sample.view.list.cell(for: message.id) != nil }
            Probe.settle()
            let cell = sample.view.list.cell(for: message.id)
            Probe.report("\(address) label \(cell?.accessibilityLabel ?? "none")")
            Probe.report("\(address) offers \(cell?.accessibilityActions.first ?? "nothing")")
            sample.view.perform(MessageMenuItem(id: .play, title: ""), on: message)
            Probe.report("\(address) active \(player.isActive(message.id))")
            var heard: Set<String> = []
            let isOver = Probe.wait {
                switch player.status(of: message.id) {
                case .loading: heard.insert("loading")
                case .playing: heard.insert("playing")
                case .paused: heard.insert("paused")
                case .idle, .failed: return true
                }
                return false
            }
            Probe.report(
                "\(address) over \(isOver) heard \(heard.sorted()) then \(player.status(of: message.id))")
            Probe.settle()
            Probe.report("\(address) says \(cell?.accessibilityLabel ?? "none")")
        }
        sample.close()
    }

    private final class Sounds: MessageSoundLoader {
        func sound(at address: String) async -> Data? {
            switch address {
            case "tone": Self.tone()
            case "garbage": Data(repeating: 7, count: 4_096)
            default: nil
            }
        }

        /// A second of a quiet tone as a WAV file.
        private static func tone() -> Data {
            let rate = 8_000
            var data = Data("RIFF".utf8)
            func add(_ value: Int, bytes: Int) {
                for index in 0..<bytes { data.append(UInt8(truncatingIfNeeded: value >> (8 * index))) }
            }
            add(36 + rate * 2, bytes: 4)
            data += Data("WAVEfmt ".utf8)
            for (value, bytes) in [(16, 4), (1, 2), (1, 2), (rate, 4), (rate * 2, 4), (2, 2), (16, 2)] {
                add(value, bytes: bytes)
            }
            data += Data("data".utf8)
            add(rate * 2, bytes: 4)
            for index in 0..<rate { add(Int(3_000 * sin(Double(index) * 0.345)), bytes: 2) }
            return data
        }
    }
}
