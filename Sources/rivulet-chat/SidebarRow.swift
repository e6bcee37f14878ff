import Foundation
import RivuletUI

/// An entry of the sidebar: what it shows, and what can be done with it.
struct SidebarEntry {
    /// Something that can be done with an entry.
    struct Action {
        /// The name by which assistive technology finds it.
        var name: String
        /// What it is called.
        var title: String
        /// What is asked before something that cannot be taken back; nil for anything else.
        var confirmation: String?
        var perform: () -> Void

        /// The entry of a menu; what cannot be taken back is asked for in a second menu, at the same place.
        func menuItem(on view: PlatformView, at place: CGRect) -> PlatformMenu.Item {
            PlatformMenu.Item(title: title) {
                guard let confirmation else { return perform() }
                // The menu that led here closes first.
                Task {
                    PlatformMenu.show(
                        [
                            PlatformMenu.Item(title: Words.say("Keep everything")) {},
                            PlatformMenu.Item(title: confirmation, action: perform),
                        ], on: view, at: place)
                }
            }
        }
    }

    var face: RowFace
    var isSelected = false
    /// What happens when it is chosen.
    var open: () -> Void
    /// What its menu offers, if it has one.
    var actions: [Action] = []
}

/// What stands in the sidebar, from top to bottom.
enum SidebarItem {
    /// The name of what follows.
    case heading(String)
    case entry(SidebarEntry)
    /// A friendly line where there is nothing else.
    case hint(String)

    /// How much room it takes, with the user's text size in it.
    func height(scale: Double) -> Double {
        switch self {
        case .heading: 30 * scale
        case .entry: 60 * scale
        case .hint: 64 * scale
        }
    }
}

/// An entry on the screen.
final class SidebarRow: PlatformView {
    private(set) var entry: SidebarEntry?
    private var isHovered = false

    init() {
        super.init(role: .listItem)
        mirrorsRightToLeft = true
        isFocusable = true
        onHover { [weak self] point in
            guard let self, self.isHovered != (point != nil) else { return }
            self.isHovered = point != nil
            self.setNeedsDisplay()
        }
        onFocusChange { [weak self] _ in self?.setNeedsDisplay() }
        onTap { [weak self] tap in
            guard let self else { return }
            if tap.isSecondary { self.openMenu(at: tap.point) } else { self.entry?.open() }
        }
        onLongPress { [weak self] point in self?.openMenu(at: point) }
        onKey { [weak self] key in self?.take(key) ?? false }
    }

    func show(_ entry: SidebarEntry) {
        let isSame = self.entry?.face == entry.face && self.entry?.isSelected == entry.isSelected
        self.entry = entry
        accessibilityLabel = entry.face.label
        setAccessibilityActions(entry.actions.map(\.name), prefix: "conversation") { [weak self] name in
            self?.entry?.actions.first { $0.name == name }?.perform()
        }
        if !isSame { setNeedsDisplay() }
    }

    private func take(_ key: PlatformKey) -> Bool {
        switch key.name {
        case .enter, .space: entry?.open()
        case .menu: openMenu(at: CGPoint(x: 68, y: bounds.height / 2))
        default: return false
        }
        return true
    }

    private func openMenu(at point: CGPoint) {
        guard let actions = entry?.actions, !actions.isEmpty else { return }
        let place = CGRect(origin: point, size: CGSize(width: 1, height: 1))
        PlatformMenu.show(
            actions.map { $0.menuItem(on: self, at: place) }, on: self, at: place,
            onClose: { [weak self] in self?.focus() })
    }

    // MARK: drawing

    private var scale: Double { PlatformApplication.textScale }

    override func draw(_ canvas: PlatformCanvas) {
        guard let entry else { return }
        let theme = Theme.current
        if entry.isSelected || isHovered {
            canvas.fill(
                bounds, corners: PlatformCorners(12),
                entry.isSelected ? theme.fill : theme.fill.opacity(0.55))
        }
        if isFocused {
            canvas.stroke(
                bounds.insetBy(dx: 1, dy: 1), corners: PlatformCorners(11), width: 2,
                theme.accent.opacity(0.7))
        }
        let side = 44 * scale
        AvatarDrawing.draw(
            entry.face.initials, identity: entry.face.identity,
            in: CGRect(x: 12, y: 8 * scale, width: side, height: side), size: 15 * scale, on: canvas)
        let left = 24 + side
        drawTitle(entry.face, from: left, on: canvas)
        let badge = drawBadge(entry.face, on: canvas)
        drawLine(entry.face, from: left, width: bounds.width - 12 - badge - left, on: canvas)
    }

    private func drawTitle(_ face: RowFace, from left: Double, on canvas: PlatformCanvas) {
        let theme = Theme.current
        var right = bounds.width - 12
        let time = PlatformText(face.time, style: PlatformTextStyle(size: 12 * scale, lineHeight: 16 * scale))
        right -= time.size.width
        canvas.draw(time, at: CGPoint(x: right, y: 12 * scale), theme.dimText)
        let icons = (face.isMuted ? [PlatformIcon.muted] : []) + (face.isPinned ? [PlatformIcon.pin] : [])
        for icon in icons {
            right -= 18
            canvas.draw(
                icon, in: CGRect(x: right, y: 14 * scale, width: 12, height: 12), theme.dimText, width: 1.2)
        }
        let title = PlatformText(
            face.title,
            style: PlatformTextStyle(
                size: 14 * scale, lineHeight: 20 * scale, isBold: true, lineCountMax: 1),
            width: max(1, right - 8 - left), spans: spans(face.titleMarks))
        canvas.draw(title, at: CGPoint(x: left, y: 10 * scale), theme.text)
    }

    private func drawLine(_ face: RowFace, from left: Double, width: Double, on canvas: PlatformCanvas) {
        let line = PlatformText(
            face.line,
            style: PlatformTextStyle(size: 13 * scale, lineHeight: 18 * scale, lineCountMax: 1),
            width: max(1, width), spans: spans(face.lineMarks))
        canvas.draw(line, at: CGPoint(x: left, y: 31 * scale), Theme.current.dimText)
    }

    private func spans(_ marks: [RowFace.Mark]) -> [PlatformTextSpan] {
        let theme = Theme.current
        return marks.flatMap { mark -> [PlatformTextSpan] in
            switch mark.look {
            case .bold:
                [PlatformTextSpan(mark.range, .bold), PlatformTextSpan(mark.range, .colored(theme.text))]
            case .accent: [PlatformTextSpan(mark.range, .colored(theme.accent))]
            case .failure: [PlatformTextSpan(mark.range, .colored(theme.failure))]
            }
        }
    }

    /// Draws the number of unread messages, grey for a muted conversation; answers the room that it takes.
    private func drawBadge(_ face: RowFace, on canvas: PlatformCanvas) -> Double {
        guard !face.badge.isEmpty else { return 0 }
        let theme = Theme.current
        let text = PlatformText(
            face.badge, style: PlatformTextStyle(size: 11 * scale, lineHeight: 14 * scale, isBold: true))
        let height = 18 * scale
        let width = max(height, text.size.width + 10)
        let rect = CGRect(x: bounds.width - 12 - width, y: 32 * scale, width: width, height: height)
        canvas.fill(rect, corners: PlatformCorners(height / 2), face.isMuted ? theme.dimText : theme.badge)
        canvas.draw(
            text, at: CGPoint(x: rect.midX - text.size.width / 2, y: rect.midY - text.size.height / 2),
            face.isMuted ? theme.sidebar : PlatformColor(0xFFFFFF))
        return width + 8
    }
}

/// The name of a section, or a friendly line.
final class SidebarLine: PlatformView {
    private var words = ""
    private var isHeading = false

    init() {
        super.init(role: .label)
        mirrorsRightToLeft = true
        isUserInteractionEnabled = false
    }

    func show(_ words: String, isHeading: Bool) {
        self.words = words
        self.isHeading = isHeading
        accessibilityLabel = words
        setNeedsDisplay()
    }

    override func draw(_ canvas: PlatformCanvas) {
        let scale = PlatformApplication.textScale
        let text = PlatformText(
            words,
            style: PlatformTextStyle(
                size: (isHeading ? 12 : 13) * scale, lineHeight: 18 * scale, isBold: isHeading,
                lineCountMax: isHeading ? 1 : 2, isCentered: !isHeading),
            width: max(1, bounds.width - 24))
        canvas.draw(
            text, at: CGPoint(x: 12, y: ((bounds.height - text.size.height) / 2).rounded()),
            Theme.current.dimText)
    }
}

/// Draws a name's initials on its colour.
enum AvatarDrawing {
    static func draw(
        _ initials: String, identity: Int64, in rect: CGRect, size: Double, on canvas: PlatformCanvas
    ) {
        canvas.fill(rect, corners: PlatformCorners(rect.width / 2), Theme.identityColor(identity))
        let text = PlatformText(
            initials, style: PlatformTextStyle(size: size, lineHeight: size + 6, isBold: true))
        canvas.draw(
            text,
            at: CGPoint(
                x: (rect.midX - text.size.width / 2).rounded(),
                y: (rect.midY - text.size.height / 2).rounded()),
            PlatformColor(0xFFFFFF))
    }
}
