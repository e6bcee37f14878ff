internal import Foundation
public import RivuletFlow

/// The colours of the interface, light or dark.
public struct Theme: Hashable, Sendable {
    /// Behind the flow.
    public var window: PlatformColor
    /// Behind the list of conversations.
    public var sidebar: PlatformColor
    /// Text.
    public var text: PlatformColor
    /// Quiet text.
    public var dimText: PlatformColor
    /// The bubble of others.
    public var incomingBubble: PlatformColor
    /// The line around it.
    public var hairline: PlatformColor
    /// The reader's own bubble.
    public var outgoingBubble: PlatformColor
    /// The text in it.
    public var outgoingText: PlatformColor
    /// What leads the eye: links, the unread mark, the reader's name.
    public var accent: PlatformColor
    /// What failed.
    public var failure: PlatformColor
    /// Behind the number of unread messages.
    public var badge: PlatformColor
    /// Behind the chosen entry of a list, and fields.
    public var fill: PlatformColor
    /// Whether it is the dark one.
    public var isDark: Bool

    /// Dark text on light ground.
    public static let light = Theme(
        window: PlatformColor(0xFAFAFB), sidebar: PlatformColor(0xF0F0F2), text: PlatformColor(0x1D1D20),
        dimText: PlatformColor(0x5E5C64), incomingBubble: PlatformColor(0xFFFFFF),
        hairline: PlatformColor(0, alpha: 0.06), outgoingBubble: PlatformColor(0x1A64D2),
        outgoingText: PlatformColor(0xFFFFFF), accent: PlatformColor(0x1A64D2),
        failure: PlatformColor(0xC01C28),
        badge: PlatformColor(0xC01C28), fill: PlatformColor(0, alpha: 0.07), isDark: false)

    /// Light text on dark ground.
    public static let dark = Theme(
        window: PlatformColor(0x1D1D20), sidebar: PlatformColor(0x28282C), text: PlatformColor(0xFFFFFF),
        dimText: PlatformColor(0xB4B3BA), incomingBubble: PlatformColor(0x313136),
        hairline: PlatformColor(0xFFFFFF, alpha: 0.05), outgoingBubble: PlatformColor(0x2B5FA8),
        outgoingText: PlatformColor(0xFFFFFF), accent: PlatformColor(0x78AEED),
        failure: PlatformColor(0xFF8A80),
        badge: PlatformColor(0xC01C28), fill: PlatformColor(0xFFFFFF, alpha: 0.09), isDark: true)

    /// The theme of the desktop as it is now; changed with ``use(_:)``.
    public private(set) static var current = Theme.light

    /// Whether quiet text and lines are strong even where the desktop does not ask for it; counts from the next use.
    public static var isStrong = false

    /// Draws everything in another theme from now on; the views that show something must be told.
    public static func use(_ theme: Theme) {
        var theme = theme
        if PlatformApplication.isHighContrast || isStrong {
            theme.dimText = theme.text
            theme.hairline = theme.text
        }
        current = theme
        PlatformApplication.prefersDark = theme.isDark
        PlatformApplication.apply(theme.styleSheet)
    }

    /// The colour of a role.
    public func color(_ role: ComponentStyle.ColorRole, identity: Int64 = 0) -> PlatformColor {
        switch role {
        case .text: text
        case .dimText: dimText
        case .incomingBubble: incomingBubble
        case .outgoingBubble: outgoingBubble
        case .outgoingText: outgoingText
        case .identity: Self.identityColor(identity)
        default: PlatformColor(0, alpha: 0)
        }
    }

    /// Grounds on which white text has a contrast of 4.5 and more.
    private static let palette: [UInt32] = [
        0xB5480D, 0x2A6F97, 0x287F4E, 0x8F2D6B, 0x6B5B2A, 0x2563B8, 0x7A4FC9, 0x3F6D75, 0xA8323E, 0x4B6A1F,
    ]

    /// The colour that belongs to a user or group, always the same.
    public static func identityColor(_ id: Int64) -> PlatformColor {
        let hash = UInt64(bitPattern: id) &* 0x9E37_79B9_7F4A_7C15 >> 32
        return PlatformColor(palette[Int(hash % UInt64(palette.count))])
    }

    private var styleSheet: String {
        func css(_ color: PlatformColor) -> String {
            func part(_ value: Double) -> Int { Int((value * 255).rounded()) }
            return "rgba(\(part(color.red)),\(part(color.green)),\(part(color.blue)),\(color.alpha))"
        }
        let size = "\(14 * PlatformApplication.textScale)px"
        return """
            window.rivulet-window { background: \(css(window)); color: \(css(text)); font-size: \(size);
              font-family: \(PlatformApplication.fontFamily); }
            popover { font-size: \(size); font-family: \(PlatformApplication.fontFamily); }
            .rivulet-input, .rivulet-input textview, .rivulet-input text {
              background: transparent; color: \(css(text)); font-size: \(size); caret-color: \(css(accent)); }
            entry.rivulet-search { background: \(css(fill)); color: \(css(text)); border: none; box-shadow: none;
              outline-color: \(css(accent.opacity(0.6))); border-radius: 8px; min-height: 34px; padding: 0 12px 0 34px;
              font-size: \(size); }
            entry.rivulet-search:dir(rtl) { padding: 0 34px 0 12px; }
            entry.rivulet-search > text > placeholder { color: \(css(dimText)); opacity: 1; }
            button.rivulet-button { padding: 0; min-width: 0; min-height: 0; border-radius: 999px;
              background: transparent; border: none; box-shadow: none; outline-offset: 1px;
              outline-color: \(css(accent.opacity(0.7))); }
            button.rivulet-button:hover { background: \(css(fill)); }
            button.rivulet-button:active { background: \(css(fill)); }
            """
    }
}
