internal import Foundation

/// What a button looks like: an icon or words, on a ground or on none.
public final class ButtonFace: PlatformView {
    private let icon: PlatformIcon?
    private let words: String
    private let iconSide: Double
    private let ground: (Theme) -> PlatformColor?
    private let ink: (Theme) -> PlatformColor

    /// Makes a face with an icon.
    public init(
        _ icon: PlatformIcon, side: Double = 16, ground: @escaping (Theme) -> PlatformColor? = { _ in nil },
        ink: @escaping (Theme) -> PlatformColor = { $0.text }
    ) {
        self.icon = icon
        words = ""
        iconSide = side
        self.ground = ground
        self.ink = ink
        super.init(role: .decoration)
    }

    /// Makes a face with words.
    public init(
        words: String, ground: @escaping (Theme) -> PlatformColor? = { $0.accent },
        ink: @escaping (Theme) -> PlatformColor = { $0.isDark ? $0.window : $0.outgoingText }
    ) {
        icon = nil
        self.words = words
        iconSide = 0
        self.ground = ground
        self.ink = ink
        super.init(role: .decoration)
    }

    /// Draws ground and icon or words.
    public override func draw(_ canvas: PlatformCanvas) {
        let theme = Theme.current
        if let color = ground(theme) {
            canvas.fill(bounds, corners: PlatformCorners(min(bounds.width, bounds.height) / 2), color)
        }
        if let icon {
            let rect = CGRect(
                x: (bounds.width - iconSide) / 2, y: (bounds.height - iconSide) / 2, width: iconSide,
                height: iconSide)
            canvas.draw(icon, in: rect, ink(theme), width: 1.7)
        } else {
            let text = PlatformText(words, style: PlatformTextStyle(isBold: true))
            canvas.draw(
                text,
                at: CGPoint(
                    x: (bounds.width - text.size.width) / 2, y: (bounds.height - text.size.height) / 2),
                ink(theme))
        }
    }
}
