public import Foundation
public import RivuletFlow
public import RivuletModel

/// A bubble with text.
public final class TextMessageView: MessageView {
    private let label = PlatformTextView(isSelectable: true)
    private var quote: (name: PlatformText, line: String)?

    /// Makes an empty bubble.
    public required init() {
        super.init()
        canPerformMenuAction = true
        addSubview(label)
    }

    /// The size of the text as it is drawn, padding left out.
    public var drawnTextSize: CGSize { label.drawnTextSize }

    /// Hears that a selection began here, and that the pointer let go of it.
    func onSelect(began: @escaping () -> Void, ended: @escaping () -> Void) {
        label.onSelect = began
        label.onSelectionEnd = ended
    }

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
        let text = MessageText.text(of: message, context.strings)
        label.show(
            text, style: MessageText.style(of: message, context.appearance.style, scale: context.textScale),
            spans: MessageText.spans(of: message, in: text, link: accent, mention: accent))
        showQuote(of: message)
        setNeedsLayout()
        setNeedsDisplay()
    }

    private func showQuote(of message: Message) {
        quote = nil
        guard let uuid = message.reference else { return }
        let quoted = context.directory?.message(uuid: uuid, in: message.session)
        let name =
            quoted.map {
                $0.isOutgoing
                    ? context.strings[.you] : context.directory?.name(of: $0.sender, in: $0.session) ?? ""
            }
            ?? context.strings[.earlierMessage]
        quote = (
            PlatformText(
                name,
                style: PlatformTextStyle(
                    size: 12 * context.textScale, lineHeight: 16 * context.textScale, isBold: true,
                    lineCountMax: 1),
                width: 400),
            quoted.map { MessageText.text(of: $0, context.strings) } ?? "…"
        )
    }

    /// Forgets the selection.
    public override func prepareForReuse() { label.clearSelection() }

    /// Places the text inside the padding.
    public override func layoutSubviews() {
        let padding = context.appearance.style.padding
        let quoteHeight = message.map { QuoteMeasures.height(in: $0, scale: context.textScale) } ?? 0
        label.frame = CGRect(
            x: padding.leading, y: padding.top + quoteHeight,
            width: max(0, bounds.width - padding.horizontal),
            height: max(0, bounds.height - padding.vertical - quoteHeight))
    }

    private func drawQuote(on canvas: PlatformCanvas) {
        guard let quote, let message else { return }
        let canvas = PlatformApplication.isRightToLeft ? canvas.mirrored(in: bounds.width) : canvas
        let scale = context.textScale
        let padding = context.appearance.style.padding
        let rect = CGRect(
            x: padding.leading, y: padding.top, width: max(0, bounds.width - padding.horizontal),
            height: QuoteMeasures.boxHeight * scale)
        let theme = Theme.current
        let ink = message.isOutgoing ? theme.outgoingText : theme.accent
        canvas.fill(
            rect, corners: PlatformCorners(6),
            message.isOutgoing ? theme.outgoingText.opacity(0.15) : theme.fill)
        canvas.fill(
            CGRect(x: rect.minX, y: rect.minY, width: 3, height: rect.height), corners: PlatformCorners(1.5),
            ink)
        canvas.draw(quote.name, at: CGPoint(x: rect.minX + 11, y: rect.minY + 3 * scale), ink)
        let line = PlatformText(
            quote.line,
            style: PlatformTextStyle(size: 12 * scale, lineHeight: 16 * scale, lineCountMax: 1),
            width: max(1, rect.width - 18))
        canvas.draw(
            line, at: CGPoint(x: rect.minX + 11, y: rect.minY + 20 * scale),
            message.isOutgoing ? theme.outgoingText : theme.text)
    }

    /// Draws the bubble.
    public override func draw(_ canvas: PlatformCanvas) {
        guard !isLargeEmoji else { return }
        canvas.fill(bounds, corners: corners, background)
        if message?.isOutgoing == false {
            canvas.stroke(bounds, corners: corners, Theme.current.hairline)
        }
        drawQuote(on: canvas)
    }

    /// The size of the text with its padding.
    public override func sizeThatFits(_ size: CGSize) -> CGSize {
        let padding = context.appearance.style.padding
        let room = CGSize(width: size.width - padding.horizontal, height: size.height)
        let inner = label.sizeThatFits(room)
        let quoteHeight = message.map { QuoteMeasures.height(in: $0, scale: context.textScale) } ?? 0
        let width = quoteHeight > 0 ? max(inner.width, min(QuoteMeasures.widthMin, room.width)) : inner.width
        return CGSize(
            width: width + padding.horizontal, height: inner.height + padding.vertical + quoteHeight)
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
                of: MessageText.text(of: request.message, request.strings), request.message,
                style: request.appearance.style, scale: request.key.textScale,
                width: request.fittingSize.width, measurer: measurer)
        }
    }

    /// What is selected.
    public override var selectedText: String { label.selectedText }
    /// Selects nothing.
    public override func clearSelection() { label.clearSelection() }
    /// The selection when the drag begins on it, the whole text when it begins beside the letters.
    ///
    /// A drag that begins on letters which are not selected selects them.
    public override func dragContent(at point: CGPoint) -> PlatformDragContent? {
        guard !label.isSelecting else { return nil }
        let inside = CGPoint(x: point.x - label.frame.minX, y: point.y - label.frame.minY)
        if label.isSelected(at: inside) { return .text(label.selectedText) }
        return label.bounds.contains(inside) ? nil : .text(label.text)
    }
    /// The address under a point.
    public override func link(at point: CGPoint) -> String? {
        label.link(at: CGPoint(x: point.x - label.frame.minX, y: point.y - label.frame.minY))
    }
}

/// The measures of what is quoted inside a bubble; they depend on nothing but the message, so that every thread agrees.
nonisolated enum QuoteMeasures {
    static let boxHeight = 40.0
    static let widthMin = 220.0

    /// What the quote takes from the height, the space under it included; nothing without a quote.
    static func height(in message: Message, scale: Double) -> Double {
        guard message.reference != nil, case .text(let content) = message.content,
            !MessageText.isLargeEmoji(content.text)
        else { return 0 }
        return (boxHeight * scale).rounded(.up) + 6
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
            MessageText.text(of: message, context.strings),
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

    /// The picture, once it is there.
    public override func dragContent(at point: CGPoint) -> PlatformDragContent? {
        image.map { .picture($0) }
    }

    /// The picture's own size, shrunk to fit.
    public override class func valueSizing(measurer: PlatformTextMeasurer) -> (any ComponentSizeStrategy)? {
        ImageSizeStrategy()
    }
}
