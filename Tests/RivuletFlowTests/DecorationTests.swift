import RivuletFlow
import RivuletModel
import Testing

private let minute: Int64 = 60_000
private let hour: Int64 = 60 * minute
private let day: Int64 = 24 * hour
/// 30 November 2026, 12:00 UTC, a Monday.
private let noon: Int64 = 1_796_040_000_000

private func message(
    _ id: Int64, at time: Int64, from sender: Int64 = 1, outgoing: Bool = false,
    content: MessageContent = .text("hello")
) -> Message {
    Message(
        id: MessageID(id), session: .peer(UserID(1)), sender: UserID(sender), isOutgoing: outgoing,
        position: MessagePosition(id), timeMilliseconds: time, content: content)
}

private func context(
    unread: UnreadStretch? = nil, startsAtBeginning: Bool = false, now: Int64 = noon
) -> DecorationContext {
    DecorationContext(nowMilliseconds: now, unread: unread, startsAtBeginning: startsAtBeginning)
}

/// Rows in short: `t` time label, `d` day, `u` unread mark, and messages as `[1`, `1`, `1]` or `[1]` by run.
private func sketch(_ rows: [FlowRow]) -> String {
    rows.map { row in
        switch row.id.kind {
        case .timeLabel: return "t"
        case .day: return "d"
        case .unreadMark: return "u"
        case .message:
            return (row.grouping.contains(.beginsRun) ? "[" : "") + "\(row.message.rawValue)"
                + (row.grouping.contains(.endsRun) ? "]" : "")
        }
    }
    .joined(separator: " ")
}

@Suite struct DecorationTests {
    @Test func `Messages of one sender close in time form a run`() {
        let messages = [
            message(1, at: noon), message(2, at: noon + minute), message(3, at: noon + 2 * minute, from: 2),
            message(4, at: noon + 2 * minute, from: 2), message(5, at: noon + 3 * minute, from: 2),
        ]
        let decoration = Decoration(of: messages, rules: DecorationRules(), context: context())
        #expect(sketch(decoration.rows) == "t [1 2] [3 4 5]")
    }

    @Test func `A notice, a label and the unread mark break a run`() {
        let messages = [
            message(1, at: noon), message(2, at: noon, content: .notice("Ada joined")), message(3, at: noon),
            message(4, at: noon), message(5, at: noon + 5 * minute),
        ]
        let unread = UnreadStretch(after: MessagePosition(3), through: MessagePosition(5))
        let decoration = Decoration(of: messages, rules: DecorationRules(), context: context(unread: unread))
        #expect(sketch(decoration.rows) == "t [1] [2] [3] u [4] t [5]")
    }

    @Test func `A label stands where five minutes have passed, whichever way`() {
        let times = [0, 5 * minute - 1, 10 * minute - 1, 10 * minute, 5 * minute, 5 * minute + 1]
        let messages = times.enumerated().map { message(Int64($0), at: noon + $1) }
        let decoration = Decoration(of: messages, rules: DecorationRules(), context: context())
        #expect(sketch(decoration.rows) == "t [0 1] t [2 3] t [4 5]")
    }

    @Test func `A label can count from the last label`() {
        let messages = (0..<8).map { message($0, at: noon + $0 * 2 * minute) }
        let rules = DecorationRules(timeLabel: .gapToLastLabel(.seconds(300)))
        let decoration = Decoration(of: messages, rules: rules, context: context())
        #expect(sketch(decoration.rows) == "t [0 1 2] t [3 4 5] t [6 7]")
    }

    @Test func `Days stand above the first message of each, labels only where the rule wants them`() {
        let messages = [
            message(1, at: noon - day), message(2, at: noon - day), message(3, at: noon - 12 * hour),
        ]
        let rules = DecorationRules(timeLabel: .never, showsDays: true)
        #expect(sketch(Decoration(of: messages, rules: rules, context: context()).rows) == "d [1 2] d [3]")
        let byDay = DecorationRules(timeLabel: .dayChange)
        #expect(sketch(Decoration(of: messages, rules: byDay, context: context()).rows) == "t [1 2] t [3]")
    }

    @Test func `A rule of the app's own is asked about every message`() {
        let messages = (1...4).map { message($0, at: noon) }
        let rules = DecorationRules(
            timeLabel: .custom { question in
                question.message.id.rawValue == 3 && question.previous?.id.rawValue == 2
                    && question.lastLabelMilliseconds == nil && !question.isNewDay
            })
        #expect(sketch(Decoration(of: messages, rules: rules, context: context()).rows) == "[1 2] t [3 4]")
    }

    @Test func `The unread mark needs a read message above, or the beginning of the conversation`() {
        let messages = (3...5).map { message($0, at: noon) }
        let unread = UnreadStretch(after: MessagePosition(2), through: MessagePosition(9))
        let inside = Decoration(of: messages, rules: DecorationRules(), context: context(unread: unread))
        #expect(sketch(inside.rows) == "t [3 4 5]")
        let whole = Decoration(
            of: messages, rules: DecorationRules(),
            context: context(unread: unread, startsAtBeginning: true))
        #expect(sketch(whole.rows) == "u t [3 4 5]")
        #expect(whole.firstUnread == MessageID(3))
    }

    @Test func `Own messages and those that came later are not marked as unread`() {
        let unread = UnreadStretch(after: MessagePosition(1), through: MessagePosition(2))
        let messages = [message(1, at: noon), message(2, at: noon, outgoing: true), message(3, at: noon)]
        let decoration = Decoration(of: messages, rules: DecorationRules(), context: context(unread: unread))
        #expect(sketch(decoration.rows) == "t [1] [2] [3]")
    }

    @Test func `The mark moves on when the first unread message is deleted`() {
        let unread = UnreadStretch(after: MessagePosition(1), through: MessagePosition(4))
        var messages = (1...4).map { message($0, at: noon) }
        var decoration = Decoration(of: messages, rules: DecorationRules(), context: context(unread: unread))
        #expect(sketch(decoration.rows) == "t [1] u [2 3 4]")
        messages.remove(at: 1)
        _ = decoration.update(messages, edit: .removed(1..<2), context: context(unread: unread))
        #expect(sketch(decoration.rows) == "t [1] u [3 4]")
    }

    @Test func `Midnight turns today's labels into yesterday's and leaves the messages alone`() {
        let messages = [message(1, at: noon - 30 * day), message(2, at: noon)]
        var decoration = Decoration(of: messages, rules: DecorationRules(), context: context())
        let edit = decoration.update(
            messages, edit: nil, context: context(now: context().nextMidnightMilliseconds))
        let changes = edit.changes(newTotal: decoration.rows.count)
        #expect(changes == ChangeSet(oldCount: 4, newCount: 4, updates: [.init(old: 2, new: 2)]))
        #expect(decoration.rows[2].age == .yesterday)
    }

    @Test func `Another time zone moves the days`() {
        let messages = [message(1, at: noon - hour), message(2, at: noon)]
        let rules = DecorationRules(timeLabel: .never, showsDays: true)
        var decoration = Decoration(of: messages, rules: rules, context: context())
        #expect(sketch(decoration.rows) == "d [1] [2]")
        let kiritimati = DecorationContext(zone: ZoneOffsets(fixedSeconds: 43_200), nowMilliseconds: noon)
        _ = decoration.update(messages, edit: nil, context: kiritimati)
        #expect(sketch(decoration.rows) == "d [1] d [2]")
    }

    @Test func `An arrival changes the rows at the end and no others`() {
        var messages = (0..<1000).map { message($0, at: noon + $0 * minute) }
        var decoration = Decoration(of: messages, rules: DecorationRules(), context: context())
        messages.append(message(1000, at: noon + 1000 * minute))
        let edit = decoration.update(messages, edit: .inserted(count: 1, at: 1000), context: context())
        #expect(edit.start == 1000 && edit.old.count == 1 && edit.new.count == 2)
        let changes = edit.changes(newTotal: decoration.rows.count)
        #expect(changes.insertions == [1001])
        #expect(changes.updates == [.init(old: 1000, new: 1000)])
    }

    @Test func `A message that the server confirms is an update, and neither removed nor inserted`() {
        var messages = (0..<3).map { message($0, at: noon) }
        messages[2].state = .sending
        var decoration = Decoration(of: messages, rules: DecorationRules(), context: context())
        messages[2].state = .accepted
        messages[2].serverKey = 77
        messages[2].timeMilliseconds += 1500
        messages[2].revision += 1
        let edit = decoration.update(messages, edit: .changed(at: 2), context: context())
        #expect(
            edit.changes(newTotal: decoration.rows.count)
                == ChangeSet(oldCount: 4, newCount: 4, updates: [.init(old: 3, new: 3)]))
    }

    @Test func `Times at the ends of what a number holds do no harm`() {
        let times: [Int64] = [.min, .max, 0, .min + 1, .max - 1]
        let messages = times.enumerated().map { message(Int64($0), at: $1) }
        let rules = DecorationRules(
            timeLabel: .any([.standard, .gapToLastLabel(.seconds(1))]), showsDays: true)
        for now in times {
            let decoration = Decoration(of: messages, rules: rules, context: context(now: now))
            #expect(sketch(decoration.rows) == "d t [0] d t [1] d t [2] d t [3] d t [4]")
            for row in decoration.rows { _ = TimeLabelStyle().text(for: row) }
            _ = context(now: now).nextMidnightMilliseconds
        }
    }

    @Test func `An edit that does not fit the messages leads to decorating everything`() {
        let messages = (0..<5).map { message($0, at: noon) }
        for edit in [MessageEdit.removed(2..<9), .inserted(count: -1, at: 0), .removed(0..<1)] {
            var decoration = Decoration(of: [], rules: DecorationRules(), context: context())
            _ = decoration.update(messages, edit: edit, context: context())
            #expect(sketch(decoration.rows) == "t [0 1 2 3 4]")
        }
    }
}
