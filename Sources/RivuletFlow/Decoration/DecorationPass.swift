import RivuletModel

/// One walk over messages from the older to the newer, which makes their rows.
struct DecorationPass {
    let rules: DecorationRules
    let context: DecorationContext
    let messages: [Message]
    let today: Int64
    let runGap: Int64
    /// The message below the unread mark.
    let markIndex: Int?
    /// The time of the last message with a label; nil when there is none above.
    var lastLabel: Int64?
    private let needsDay: Bool
    /// The message appended last.
    private var latest: (index: Int, facts: MessageFacts)?
    /// The local day of the time looked at last.
    private var latestDay: (time: Int64, day: Int64)?
    private let thisYear: Int

    init(rules: DecorationRules, context: DecorationContext, messages: [Message]) {
        self.rules = rules
        self.context = context
        self.messages = messages
        today = context.today
        needsDay = rules.showsDays || rules.timeLabel.needsDay
        runGap = rules.runGap.wholeMilliseconds
        thisYear = CivilDate(day: today).year
        markIndex = Self.firstUnread(of: messages, in: context)
    }

    /// Appends the rows of a message and returns how many of them stand above it.
    ///
    /// The message before must be the last row appended, if it is in the rows at all; whether it ends its run is
    /// decided here.
    mutating func append(_ index: Int, to rows: inout [FlowRow]) -> UInt8 {
        let facts = self.facts(of: index)
        let previous = self.facts(before: index)
        let last = rows.count - 1
        let isNewDay = needsDay && isNewDay(facts, after: previous)
        if rules.showsDays, isNewDay {
            rows.append(dated(.day(of: facts.id), time: facts.time))
        }
        if index == markIndex {
            rows.append(FlowRow(id: .unreadMark(above: facts.id), timeMilliseconds: facts.time))
        }
        if wantsLabel(index, facts, after: previous, isNewDay: isNewDay) {
            rows.append(dated(.timeLabel(of: facts.id), time: facts.time))
            lastLabel = facts.time
        }
        let above = rows.count - 1 - last
        let continues = above == 0 && facts.continues(previous, gap: runGap)
        if last >= 0, continues { rows[last].grouping.remove(.endsRun) }
        rows.append(
            FlowRow(
                id: .message(facts.id), grouping: continues ? .endsRun : .single, revision: facts.revision,
                timeMilliseconds: facts.time))
        latest = (index, facts)
        return UInt8(above)
    }

    /// Whether a message without anything above it continues the run of the message before.
    func continuesRun(_ index: Int) -> Bool {
        facts(of: index).continues(facts(before: index), gap: runGap)
    }

    private func facts(before index: Int) -> MessageFacts? {
        guard index > 0 else { return nil }
        if let latest, latest.index == index - 1 { return latest.facts }
        return facts(of: index - 1)
    }

    /// Through the buffer, since reading an element of an array copies all of the message.
    private func facts(of index: Int) -> MessageFacts {
        messages.withUnsafeBufferPointer { MessageFacts($0[index]) }
    }

    private mutating func isNewDay(_ facts: MessageFacts, after previous: MessageFacts?) -> Bool {
        let day = context.zone.day(ofMilliseconds: facts.time)
        let before = previous.map { latestDay?.time == $0.time ? latestDay?.day : nil } ?? nil
        latestDay = (facts.time, day)
        guard let previous else { return true }
        return (before ?? context.zone.day(ofMilliseconds: previous.time)) != day
    }

    private func wantsLabel(
        _ index: Int, _ facts: MessageFacts, after previous: MessageFacts?, isNewDay: Bool
    ) -> Bool {
        for condition in rules.timeLabel.conditions {
            let holds: Bool
            switch condition {
            case .gapToPrevious(let gap):
                holds = previous.map { MessageFacts.gap(facts.time, $0.time) >= gap } ?? true
            case .gapToLastLabel(let gap):
                holds = lastLabel.map { MessageFacts.gap(facts.time, $0) >= gap } ?? true
            case .dayChange: holds = isNewDay
            case .custom(let wantsLabel):
                holds = wantsLabel(
                    TimeLabelRule.Question(
                        message: messages[index], previous: index > 0 ? messages[index - 1] : nil,
                        lastLabelMilliseconds: lastLabel, isNewDay: isNewDay))
            }
            if holds { return true }
        }
        return false
    }

    func dated(_ id: FlowRow.ID, time: Int64) -> FlowRow {
        let offset = context.zone.offsetSeconds(atMilliseconds: time)
        let day = (time.flooredQuotient(by: 1000) + Int64(offset)).flooredQuotient(by: 86_400)
        return FlowRow(id: id, age: age(ofDay: day), zoneSeconds: offset, timeMilliseconds: time)
    }

    private func age(ofDay day: Int64) -> TimeAge {
        switch today - day {
        case 0: .today
        case 1: .yesterday
        case 2...6: .thisWeek
        default: CivilDate(day: day).year == thisYear ? .thisYear : .anotherYear
        }
    }

    /// The first message of the unread stretch that somebody else wrote; nil when there is none to mark.
    static func firstUnread(of messages: [Message], in context: DecorationContext) -> Int? {
        guard let unread = context.unread else { return nil }
        var (low, high) = (0, messages.count)
        while low < high {
            let middle = (low + high) / 2
            if messages[middle].position <= unread.lastRead { low = middle + 1 } else { high = middle }
        }
        guard low > 0 || context.startsAtBeginning else { return nil }
        while low < messages.count, messages[low].position <= unread.newest {
            if !messages[low].isOutgoing { return low }
            low += 1
        }
        return nil
    }
}

extension TimeLabelRule {
    /// Whether the local day has to be known.
    var needsDay: Bool {
        conditions.contains { condition in
            switch condition {
            case .dayChange, .custom: true
            default: false
            }
        }
    }

    /// Whether a label depends on the one before, however far away that is.
    var looksAtLastLabel: Bool {
        conditions.contains { condition in
            switch condition {
            case .gapToLastLabel, .custom: true
            default: false
            }
        }
    }
}
