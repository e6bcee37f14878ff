import RivuletModel

extension FlowCore {
    // MARK: decorating

    /// Brings rows and requests for sizes up to date with the messages.
    ///
    /// - Parameter mayWait: Whether the next apply may wait for sizes.
    mutating func redecorate(mayWait: Bool) {
        let context = DecorationContext(
            zone: zone, nowMilliseconds: now, unread: configuration.unread,
            startsAtBeginning: loads.opening == .shown && !loads.older.canLoad)
        let edit = window.takeEdit()
        let old = decoration.context
        let isNewDay = context.today != old.today || context.zone != old.zone
        let isNewContext =
            isNewDay || context.unread != old.unread || context.startsAtBeginning != old.startsAtBeginning
        var edited: RowEdit?
        if decoration.messageCount == 0, !window.messages.isEmpty, edit == nil {
            // The rules changed: everything is decorated anew by them.
            decoration = Decoration(of: window.messages, rules: decoration.rules, context: context)
            edited = RowEdit(start: 0, old: [], new: decoration.rows)
            pending.rowEditCount += 2
        } else if edit != nil || isNewContext {
            edited = decoration.update(window.messages, edit: edit, context: context)
        }
        if let edited, !edited.old.isEmpty || !edited.new.isEmpty {
            pending.rowEdit = edited
            pending.rowEditCount += 1
            markDirty(isNewDay && !snapshot.rows.isEmpty ? .clock : [])
        }
        requestSizes(edited?.new ?? [], mayWait: mayWait)
        setDeadline(context)
    }

    private mutating func setDeadline(_ context: DecorationContext) {
        let midnight = context.nextMidnightMilliseconds
        guard loads.opening == .shown, deadline != midnight else { return }
        deadline = midnight
        actions.append(.setDeadline(milliseconds: midnight))
    }

    // MARK: measuring

    /// Asks for the sizes of these rows, and of all after a change that concerns all.
    private mutating func requestSizes(_ rows: [FlowRow], mayWait: Bool) {
        var found: [(index: Int, requests: [MeasureRequest])] = []
        for index in messagesToMeasure(rows) {
            var requests: [MeasureRequest] = []
            book.refresh(window.messages[index], grouping: grouping(ofMessage: index), into: &requests)
            if !requests.isEmpty { found.append((index, requests)) }
        }
        guard !found.isEmpty else { return }
        let focus = focusedMessages()
        func distance(_ index: Int) -> Int {
            if index < focus.lowerBound { return focus.lowerBound - index }
            return max(0, index - max(focus.lowerBound, focus.upperBound - 1))
        }
        found.sort { (distance($0.index), $0.index) < (distance($1.index), $1.index) }
        actions.append(.measure(found.flatMap(\.requests)))
        guard mayWait, configuration.measuresBeforeApplying, !pending.hasWaited else { return }
        let urgent = found.prefix { distance($0.index) <= Self.urgentDistance }.flatMap(\.requests)
        guard !urgent.isEmpty else { return }
        pending.awaitedTickets = Set(urgent.map(\.ticket))
        pending.hasWaited = true
        pending.isDirty = true
    }

    /// The messages whose sizes may be unknown, as ascending indexes.
    private mutating func messagesToMeasure(_ rows: [FlowRow]) -> [Int] {
        if pending.resizesAll, !pending.hasAskedForAll {
            pending.hasAskedForAll = true
            return Array(window.messages.indices)
        }
        guard !rows.isEmpty || !pending.changed.isEmpty else { return [] }
        var ids = pending.changed
        for row in rows where row.isMessage { ids.insert(row.message) }
        return ids.compactMap { window.index(of: $0) }.sorted()
    }

    /// How many messages around those in view are worth waiting for.
    static let urgentDistance = 24

    /// The messages that the reader will see after the next apply, as indexes.
    func focusedMessages() -> Range<Int> {
        let count = window.messages.count
        switch viewport.isDragging ? nil : pending.intent {
        case .message(let id, _, _)?:
            if let index = window.index(of: id) { return index..<index + 1 }
        case .anchor(let anchor)?:
            if let index = window.index(of: anchor.message) { return index..<index + 1 }
        case .bottom?: return count..<count
        case nil:
            if viewport.isFollowing { return count..<count }
        }
        var indices: [Int] = []
        for row in snapshot.visibleRows(from: viewport.offset, height: viewport.height) {
            if let index = window.index(of: snapshot.rows[row].message) { indices.append(index) }
        }
        guard let first = indices.min(), let last = indices.max() else { return count..<count }
        return first..<last + 1
    }

    mutating func take(_ measurements: [Measurement]) {
        for measurement in measurements {
            let wasAwaited = pending.awaitedTickets.remove(measurement.ticket) != nil
            guard let index = window.index(of: measurement.key.message) else { continue }
            let message = window.messages[index]
            if book.take(measurement, message: message, grouping: grouping(ofMessage: index)) {
                pending.resized.insert(message.id)
                // An apply that waited for its sizes has a reason already.
                markDirty(wasAwaited ? [] : .measurement)
            }
        }
    }

    mutating func resize(_ component: MessageComponent, of id: MessageID, to size: LayoutSize) {
        guard let index = window.index(of: id) else { return }
        let grouping = grouping(ofMessage: index)
        if book.set(size, of: component, message: window.messages[index], grouping: grouping) {
            pending.resized.insert(id)
            markDirty(.measurement)
        }
    }

    mutating func clearSnapshots(_ scope: SnapshotScope) {
        let affected = book.clear(scope, among: window.messages)
        guard loads.isOpen, !affected.isEmpty else { return }
        pending.changed.formUnion(affected)
        markDirty(.restyle)
    }

    /// The requests that widgets have to answer, the rows in view first.
    ///
    /// Answer them on the main thread as long as time allows, with the event `measured`; the rest keeps until the
    /// next frame.
    public mutating func viewRequests(countMax: Int) -> [MeasureRequest] {
        guard !book.awaitingViews.isEmpty, countMax > 0 else { return [] }
        let focus = focusedMessages()
        var requests: [MeasureRequest] = []
        let center = focus.isEmpty ? focus.lowerBound - 1 : (focus.lowerBound + focus.upperBound) / 2
        for step in 0...window.messages.count {
            for index in step == 0 ? [center] : [center - step, center + step] {
                guard window.messages.indices.contains(index) else { continue }
                requests += book.viewRequests(
                    for: window.messages[index], grouping: grouping(ofMessage: index))
                if requests.count >= countMax { return requests }
            }
        }
        return requests
    }

    // MARK: applying

    /// Makes the new snapshot and the one action that shows it.
    mutating func publish() {
        let old = snapshot
        var new = old
        new.version += 1
        new.generation = loads.generation
        new.messages = window.messages
        new.rows = decoration.rows
        new.width = book.environment.width
        new.textScale = book.environment.textScale
        new.leadingSpace = loads.older.canLoad ? configuration.placeholderHeight : 0
        new.trailingSpace = loads.newer.canLoad ? configuration.placeholderHeight : 0
        var changes = makeChanges(old: old, new: new)
        let look = lookChanges(old: old, new: new, changes: changes)
        new.layout = makeLayout(old: old, new: new, changes: changes, resized: look.map(\.new))
        let decision = decide(old: old, new: new, changes: changes)
        changes.updates = merged(changes.updates, look)

        snapshot = new
        viewport.offset = decision.offset
        viewport.isFollowing = isAtBottom()
        shifts.add(version: new.version, shift: decision.shift)
        let isReload =
            !configuration.incrementalRefresh || pending.reasons.contains(.restyle)
            || new.generation != old.generation
        actions.append(
            .apply(
                FlowUpdate(
                    snapshot: new, changes: changes, isReload: isReload, reasons: pending.reasons,
                    scroll: decision.scroll, offset: decision.offset, anchor: decision.anchor,
                    highlight: decision.highlight)))
        countArrived()
        let intent = pending.intent
        pending = Pending()
        pending.intent = intent
    }

    /// The changes from the rows shown to the new ones, verified; one that fails is replaced by removing and
    /// inserting everything, so that no view is ever told something wrong.
    private mutating func makeChanges(old: FlowSnapshot, new: FlowSnapshot) -> ChangeSet {
        if pending.rowEditCount == 0, old.rows.count == new.rows.count {
            return ChangeSet(oldCount: old.rows.count, newCount: new.rows.count)
        }
        if pending.rowEditCount == 1, let edit = pending.rowEdit {
            let stretch = ChangeSet.changes(from: edit.old, to: edit.new)
            let fits = old.rows.count - edit.old.count == new.rows.count - edit.new.count
            if fits, stretch.isValid(from: edit.old, to: edit.new) {
                return stretch.shifted(
                    by: edit.start, oldCount: old.rows.count, newCount: new.rows.count)
            }
        }
        let changes = ChangeSet.changes(from: old.rows, to: new.rows)
        if changes.isValid(from: old.rows, to: new.rows) { return changes }
        invalidChangeSetCount += 1
        return ChangeSet(
            oldCount: old.rows.count, newCount: new.rows.count,
            removals: Array(old.rows.indices), insertions: Array(new.rows.indices))
    }

    /// The rows that stayed but whose message looks different or has another size.
    private func lookChanges(
        old: FlowSnapshot, new: FlowSnapshot, changes: ChangeSet
    ) -> [ChangeSet.Update] {
        let inserted = Set(changes.insertions)
        var rows: Set<Int> = []
        for id in pending.changed.union(pending.resized) {
            guard let index = window.index(of: id) else { continue }
            let row = decoration.row(ofMessage: index)
            if !inserted.contains(row) { rows.insert(row) }
        }
        guard !rows.isEmpty else { return [] }
        let origin = RowOrigins(changes)
        return rows.sorted().compactMap { row in
            origin.oldRow(of: row).map { ChangeSet.Update(old: $0, new: row) }
        }
    }

    private func merged(_ left: [ChangeSet.Update], _ right: [ChangeSet.Update]) -> [ChangeSet.Update] {
        guard !right.isEmpty else { return left }
        let known = Set(left.map(\.new))
        return (left + right.filter { !known.contains($0.new) }).sorted { $0.new < $1.new }
    }

    private mutating func makeLayout(
        old: FlowSnapshot, new: FlowSnapshot, changes: ChangeSet, resized: [Int]
    ) -> LayoutIndex {
        let touched = changes.removals.count + changes.insertions.count + 2 * changes.moves.count
        if pending.resizesAll || pending.reasons.contains(.restyle) || touched > 64 + new.rows.count / 4 {
            return LayoutIndex(heights: new.rows.indices.map { applyHeight(ofRow: $0, in: new) })
        }
        var layout = old.layout
        let leaving = ChangeSet(
            oldCount: changes.oldCount, newCount: changes.newCount,
            removals: (changes.removals + changes.moves.map(\.from)).sorted(),
            insertions: (changes.insertions + changes.moves.map(\.to)).sorted())
        for range in leaving.removedRanges.reversed() { layout.remove(range) }
        for range in leaving.insertedRanges {
            layout.insert(range.map { applyHeight(ofRow: $0, in: new) }, at: range.lowerBound)
        }
        for row in Set(changes.updates.map(\.new)).union(resized) {
            layout.resize(row: row, to: applyHeight(ofRow: row, in: new))
        }
        return layout
    }

    /// The height of a row with the sizes known now, which count as shown from here on.
    private mutating func applyHeight(ofRow row: Int, in new: FlowSnapshot) -> Double {
        let flowRow = new.rows[row]
        let heights = configuration.lineHeights
        switch flowRow.id.kind {
        case .day: return heights.day * new.textScale
        case .unreadMark: return heights.unreadMark * new.textScale
        case .timeLabel: return heights.timeLabel * new.textScale
        case .message:
            guard let index = window.index(of: flowRow.message) else { return 0 }
            book.markApplied(flowRow.message)
            return book.height(of: window.messages[index], grouping: flowRow.grouping)
        }
    }
}
