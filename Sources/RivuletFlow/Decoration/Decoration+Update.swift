public import RivuletModel

extension Decoration {
    /// Brings the rows up to date after the messages or the context changed.
    ///
    /// - Parameters:
    ///   - messages: All messages after the edit.
    ///   - edit: Which of them changed; nil when none did. It must cover every change since the last update: outside
    ///     of it the messages are the same. One that does not fit the number of messages leads to decorating all.
    ///   - context: The context from now on. The neighbourhood suffices as long as zone and present day stay.
    /// - Returns: The rows that were replaced; those outside of it are unchanged.
    public mutating func update(
        _ messages: [Message], edit: MessageEdit?, context: DecorationContext
    ) -> RowEdit {
        let isSameDay = context.zone == self.context.zone && context.today == self.context.today
        self.context = context
        let edit = edit ?? MessageEdit(replacing: 0..<0, withCount: 0)
        let fits =
            edit.replaced.lowerBound >= 0 && edit.replaced.upperBound <= above.count && edit.count >= 0
            && messages.count == above.count - edit.replaced.count + edit.count
        guard isSameDay, fits else {
            let old = rows
            decorateAll(messages)
            return RowEdit(start: 0, old: old, new: rows)
        }
        return updateNeighbourhood(messages, edit)
    }

    private mutating func updateNeighbourhood(_ messages: [Message], _ edit: MessageEdit) -> RowEdit {
        var pass = DecorationPass(rules: rules, context: context, messages: messages)
        let growth = edit.count - edit.replaced.count
        let due = dueMessages(pass, edit)
        let start = due.lowerBound < above.count ? firstRow(ofMessage: due.lowerBound) : rows.count
        var old = OldRows(row: start, message: due.lowerBound, lastLabel: nil)
        if rules.timeLabel.looksAtLastLabel {
            old.lastLabel = rows[..<start].last { $0.id.kind == .timeLabel }?.timeMilliseconds
        }
        pass.lastLabel = old.lastLabel

        var new: [FlowRow] = []
        var newAbove = SmallCounts()
        var index = due.lowerBound
        while index < messages.count {
            if index >= due.upperBound {
                old.advance(toMessage: index - growth, rows: rows, above: above)
                // From here on all is as before if the last label is, for rules that look at it.
                if !rules.timeLabel.looksAtLastLabel || old.lastLabel == pass.lastLabel { break }
            }
            newAbove.append(pass.append(index, to: &new))
            index += 1
        }
        if index < messages.count, !new.isEmpty, above[index - growth] == 0, pass.continuesRun(index) {
            new[new.count - 1].grouping.remove(.endsRun)
        }
        old.advance(toMessage: index - growth, rows: rows, above: above)
        let edited = RowEdit(start: start, old: Array(rows[start..<old.row]), new: new)
        rows.replaceSubrange(start..<old.row, with: new)
        above.replaceSubrange(due.lowerBound..<index - growth, with: newAbove)
        marked = pass.markIndex.map { messages[$0].id }
        return edited
    }

    /// The messages, as indexes after the edit, whose rows may differ whatever the rule for labels.
    private func dueMessages(_ pass: DecorationPass, _ edit: MessageEdit) -> Range<Int> {
        let messages = pass.messages
        // The message before may cease or begin to end its run, the one after to begin it.
        var first = edit.replaced.lowerBound - 1
        var end = edit.replaced.lowerBound + edit.count + 1
        let markNow = pass.markIndex.map { messages[$0].id }
        if markNow != marked {
            for mark in [pass.markIndex, oldMarkIndex(after: edit)] {
                guard let mark else { continue }
                first = min(first, mark - 1)
                end = max(end, mark + 1)
            }
        }
        first = max(0, first)
        return first..<max(first, min(end, messages.count))
    }

    /// The index that the message below the old mark has now, or a nearby one if it is gone.
    private func oldMarkIndex(after edit: MessageEdit) -> Int? {
        guard marked != nil, let row = rows.firstIndex(where: { $0.id.kind == .unreadMark }) else {
            return nil
        }
        let index = message(ofRow: row)
        if index < edit.replaced.lowerBound { return index }
        return max(edit.replaced.lowerBound, index + edit.count - edit.replaced.count)
    }
}

/// A place in the old rows, with the last label above it.
private struct OldRows {
    var row: Int
    var message: Int
    var lastLabel: Int64?

    mutating func advance(toMessage end: Int, rows: [FlowRow], above: SmallCounts) {
        while message < end {
            let own = row + Int(above[message])
            for row in row..<own where rows[row].id.kind == .timeLabel {
                lastLabel = rows[row].timeMilliseconds
            }
            row = own + 1
            message += 1
        }
    }
}
