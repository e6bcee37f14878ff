public import Foundation
public import RivuletFlow
public import RivuletModel

/// A voice message: a disc that plays it, bars, and how long it is.
///
/// The bars are a picture of no sound: the message brings no samples, so they are made from its address, always the
/// same for the same message. They show how much was heard.
public final class AudioMessageView: MessageView {
    private var bars: [Double] = []
    private var duration: PlatformText?
    private var failure: PlatformText?
    private var failureWidth = -1.0

    /// Makes an empty bubble.
    public required init() {
        super.init()
        canPerformMenuAction = true
        mirrorsRightToLeft = true
    }

    private var status: SoundPlayer.Status {
        guard let message else { return .idle }
        return context.player?.status(of: message.id) ?? .idle
    }

    /// Shows the message.
    public override func refresh(with message: Message) {
        guard case .audio(let content) = message.content else { return }
        bars = AudioMeasures.bars(for: content.url)
        duration = .kept(
            AudioMeasures.clock(content.durationSeconds), style: AudioMeasures.style(context.textScale))
        failureWidth = -1
        setNeedsDisplay()
    }

    /// Draws bubble, disc, bars and duration.
    public override func draw(_ canvas: PlatformCanvas) {
        let theme = Theme.current
        let isOutgoing = message?.isOutgoing ?? false
        // Corners are given as they are seen.
        canvas.fill(bounds, corners: isMirrored ? corners.exchanged : corners, background)
        if !isOutgoing {
            canvas.stroke(bounds, corners: isMirrored ? corners.exchanged : corners, theme.hairline)
        }
        let ink = isOutgoing ? theme.outgoingText : theme.accent
        let quiet = isOutgoing ? theme.outgoingText : theme.dimText
        drawDisc(on: canvas, ink, sign: isOutgoing ? theme.outgoingBubble : theme.incomingBubble)
        if status == .failed {
            return drawFailure(on: canvas, isOutgoing ? theme.outgoingText : theme.failure)
        }
        var end = bounds.width - AudioMeasures.margin
        if let duration {
            end -= duration.size.width
            canvas.draw(
                duration, at: CGPoint(x: end, y: ((bounds.height - duration.size.height) / 2).rounded()),
                quiet)
        }
        drawBars(
            on: canvas, until: end - AudioMeasures.gap, heard: ink,
            ahead: quiet.opacity(isOutgoing ? 0.5 : 0.7))
    }

    private func drawDisc(on canvas: PlatformCanvas, _ ink: PlatformColor, sign: PlatformColor) {
        let side = AudioMeasures.discSide
        let disc = CGRect(
            x: AudioMeasures.margin, y: ((bounds.height - side) / 2).rounded(), width: side, height: side)
        canvas.fill(disc, corners: PlatformCorners(side / 2), ink)
        switch status {
        case .playing:
            for x in [disc.minX + 9, disc.minX + 15] {
                canvas.fill(
                    CGRect(x: x, y: disc.minY + 8, width: 4, height: 12), corners: PlatformCorners(1), sign)
            }
        case .loading:
            canvas.draw(.arc(from: 0, turns: 0.7), in: disc.insetBy(dx: 7, dy: 7), sign, width: 2)
        case .idle, .paused, .failed: canvas.draw(.play, in: disc.insetBy(dx: 6, dy: 6), sign)
        }
    }

    private func drawBars(
        on canvas: PlatformCanvas, until end: Double, heard: PlatformColor, ahead: PlatformColor
    ) {
        let start = AudioMeasures.barsStart
        let count = min(bars.count, Int((end - start) / AudioMeasures.barPitch))
        guard count > 0 else { return }
        let progress =
            switch status {
            case .playing(let progress), .paused(let progress): progress
            case .idle, .loading, .failed: 0.0
            }
        for index in 0..<count {
            let height = (4 + bars[index] * 16).rounded()
            let bar = CGRect(
                x: start + Double(index) * AudioMeasures.barPitch,
                y: ((bounds.height - height) / 2).rounded(),
                width: 3, height: height)
            let isHeard = Double(index) < progress * Double(count)
            canvas.fill(bar, corners: PlatformCorners(1.5), isHeard ? heard : ahead)
        }
    }

    private func drawFailure(on canvas: PlatformCanvas, _ color: PlatformColor) {
        let width = max(1, bounds.width - AudioMeasures.barsStart - AudioMeasures.margin)
        if failure == nil || failureWidth != width {
            failureWidth = width
            failure = PlatformText(
                context.strings[.soundFailed],
                style: PlatformTextStyle(
                    size: 12 * context.textScale, lineHeight: 16 * context.textScale, lineCountMax: 2),
                width: width)
        }
        guard let failure else { return }
        canvas.draw(
            failure,
            at: CGPoint(
                x: AudioMeasures.barsStart, y: ((bounds.height - failure.size.height) / 2).rounded()), color)
    }

    /// The size that the message's length gives it.
    public override func sizeThatFits(_ size: CGSize) -> CGSize {
        guard case .audio(let content)? = message?.content else { return .zero }
        let width = duration?.size.width ?? 0
        let fit = AudioMeasures.size(
            of: content, labelWidth: width, scale: context.textScale, width: size.width)
        return CGSize(width: fit.width, height: fit.height)
    }

    /// The size, found by values.
    public override class func valueSizing(measurer: PlatformTextMeasurer) -> (any ComponentSizeStrategy)? {
        CustomSizeStrategy { request in
            guard case .audio(let content) = request.message.content else { return .zero }
            let scale = request.key.textScale
            let words = AudioMeasures.clock(content.durationSeconds)
            let label = measurer.size(of: words, style: AudioMeasures.style(scale), width: 400).width
            return AudioMeasures.size(
                of: content, labelWidth: label, scale: scale, width: request.fittingSize.width)
        }
    }
}

/// The measures of a voice message's bubble: the same for the thread that measures and the one that draws.
nonisolated enum AudioMeasures {
    static let margin = 12.0
    static let discSide = 28.0
    static let gap = 12.0
    static let barPitch = 5.0
    static let barsStart = 50.0
    static let widthMin = 176.0
    static let widthMax = 320.0
    static let barCountMax = 64

    static func style(_ scale: Double) -> PlatformTextStyle {
        PlatformTextStyle(size: 12 * scale, lineHeight: 16 * scale)
    }

    /// Wider for a longer message, within bounds; whatever number a message claims.
    static func size(of content: AudioContent, labelWidth: Double, scale: Double, width: Double) -> LayoutSize
    {
        let seconds = Double(min(60, max(0, content.durationSeconds)))
        let wish = min(widthMax, widthMin + seconds * 5) + max(0, labelWidth - 24)
        return LayoutSize(width: max(1, min(width, wish)), height: max(44, (32 * scale + 12).rounded(.up)))
    }

    /// Minutes and seconds, such as 0:14; hours where there are any.
    static func clock(_ seconds: Int) -> String {
        let seconds = min(359_999, max(0, seconds))
        func two(_ number: Int) -> String { number < 10 ? "0\(number)" : "\(number)" }
        let rest = two(seconds % 60)
        guard seconds >= 3_600 else { return "\(seconds / 60):\(rest)" }
        return "\(seconds / 3_600):\(two(seconds / 60 % 60)):\(rest)"
    }

    /// Heights from 0 to 1 that look like speech; the same for the same address.
    static func bars(for address: String) -> [Double] {
        var state = address.utf8.suffix(256).reduce(UInt64(0xCBF2_9CE4_8422_2325)) {
            ($0 ^ UInt64($1)) &* 0x0000_0100_0000_01B3
        }
        func next() -> Double {
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return Double(state >> 40) / Double(1 << 24)
        }
        var loudness = 0.5
        return (0..<barCountMax).map { _ in
            loudness = min(1, max(0.3, loudness + (next() - 0.5) * 0.7))
            return min(1, loudness * (0.4 + 0.6 * next()))
        }
    }
}

extension PlatformCorners {
    /// The corners with the sides exchanged.
    var exchanged: PlatformCorners {
        var corners = self
        corners.topLeft = topRight
        corners.topRight = topLeft
        corners.bottomLeft = bottomRight
        corners.bottomRight = bottomLeft
        return corners
    }
}
