import Foundation
import RivuletUI

/// A card over the window that tells something: the keys, or what this program is.
final class InfoSheet: PlatformView {
    /// A line: what it is about, and what is said of it.
    struct Line: Equatable {
        var name: String
        var text: String
    }

    var onClose: (() -> Void)?

    private let title: String
    private let lines: [Line]
    private lazy var close = PlatformButton(label: Words.say("Close"), face: ButtonFace(.close)) {
        [weak self] in self?.onClose?()
    }

    init(title: String, lines: [Line]) {
        self.title = title
        self.lines = lines
        super.init()
        mirrorsRightToLeft = true
        addSubview(close)
        accessibilityLabel = ([title] + lines.map { $0.name.isEmpty ? $0.text : "\($0.name): \($0.text)" })
            .joined(separator: ". ")
        onKey(isFirst: true) { [weak self] key in
            switch key.name {
            case .escape: self?.onClose?()
            // The card has one button; what lies behind it is not to be reached.
            case .tab: break
            default: return false
            }
            return true
        }
        onTap { [weak self] tap in
            guard let self, !self.card.contains(tap.point) else { return }
            self.onClose?()
        }
    }

    func begin() { close.focus() }

    private var scale: Double { PlatformApplication.textScale }
    private var lineHeight: Double { 26 * scale }

    private var card: CGRect {
        let width = min(460 * max(1, scale * 0.8), max(0, bounds.width - 32))
        let height = min(72 + Double(lines.count) * lineHeight + 12, max(0, bounds.height - 32))
        return CGRect(
            x: ((bounds.width - width) / 2).rounded(), y: ((bounds.height - height) / 2).rounded(),
            width: width, height: height)
    }

    override func layoutSubviews() {
        close.frame = CGRect(x: card.maxX - 48, y: card.minY + 12, width: 36, height: 36)
    }

    override func draw(_ canvas: PlatformCanvas) {
        let theme = Theme.current
        canvas.fill(bounds, PlatformColor(0, alpha: theme.isDark ? 0.5 : 0.3))
        canvas.shadow(card, corners: PlatformCorners(16), PlatformColor(0, alpha: 0.3), dy: 2, blur: 12)
        canvas.fill(card, corners: PlatformCorners(16), theme.incomingBubble)
        let head = PlatformText(
            title,
            style: PlatformTextStyle(size: 16 * scale, lineHeight: 22 * scale, isBold: true, lineCountMax: 1),
            width: max(1, card.width - 88))
        canvas.draw(head, at: CGPoint(x: card.minX + 24, y: card.minY + 20), theme.text)
        let style = PlatformTextStyle(size: 13 * scale, lineHeight: 18 * scale, lineCountMax: 1)
        let column = lines.contains { !$0.name.isEmpty } ? card.width * 0.36 : 0
        for (place, line) in lines.enumerated() {
            let y = card.minY + 64 + Double(place) * lineHeight
            guard y + lineHeight <= card.maxY else { break }
            if column > 0 {
                let name = PlatformText(line.name, style: style, width: max(1, column - 8))
                canvas.draw(name, at: CGPoint(x: card.minX + 24, y: y), theme.dimText)
            }
            let text = PlatformText(line.text, style: style, width: max(1, card.width - column - 48))
            canvas.draw(text, at: CGPoint(x: card.minX + 24 + column, y: y), theme.text)
        }
    }
}

extension InfoSheet {
    /// The keys that work everywhere in the window, and those of lists.
    static var keys: [Line] {
        [
            Line(name: "Control K", text: Words.say("Search chats and messages")),
            Line(name: "Control F", text: Words.say("Find in this conversation")),
            Line(name: "Control N", text: Words.say("New conversation")),
            Line(name: "Control ,", text: Words.say("This program's menu")),
            Line(name: "Return", text: Words.say("Send, or open what is chosen")),
            Line(name: "Shift Return", text: Words.say("A new line")),
            Line(name: "Up, Down", text: Words.say("From row to row, from hit to hit")),
            Line(name: "Menu, Shift F10", text: Words.say("What can be done with a row")),
            Line(name: "Escape", text: Words.say("Leave a search, an answer, a selection")),
            Line(name: "Control T", text: Words.say("The times of all messages")),
            Line(name: "End", text: Words.say("The newest message")),
        ]
    }
}
