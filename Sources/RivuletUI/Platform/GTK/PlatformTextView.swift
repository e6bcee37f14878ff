public import Foundation
internal import GTKKit

/// A text that wraps, whose stretches can be selected and copied and whose links can be followed.
public final class PlatformTextView: PlatformView {
    /// The text.
    public private(set) var text = ""
    /// The space around the text.
    public var padding = CGSize.zero
    /// The colour of the text.
    public var color = PlatformColor(0x1D1D20) { didSet { setNeedsDisplay() } }
    /// The colour behind what is selected.
    public var selectionColor = PlatformColor(0x1A64D2, alpha: 0.25)
    /// Hears that a selection began here, so that another one can end.
    public var onSelect: (() -> Void)?

    /// Hears that the pointer let go after something was selected.
    public var onSelectionEnd: (() -> Void)?

    private var style = PlatformTextStyle()
    private var spans: [PlatformTextSpan] = []
    /// The layouts for the last two widths: constraints ask for the widest while another one is shown.
    private var layouts: [(width: Double, text: PlatformText)] = []
    private var anchor: Int?
    private var selection: Range<Int>?

    /// Makes an empty view.
    public init(isSelectable: Bool = false) {
        super.init(role: .decoration)
        guard isSelectable else { return }
        widget.setCursor("text")
        widget.onMouseDrag(
            began: { [weak self] point in self?.beginSelection(at: point) },
            moved: { [weak self] point in self?.extendSelection(by: point) },
            ended: { [weak self] point in self?.endDrag(at: point) })
        widget.onPress { [weak self] button, count, point in
            guard button == 1, count > 1 else { return }
            self?.selectWord(at: point, whole: count > 2)
        }
    }

    /// Shows a text.
    public func show(_ text: String, style: PlatformTextStyle, spans: [PlatformTextSpan] = []) {
        guard text != self.text || style != self.style || spans != self.spans else { return }
        self.text = text
        self.style = style
        self.spans = spans
        layouts.removeAll(keepingCapacity: true)
        selection = nil
        invalidateIntrinsicContentSize()
        setNeedsDisplay()
    }

    private func layout(width: Double) -> PlatformText {
        if let known = layouts.first(where: { $0.width == width }) { return known.text }
        let made = PlatformText(text, style: style, width: width > 0 ? width : nil, spans: spans)
        if layouts.count > 1 { layouts.removeFirst() }
        layouts.append((width, made))
        return made
    }

    private func shownLayout() -> PlatformText {
        layout(width: max(1, bounds.width - 2 * padding.width))
    }

    /// The size of the text, no wider than the given width.
    public override func sizeThatFits(_ size: CGSize) -> CGSize {
        let inner = layout(width: max(1, size.width - 2 * padding.width)).size
        return CGSize(width: inner.width + 2 * padding.width, height: inner.height + 2 * padding.height)
    }

    /// The size of the text, broken at ``PlatformView/preferredMaxLayoutWidth``.
    public override var intrinsicContentSize: CGSize? {
        let width = preferredMaxLayoutWidth > 0 ? preferredMaxLayoutWidth - 2 * padding.width : 0
        let inner = layout(width: width).size
        return CGSize(width: inner.width + 2 * padding.width, height: inner.height + 2 * padding.height)
    }

    /// Draws the selection and the text.
    public override func draw(_ canvas: PlatformCanvas) {
        let layout = shownLayout()
        let origin = CGPoint(x: padding.width, y: padding.height)
        if let selection, !selection.isEmpty {
            for rect in layout.rects(of: selection) {
                canvas.fill(rect.offsetBy(dx: origin.x, dy: origin.y), selectionColor)
            }
        }
        canvas.draw(layout, at: origin, color)
    }

    /// The size of the text as it is drawn in the present bounds, padding left out.
    public var drawnTextSize: CGSize { shownLayout().size }

    // MARK: links

    /// The stretch of a link under a point; nil when there is none.
    public func link(at point: CGPoint) -> String? {
        guard selection?.isEmpty ?? true,
            let index = shownLayout().index(
                at: CGPoint(x: point.x - padding.width, y: point.y - padding.height))
        else { return nil }
        for span in spans where span.range.contains(index) {
            if case .link = span.look { return text(in: span.range) }
        }
        return nil
    }

    // MARK: selection

    /// What is selected; empty for nothing.
    public var selectedText: String { selection.map { text(in: $0) } ?? "" }

    /// Selects nothing.
    public func clearSelection() {
        guard selection != nil else { return }
        selection = nil
        setNeedsDisplay()
    }

    private func text(in range: Range<Int>) -> String {
        let bytes = text.utf8
        let start = bytes.index(bytes.startIndex, offsetBy: min(range.lowerBound, bytes.count))
        let end = bytes.index(bytes.startIndex, offsetBy: min(range.upperBound, bytes.count))
        return String(decoding: bytes[start..<end], as: UTF8.self)
    }

    private func index(at point: CGPoint) -> Int {
        shownLayout().nearestIndex(to: CGPoint(x: point.x - padding.width, y: point.y - padding.height))
    }

    private var dragStart = CGPoint.zero
    /// Whether the present press selected something by itself, which its end must leave alone.
    private var isFresh = false

    private func beginSelection(at point: CGPoint) {
        dragStart = point
        // What is selected can be dragged away.
        anchor = isSelected(at: point) ? nil : index(at: point)
        if anchor != nil { clearSelection() }
    }

    /// A press on the selection that led nowhere ends it; a drag selects up to where it ended.
    private func endDrag(at offset: CGPoint) {
        defer {
            isFresh = false
            anchor = nil
        }
        if !isFresh { extendSelection(by: offset) }
        if !isFresh, anchor == nil, abs(offset.x) + abs(offset.y) <= 3 { clearSelection() }
        if !selectedText.isEmpty { onSelectionEnd?() }
    }

    /// Whether a point lies on what is selected.
    func isSelected(at point: CGPoint) -> Bool {
        guard let selection, !selection.isEmpty else { return false }
        let inside = CGPoint(x: point.x - padding.width, y: point.y - padding.height)
        return shownLayout().rects(of: selection).contains { $0.contains(inside) }
    }

    /// Whether the present drag selects, so that it does not take along what it has selected so far.
    var isSelecting: Bool { anchor != nil }

    private func extendSelection(by offset: CGPoint) {
        guard let anchor, abs(offset.x) + abs(offset.y) > 3 else { return }
        let index = index(at: CGPoint(x: dragStart.x + offset.x, y: dragStart.y + offset.y))
        select(min(anchor, index)..<max(anchor, index))
    }

    private func selectWord(at point: CGPoint, whole: Bool) {
        isFresh = true
        guard !whole else { return select(0..<text.utf8.count) }
        let position = text.utf8.index(text.utf8.startIndex, offsetBy: min(index(at: point), text.utf8.count))
        var start = position
        while start > text.startIndex, text[text.index(before: start)].isWordPart {
            start = text.index(before: start)
        }
        var end = position
        while end < text.endIndex, text[end].isWordPart { end = text.index(after: end) }
        let lower = text.utf8.distance(from: text.startIndex, to: start)
        select(lower..<text.utf8.distance(from: text.startIndex, to: end))
    }

    private func select(_ range: Range<Int>) {
        selection = range
        onSelect?()
        setNeedsDisplay()
    }
}

extension Character {
    fileprivate var isWordPart: Bool { isLetter || isNumber || self == "_" }
}
