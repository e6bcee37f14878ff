public import Foundation
public import RivuletFlow
public import RivuletModel

/// A file, place, page, card, record or call: a sign, a line and a quieter one under it.
public final class CardMessageView: MessageView {
    private var face: CardFace?
    private var initials: PlatformText?
    private var title: PlatformText?
    private var detail: PlatformText?
    private var textWidth = -1.0

    /// Makes an empty bubble.
    public required init() {
        super.init()
        canPerformMenuAction = true
        mirrorsRightToLeft = true
    }

    /// Shows the message.
    public override func refresh(with message: Message) {
        face = CardFace.of(message, context.strings)
        textWidth = -1
        initials = nil
        if case .person? = face?.sign, let face {
            initials = .kept(
                Initials.of(face.title), style: PlatformTextStyle(size: 13, lineHeight: 18, isBold: true))
        }
        setNeedsDisplay()
    }

    private func setTexts() {
        let width = max(1, bounds.width - CardMeasures.textStart - CardMeasures.margin)
        guard let face, width != textWidth else { return }
        textWidth = width
        title = PlatformText(face.title, style: CardMeasures.titleStyle(context.textScale), width: width)
        detail =
            face.detail.isEmpty
            ? nil
            : PlatformText(face.detail, style: CardMeasures.detailStyle(context.textScale), width: width)
    }

    /// The height of the two lines as they are drawn.
    public var drawnTextHeight: Double {
        setTexts()
        return (title?.size.height ?? 0) + (detail?.size.height ?? 0)
    }

    /// The width of the longer line as it is drawn.
    public var drawnTextWidth: Double {
        setTexts()
        return max(title?.size.width ?? 0, detail?.size.width ?? 0)
    }

    /// Draws bubble, sign and lines.
    public override func draw(_ canvas: PlatformCanvas) {
        let theme = Theme.current
        let isOutgoing = message?.isOutgoing ?? false
        // Corners are given as they are seen.
        let corners = isMirrored ? self.corners.exchanged : self.corners
        canvas.fill(bounds, corners: corners, background)
        if !isOutgoing { canvas.stroke(bounds, corners: corners, theme.hairline) }
        guard let face else { return }
        setTexts()
        drawSign(face.sign, on: canvas, isOutgoing: isOutgoing)
        let height = drawnTextHeight
        var y = ((bounds.height - height) / 2).rounded()
        if let title {
            canvas.draw(title, at: CGPoint(x: CardMeasures.textStart, y: y), foreground)
            y += title.size.height
        }
        if let detail {
            canvas.draw(
                detail, at: CGPoint(x: CardMeasures.textStart, y: y),
                isOutgoing ? theme.outgoingText : theme.dimText)
        }
    }

    private func drawSign(_ sign: CardFace.Sign, on canvas: PlatformCanvas, isOutgoing: Bool) {
        let theme = Theme.current
        let side = CardMeasures.signSide
        let square = CGRect(
            x: CardMeasures.margin, y: ((bounds.height - side) / 2).rounded(), width: side, height: side)
        if case .person(let user) = sign {
            return Initials.draw(initials, identity: user.rawValue, in: square, on: canvas)
        }
        canvas.fill(
            square, corners: PlatformCorners(8), isOutgoing ? theme.outgoingText.opacity(0.18) : theme.fill)
        canvas.draw(
            icon(sign), in: square.insetBy(dx: 9, dy: 9), isOutgoing ? theme.outgoingText : theme.accent)
    }

    private func icon(_ sign: CardFace.Sign) -> PlatformIcon {
        switch sign {
        case .file: .sheet
        case .place: .pin
        case .link: .chain
        case .person, .record: .lines
        case .call(let isVideo): isVideo ? .camera : .receiver
        }
    }

    /// The title.
    public override func dragContent(at point: CGPoint) -> PlatformDragContent? {
        face.map { .text($0.title) }
    }

    /// The size of sign and lines.
    public override func sizeThatFits(_ size: CGSize) -> CGSize {
        guard let message else { return .zero }
        let fit = CardMeasures.size(
            of: CardFace.of(message, context.strings), scale: context.textScale, width: size.width
        ) { PlatformText($0, style: $1, width: 4_000).size.width }
        return CGSize(width: fit.width, height: fit.height)
    }

    /// The size, found by values.
    public override class func valueSizing(measurer: PlatformTextMeasurer) -> (any ComponentSizeStrategy)? {
        CustomSizeStrategy { request in
            CardMeasures.size(
                of: CardFace.of(request.message, request.strings), scale: request.key.textScale,
                width: request.fittingSize.width
            ) { measurer.size(of: $0, style: $1, width: 4_000).width }
        }
    }
}

/// The measures of a card: the same for the thread that measures and the one that draws.
nonisolated enum CardMeasures {
    static let margin = 12.0
    static let signSide = 36.0
    static let textStart = 58.0
    static let widthMin = 180.0

    static func titleStyle(_ scale: Double) -> PlatformTextStyle {
        PlatformTextStyle(size: 14 * scale, lineHeight: 20 * scale, isBold: true, lineCountMax: 1)
    }

    static func detailStyle(_ scale: Double) -> PlatformTextStyle {
        PlatformTextStyle(size: 12 * scale, lineHeight: 16 * scale, lineCountMax: 1)
    }

    static func size(
        of face: CardFace?, scale: Double, width: Double, measure: (String, PlatformTextStyle) -> Double
    ) -> LayoutSize {
        guard let face else { return .zero }
        let title = measure(face.title, titleStyle(scale))
        let detail = face.detail.isEmpty ? 0 : measure(face.detail, detailStyle(scale))
        let wish = max(widthMin, textStart + max(title, detail).rounded(.up) + margin)
        // Both lines have their room also where the second one is empty, so that cards are alike.
        return LayoutSize(
            width: max(1, min(width, wish)), height: max(signSide, (36 * scale).rounded(.up)) + 20)
    }
}
