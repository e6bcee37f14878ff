import Foundation
import RivuletFlow
import RivuletModel
import RivuletUI

/// The line to write in: it grows with the text, Return sends, Shift and Return begin a new line.
final class ComposerView: PlatformView {
    static let inputHeightMax = 160.0

    /// Hears what is written.
    var onWrite: ((String) -> Void)?
    var onSend: (() -> Void)?
    /// Hears of the new text of a message that was sent before.
    var onEdit: ((Message, String) -> Void)?
    /// Hears that the change of a message has ended, so that the draft and what it answers can be shown again.
    var onEndEdit: (() -> Void)?
    var onCancelReply: (() -> Void)?
    /// Hears that the user wants to send a picture.
    var onAttach: (() -> Void)?
    var onHeight: (() -> Void)?

    /// What the bar above the line is about.
    private enum Purpose: Equatable {
        case none
        case reply
        case edit(Message)
    }

    private var purpose = Purpose.none
    /// What was being written before a message was chosen to be changed.
    private var setAside = ""
    private var isShowing = false

    private let input: PlatformTextInput
    private let hint = PlatformTextView()
    private let placeholder: String
    private let quoteView = QuoteBar()
    private lazy var send = PlatformButton(
        label: Words.say("Send"),
        face: ButtonFace(
            .send, side: 18, ground: { $0.accent }, ink: { $0.isDark ? $0.window : $0.outgoingText })
    ) { [weak self] in self?.submit() }
    private lazy var attach = PlatformButton(
        label: Words.say("Send a picture"), face: ButtonFace(.attach, side: 20, ink: { $0.dimText })
    ) { [weak self] in self?.onAttach?() }
    private lazy var emoji = PlatformButton(label: Words.say("Emoji"), face: ButtonFace(.smile, side: 20)) {
        [weak self] in
        self?.offerEmoji()
    }

    init(title: String) {
        placeholder = Words.say("Message %1", title)
        input = PlatformTextInput(label: placeholder)
        super.init()
        mirrorsRightToLeft = true
        addSubview(attach)
        addSubview(hint)
        addSubview(input)
        addSubview(emoji)
        addSubview(send)
        addSubview(quoteView)
        quoteView.isHidden = true
        quoteView.onClose = { [weak self] in self?.leavePurpose() }
        hint.isUserInteractionEnabled = false
        input.onChange { [weak self] in self?.changed() }
        input.onInputKey { [weak self] key in
            if key.name == .enter, !key.isShift {
                self?.submit()
                return true
            }
            if key.name == .escape, self?.purpose != Purpose.none {
                self?.leavePurpose()
                return true
            }
            return false
        }
        changed()
    }

    func insert(_ text: String) {
        input.insert(text)
        focusInput()
    }

    func focusInput() { input.focusText() }

    /// Shows the session's draft, and what it answers.
    func show(_ draft: Draft, quoted: Message?, by name: String) {
        if case .edit = purpose {
            setAside = draft.text
            return
        }
        if input.text != draft.text { set(draft.text) }
        if draft.reference != nil {
            let isNew = purpose != .reply
            purpose = .reply
            quoteView.show(
                quoted.map { MessageText.text(of: $0, Words.strings) } ?? "…", of: name,
                purpose: Words.say("Replying to"))
            quoteView.isHidden = false
            if isNew { focusInput() }
        } else {
            purpose = .none
            quoteView.isHidden = true
        }
        onHeight?()
    }

    /// Lets the user change the text of a message that was sent before.
    func edit(_ message: Message) {
        if case .edit = purpose {} else { setAside = input.text }
        purpose = .edit(message)
        quoteView.show(
            MessageText.text(of: message, Words.strings), of: Words.say("Edit message"),
            purpose: Words.say("Changing"))
        quoteView.isHidden = false
        set(message.content.text ?? "")
        focusInput()
        onHeight?()
    }

    /// Ends answering or changing; what was written before comes back.
    private func leavePurpose() {
        let left = purpose
        purpose = .none
        quoteView.isHidden = true
        switch left {
        case .none: break
        case .reply: onCancelReply?()
        case .edit:
            set(setAside)
            setAside = ""
            onEndEdit?()
        }
        onHeight?()
    }

    /// Puts a text in the line that the user did not write just now.
    private func set(_ text: String) {
        isShowing = true
        input.text = text
        isShowing = false
    }

    func themeChanged() {
        changed()
        for view in [attach, emoji, send, hint, input, quoteView] as [PlatformView] { view.setNeedsDisplay() }
        setNeedsDisplay()
    }

    private func changed() {
        hint.color = Theme.current.dimText
        let scale = PlatformApplication.textScale
        hint.show(
            placeholder,
            style: PlatformTextStyle(size: 14 * scale, lineHeight: 20 * scale, lineCountMax: 1))
        hint.isHidden = !input.text.isEmpty
        send.isEnabled = !input.text.allSatisfy(\.isWhitespace)
        if case .edit = purpose {} else if !isShowing { onWrite?(input.text) }
        onHeight?()
    }

    private func submit() {
        let text = input.text.trimmingCharacters(in: .whitespacesAndNewlines)
        guard !text.isEmpty else { return }
        if case .edit(let message) = purpose {
            leavePurpose()
            if text != message.content.text { onEdit?(message, text) }
        } else {
            onSend?()
        }
    }

    private func offerEmoji() {
        let offered = ["😀", "😂", "🥹", "👍", "🙏", "🎉", "❤️", "🌄"]
        PlatformMenu.show(
            offered.map { one in PlatformMenu.Item(title: one) { [weak self] in self?.input.insert(one) } },
            on: self, at: shownFrame(of: emoji))
    }

    private func inputHeight(forWidth width: Double) -> Double {
        min(Self.inputHeightMax, max(40, input.height(forWidth: max(60, width - 164 - 32))))
    }

    func height(forWidth width: Double) -> Double {
        inputHeight(forWidth: width) + 24 + (quoteView.isHidden ? 0 : 48)
    }

    override func layoutSubviews() {
        let quoteHeight = quoteView.isHidden ? 0.0 : 48
        let height = inputHeight(forWidth: bounds.width)
        let top = bounds.height - 12 - height
        quoteView.frame = CGRect(x: 20, y: top - quoteHeight, width: max(0, bounds.width - 40), height: 40)
        attach.frame = CGRect(x: 12, y: bounds.height - 52, width: 40, height: 40)
        input.frame = CGRect(x: 68, y: top, width: max(0, bounds.width - 164 - 16), height: height)
        hint.frame = CGRect(
            x: 80, y: top + 10, width: max(0, bounds.width - 210), height: 20 * PlatformApplication.textScale)
        emoji.frame = CGRect(x: bounds.width - 100, y: bounds.height - 52, width: 40, height: 40)
        send.frame = CGRect(x: bounds.width - 56, y: bounds.height - 52, width: 40, height: 40)
    }

    override func draw(_ canvas: PlatformCanvas) {
        let theme = Theme.current
        canvas.fill(bounds, theme.window)
        let height = inputHeight(forWidth: bounds.width)
        let field = CGRect(
            x: 60, y: bounds.height - 12 - height, width: max(0, bounds.width - 164), height: height)
        canvas.fill(field, corners: PlatformCorners(20), theme.incomingBubble)
        canvas.stroke(field, corners: PlatformCorners(20), theme.hairline)
    }
}

/// What is answered, above the line to write in.
final class QuoteBar: PlatformView {
    var onClose: (() -> Void)?
    private var name = ""
    private var text = ""
    private lazy var close = PlatformButton(
        label: Words.say("Leave this"), face: ButtonFace(.close, side: 14)
    ) {
        [weak self] in self?.onClose?()
    }

    init() {
        super.init()
        mirrorsRightToLeft = true
        addSubview(close)
    }

    func show(_ text: String, of name: String, purpose: String) {
        self.name = name
        self.text = text
        accessibilityLabel = "\(purpose) \(name): \(text)"
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
