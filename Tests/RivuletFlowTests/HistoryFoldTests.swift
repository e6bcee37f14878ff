import RivuletModel
import Testing

@testable import RivuletFlow

/// One item of a history: a message or a change of one.
private enum Item {
    case message(Message)
    case change(HistoryChange)

    var key: Int64 {
        switch self {
        case .message(let message): message.position.rawValue
        case .change(let change): change.key
        }
    }
}

private func written(_ key: Int64, from sender: UserID = ben) -> Message {
    Message(
        id: MessageID(key), session: withBen, sender: sender, isOutgoing: sender == ada, uuid: "m\(key)",
        serverKey: key, position: MessagePosition(key), timeMilliseconds: key, content: .text("text \(key)"))
}

private func change(_ key: Int64, _ control: ControlContent, by author: UserID = ben) -> HistoryChange {
    HistoryChange(control: control, author: author, key: key, milliseconds: key)
}

/// A history of messages and of changes of earlier ones.
private func randomHistory(count: Int, seed: UInt64) -> [Item] {
    var generator = SeededGenerator(seed: seed)
    var names: [String] = []
    return (1...Int64(count)).map { key in
        let author = Bool.random(using: &generator) ? ada : ben
        guard let target = names.randomElement(using: &generator),
            Int.random(in: 0..<3, using: &generator) > 0
        else {
            names.append("m\(key)")
            return .message(written(key, from: author))
        }
        let control: ControlContent =
            switch Int.random(in: 0..<8, using: &generator) {
            case 0: .revoke(target: target)
            case 1, 2: .edit(EditContent(target: target, change: .replace("edit \(key)")))
            case 3: .edit(EditContent(target: target, change: .append(" + \(key)")))
            case 4: .readed(target: target)
            case 5: .pin(target: target, isOn: Bool.random(using: &generator))
            default:
                .reaction(
                    target: target, emoji: ["a", "b"].randomElement(using: &generator) ?? "a",
                    isOn: Bool.random(using: &generator))
            }
        return .change(change(key, control, by: author))
    }
}

/// The messages of a history as they are in the end, changed one after the other.
private func plainFold(_ items: [Item]) -> [MessageID: Message] {
    var entries: [String: MessageLedger.Entry] = [:]
    for item in items {
        switch item {
        case .message(let message):
            entries[message.uuid ?? ""] = MessageLedger.Entry(
                message: message, engineID: nil, sourceRevision: 0)
        case .change(let change):
            guard let uuid = change.control.target, var entry = entries[uuid] else {
                continue
            }
            _ = NamedControl(
                uuid: uuid, change: .control(change.control), author: change.author,
                milliseconds: change.milliseconds
            ).apply(to: &entry, user: ada, shell: .erased)
            entries[uuid] = entry
        }
    }
    return Dictionary(uniqueKeysWithValues: entries.values.map { ($0.message.id, $0.message) })
}

@Suite struct `The fold of a history` {
    private func take(_ items: some Sequence<Item>, _ fold: inout HistoryFold) -> HistoryFold.Outcome {
        var messages: [Message] = []
        var changes: [HistoryChange] = []
        for item in items {
            switch item {
            case .message(let message): messages.append(message)
            case .change(let change): changes.append(change)
            }
        }
        return fold.take(messages, changes: changes)
    }

    @Test(arguments: UInt64(1)...20)
    func `however the pages are cut and however often they are read, each message ends as it is`(seed: UInt64)
    {
        let items = randomHistory(count: 120, seed: seed)
        let expected = plainFold(items)
        var generator = SeededGenerator(seed: seed &+ 1_000)
        var fold = HistoryFold(user: ada)
        var shown: [MessageID: Message] = [:]
        var missing = Set(items.map(\.key))
        while !missing.isEmpty {
            let start = Int.random(in: 0..<items.count, using: &generator)
            let end = min(items.count, start + Int.random(in: 1...25, using: &generator))
            let outcome = take(items[start..<end], &fold)
            for message in outcome.messages + outcome.updated {
                // What a later answer says never has a smaller revision, or it would be taken for an old one.
                #expect(message.revision >= shown[message.id]?.revision ?? 0)
                shown[message.id] = message
            }
            missing.subtract(items[start..<end].map(\.key))
        }
        #expect(shown.count == expected.count)
        for (id, message) in expected {
            var seen = shown[id]
            seen?.revision = 0
            #expect(seen == message)
        }
    }

    @Test func `a change of an earlier page's message names it anew, one of this page's does not`() {
        var fold = HistoryFold(user: ada)
        _ = take([.message(written(1)), .message(written(2))], &fold)
        let outcome = take(
            [
                .change(change(3, .revoke(target: "m1"))), .message(written(4)),
                .change(change(5, .edit(EditContent(target: "m4", change: .replace("new"))))),
            ], &fold)
        #expect(outcome.messages.map(\.content) == [.text("new")])
        #expect(outcome.updated.map(\.id) == [MessageID(1)])
        #expect(outcome.updated[0].content == .revoked)
        // Read once more, it is no news.
        #expect(take([.change(change(3, .revoke(target: "m1")))], &fold).updated.isEmpty)
    }

    @Test func `nobody changes the messages of others, and votes and readers are counted`() {
        var fold = HistoryFold(user: ada)
        var poll = written(1, from: ada)
        poll.content = .poll(PollContent(question: "?", options: ["x", "y"], closesMilliseconds: nil))
        let outcome = take(
            [
                .message(poll), .change(change(2, .revoke(target: "m1"))),
                .change(change(3, .vote(target: "m1", options: [1]))),
                .change(change(4, .readed(target: "m1"))),
            ], &fold)
        #expect(outcome.messages[0].content == poll.content)
        #expect(outcome.messages[0].state == .read(count: 1))
        #expect(fold.votes(on: "m1") == [ben: [1]])
        #expect(fold.readers(of: "m1") == [ben])
        #expect(fold.votes(on: "none").isEmpty && fold.readers(of: "none").isEmpty)
    }

    @Test func `a flood of changes is bounded, and the last ones count`() {
        var fold = HistoryFold(user: ada, countMax: 8)
        _ = take([.message(written(1))], &fold)
        let flood = (2...Int64(2_000)).map { key in
            Item.change(change(key, .edit(EditContent(target: "m1", change: .replace("\(key)")))))
        }
        #expect(take(flood, &fold).updated.map(\.content) == [.text("2000")])
        let strangers = (3_000...Int64(5_000)).map { key in
            Item.change(change(key, .revoke(target: "unknown \(key)")))
        }
        #expect(take(strangers, &fold).updated.isEmpty)
        #expect(take([.message(written(Int64.max, from: ada))], &fold).messages.count == 1)
    }
}
