internal import Foundation
internal import RivuletFlow

/// The face of the button that leads to the newest messages, with the number of those that came meanwhile.
final class JumpFace: PlatformView {
    private var count = 0
    private var text: PlatformText?

    init() {
        super.init(role: .decoration)
        mirrorsRightToLeft = true
    }

    func show(_ count: Int) {
        guard count != self.count else { return }
        self.count = count
        let words = count > 99 ? "99+" : "\(count)"
        text =
            count > 0
            ? PlatformText(words, style: PlatformTextStyle(size: 11, lineHeight: 14, isBold: true)) : nil
        setNeedsDisplay()
    }

    override func draw(_ canvas: PlatformCanvas) {
        let theme = Theme.current
        let circle = CGRect(x: 4, y: bounds.height - 46, width: 40, height: 40)
        canvas.shadow(circle, corners: PlatformCorners(20), PlatformColor(0, alpha: 0.25), dy: 1, blur: 4)
        canvas.fill(circle, corners: PlatformCorners(20), theme.incomingBubble)
        canvas.draw(.arrowDown, in: circle.insetBy(dx: 12, dy: 12), theme.text)
        guard let text else { return }
        let width = max(18, text.size.width + 10)
        let badge = CGRect(
            x: min(bounds.width - width, circle.maxX - width + 4), y: 2, width: width, height: 18)
        canvas.fill(badge, corners: PlatformCorners(9), theme.accent)
        canvas.draw(
            text, at: CGPoint(x: badge.midX - text.size.width / 2, y: badge.minY + 2),
            theme.isDark ? theme.window : theme.outgoingText)
    }
}

/// What stands in the place of rows: nothing yet, nothing at all, or what went wrong.
final class FlowStatusView: PlatformView {
    enum State: Equatable {
        case none
        case loading
        case empty
        case failed
    }

    var onRetry: (() -> Void)?
    private var state = State.none
    private let label = PlatformTextView()
    private let strings: InterfaceStrings
    private lazy var retry = PlatformButton(
        label: strings[.tryAgain], face: ButtonFace(words: strings[.tryAgain])
    ) { [weak self] in
        self?.onRetry?()
    }

    init(_ strings: InterfaceStrings) {
        self.strings = strings
        super.init(role: .group)
        addSubview(label)
        addSubview(retry)
        retry.isHidden = true
    }

    func show(_ state: State) {
        guard state != self.state else { return }
        self.state = state
        isHidden = state == .none
        let words =
            switch state {
            case .none: ""
            case .loading: strings[.loadingMessages]
            case .empty: strings[.emptyConversation]
            case .failed: strings[.loadFailed]
            }
        label.color = Theme.current.dimText
        label.show(words, style: PlatformTextStyle(isCentered: true))
        accessibilityLabel = words
        retry.isHidden = state != .failed
        isUserInteractionEnabled = !retry.isHidden
        setNeedsLayout()
    }

    func themeChanged() {
        label.color = Theme.current.dimText
        retry.setNeedsDisplay()
    }

    override func layoutSubviews() {
        let middle = (bounds.height / 2).rounded()
        label.frame = CGRect(x: 20, y: middle - 30, width: max(0, bounds.width - 40), height: 24)
        retry.frame = CGRect(x: ((bounds.width - 120) / 2).rounded(), y: middle + 4, width: 120, height: 36)
    }
}
