import Foundation
import RivuletUI

/// The entries of the sidebar under one another; arrows lead from one to the next.
final class SidebarList: PlatformView {
    /// Hears that an arrow leads out of the list at its top.
    var onLeaveUp: (() -> Void)?
    /// Hears that the keyboard came to an entry, which has to be in view.
    var onFocus: ((SidebarRow) -> Void)?

    private(set) var items: [SidebarItem] = []
    private var rows: [SidebarRow] = []
    private var lines: [SidebarLine] = []
    /// The view of each item.
    private var views: [PlatformView] = []

    init() {
        super.init(role: .list)
        mirrorsRightToLeft = true
        onKey { [weak self] key in
            switch key.name {
            case .down: self?.moveFocus(by: 1) ?? false
            case .up: self?.moveFocus(by: -1) ?? false
            default: false
            }
        }
        onTab { [weak self] in self?.focusChosen() ?? false }
    }

    /// The row that is chosen, or else the first: where Tab leads, as one stop for the whole list.
    private func focusChosen() -> Bool {
        let shown = rows.filter { !$0.isHidden }
        guard let row = shown.first(where: { $0.entry?.isSelected ?? false }) ?? shown.first else {
            return false
        }
        onFocus?(row)
        return row.focus()
    }

    var fullHeight: Double {
        items.reduce(12) { $0 + $1.height(scale: PlatformApplication.textScale) }
    }

    func show(_ items: [SidebarItem]) {
        self.items = items
        var (rowCount, lineCount) = (0, 0)
        views = items.map { item in
            switch item {
            case .entry(let entry):
                let row = next(&rows, rowCount, SidebarRow.init)
                rowCount += 1
                row.show(entry)
                return row
            case .heading(let words), .hint(let words):
                let line = next(&lines, lineCount, SidebarLine.init)
                lineCount += 1
                if case .heading = item {
                    line.show(words, isHeading: true)
                } else {
                    line.show(words, isHeading: false)
                }
                return line
            }
        }
        for row in rows[rowCount...] { row.isHidden = true }
        for line in lines[lineCount...] { line.isHidden = true }
        setNeedsLayout()
    }

    /// Draws everything anew, as in another theme or text size.
    func drawAll() {
        for view in views { view.setNeedsDisplay() }
        setNeedsLayout()
    }

    /// The view with this number, which is made when there is none.
    private func next<View: PlatformView>(_ views: inout [View], _ number: Int, _ make: () -> View) -> View {
        if number == views.count {
            let view = make()
            views.append(view)
            addSubview(view)
        }
        views[number].isHidden = false
        return views[number]
    }

    /// Chooses the first entry, as Return does in the field above.
    func openFirst() {
        for case .entry(let entry) in items { return entry.open() }
    }

    /// Takes the keyboard to the first entry.
    @discardableResult
    func focusFirst() -> Bool {
        rows.first { !$0.isHidden }?.focus() ?? false
    }

    private func moveFocus(by step: Int) -> Bool {
        let shown = rows.filter { !$0.isHidden }
        guard let place = shown.firstIndex(where: \.isFocused) else { return false }
        guard shown.indices.contains(place + step) else {
            if step < 0 { onLeaveUp?() }
            return true
        }
        let row = shown[place + step]
        onFocus?(row)
        return row.focus()
    }

    override func layoutSubviews() {
        let scale = PlatformApplication.textScale
        var y = 2.0
        for (item, view) in zip(items, views) {
            let height = item.height(scale: scale)
            view.frame = CGRect(x: 6, y: y, width: max(0, bounds.width - 13), height: height)
            y += height
        }
    }
}
