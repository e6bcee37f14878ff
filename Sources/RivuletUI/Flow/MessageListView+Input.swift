internal import Foundation
internal import RivuletFlow
internal import RivuletModel

extension MessageListView {
    /// Turns clicks, presses, swipes and keys into events of components.
    func listen() {
        onTap { [weak self] tap in self?.handle(tap) }
        onLongPress { [weak self] point in self?.send(.longPress, at: point) }
        onSwipe { [weak self] velocity, point in self?.swipe(velocity, at: point) }
        onHover { [weak self] point in
            self?.hovered = point.flatMap { self?.cell(at: $0)?.message?.id }
        }
        onDragOut { [weak self] point in
            guard let self, !self.selection.isActive, let hit = self.hit(point) else { return nil }
            return hit.cell.view(for: hit.component)?.dragContent(at: hit.point)
        }
        onKey { [weak self] key in self?.handle(key) ?? false }
        onTab { [weak self] in self?.takeKeyboard() ?? false }
    }

    /// The list is one stop of the Tab key: it leads to the newest row in view, and arrow keys to the others.
    private func takeKeyboard() -> Bool {
        (visibleCells.last ?? self).focus()
    }

    private func handle(_ tap: PlatformTap) {
        if let direction = isRetry(at: tap.point) {
            controller.submit(.loadRequested(direction))
            return
        }
        if selection.isActive {
            if let id = cell(at: tap.point)?.message?.id { onToggle?(id) }
            return
        }
        if tap.isSecondary { return send(.secondaryClick, at: tap.point) }
        if let hit = hit(tap.point), let link = hit.cell.view(for: hit.component)?.link(at: hit.point) {
            return send(.link(link), at: tap.point)
        }
        send(tap.count == 2 ? .doubleTap : .tap, at: tap.point)
    }

    private func hit(_ point: CGPoint) -> (cell: MessageCell, component: MessageComponent, point: CGPoint)? {
        guard let cell = cell(at: point),
            let found = cell.component(at: CGPoint(x: point.x, y: point.y - cell.frame.minY))
        else { return nil }
        return (cell, found.component, found.point)
    }

    private func send(_ gesture: MessageGesture, at point: CGPoint) {
        guard let hit = hit(point), let message = hit.cell.message else {
            if gesture == .tap { clearSelection() }
            return
        }
        onEvent?(
            MessageEvent(
                gesture: gesture, component: hit.component, message: message,
                location: LayoutPoint(x: hit.point.x, y: hit.point.y)), hit.cell)
    }

    /// A swipe over a row; towards the edge where a line begins it reveals the times.
    private func swipe(_ velocity: CGPoint, at point: CGPoint) {
        guard abs(velocity.x) > 300, abs(velocity.x) > 2 * abs(velocity.y) else { return }
        let isTrailing = (velocity.x > 0) != PlatformApplication.isRightToLeft
        revealsTimes = !isTrailing
        // The finger may have left the row sideways, but hardly upwards.
        guard let cell = visibleCells.first(where: { $0.frame.minY <= point.y && point.y < $0.frame.maxY }),
            let message = cell.message
        else { return }
        onEvent?(
            MessageEvent(
                gesture: .swipe(isTrailing ? .towardsTrailing : .towardsLeading), component: .content,
                message: message), cell)
    }

    // MARK: keys

    /// The voice message whose row has the keyboard; nil for none, and where sounds are not played.
    private var focusedSound: Message? {
        guard sounds != nil, let message = visibleCells.first(where: \.isFocused)?.message,
            case .audio = message.content
        else { return nil }
        return message
    }

    private func handle(_ key: PlatformKey) -> Bool {
        switch key.name {
        case .up: return moveFocus(by: -1)
        case .down: return moveFocus(by: 1)
        case .enter where selection.isActive, .space where selection.isActive:
            guard let id = visibleCells.first(where: \.isFocused)?.message?.id else { return false }
            onToggle?(id)
        case .escape where selection.isActive: onLeaveSelection?()
        case .enter where focusedSound != nil, .space where focusedSound != nil:
            focusedSound.map { player.toggle($0) }
        case .pageUp: scroll(by: -bounds.height * 0.9)
        case .pageDown, .space: scroll(by: bounds.height * 0.9)
        case .home: scroll(by: -contentOffset - 1_000_000)
        case .end: controller.submit(.latestRequested)
        case .letter("t") where key.isControl: revealsTimes.toggle()
        case .menu, .enter:
            guard let cell = visibleCells.first(where: \.isFocused), let message = cell.message else {
                return false
            }
            onEvent?(
                MessageEvent(gesture: .secondaryClick, component: .content, message: message), cell)
        case .letter("c") where key.isControl:
            let focused =
                visibleCells.first(where: \.isFocused)?.message.map {
                    MessageText.text(of: $0, strings)
                } ?? ""
            let text = selectedText.isEmpty ? focused : selectedText
            guard !text.isEmpty else { return false }
            copyToClipboard(text)
        case .escape:
            guard !selectedText.isEmpty else { return false }
            clearSelection()
        default: return false
        }
        return true
    }

    /// Gives the keyboard to the next message up or down, scrolling it into view.
    private func moveFocus(by step: Int) -> Bool {
        let cells = visibleCells
        guard let present = cells.firstIndex(where: \.isFocused) else {
            return (step < 0 ? cells.last : cells.first)?.focus() ?? false
        }
        let next = present + step
        guard cells.indices.contains(next) else {
            scroll(by: Double(step) * 80)
            return true
        }
        cells[next].focus()
        reveal(cells[next])
        return true
    }

    private func reveal(_ cell: MessageCell) {
        if cell.frame.minY < 8 {
            scroll(by: cell.frame.minY - 8)
        } else if cell.frame.maxY > bounds.height - 8, cell.frame.height < bounds.height {
            scroll(by: cell.frame.maxY - bounds.height + 8)
        }
    }
}
