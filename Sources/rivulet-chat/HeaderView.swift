import Foundation
import RivuletUI

/// Who a conversation is with, and what can be done with all of it.
final class HeaderView: PlatformView {
    /// Grows with the user's text size.
    static var height: Double { 48 * max(1, PlatformApplication.textScale) }

    var onBack: (() -> Void)?
    /// Hears that the conversation is to be searched; the button is there when somebody hears.
    var onFind: (() -> Void)? { didSet { find.isHidden = onFind == nil } }
    /// Hears that the menu is wanted, which opens at this place of the header.
    var onMenu: ((CGRect) -> Void)? { didSet { more.isHidden = onMenu == nil } }
    var showsBack = false {
        didSet {
            back.isHidden = !showsBack
            setNeedsLayout()
        }
    }

    private let title = PlatformTextView()
    private let subtitle = PlatformTextView()
    private lazy var back = PlatformButton(
        label: Words.say("Back to the conversations"), face: ButtonFace(.back)
    ) {
        [weak self] in self?.onBack?()
    }
    private lazy var find = PlatformButton(
        label: Words.say("Find in this conversation"), face: ButtonFace(.search)
    ) {
        [weak self] in self?.onFind?()
    }
    private lazy var more: PlatformButton = PlatformButton(
        label: Words.say("Conversation menu"), face: ButtonFace(.more)
    ) {
        [weak self] in
        guard let self else { return }
        self.onMenu?(self.shownFrame(of: self.more))
    }

    init() {
        super.init()
        mirrorsRightToLeft = true
        for view in [title, subtitle, back, find, more] as [PlatformView] { addSubview(view) }
        for view in [back, find, more] { view.isHidden = true }
    }

    /// Shows a name, and what stands under it; only the label changes for assistive technology, nothing is announced.
    func show(_ name: String, line: String) {
        let theme = Theme.current
        let scale = PlatformApplication.textScale
        title.color = theme.text
        subtitle.color = theme.dimText
        title.show(
            name,
            style: PlatformTextStyle(size: 14 * scale, lineHeight: 20 * scale, isBold: true, lineCountMax: 1))
        subtitle.show(
            line, style: PlatformTextStyle(size: 12 * scale, lineHeight: 16 * scale, lineCountMax: 1))
        accessibilityLabel = line.isEmpty ? name : "\(name), \(line)"
        setNeedsLayout()
    }

    func themeChanged() {
        for view in [title, subtitle, back, find, more] as [PlatformView] { view.setNeedsDisplay() }
        setNeedsDisplay()
    }

    override func layoutSubviews() {
        let left = showsBack ? 52.0 : 20
        let scale = max(1, PlatformApplication.textScale)
        let top = ((bounds.height - 36) / 2).rounded()
        back.frame = CGRect(x: 8, y: top, width: 36, height: 36)
        more.frame = CGRect(x: bounds.width - 48, y: top, width: 36, height: 36)
        find.frame = CGRect(x: bounds.width - 90, y: top, width: 36, height: 36)
        let width = max(0, bounds.width - left - 102)
        title.frame = CGRect(
            x: left, y: (subtitle.text.isEmpty ? 14 : 5) * scale, width: width, height: 20 * scale)
        subtitle.frame = CGRect(x: left, y: 25 * scale, width: width, height: 18 * scale)
    }

    override func draw(_ canvas: PlatformCanvas) {
        let theme = Theme.current
        canvas.fill(bounds, theme.window)
        canvas.fill(CGRect(x: 0, y: bounds.height - 1, width: bounds.width, height: 1), theme.hairline)
    }
}
