public import Foundation
public import RivuletFlow
public import RivuletModel

/// A bubble with text.
public final class TextMessageView: MessageView {
    private let label = PlatformTextView(isSelectable: true)

    /// Makes an empty bubble.
    public required init() {
        super.init()
        canPerformMenuAction = true
        addSubview(label)
    }

    /// Hears that a selection began here.
    func onSelect(_ action: @escaping () -> Void) { label.onSelect = action }

    private var isLargeEmoji: Bool {
        guard case .text(let content)? = message?.content else { return false }
        return MessageText.isLargeEmoji(content.text)
    }

    /// Shows the text.
    public override func refresh(with message: Message) {
        let theme = Theme.current
        label.color = foreground
        label.selectionColor =
            message.isOutgoing ? theme.outgoingText.opacity(0.3) : theme.accent.opacity(0.25)
        let accent = message.isOutgoing ? nil : theme.accent
        label.show(
            MessageText.text(of: message),
            style: MessageText.style(of: message, context.appearance.style, scale: context.textScale),
            spans: MessageText.spans(of: message, link: accent, mention: accent))
        setNeedsLayout()
        setNeedsDisplay()
    }

    /// Forgets the selection.
    public override func prepareForReuse() { label.clearSelection() }

    /// Places the text inside the padding.
    public override func layoutSubviews() {
        let padding = context.appearance.style.padding
        label.frame = CGRect(
            x: padding.leading, y: padding.top, width: max(0, bounds.width - padding.horizontal),
            height: max(0, bounds.height - padding.vertical))
    }

    /// Draws the bubble.
    public override func draw(_ canvas: PlatformCanvas) {
        guard !isLargeEmoji else { return }
        canvas.fill(bounds, corners: corners, background)
        if message?.isOutgoing == false {
            canvas.stroke(bounds, corners: corners, Theme.current.hairline)
        }
    }

    /// The size of the text with its padding.
    public override func sizeThatFits(_ size: CGSize) -> CGSize {
        let padding = context.appearance.style.padding
        let room = CGSize(width: size.width - padding.horizontal, height: size.height)
        let inner = label.sizeThatFits(room)
        return CGSize(width: inner.width + padding.horizontal, height: inner.height + padding.vertical)
    }

    /// The text, measured with the engine that draws it.
    public override class func createSizeStrategy(
        message: Message, fittingSize: CGSize
    ) -> (any MessageLayoutSizeStrategy)? {
        MessageSizeThatFitsStrategy()
    }

    /// The text, measured off the main thread.
    public override class func valueSizing(measurer: PlatformTextMeasurer) -> (any ComponentSizeStrategy)? {
        CustomSizeStrategy { request in
            MessageTextSizeStrategy.size(
                of: request.message, style: request.appearance.style, scale: request.key.textScale,
                width: request.fittingSize.width, measurer: measurer)
        }
    }

    /// What is selected.
    public override var selectedText: String { label.selectedText }
    /// Selects nothing.
    public override func clearSelection() { label.clearSelection() }
    /// The address under a point.
    public override func link(at point: CGPoint) -> String? {
        label.link(at: CGPoint(x: point.x - label.frame.minX, y: point.y - label.frame.minY))
    }
}

/// A line in the middle of the flow that belongs to nobody.
public final class NoticeMessageView: MessageView {
    private let label = PlatformTextView()

    /// Makes an empty line.
    public required init() {
        super.init()
        canPerformMenuAction = true
        addSubview(label)
    }

    /// Shows the text.
    public override func refresh(with message: Message) {
        label.color = Theme.current.dimText
        let style = context.appearance.style
        label.show(
            MessageText.text(of: message),
            style: PlatformTextStyle(
                size: style.fontSize * context.textScale, lineHeight: style.lineHeight * context.textScale,
                isCentered: true))
        setNeedsLayout()
    }

    /// Gives the text everything.
    public override func layoutSubviews() { label.frame = bounds }

    /// The text, measured off the main thread.
    public override class func valueSizing(measurer: PlatformTextMeasurer) -> (any ComponentSizeStrategy)? {
        TextMessageView.valueSizing(measurer: measurer)
    }
}

/// A picture that fills its bubble to the edge.
public final class ImageMessageView: MessageView {
    private var image: PlatformImage?
    private var address = ""
    private var loading: Task<Void, Never>?

    /// Makes an empty picture.
    public required init() {
        super.init()
        canPerformMenuAction = true
    }

    /// Shows the picture, or a quiet ground until it is loaded.
    public override func refresh(with message: Message) {
        let wanted =
            switch message.content {
            case .image(let picture): picture.url
            case .video(let film): film.thumbnail
            default: ""
            }
        guard wanted != address || image == nil else { return setNeedsDisplay() }
        loading?.cancel()
        loading = nil
        address = wanted
        image = context.images?.cachedImage(at: wanted)
        setNeedsDisplay()
        guard image == nil, let images = context.images else { return }
        loading = Task { [weak self] in
            let found = await images.image(at: wanted, fitting: CGSize(width: 560, height: 720))
            guard let self, !Task.isCancelled, self.address == wanted else { return }
            self.image = found
            self.setNeedsDisplay()
        }
    }

    /// Stops loading.
    public override func prepareForReuse() {
        loading?.cancel()
        loading = nil
        image = nil
        address = ""
    }

    /// Draws the picture.
    public override func draw(_ canvas: PlatformCanvas) {
        let theme = Theme.current
        if let image {
            canvas.draw(image, in: bounds, corners: corners)
        } else {
            canvas.fill(bounds, corners: corners, theme.incomingBubble)
            let side = 32.0
            canvas.draw(
                .picture,
                in: CGRect(x: bounds.midX - side / 2, y: bounds.midY - side / 2, width: side, height: side),
                theme.dimText.opacity(0.6), width: 2)
        }
        canvas.stroke(bounds, corners: corners, theme.hairline)
    }

    /// The picture's own size, shrunk to fit.
    public override class func valueSizing(measurer: PlatformTextMeasurer) -> (any ComponentSizeStrategy)? {
        ImageSizeStrategy()
    }
}
