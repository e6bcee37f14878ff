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
    /// The local day of the message before, when it was needed.
    private var previousDay: (index: Int, day: Int64)?
    private let thisYear: Int

    init(rules: DecorationRules, context: DecorationContext, messages: [Message]) {
        self.rules = rules
        self.context = context
        self.messages = messages
        today = context.today
        runGap = rules.runGap.wholeMilliseconds
        thisYear = CivilDate(day: today).year
        markIndex = Self.firstUnread(of: messages, in: context)
    }

    /// Appends the rows of a message and returns how many of them stand above it.
    ///
    /// The message before must be the last row appended, if it is in the rows at all; whether it ends its run is
    /// decided here.
    mutating func append(_ index: Int, to rows: inout [FlowRow]) -> UInt8 {
        let time = messages[index].timeMilliseconds
        let id = messages[index].id
        let last = rows.count - 1
        let needsDay = rules.showsDays || rules.timeLabel.needsDay
        let isNewDay = needsDay && isNewDay(index)
        if rules.showsDays, isNewDay {
            rows.append(dated(.day(of: id), time: time))
        }
        if index == markIndex {
            rows.append(FlowRow(id: .unreadMark(above: id), timeMilliseconds: time))
        }
        if wantsLabel(index, isNewDay: isNewDay) {
            rows.append(dated(.timeLabel(of: id), time: time))
            lastLabel = time
        }
        let above = rows.count - 1 - last
        let continues = above == 0 && index > 0 && continuesRun(index)
        if last >= 0, continues { rows[last].grouping.remove(.endsRun) }
        rows.append(
            FlowRow(
                id: .message(id), grouping: continues ? .endsRun : .single,
                revision: messages[index].revision,
                timeMilliseconds: time))
        return UInt8(above)
    }

    /// Whether a message and the one before are of one sender, close in time, and both of a kind that can run.
    func continuesRun(_ index: Int) -> Bool {
        messages[index].sender == messages[index - 1].sender
            && messages[index].isOutgoing == messages[index - 1].isOutgoing
            && Self.gap(messages[index].timeMilliseconds, messages[index - 1].timeMilliseconds) <= runGap
            && Self.runs(messages[index].content) && Self.runs(messages[index - 1].content)
    }

    /// Lines in the middle of the flow belong to nobody's run.
    private static func runs(_ content: MessageContent) -> Bool {
        switch content {
        case .notice, .revoked, .groupNotification, .refusal, .headline, .timeBase, .attachment, .joinRequest:
            false
        default: true
        }
    }

    private mutating func isNewDay(_ index: Int) -> Bool {
        let day = context.zone.day(ofMilliseconds: messages[index].timeMilliseconds)
        defer { previousDay = (index, day) }
        guard index > 0 else { return true }
        if let previousDay, previousDay.index == index - 1 { return previousDay.day != day }
        return context.zone.day(ofMilliseconds: messages[index - 1].timeMilliseconds) != day
    }

    private func wantsLabel(_ index: Int, isNewDay: Bool) -> Bool {
        let time = messages[index].timeMilliseconds
        for condition in rules.timeLabel.conditions {
            let holds: Bool
            switch condition {
            case .never: holds = false
            case .gapToPrevious(let gap):
                holds = index == 0 || Self.gap(time, messages[index - 1].timeMilliseconds) >= gap
            case .gapToLastLabel(let gap):
                holds = lastLabel.map { Self.gap(time, $0) >= gap } ?? true
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

    /// How far two times are apart, without overflow.
    static func gap(_ left: Int64, _ right: Int64) -> Int64 {
        let (difference, overflow) = left.subtractingReportingOverflow(right)
        guard !overflow, difference != .min else { return .max }
        return abs(difference)
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
