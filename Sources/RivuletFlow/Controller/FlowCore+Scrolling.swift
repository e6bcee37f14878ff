import RivuletModel

extension FlowCore {
    // MARK: the reader

    mutating func scroll(to offset: Double, version: Int, isByReader: Bool) {
        guard offset.isFinite,
            let translated = shifts.translate(offset, from: version, to: snapshot.version)
        else { return }
        viewport.offset = clamp(translated, to: offsetRange)
        // A scroll animation passes places that the reader did not choose.
        if isByReader { viewport.isFollowing = isAtBottom() }
        forgetSeen()
    }

    mutating func endDrag() {
        guard viewport.isDragging else { return }
        viewport.isDragging = false
        takeHeldPage()
        if pending.intent != nil { markDirty(.jump) }
    }

    // MARK: places

    func offsetRange(of snapshot: FlowSnapshot) -> ClosedRange<Double> {
        let bottom = snapshot.contentHeight - viewport.height
        switch configuration.gravity {
        case .bottom: return min(0, bottom)...bottom
        case .top: return 0...max(0, bottom)
        }
    }

    func clamp(_ offset: Double, to range: ClosedRange<Double>) -> Double {
        min(max(offset, range.lowerBound), range.upperBound)
    }

    func isAtBottom() -> Bool {
        !loads.newer.canLoad && offsetRange.upperBound - viewport.offset <= configuration.followSlack
    }

    /// The first place that can be kept: a row that begins in the viewport, else the row across its top, else the
    /// nearest above, else the nearest below.
    ///
    /// Only messages count: lines between them come and go by themselves.
    func firstAnchor(
        in snapshot: FlowSnapshot, where isUsable: (MessageID) -> Bool
    ) -> FlowAnchor? {
        let offset = viewport.offset
        let visible = snapshot.visibleRows(from: offset, height: viewport.height)
        func anchor(_ row: Int, _ edge: RowEdge) -> FlowAnchor? {
            let flowRow = snapshot.rows[row]
            guard flowRow.isMessage, isUsable(flowRow.message) else { return nil }
            let y = snapshot.offset(ofRow: edge == .top ? row : row + 1)
            return FlowAnchor(message: flowRow.message, edge: edge, offset: y - offset)
        }
        for row in visible {
            if let anchor = anchor(row, .top), anchor.offset >= 0 { return anchor }
        }
        for row in visible {
            guard let bottom = anchor(row, .bottom) else { continue }
            return bottom.offset <= viewport.height ? bottom : anchor(row, .top)
        }
        for row in (0..<visible.lowerBound).reversed() {
            if let anchor = anchor(row, .bottom) { return anchor }
        }
        for row in visible.upperBound..<snapshot.rows.count {
            if let anchor = anchor(row, .top) { return anchor }
        }
        return nil
    }

    // MARK: the decision

    /// How the reader comes from the old snapshot to the new one.
    struct Decision {
        var scroll: FlowScroll
        var offset: Double
        var anchor: FlowAnchor?
        var highlight: MessageID?
        /// By how much the content was shifted; nil when the reader was sent somewhere.
        var shift: Double?
    }

    /// Decides by the reasons what the reader sees after the apply; see ``FlowReason``.
    mutating func decide(old: FlowSnapshot, new: FlowSnapshot, changes: ChangeSet) -> Decision {
        let range = offsetRange(of: new)
        let isAnimated = !pending.reasons.isDisjoint(with: .animated) && configuration.incrementalRefresh
        if let intent = pending.intent, !viewport.isDragging || old.rows.isEmpty {
            pending.intent = nil
            if let decision = go(to: intent, in: new, range: range, isAnimated: isAnimated) {
                return decision
            }
        }
        let mayFollow = !pending.reasons.isSubset(of: .anchoring)
        if viewport.isFollowing, mayFollow, !viewport.isDragging, !loads.newer.canLoad {
            return goToBottom(range, isAnimated: isAnimated)
        }
        return keepAnchor(old: old, new: new, changes: changes, range: range)
    }

    private func goToBottom(_ range: ClosedRange<Double>, isAnimated: Bool) -> Decision {
        let offset = range.upperBound
        return Decision(scroll: .bottom(offset: offset, isAnimated: isAnimated), offset: offset)
    }

    private func keepAnchor(
        old: FlowSnapshot, new: FlowSnapshot, changes: ChangeSet, range: ClosedRange<Double>
    ) -> Decision {
        // When two rows change places, the change set may name either; what moved is the message that was moved.
        let moved = changes.moves.isEmpty ? [] : pending.repositioned
        let anchor = firstAnchor(in: old) { window.contains($0) && !moved.contains($0) }
        var offset = viewport.offset
        if let anchor, let index = window.index(of: anchor.message) {
            offset = edgeOffset(anchor, message: index, in: new) - anchor.offset
        }
        offset = clamp(offset, to: range)
        let shift = offset - viewport.offset
        return Decision(scroll: .keep(by: shift), offset: offset, anchor: anchor, shift: shift)
    }

    /// Goes where the reader wants to be; nil when that message has gone in the meantime.
    private func go(
        to intent: ScrollIntent, in new: FlowSnapshot, range: ClosedRange<Double>, isAnimated: Bool
    ) -> Decision? {
        switch intent {
        case .bottom: return goToBottom(range, isAnimated: isAnimated)
        case .anchor(let anchor):
            guard let index = window.index(of: anchor.message) else { return nil }
            let offset = clamp(edgeOffset(anchor, message: index, in: new) - anchor.offset, to: range)
            return Decision(scroll: .target(offset: offset, isAnimated: false), offset: offset)
        case .message(let id, let alignment, let highlights):
            guard let index = window.index(of: id) else { return nil }
            let row = decoration.row(ofMessage: index)
            let target = targetOffset(
                top: new.offset(ofRow: row), bottom: new.offset(ofRow: row + 1), alignment: alignment)
            let offset = clamp(target, to: range)
            let isNear = abs(offset - viewport.offset) <= 3 * viewport.height
            let isAnimated = isNear && pending.reasons == .jump && configuration.incrementalRefresh
            return Decision(
                scroll: .target(offset: offset, isAnimated: isAnimated), offset: offset,
                highlight: highlights ? id : nil)
        }
    }

    private func edgeOffset(_ anchor: FlowAnchor, message index: Int, in new: FlowSnapshot) -> Double {
        let row = decoration.row(ofMessage: index)
        return new.offset(ofRow: anchor.edge == .top ? row : row + 1)
    }

    private func targetOffset(top: Double, bottom: Double, alignment: FlowAlignment) -> Double {
        switch alignment {
        case .top: return top
        case .bottom: return bottom - viewport.height
        case .center:
            // A row higher than the viewport begins at its top, since it is read from there.
            return bottom - top > viewport.height ? top : (top + bottom - viewport.height) / 2
        case .nearest:
            if top < viewport.offset || bottom - top > viewport.height { return top }
            return max(viewport.offset, bottom - viewport.height)
        }
    }
}
