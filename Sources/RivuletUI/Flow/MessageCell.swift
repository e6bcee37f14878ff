internal import Foundation
public import RivuletFlow
public import RivuletModel

/// One row of a flow: the five components of a message, each a view of the type that is registered for it.
///
/// A cell is used again for other messages; a component's view stays as long as the next message needs the same type.
public final class MessageCell: PlatformView {
    /// What decides which views a cell has, and the actions that it offers.
    struct Look: Hashable {
        var kind: MessageKind
        var isOutgoing: Bool

        init(_ message: Message) {
            kind = message.content.kind
            isOutgoing = message.isOutgoing
        }
    }

    /// The look of the message that was shown last; nil for a new cell.
    private(set) var look: Look?
    /// The snapshot of rows by which the components were placed last.
    var layoutVersion = -1
    private var views: [MessageComponent: MessageView] = [:]
    /// The message that the cell shows; nil between two.
    public private(set) var message: Message?
    /// How strongly the cell is highlighted, from 0 to 1.
    var highlight = 0.0 { didSet { if highlight != oldValue { setNeedsDisplay() } } }
    /// Whether the cell shows that it has the keyboard.
    var showsFocus = false { didSet { if showsFocus != oldValue { setNeedsDisplay() } } }
    /// Whether the row is among the selected ones; nil while nothing is selected.
    var selectionMark: Bool? { didSet { if selectionMark != oldValue { setNeedsDisplay() } } }
    /// The time, shown beside the bubble; nil to hide it.
    var revealedTime: String? { didSet { if revealedTime != oldValue { setNeedsDisplay() } } }
    /// A few characters with a clock, beside the bubble; nil for none.
    var remark: String? { didSet { if remark != oldValue { setNeedsDisplay() } } }
    /// Hears that a selection began in a component.
    var onSelect: ((MessageCell) -> Void)?
    /// Hears that the pointer let go after something was selected.
    var onSelectionEnd: (() -> Void)?

    /// Makes an empty cell.
    public init() {
        super.init(role: .listItem)
        isFocusable = true
        isHidden = true
    }

    /// The view of a component; nil where the row does not show it.
    public func view(for component: MessageComponent) -> MessageView? {
        guard let view = views[component], !view.isHidden else { return nil }
        return view
    }

    /// Shows a message.
    ///
    /// - Parameters:
    ///   - message: The message.
    ///   - layout: The frames of the components.
    ///   - registry: The types of the views.
    ///   - context: What a component's view is told besides its message.
    func configure(
        with message: Message, layout: RowLayout, registry: MessageViewRegistry,
        context: (MessageComponent) -> MessageViewContext
    ) {
        let isOther = self.message?.id != message.id
        self.message = message
        look = Look(message)
        for component in MessageComponent.allCases {
            guard let frame = layout.frames[component] else {
                views[component]?.isHidden = true
                continue
            }
            let type = registry.type(for: component, kind: message.content.kind)
            let view = reuse(component, as: type, isOther: isOther)
            view.isHidden = false
            view.prepare(context(component), message: message)
            view.refresh(with: message)
            view.frame = frame.rounded
        }
        setNeedsLayout()
    }

    /// Moves the components without refreshing them.
    func place(_ layout: RowLayout) {
        for (component, view) in views {
            guard let frame = layout.frames[component] else { continue }
            view.frame = frame.rounded
        }
    }

    private func reuse(_ component: MessageComponent, as type: MessageView.Type, isOther: Bool) -> MessageView
    {
        if let view = views[component] {
            if Swift.type(of: view) == type {
                if isOther { view.prepareForReuse() }
                return view
            }
            view.removeFromSuperview()
        }
        let view = type.init()
        views[component] = view
        addSubview(view)
        if let text = view as? TextMessageView {
            text.onSelect(
                began: { [weak self] in
                    guard let self else { return }
                    self.onSelect?(self)
                }, ended: { [weak self] in self?.onSelectionEnd?() })
        }
        return view
    }

    /// Forgets the message, so that the cell can show another.
    func prepareForReuse() {
        for view in views.values { view.prepareForReuse() }
        message = nil
        highlight = 0
        showsFocus = false
        selectionMark = nil
        revealedTime = nil
        remark = nil
    }

    /// The component under a point, with the point in its own area.
    func component(at point: CGPoint) -> (component: MessageComponent, point: CGPoint)? {
        for component in MessageComponent.allCases {
            guard let view = view(for: component), view.frame.contains(point) else { continue }
            return (component, CGPoint(x: point.x - view.frame.minX, y: point.y - view.frame.minY))
        }
        return nil
    }

    /// The text that is selected in a component; empty for none.
    var selectedText: String {
        for view in views.values where !view.selectedText.isEmpty { return view.selectedText }
        return ""
    }

    /// Selects nothing.
    func clearSelection() {
        for view in views.values { view.clearSelection() }
    }

    /// Draws highlight and focus behind the components.
    public override func draw(_ canvas: PlatformCanvas) {
        let theme = Theme.current
        if highlight > 0 {
            canvas.fill(bounds.insetBy(dx: 0, dy: -1), theme.accent.opacity(0.22 * highlight))
        }
        if selectionMark == true { canvas.fill(bounds, theme.accent.opacity(0.1)) }
        if showsFocus {
            canvas.stroke(
                bounds.insetBy(dx: 6, dy: 1), corners: PlatformCorners(8), width: 2,
                theme.accent.opacity(0.7))
        }
        drawMark(on: canvas)
        drawAside(on: canvas)
    }

    /// Draws the circle that says whether the row is selected, in the margin where a line begins.
    private func drawMark(on canvas: PlatformCanvas) {
        guard let selectionMark else { return }
        let theme = Theme.current
        let side = 16.0
        let x = PlatformApplication.isRightToLeft ? bounds.width - side - 2 : 2
        let circle = CGRect(x: x, y: ((bounds.height - side) / 2).rounded(), width: side, height: side)
        guard selectionMark else {
            return canvas.stroke(circle, corners: PlatformCorners(side / 2), width: 1.5, theme.dimText)
        }
        canvas.fill(circle, corners: PlatformCorners(side / 2), theme.accent)
        canvas.draw(.tick, in: circle.insetBy(dx: 3, dy: 3), theme.window, width: 2)
    }

    /// Draws the remark or the time on the side of the bubble that is free.
    private func drawAside(on canvas: PlatformCanvas) {
        guard let words = remark ?? revealedTime, let content = view(for: .content)?.frame, let message else {
            return
        }
        let isRemark = remark != nil
        let text = PlatformText(
            words,
            style: PlatformTextStyle(
                size: isRemark ? 12 : 11, lineHeight: isRemark ? 16 : 14, isBold: isRemark))
        let iconWidth = isRemark ? 18.0 : 0
        let width = text.size.width + iconWidth
        var edge = content
        if let accessory = view(for: .accessory)?.frame { edge = edge.union(accessory) }
        let isAtTrailing = message.isOutgoing != PlatformApplication.isRightToLeft
        let x = (isAtTrailing ? edge.minX - 8 - width : edge.maxX + 8).rounded()
        guard x >= 0, x + width <= bounds.width else { return }
        let ink = isRemark ? Theme.current.failure : Theme.current.dimText
        if isRemark {
            canvas.draw(
                .clock, in: CGRect(x: x, y: content.maxY - 17, width: 14, height: 14), ink, width: 1.4)
        }
        canvas.draw(text, at: CGPoint(x: x + iconWidth, y: content.maxY - (isRemark ? 18 : 16)), ink)
    }
}

extension LayoutRect {
    /// The rectangle on whole points.
    var rounded: CGRect {
        let left = minX.rounded()
        let top = minY.rounded()
        return CGRect(x: left, y: top, width: maxX.rounded() - left, height: maxY.rounded() - top)
    }
}

/// A day, a time or the unread mark between messages.
final class FlowLineView: PlatformView {
    enum Look {
        case quiet
        case unread
    }

    private var text: PlatformText?
    private var look = Look.quiet

    init() {
        super.init(role: .label)
        isUserInteractionEnabled = false
        isHidden = true
    }

    func show(_ words: String, look: Look, scale: Double) {
        self.look = look
        text = .kept(
            words, style: PlatformTextStyle(size: 12 * scale, lineHeight: 16 * scale, isBold: look == .unread)
        )
        accessibilityLabel = words
        setNeedsDisplay()
    }

    override func draw(_ canvas: PlatformCanvas) {
        guard let text else { return }
        let theme = Theme.current
        let color = look == .unread ? theme.accent : theme.dimText
        let origin = CGPoint(
            x: ((bounds.width - text.size.width) / 2).rounded(),
            y: ((bounds.height - text.size.height) / 2 + (look == .quiet ? 4 : 0)).rounded())
        canvas.draw(text, at: origin, color)
        guard look == .unread else { return }
        let y = (bounds.height / 2).rounded()
        let gap = 10.0
        let line = theme.accent.opacity(0.45)
        canvas.fill(CGRect(x: 20, y: y, width: max(0, origin.x - gap - 20), height: 1), line)
        let right = origin.x + text.size.width + gap
        canvas.fill(CGRect(x: right, y: y, width: max(0, bounds.width - 20 - right), height: 1), line)
    }
}

/// The space at an edge beyond which there is more: a spinner while it is fetched, an offer to retry when it failed.
final class FlowEdgeView: PlatformView {
    private var status = LoadStatus.atEnd
    private var turn = 0.0
    private var isSpinning = false

    private let strings: InterfaceStrings

    init(_ strings: InterfaceStrings) {
        self.strings = strings
        super.init(role: .decoration)
        isHidden = true
    }

    func show(_ status: LoadStatus) {
        self.status = status
        if status == .loading, !isSpinning { spin() }
        setNeedsDisplay()
    }

    var isRetry: Bool { if case .failed = status { true } else { false } }

    private func spin() {
        isSpinning = true
        animate { [weak self] time in
            guard let self, self.status == .loading, !self.isHidden else {
                self?.isSpinning = false
                return false
            }
            // In steps, so that the pictures of the arc are made once.
            let step = (time.truncatingRemainder(dividingBy: 1) * 30).rounded(.down)
            self.turn = PlatformApplication.animates ? step / 30 : 0
            self.setNeedsDisplay()
            return true
        }
    }

    override func draw(_ canvas: PlatformCanvas) {
        let theme = Theme.current
        let center = CGPoint(x: bounds.midX, y: bounds.midY)
        switch status {
        case .loading:
            canvas.draw(
                .arc(from: turn, turns: 0.7),
                in: CGRect(x: (center.x - 10).rounded(), y: (center.y - 10).rounded(), width: 20, height: 20),
                theme.dimText, width: 2)
        case .failed:
            let text = PlatformText(
                strings[.pageFailedRetry], style: PlatformTextStyle(size: 12, lineHeight: 16, isBold: true))
            canvas.draw(
                text, at: CGPoint(x: center.x - text.size.width / 2, y: center.y - text.size.height / 2),
                theme.failure)
        case .atEnd, .more: break
        }
    }
}
