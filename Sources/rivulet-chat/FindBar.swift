import Foundation
import RivuletUI

/// The line under the header with which a conversation is searched.
final class FindBar: PlatformView {
    static let height = 48.0

    var onClose: (() -> Void)?

    private let model: FindModel
    private let field = PlatformTextField(placeholder: Words.say("Find in this conversation"))
    private let lens = SearchLens()
    private let count = PlatformTextView()
    private lazy var older = PlatformButton(label: Words.say("Previous hit"), face: ButtonFace(.angleUp)) {
        [weak self] in self?.model.step(toOlder: true)
    }
    private lazy var newer = PlatformButton(label: Words.say("Next hit"), face: ButtonFace(.angleDown)) {
        [weak self] in self?.model.step(toOlder: false)
    }
    private lazy var close = PlatformButton(label: Words.say("End the search"), face: ButtonFace(.close)) {
        [weak self] in self?.onClose?()
    }

    init(model: FindModel) {
        self.model = model
        super.init()
        mirrorsRightToLeft = true
        for view in [field, lens, count, older, newer, close] as [PlatformView] { addSubview(view) }
        field.onChange { [weak self] in
            guard let self else { return }
            self.model.search(self.field.text)
        }
        onKey(isFirst: true) { [weak self] key in self?.take(key) ?? false }
        show()
    }

    /// Return and Up go to older messages, Shift Return and Down to newer ones, Escape ends the search.
    private func take(_ key: PlatformKey) -> Bool {
        switch key.name {
        case .escape: onClose?()
        case .enter where field.containsFocus: model.step(toOlder: !key.isShift)
        case .up: model.step(toOlder: true)
        case .down: model.step(toOlder: false)
        default: return false
        }
        return true
    }

    func begin() {
        field.text = ""
        show()
        field.focus()
    }

    /// Shows which hit it is.
    func show() {
        let theme = Theme.current
        let hasHits = model.cursor.index != nil
        count.color = model.isInVain ? theme.failure : theme.dimText
        let words = model.isInVain ? Words.say("Not found") : model.cursor.words
        count.show(words, style: PlatformTextStyle(size: 12, lineHeight: 16, lineCountMax: 1))
        older.isEnabled = hasHits
        newer.isEnabled = hasHits
        accessibilityLabel = words.isEmpty ? Words.say("Find in this conversation") : words
        setNeedsLayout()
        for view in [lens, older, newer, close] as [PlatformView] { view.setNeedsDisplay() }
        setNeedsDisplay()
    }

    override func layoutSubviews() {
        let right = bounds.width - 12
        close.frame = CGRect(x: right - 36, y: 6, width: 36, height: 36)
        newer.frame = CGRect(x: right - 76, y: 6, width: 36, height: 36)
        older.frame = CGRect(x: right - 112, y: 6, width: 36, height: 36)
        let countWidth = min(96, count.sizeThatFits(CGSize(width: 96, height: 16)).width)
        count.frame = CGRect(x: right - 120 - countWidth, y: 16, width: countWidth, height: 16)
        field.frame = CGRect(x: 20, y: 7, width: max(60, right - 132 - countWidth - 20), height: 34)
        lens.frame = CGRect(x: 30, y: 16, width: 16, height: 16)
    }

    override func draw(_ canvas: PlatformCanvas) {
        canvas.fill(bounds, Theme.current.window)
        canvas.fill(
            CGRect(x: 0, y: bounds.height - 1, width: bounds.width, height: 1), Theme.current.hairline)
    }
}
