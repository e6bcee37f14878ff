import Foundation
import RivuletUI

/// The line to write in: it grows with the text, Return sends, Shift and Return begin a new line.
final class ComposerView: PlatformView {
    static let inputHeightMax = 160.0

    var onSend: ((String) -> Void)?
    var onHeight: (() -> Void)?
    /// The message that is answered; nil for none.
    private(set) var reference: String?

    private let input: PlatformTextInput
    private let hint = PlatformTextView()
    private let placeholder: String
    private let quoteView = QuoteBar()
    private lazy var send = PlatformButton(
        label: "Send",
        face: ButtonFace(
            .send, side: 18, ground: { $0.accent }, ink: { $0.isDark ? $0.window : $0.outgoingText })
    ) { [weak self] in self?.submit() }
    private lazy var emoji = PlatformButton(label: "Emoji", face: ButtonFace(.smile, side: 20)) {
        [weak self] in
        self?.offerEmoji()
    }

    init(title: String) {
        placeholder = "Message \(title)"
        input = PlatformTextInput(label: placeholder)
        super.init()
        addSubview(hint)
        addSubview(input)
        addSubview(emoji)
        addSubview(send)
        addSubview(quoteView)
        quoteView.isHidden = true
        quoteView.onClose = { [weak self] in self?.clearQuote() }
        hint.isUserInteractionEnabled = false
        input.onChange { [weak self] in self?.changed() }
        input.onInputKey { [weak self] key in
            if key.name == .enter, !key.isShift {
                self?.submit()
                return true
            }
            if key.name == .escape, self?.reference != nil {
                self?.clearQuote()
                return true
            }
            return false
        }
        changed()
    }

    var text: String {
        get { input.text }
        set { input.text = newValue }
    }

    func focusInput() { input.focusText() }

    func clear() {
        input.text = ""
        clearQuote()
    }

    func quote(_ text: String, of name: String, uuid: String?) {
        reference = uuid
        quoteView.show(text, of: name)
        quoteView.isHidden = false
        focusInput()
        onHeight?()
    }

    private func clearQuote() {
        reference = nil
        quoteView.isHidden = true
        onHeight?()
    }

    func themeChanged() {
        changed()
        for view in [emoji, send, hint, input, quoteView] as [PlatformView] { view.setNeedsDisplay() }
        setNeedsDisplay()
    }

    private func changed() {
        hint.color = Theme.current.dimText
        hint.show(placeholder, style: PlatformTextStyle(lineCountMax: 1))
        hint.isHidden = !input.text.isEmpty
        send.isEnabled = !input.text.allSatisfy(\.isWhitespace)
        onHeight?()
    }

    private func submit() {
        let text = input.text.trimmingCharacters(in: .whitespacesAndNewlines)
        guard !text.isEmpty else { return }
        onSend?(text)
    }

    private func offerEmoji() {
        let offered = ["😀", "😂", "🥹", "👍", "🙏", "🎉", "❤️", "🌄"]
        PlatformMenu.show(
            offered.map { one in PlatformMenu.Item(title: one) { [weak self] in self?.input.insert(one) } },
            on: self, at: emoji.frame)
    }

    private func inputHeight(forWidth width: Double) -> Double {
        min(Self.inputHeightMax, max(40, input.height(forWidth: max(60, width - 124 - 32))))
    }

    func height(forWidth width: Double) -> Double {
        inputHeight(forWidth: width) + 24 + (quoteView.isHidden ? 0 : 48)
    }

    override func layoutSubviews() {
        let quoteHeight = quoteView.isHidden ? 0.0 : 48
        let height = inputHeight(forWidth: bounds.width)
        let top = bounds.height - 12 - height
        quoteView.frame = CGRect(x: 20, y: top - quoteHeight, width: max(0, bounds.width - 40), height: 40)
        input.frame = CGRect(x: 28, y: top, width: max(0, bounds.width - 124 - 16), height: height)
        hint.frame = CGRect(x: 40, y: top + 10, width: max(0, bounds.width - 170), height: 20)
        emoji.frame = CGRect(x: bounds.width - 100, y: bounds.height - 52, width: 40, height: 40)
        send.frame = CGRect(x: bounds.width - 56, y: bounds.height - 52, width: 40, height: 40)
    }

    override func draw(_ canvas: PlatformCanvas) {
        let theme = Theme.current
        canvas.fill(bounds, theme.window)
        let height = inputHeight(forWidth: bounds.width)
        let field = CGRect(
            x: 20, y: bounds.height - 12 - height, width: max(0, bounds.width - 124), height: height)
        canvas.fill(field, corners: PlatformCorners(20), theme.incomingBubble)
        canvas.stroke(field, corners: PlatformCorners(20), theme.hairline)
    }
}

/// What is answered, above the line to write in.
final class QuoteBar: PlatformView {
    var onClose: (() -> Void)?
    private var name = ""
    private var text = ""
    private lazy var close = PlatformButton(label: "Do not quote", face: ButtonFace(.close, side: 14)) {
        [weak self] in self?.onClose?()
    }

    init() {
        super.init()
        addSubview(close)
    }

    func show(_ text: String, of name: String) {
        self.name = name
        self.text = text
        accessibilityLabel = "Replying to \(name): \(text)"
        setNeedsDisplay()
    }

    override func layoutSubviews() {
        close.frame = CGRect(x: bounds.width - 36, y: 4, width: 32, height: 32)
    }

    override func draw(_ canvas: PlatformCanvas) {
        let theme = Theme.current
        canvas.fill(bounds, corners: PlatformCorners(8), theme.fill)
        canvas.fill(CGRect(x: 0, y: 4, width: 3, height: bounds.height - 8), theme.accent)
        let head = PlatformText(name, style: PlatformTextStyle(size: 12, lineHeight: 16, isBold: true))
        let line = PlatformText(
            text, style: PlatformTextStyle(size: 12, lineHeight: 16, lineCountMax: 1),
            width: max(1, bounds.width - 60))
        canvas.draw(head, at: CGPoint(x: 12, y: 4), theme.accent)
        canvas.draw(line, at: CGPoint(x: 12, y: 20), theme.dimText)
    }
}
