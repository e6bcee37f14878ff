import RivuletFlow
import RivuletModel
import Testing

/// The rules spelled out message by message, with nothing remembered.
private struct NaiveDecorator {
    let messages: [Message]
    let rules: DecorationRules
    let gap: Int64?
    let labelGap: Int64?
    let labelsDays: Bool
    let context: DecorationContext

    func rows() -> [FlowRow] {
        var rows: [FlowRow] = []
        for index in messages.indices {
            let id = messages[index].id
            let time = messages[index].timeMilliseconds
            if rules.showsDays, isNewDay(index) { rows.append(dated(.day(of: id), time)) }
            if id == firstUnread() {
                rows.append(FlowRow(id: .unreadMark(above: id), timeMilliseconds: time))
            }
            if hasLabel(index) { rows.append(dated(.timeLabel(of: id), time)) }
            var grouping: FlowRow.Grouping = []
            if !continues(index) { grouping.insert(.beginsRun) }
            if !continues(index + 1) { grouping.insert(.endsRun) }
            rows.append(
                FlowRow(
                    id: .message(id), grouping: grouping, revision: messages[index].revision,
                    timeMilliseconds: time))
        }
        return rows
    }

    private func isNewDay(_ index: Int) -> Bool {
        index == 0 || localDay(index) != localDay(index - 1)
    }

    private func localDay(_ index: Int) -> Int64 {
        context.zone.day(ofMilliseconds: messages[index].timeMilliseconds)
    }

    private func firstUnread() -> MessageID? {
        guard let unread = context.unread else { return nil }
        let known = messages.contains { $0.position <= unread.lastRead } || context.startsAtBeginning
        let first = messages.first {
            $0.position > unread.lastRead && $0.position <= unread.newest && !$0.isOutgoing
        }
        return known ? first?.id : nil
    }

    private func hasLabel(_ index: Int) -> Bool {
        if labelsDays, isNewDay(index) { return true }
        let time = messages[index].timeMilliseconds
        if let gap, index == 0 || abs(time - messages[index - 1].timeMilliseconds) >= gap { return true }
        guard let labelGap else { return false }
        let last = (0..<index).reversed().first { hasLabelRemembered[$0] == true }
        return last.map { abs(time - messages[$0].timeMilliseconds) >= labelGap } ?? true
    }

    /// Filled by the initialiser from the front, since the rule looks back.
    private var hasLabelRemembered: [Int: Bool] = [:]

    init(
        messages: [Message], rules: DecorationRules, gap: Int64?, labelGap: Int64?, labelsDays: Bool,
        context: DecorationContext
    ) {
        self.messages = messages
        self.rules = rules
        self.gap = gap
        self.labelGap = labelGap
        self.labelsDays = labelsDays
        self.context = context
        for index in messages.indices { hasLabelRemembered[index] = hasLabel(index) }
    }

    private func continues(_ index: Int) -> Bool {
        guard index > 0, index < messages.count else { return false }
        let (one, other) = (messages[index - 1], messages[index])
        let hasSomethingAbove =
            (rules.showsDays && isNewDay(index)) || hasLabel(index) || other.id == firstUnread()
        let isNotice = [one, other].contains { $0.content.kind == .notice || $0.content.kind == .revoked }
        return !hasSomethingAbove && !isNotice && one.sender == other.sender
            && one.isOutgoing == other.isOutgoing
            && abs(one.timeMilliseconds - other.timeMilliseconds) <= 120_000
    }

    private func dated(_ id: FlowRow.ID, _ time: Int64) -> FlowRow {
        let zone = context.zone
        let days = zone.day(ofMilliseconds: context.nowMilliseconds) - zone.day(ofMilliseconds: time)
        let years = [context.nowMilliseconds, time].map { CivilDate(day: zone.day(ofMilliseconds: $0)).year }
        let age: TimeAge =
            days == 0
            ? .today
            : days == 1
                ? .yesterday
                : (2...6).contains(days) ? .thisWeek : years[0] == years[1] ? .thisYear : .anotherYear
        return FlowRow(
            id: id, age: age, zoneSeconds: zone.offsetSeconds(atMilliseconds: time), timeMilliseconds: time)
    }
}

@Suite struct DecorationPropertyTests {
    @Test(arguments: 0..<160)
    func `After any edits the rows are those of decorating everything anew`(seed: Int) {
        var random = Seeded(UInt64(seed))
        let (gap, labelGap, labelsDays) =
            [
                (300_000, nil, false), (nil, 300_000, false), (nil, nil, true), (300_000, 900_000, true),
                (nil, nil, false),
            ][seed % 5] as (Int64?, Int64?, Bool)
        var conditions: [TimeLabelRule] = []
        if let gap { conditions.append(.gapToPrevious(.milliseconds(gap))) }
        if let labelGap { conditions.append(.gapToLastLabel(.milliseconds(labelGap))) }
        if labelsDays { conditions.append(.dayChange) }
        let rules = DecorationRules(
            timeLabel: .any(conditions), showsDays: seed % 3 == 0, runGap: .seconds(120))
        var world = World(random: random)
        world.insert(count: Int.random(in: 0...60, using: &random), at: 0)
        var decoration = Decoration(of: world.messages, rules: rules, context: world.context)

        for step in 0..<40 {
            let old = decoration.rows
            let edit = world.change()
            let rowEdit = decoration.update(world.messages, edit: edit, context: world.context)
            let naive = NaiveDecorator(
                messages: world.messages, rules: rules, gap: gap, labelGap: labelGap, labelsDays: labelsDays,
                context: world.context)
            let expected = naive.rows()
            let comment = "step \(step), edit \(String(describing: edit))"
            guard decoration.rows == expected else {
                Issue.record("\(comment): rows differ")
                return
            }
            let anew = Decoration(of: world.messages, rules: rules, context: world.context)
            #expect(anew.rows == expected && anew.firstUnread == decoration.firstUnread, "\(comment)")
            checkEdit(rowEdit, from: old, to: expected, comment)
            checkPlaces(decoration, world.messages, comment)
        }
    }

    private func checkEdit(_ edit: RowEdit, from old: [FlowRow], to new: [FlowRow], _ comment: String) {
        var edited = old
        #expect(Array(old[edit.start..<edit.start + edit.old.count]) == edit.old, "\(comment)")
        edited.replaceSubrange(edit.start..<edit.start + edit.old.count, with: edit.new)
        #expect(edited == new, "\(comment)")
        let changes = edit.changes(newTotal: new.count)
        #expect(changes.apply(to: old, new: new) == new, "\(comment)")
        #expect(changes.isValid(from: old, to: new), "\(comment)")
    }

    private func checkPlaces(_ decoration: Decoration, _ messages: [Message], _ comment: String) {
        for index in messages.indices {
            let row = decoration.row(ofMessage: index)
            #expect(decoration.rows[row].id == .message(messages[index].id), "\(comment)")
            let first = decoration.firstRow(ofMessage: index)
            #expect((first...row).allSatisfy { decoration.message(ofRow: $0) == index }, "\(comment)")
        }
    }
}

/// Messages that come, go and change at random, and a reader who travels and sits up past midnight.
private struct World {
    var messages: [Message] = []
    var context = DecorationContext(
        zone: ZoneOffsets(
            firstOffsetSeconds: 3600, transitions: [.init(atSeconds: 1_796_000_000, offsetSeconds: 0)]),
        nowMilliseconds: 1_796_040_000_000)
    var random: Seeded
    private var nextID: Int64 = 1

    init(random: Seeded) {
        self.random = random
    }

    mutating func insert(count: Int, at index: Int) {
        let before = index > 0 ? messages[index - 1].position.rawValue : -1_000_000_000_000_000
        let after =
            index < messages.count ? messages[index].position.rawValue : before + 1_000_000_000_000_000
        let step = max(1, (after - before) / Int64(count + 1))
        let time = messages.isEmpty ? context.nowMilliseconds : messages[max(0, index - 1)].timeMilliseconds
        let fresh = (0..<count).map { offset in
            make(position: before + step * Int64(offset + 1), near: time + Int64(offset) * 100_000)
        }
        messages.insert(contentsOf: fresh, at: index)
    }

    private mutating func make(position: Int64, near time: Int64) -> Message {
        nextID += 1
        let sender = Int64.random(in: 1...3, using: &random)
        let jump: [Int64] = [0, 10_000, 100_000, 290_000, 300_000, 4_000_000, 90_000_000, -400_000]
        return Message(
            id: MessageID(nextID), session: .group(7), sender: UserID(sender), isOutgoing: sender == 1,
            position: MessagePosition(position),
            timeMilliseconds: time + jump[Int.random(in: 0..<jump.count, using: &random)],
            content: [.text("a"), .text("b"), .text("c"), .notice("n"), .revoked][
                Int.random(in: 0..<5, using: &random)])
    }

    /// Changes something and says which messages; nil when only the context changed.
    mutating func change() -> MessageEdit? {
        let index = Int.random(in: 0...messages.count, using: &random)
        let length = Int.random(in: 0...min(4, messages.count - index), using: &random)
        switch Int.random(in: 0..<12, using: &random) {
        case 0...3:
            let count = Int.random(in: 1...5, using: &random)
            let place = [index, 0, messages.count, messages.count][Int.random(in: 0..<4, using: &random)]
            insert(count: count, at: place)
            return .inserted(count: count, at: place)
        case 4, 5:
            messages.removeSubrange(index..<index + length)
            return .removed(index..<index + length)
        case 6 where index < messages.count, 7 where index < messages.count:
            let fresh = make(
                position: messages[index].position.rawValue, near: messages[index].timeMilliseconds)
            messages[index].content = fresh.content
            messages[index].timeMilliseconds = fresh.timeMilliseconds
            messages[index].revision += 1
            return .changed(at: index)
        case 8:
            let old = index..<index + length
            messages.removeSubrange(old)
            insert(count: 2, at: index)
            return MessageEdit(replacing: old, withCount: 2)
        case 9:
            context.nowMilliseconds += Int64.random(in: 0...200_000_000, using: &random)
            return nil
        case 10:
            context.zone = ZoneOffsets(fixedSeconds: Int32.random(in: -12...14, using: &random) * 3600)
            return nil
        default:
            changeUnread()
            return nil
        }
    }

    private mutating func changeUnread() {
        context.startsAtBeginning = Bool.random(using: &random)
        guard let last = messages.randomElement(using: &random), Bool.random(using: &random),
            let newest = messages.last
        else {
            context.unread = nil
            return
        }
        context.unread = UnreadStretch(after: last.position, through: newest.position)
    }
}
