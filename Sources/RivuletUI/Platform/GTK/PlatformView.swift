public import Foundation
internal import GTKKit

/// A rectangle of the screen with children, an own drawing, gestures and a name for assistive technology.
///
/// Everything that RivuletUI shows is made of views. A view places its children in ``layoutSubviews()`` by frames, or
/// lets constraints do it (``addConstraint(_:)``), and draws itself in ``draw(_:)``. On this platform it is a
/// `GtkWidget`; nothing above this class knows that.
open class PlatformView {
    /// What assistive technology takes a view for.
    public enum Role: Hashable, Sendable {
        /// Something that groups others.
        case group
        /// A list.
        case list
        /// One entry of a list.
        case listItem
        /// A picture.
        case image
        /// A text.
        case label
        /// A text that is read aloud when it changes.
        case alert
        /// Something that only decorates.
        case decoration
        /// Something to press.
        case button
    }

    let widget: Widget
    /// The view that holds this one; nil for none.
    public private(set) weak var superview: PlatformView?
    /// The views inside, those in front last.
    public private(set) var subviews: [PlatformView] = []
    /// The greatest width of a line when constraints lay this view out; 0 for none.
    public var preferredMaxLayoutWidth = 0.0 {
        didSet { if preferredMaxLayoutWidth != oldValue { invalidateIntrinsicContentSize() } }
    }
    private var isLayingOut = false
    var constraints: [PlatformConstraint] = []
    private var hasConstraints: Bool { !constraints.isEmpty }
    private var isDirty = false
    /// How many views are laying out their children now, one inside the other.
    private(set) static var layoutDepth = 0
    /// Whether a size is being found, which concerns nothing on the screen.
    static var isMeasuring = false
    /// Views that asked for a layout while one was under way.
    private static var waiting: [PlatformView] = []

    /// Makes a view without children.
    public init(role: Role = .group) {
        let widget = CustomWidget(role: role.value)
        self.widget = widget
        adopt(widget)
    }

    init(adopting widget: Widget) {
        self.widget = widget
        if let custom = widget as? CustomWidget { adopt(custom) }
    }

    private func adopt(_ custom: CustomWidget) {
        custom.onLayout = { [weak self] size in self?.lay(in: size) }
        custom.onDraw = { [weak self] painter in
            guard let self else { return }
            self.draw(PlatformCanvas(painter, mirroredIn: self.isMirrored ? self.bounds.width : nil))
        }
        custom.onDrawAbove = { [weak self] painter in
            guard let self else { return }
            self.drawAbove(PlatformCanvas(painter, mirroredIn: self.isMirrored ? self.bounds.width : nil))
        }
        custom.onMeasure = { [weak self] isHorizontal, extent in
            guard let self else { return (0, 0) }
            return self.measure(isHorizontal: isHorizontal, extent: extent)
        }
    }

    // MARK: for subclasses

    /// Gives the children their frames; called whenever the size or a wish changed.
    open func layoutSubviews() {}
    /// Draws what lies behind the children.
    open func draw(_ canvas: PlatformCanvas) {}
    /// Draws what lies in front of the children.
    open func drawAbove(_ canvas: PlatformCanvas) {}
    /// The size that the view would like within these bounds; that of its frame unless a subclass knows better.
    open func sizeThatFits(_ size: CGSize) -> CGSize { frame.size }
    /// The size that the view has by its contents when constraints ask for it.
    ///
    /// It must heed ``preferredMaxLayoutWidth``; nil, the default, leaves everything to the constraints.
    open var intrinsicContentSize: CGSize? { nil }

    private func measure(isHorizontal: Bool, extent: Int) -> (minimum: Int, natural: Int) {
        guard let size = intrinsicContentSize else { return (0, 0) }
        return (0, Int((isHorizontal ? size.width : size.height).rounded(.up)))
    }

    // MARK: the tree

    /// Puts a view in front of the others.
    public func addSubview(_ view: PlatformView) {
        insertSubview(view, at: subviews.count)
    }

    /// Puts a view at a place among the others, 0 being behind all.
    public func insertSubview(_ view: PlatformView, at index: Int) {
        guard view.superview !== self else { return }
        view.removeFromSuperview()
        let place = min(max(0, index), subviews.count)
        widget.insert(view.widget, before: place < subviews.count ? subviews[place].widget : nil)
        subviews.insert(view, at: place)
        view.superview = self
        view.widget.isShownByParent = !view.isHidden
        setNeedsLayout()
    }

    /// Takes the view out of the one that holds it.
    public func removeFromSuperview() {
        guard let superview else { return }
        superview.subviews.removeAll { $0 === self }
        self.superview = nil
        widget.removeFromParent()
    }

    // MARK: geometry

    /// Where the view lies in the one that holds it.
    public var frame = CGRect.zero {
        didSet {
            guard frame != oldValue, let superview, !superview.isLayingOut, !superview.hasConstraints else {
                return
            }
            superview.setNeedsLayout()
        }
    }

    /// Whether the frames of children and what ``draw(_:)`` draws are given for an interface that reads from left to
    /// right, and are mirrored in one that reads from right to left.
    public var mirrorsRightToLeft = false
    /// Whether children and drawing are mirrored now.
    public var isMirrored: Bool { mirrorsRightToLeft && PlatformApplication.isRightToLeft }

    /// Where a child really is: its frame, mirrored where this view is.
    public func shownFrame(of child: PlatformView) -> CGRect {
        isMirrored ? child.frame.mirrored(in: bounds.width) : child.frame
    }

    /// The view's own area.
    public var bounds: CGRect { CGRect(origin: .zero, size: widget.size) }

    private func lay(in size: CGSize) {
        isDirty = false
        isLayingOut = true
        Self.layoutDepth += 1
        if hasConstraints { placeByConstraints(in: size) }
        layoutSubviews()
        for view in subviews where !view.isHidden {
            view.widget.allocate(shownFrame(of: view))
            // What wished for a layout meanwhile gets it here, also where its size is the same as before.
            if view.isDirty { view.lay(in: view.widget.size) }
        }
        Self.layoutDepth -= 1
        isLayingOut = false
        if Self.layoutDepth == 0 { Self.wakeWaiting() }
    }

    /// Asks for ``layoutSubviews()``.
    ///
    /// GTK loses wishes that are uttered during a layout, so these wait for its end.
    public func setNeedsLayout() {
        guard Self.layoutDepth > 0 else { return widget.queueAllocate() }
        guard !isLayingOut, !isDirty else { return }
        isDirty = true
        Self.waiting.append(self)
    }

    private static func wakeWaiting() {
        let late = waiting.filter(\.isDirty)
        waiting = []
        guard !late.isEmpty else { return }
        Task {
            for view in late where view.isDirty {
                view.isDirty = false
                view.widget.queueAllocate()
            }
        }
    }

    /// Says that ``intrinsicContentSize`` is another now.
    public func invalidateIntrinsicContentSize() {
        guard !Self.isMeasuring, let superview, superview.hasConstraints else { return }
        superview.setNeedsLayout()
    }

    /// Asks for ``draw(_:)``.
    public func setNeedsDisplay() { widget.queueDraw() }

    /// Where a point of this view lies in another one; nil when they have no window in common.
    public func convert(_ point: CGPoint, to view: PlatformView) -> CGPoint? {
        widget.convert(point, to: view.widget)
    }

    /// Whether a point of the view's own area is inside.
    public func contains(_ point: CGPoint) -> Bool { bounds.contains(point) }

    // MARK: look

    /// Whether the view is not shown and takes no place.
    public var isHidden = false {
        didSet {
            guard isHidden != oldValue else { return }
            widget.isShownByParent = !isHidden
            tellAccessibilityHidden()
            if Self.layoutDepth == 0 { superview?.setNeedsLayout() }
        }
    }

    /// How opaque the view is, from 0 to 1.
    public var alpha: Double {
        get { widget.opacity }
        set { widget.opacity = newValue }
    }

    /// Whether children are cut at the view's edges.
    public var clipsToBounds: Bool {
        get { widget.clips }
        set { widget.clips = newValue }
    }

    /// Whether gestures see the view.
    public var isUserInteractionEnabled: Bool {
        get { widget.isTargetable }
        set { widget.isTargetable = newValue }
    }

    /// The text shown while the pointer rests on the view.
    public func setTooltip(_ text: String?) { widget.setTooltip(text) }

    // MARK: gestures

    /// Calls the action on a click or tap.
    public func onTap(_ action: @escaping (PlatformTap) -> Void) {
        widget.onClick { button, count, point in
            action(PlatformTap(point: point, count: count, isSecondary: button == 3))
        }
    }

    /// Calls the action on a long press by touch.
    public func onLongPress(_ action: @escaping (CGPoint) -> Void) { widget.onLongPress(action) }

    /// Calls the action on a swipe by touch, with its speed in points per second and where the finger left.
    public func onSwipe(_ action: @escaping (_ velocity: CGPoint, _ point: CGPoint) -> Void) {
        widget.onSwipe(action)
    }

    /// Takes files, by their paths, and texts that are dropped on the view.
    public func onDrop(files: @escaping ([String]) -> Void, text: @escaping (String) -> Void) {
        widget.onDrop(files: files, text: text)
    }

    /// Lets what lies under the pointer be dragged away, to another view or another program.
    public func onDragOut(_ content: @escaping (CGPoint) -> PlatformDragContent?) {
        widget.onDragOut { content($0)?.value }
    }

    /// Calls the action with the pointer's place, and with nil when it left.
    public func onHover(_ action: @escaping (CGPoint?) -> Void) { widget.onHover(action) }

    /// Calls the action on a key while the view or one inside has the keyboard; the answer says whether it is done.
    public func onKey(isFirst: Bool = false, _ action: @escaping (PlatformKey) -> Bool) {
        widget.onKey(isFirst: isFirst) { action(PlatformKey($0)) }
    }

    // MARK: focus

    /// Whether the view takes the keyboard.
    public var isFocusable: Bool {
        get { widget.isFocusable }
        set { widget.isFocusable = newValue }
    }

    /// Whether the view has the keyboard.
    public var isFocused: Bool { widget.hasFocus }
    /// Whether the view or one inside has the keyboard.
    public var containsFocus: Bool { widget.containsFocus }
    /// Takes the keyboard.
    @discardableResult
    public func focus() -> Bool { widget.grabFocus() }
    /// Calls the action when the keyboard comes or goes.
    public func onFocusChange(_ action: @escaping (Bool) -> Void) { widget.onFocusChange(action) }

    /// Calls the action when Tab reaches the view, in place of what is inside; the answer says whether the keyboard
    /// was taken.
    public func onTab(_ action: @escaping () -> Bool) {
        (widget as? CustomWidget)?.onTab = { [weak self] _ in
            // From inside, Tab leads out.
            guard let self, !self.containsFocus else { return false }
            return action()
        }
    }

    // MARK: accessibility

    /// The names of what assistive technology can do with the view.
    public private(set) var accessibilityActions: [String] = []

    /// Lets assistive technology do things with the view; it finds them as `PREFIX.NAME`.
    ///
    /// The same names again change nothing, so a view that is used for many things may say it each time.
    public func setAccessibilityActions(
        _ names: [String], prefix: String = "message", _ action: @escaping (String) -> Void
    ) {
        guard names != accessibilityActions else { return }
        accessibilityActions = names
        widget.setActions(names, prefix: prefix, action)
    }

    /// What assistive technology calls the view.
    public var accessibilityLabel = "" {
        didSet { if accessibilityLabel != oldValue { widget.setAccessibleLabel(accessibilityLabel) } }
    }

    /// Whether assistive technology passes over the view.
    public var isAccessibilityHidden = false {
        didSet { if isAccessibilityHidden != oldValue { tellAccessibilityHidden() } }
    }

    /// What a parent does not show is not there for assistive technology either, which GTK does not see by itself.
    private func tellAccessibilityHidden() {
        widget.setAccessibleHidden(isHidden || isAccessibilityHidden)
    }

    // MARK: time

    /// Calls the action in every frame until it answers false, with the time in seconds.
    public func animate(_ action: @escaping (Double) -> Bool) {
        widget.addTick { action(Double($0) / 1_000_000) }
        widget.queueDraw()
    }

    /// What the view draws now: red, green, blue and opacity, a byte each, row by row; for tests.
    public func renderedPixels() -> [UInt8] { widget.pixels() }

    /// Asks the user for a picture with the desktop's dialog; nothing is said when none is chosen.
    public func askForPicture(_ title: String, onPath: @escaping (String) -> Void) {
        FileQuestion.askForPicture(title, over: widget, onPath: onPath)
    }

    /// Puts a text on the clipboard.
    public func copyToClipboard(_ text: String) { widget.copy(text) }
}

extension CGRect {
    /// The rectangle at the same distance from the other side.
    func mirrored(in width: Double) -> CGRect {
        CGRect(x: width - maxX, y: minY, width: self.width, height: height)
    }
}

extension PlatformView.Role {
    var value: CustomWidget.Role {
        switch self {
        case .group: .group
        case .list: .list
        case .listItem: .listItem
        case .image: .image
        case .label: .label
        case .alert: .alert
        case .decoration: .presentation
        case .button: .button
        }
    }
}

/// What is dragged out of a view.
public enum PlatformDragContent {
    /// A text.
    case text(String)
    /// A picture.
    case picture(PlatformImage)

    var value: DragContent {
        switch self {
        case .text(let text): .text(text)
        case .picture(let image): .picture(image.texture)
        }
    }
}

/// A click or tap.
public struct PlatformTap: Hashable, Sendable {
    /// Where, in the view's own area.
    public var point: CGPoint
    /// Which one in quick succession, from 1.
    public var count: Int
    /// Whether it was the second button.
    public var isSecondary: Bool
}
