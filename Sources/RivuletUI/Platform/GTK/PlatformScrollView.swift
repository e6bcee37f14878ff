internal import Foundation
internal import GTKKit

/// A viewport over content that is made as it comes into view.
///
/// A subclass says how far the content reaches and places what is visible. The scroll bar's value is the offset plus
/// an origin of its own: content that grows above the reader moves the origin and not the value, so that a fling
/// under way goes on undisturbed.
open class PlatformScrollView: PlatformView {
    /// The offset of the viewport's upper edge.
    public private(set) var contentOffset = 0.0
    /// The view to put on screen: the viewport with its scroll bar.
    public private(set) lazy var viewport: PlatformView = PlatformView(adopting: Scroller(widget))

    private var model: ScrollModel?
    private var origin = 0.0
    private var isAdjusting = false
    private var range = 0.0...0.0
    private var page = 0.0

    /// Makes a viewport.
    public init() {
        let custom = CustomWidget(role: .list, isScrollable: true)
        super.init(adopting: custom)
        custom.clips = true
        custom.onScrollModel = { [weak self] model in self?.take(model) }
    }

    private func take(_ model: ScrollModel?) {
        self.model = model
        model?.onChange { [weak self, weak model] in
            guard let self, let model, self.model === model, !self.isAdjusting else { return }
            self.contentOffset = model.value - self.origin
            self.contentDidMove()
            self.didScroll()
        }
        publish()
    }

    /// Called when the reader scrolled.
    open func didScroll() {}
    /// Called when the viewport shows another part of the content, by whomever it was moved; never during a layout.
    ///
    /// Here is the place to add and remove children: GTK does not suffer that while it lays out.
    open func contentDidMove() { setNeedsLayout() }

    /// Sets how far the content reaches and where the viewport is.
    ///
    /// - Parameters:
    ///   - range: The least and the greatest offset.
    ///   - page: The height of the viewport.
    ///   - offset: The new offset.
    ///   - isShift: Whether the content moved together with the offset, so that nothing seems to move.
    public func setContent(range: ClosedRange<Double>, page: Double, offset: Double, isShift: Bool) {
        if isShift { origin -= offset - contentOffset }
        contentOffset = offset
        self.range = range
        self.page = page
        publish()
        contentDidMove()
    }

    /// Moves the viewport as an animation does.
    public func setContentOffset(_ offset: Double) {
        contentOffset = min(max(offset, range.lowerBound), range.upperBound)
        publish()
        contentDidMove()
    }

    /// Moves the viewport as the reader does.
    public func scroll(by distance: Double) {
        setContentOffset(contentOffset + distance)
        didScroll()
    }

    private func publish() {
        guard PlatformView.layoutDepth == 0 else {
            // A scroll bar that comes or goes wants a layout of its own, which GTK loses during this one.
            Task { [weak self] in self?.publish() }
            return
        }
        isAdjusting = true
        model?.configure(
            value: contentOffset + origin, lower: range.lowerBound + origin,
            upper: range.upperBound + origin + page, page: page)
        isAdjusting = false
    }
}

/// A viewport over one view that is higher than it.
public final class PlatformPageView: PlatformScrollView {
    private let content: PlatformView
    private let height: (Double) -> Double

    /// Makes a viewport over a view whose height follows from its width.
    public init(_ content: PlatformView, height: @escaping (Double) -> Double) {
        self.content = content
        self.height = height
        super.init()
        addSubview(content)
    }

    /// Places the view under the viewport.
    public override func layoutSubviews() {
        let size = bounds.size
        let full = max(height(size.width), size.height)
        let range = 0...max(0, full - size.height)
        let offset = min(contentOffset, range.upperBound)
        setContent(range: range, page: size.height, offset: offset, isShift: false)
        content.frame = CGRect(x: 0, y: -offset.rounded(), width: size.width, height: full)
    }
}
