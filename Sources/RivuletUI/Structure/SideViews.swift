public import Foundation
public import RivuletFlow
public import RivuletModel

/// The author's initials on a ground of their own colour.
public final class AvatarMessageView: MessageView {
    private var text: PlatformText?

    /// Makes an empty avatar.
    public required init() { super.init() }

    /// Shows the author.
    public override func refresh(with message: Message) {
        let name = context.directory?.name(of: message.sender, in: message.session) ?? ""
        text = .kept(
            Initials.of(name), style: PlatformTextStyle(size: 13, lineHeight: 18, isBold: true))
        setNeedsDisplay()
    }

    /// Draws a circle and the initials.
    public override func draw(_ canvas: PlatformCanvas) {
        Initials.draw(text, identity: message?.sender.rawValue ?? 0, in: bounds, on: canvas)
    }

    /// The least size of the layout.
    public override class func valueSizing(measurer: PlatformTextMeasurer) -> (any ComponentSizeStrategy)? {
        CustomSizeStrategy { $0.appearance.layout.minimumSize }
    }
}

/// The letters that stand for a name.
public enum Initials {
    /// The first letters of two words, or the first Han character.
    public static func of(_ name: String) -> String {
        guard let first = name.first(where: { $0.isLetter || $0.isNumber }) else {
            return name.isEmpty ? "?" : String(name.prefix(1))
        }
        if let scalar = first.unicodeScalars.first, scalar.value >= 0x2E80 { return String(first) }
        let words = name.split { !$0.isLetter && !$0.isNumber }
        return words.prefix(2).compactMap(\.first).map { $0.uppercased() }.joined()
    }

    static func draw(_ text: PlatformText?, identity: Int64, in bounds: CGRect, on canvas: PlatformCanvas) {
        canvas.fill(bounds, corners: PlatformCorners(bounds.width / 2), Theme.identityColor(identity))
        guard let text else { return }
        let origin = CGPoint(
            x: (bounds.midX - text.size.width / 2).rounded(),
            y: (bounds.midY - text.size.height / 2).rounded())
        canvas.draw(text, at: origin, PlatformColor(0xFFFFFF))
    }
}

/// The author's name and role above a bubble.
public final class HeaderMessageView: MessageView {
    private let label = PlatformTextView()

    /// Makes an empty line.
    public required init() {
        super.init()
        addSubview(label)
    }

    /// Shows name and role.
    public override func refresh(with message: Message) {
        let name =
            context.directory?.name(of: message.sender, in: message.session) ?? "\(message.sender.rawValue)"
        let role = context.directory?.role(of: message.sender, in: message.session)
        let style = context.appearance.style
        label.color = Theme.current.dimText
        let nameColor =
            Theme.current.isDark
            ? Theme.identityColor(message.sender.rawValue).lightened
            : Theme.identityColor(message.sender.rawValue)
        let length = name.utf8.count
        label.show(
            role.map { "\(name) · \($0)" } ?? name,
            style: PlatformTextStyle(
                size: style.fontSize * context.textScale, lineHeight: style.lineHeight * context.textScale,
                lineCountMax: 1),
            spans: [
                PlatformTextSpan(0..<length, .bold), PlatformTextSpan(0..<length, .colored(nameColor)),
            ])
    }

    /// Puts the line where the bubble's text begins.
    public override func layoutSubviews() {
        label.frame = CGRect(x: 4, y: 0, width: max(0, bounds.width - 8), height: bounds.height)
    }

    /// One line over the whole column.
    public override class func valueSizing(measurer: PlatformTextMeasurer) -> (any ComponentSizeStrategy)? {
        CustomSizeStrategy { request in
            LayoutSize(
                width: request.fittingSize.width,
                height: request.appearance.style.lineHeight * request.key.textScale)
        }
    }
}

extension PlatformColor {
    /// The same hue, light enough for dark ground.
    var lightened: PlatformColor {
        PlatformColor(
            red: red + (1 - red) * 0.5, green: green + (1 - green) * 0.5, blue: blue + (1 - blue) * 0.5,
            alpha: alpha)
    }
}

/// How far a message has come, beside its bubble.
public final class StateMessageView: MessageView {
    private var text: PlatformText?
    private var icon: PlatformIcon?
    private var shownAfter: Task<Void, Never>?
    private var isVisible = true

    /// Makes an empty state.
    public required init() {
        super.init()
        mirrorsRightToLeft = true
    }

    nonisolated static func words(for state: Message.State, _ strings: InterfaceStrings) -> String {
        switch state {
        case .failed: strings[.notSentRetry]
        case .read(let count) where count > 1: strings[.readCount, count: count]
        case .read: strings[.read]
        default: ""
        }
    }

    private static func icon(for state: Message.State) -> PlatformIcon? {
        switch state {
        case .preparing, .sending: .clock
        case .accepted: .tick
        case .delivered, .read: .ticks
        case .failed, .received: nil
        }
    }

    /// Shows the state; a message on its way shows nothing for its first moments, since most take no longer.
    public override func refresh(with message: Message) {
        shownAfter?.cancel()
        shownAfter = nil
        isVisible = true
        icon = Self.icon(for: message.state)
        let words = Self.words(for: message.state, context.strings)
        let style = PlatformTextStyle(
            size: 12 * context.textScale, lineHeight: 16 * context.textScale, isBold: message.state.isFailed)
        text = words.isEmpty ? nil : .kept(words, style: style)
        if message.state.isPending {
            isVisible = false
            shownAfter = Task { [weak self] in
                do { try await Task.sleep(for: .milliseconds(300)) } catch { return }
                self?.isVisible = true
                self?.setNeedsDisplay()
            }
        }
        setNeedsDisplay()
    }

    /// Stops waiting.
    public override func prepareForReuse() {
        shownAfter?.cancel()
        shownAfter = nil
    }

    /// Draws ticks and words at the side of the bubble.
    public override func draw(_ canvas: PlatformCanvas) {
        guard isVisible, let message else { return }
        let theme = Theme.current
        let color =
            switch message.state {
            case .failed: theme.failure
            case .read: theme.accent
            default: theme.dimText
            }
        var shown = text
        var shownIcon = icon
        if let wide = text, message.state.isFailed, wide.size.width > bounds.width {
            // Too narrow for words: the mark alone says it, and the row's menu offers the rest.
            shown = nil
            shownIcon = .failure
        }
        // The row is mirrored for the reader's own messages, so what stands next to the bubble is at the trailing edge.
        var x = bounds.width
        let y = bounds.height - 16
        if let shown {
            x -= shown.size.width
            canvas.draw(shown, at: CGPoint(x: x, y: bounds.height - shown.size.height), color)
            x -= 2
        }
        if let shownIcon {
            canvas.draw(shownIcon, in: CGRect(x: x - 16, y: y + 1, width: 14, height: 14), color, width: 1.4)
        }
    }

    /// The words and the ticks.
    public override class func valueSizing(measurer: PlatformTextMeasurer) -> (any ComponentSizeStrategy)? {
        CustomSizeStrategy { request in
            let scale = request.key.textScale
            let words = words(for: request.message.state, request.strings)
            let style = PlatformTextStyle(size: 12 * scale, lineHeight: 16 * scale, isBold: true)
            let width = words.isEmpty ? 0 : measurer.size(of: words, style: style, width: 400).width
            return LayoutSize(width: width + 20, height: 18 * scale)
        }
    }
}

/// The emoji that readers put under a message.
public final class ReactionsMessageView: MessageView {
    private struct Chip {
        var emoji: String
        var text: PlatformText
        var isOwn: Bool
    }

    private var chips: [Chip] = []

    /// Makes an empty line.
    public required init() {
        super.init()
        mirrorsRightToLeft = true
    }

    nonisolated static func words(_ reaction: Message.Reaction) -> String {
        reaction.users.count > 1 ? "\(reaction.emoji) \(reaction.users.count)" : reaction.emoji
    }

    /// Shows the reactions.
    public override func refresh(with message: Message) {
        let style = PlatformTextStyle(size: 12 * context.textScale, lineHeight: 18 * context.textScale)
        let reader = context.directory?.reader
        chips = message.reactions.map { reaction in
            Chip(
                emoji: reaction.emoji, text: .kept(Self.words(reaction), style: style),
                isOwn: reader.map(reaction.users.contains) ?? false)
        }
        setNeedsDisplay()
    }

    private var chipHeight: Double { 22 * context.textScale }

    /// The chips that have room, with their places.
    private func placed() -> [(chip: Chip, rect: CGRect)] {
        var x = 0.0
        var placed: [(chip: Chip, rect: CGRect)] = []
        for chip in chips {
            let rect = CGRect(x: x, y: 4, width: chip.text.size.width + 16, height: chipHeight)
            guard rect.maxX <= bounds.width + 1 else { break }
            placed.append((chip, rect))
            x += rect.width + 4
        }
        return placed
    }

    /// The emoji under a point; nil where there is none.
    public func emoji(at point: CGPoint) -> String? {
        let point = isMirrored ? CGPoint(x: bounds.width - point.x, y: point.y) : point
        return placed().first { $0.rect.contains(point) }?.chip.emoji
    }

    /// Draws a chip for each emoji.
    public override func draw(_ canvas: PlatformCanvas) {
        let theme = Theme.current
        for (chip, rect) in placed() {
            let corners = PlatformCorners(chipHeight / 2)
            canvas.fill(rect, corners: corners, theme.incomingBubble)
            if chip.isOwn { canvas.fill(rect, corners: corners, theme.accent.opacity(0.12)) }
            canvas.stroke(rect, corners: corners, chip.isOwn ? theme.accent : theme.hairline)
            canvas.draw(
                chip.text,
                at: CGPoint(x: rect.minX + 8, y: 4 + (chipHeight - chip.text.size.height) / 2),
                chip.isOwn ? theme.accent : theme.text)
        }
    }

    /// One line of chips, or nothing.
    public override class func valueSizing(measurer: PlatformTextMeasurer) -> (any ComponentSizeStrategy)? {
        CustomSizeStrategy { request in
            guard !request.message.reactions.isEmpty else { return .zero }
            let scale = request.key.textScale
            let style = PlatformTextStyle(size: 12 * scale, lineHeight: 18 * scale)
            var width = -4.0
            for reaction in request.message.reactions {
                width += measurer.size(of: words(reaction), style: style, width: 200).width + 20
            }
            return LayoutSize(width: min(width, request.fittingSize.width), height: 4 + 22 * scale)
        }
    }
}
