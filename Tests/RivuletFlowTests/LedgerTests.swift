import RivuletModel
import Testing

@testable import RivuletFlow

@Suite struct `The ledger` {
    private func message(
        _ id: Int64, uuid: String? = nil, key: Int64? = nil, position: Int64? = nil,
        sender: UserID = ben,
        text: String = "x", state: Message.State = .received, revision: Int = 0
    ) -> Message {
        Message(
            id: MessageID(id), session: withBen, sender: sender, isOutgoing: sender == ada, uuid: uuid,
            serverKey: key, position: MessagePosition(position ?? id), timeMilliseconds: 0,
            content: .text(text), state: state, revision: revision)
    }

    private func ledger() -> MessageLedger {
        MessageLedger(session: withBen, user: ada, burnedShell: .notice("burned"))
    }

    /// The ways in which one message of the user comes: the push to this device, a page, the answer to the send, the
    /// engine's word that it was sent; in every order.
    @Test(arguments: permutations(of: 4))
    func `push, page and answers of one message are one row, in any order`(order: [Int]) {
        var ledger = ledger()
        let row = ledger.makeLocal(message(0, uuid: "u", sender: ada, state: .sending))
        let ways: [(Message, MessageLedger.Source)] = [
            (message(31, uuid: "u", key: 5, position: 5, sender: ada, state: .accepted), .news),
            (message(41, key: 5, position: 5, sender: ada, state: .accepted), .page(askedAt: 0)),
            (message(51, uuid: "u", key: 5, position: 5, sender: ada, state: .accepted), .news),
            (message(61, uuid: "u", sender: ada, state: .sending), .news),
        ]
        var rows: Set<MessageID> = [row.id]
        for index in order {
            let outcome = ledger.merge([ways[index].0], from: ways[index].1)
            rows.formUnion(outcome.messages.map(\.id))
            rows.subtract(outcome.absorbed)
        }
        #expect(rows == [row.id])
        #expect(ledger.entries.count == 1)
        #expect(ledger[row.id]?.message.state == .accepted)
        #expect(ledger[row.id]?.message.serverKey == 5)
        #expect(ledger.localMessages.isEmpty)
    }

    @Test func `two messages under one id are two rows`() {
        var ledger = ledger()
        _ = ledger.merge([message(1, uuid: "a"), message(1, uuid: "b")], from: .news)
        #expect(ledger.entries.count == 2)
        #expect(ledger.row(uuid: "a") != ledger.row(uuid: "b"))
        // The same key of another author is another message, too.
        _ = ledger.merge([message(5, key: 9), message(6, key: 9, sender: ada)], from: .news)
        #expect(ledger.entries.count == 4)
    }

    @Test func `duplicates inside a page and across pages are counted`() {
        var ledger = ledger()
        let page = [message(1, uuid: "a"), message(2, uuid: "b"), message(9, uuid: "a")]
        let first = ledger.merge(page, from: .page(askedAt: 0), countsDuplicates: true)
        #expect(first.messages.count == 2)
        #expect(ledger.counters.duplicatesInPages == 1)
        let second = ledger.merge(
            [message(2, uuid: "b"), message(3)], from: .page(askedAt: 0), countsDuplicates: true)
        #expect(second.inserted.count == 1)
        #expect(ledger.counters.duplicatesAcrossPages == 1)
        _ = ledger.merge([message(3)], from: .news)
        #expect(ledger.counters.repeatedNews == 1)
    }

    @Test func `messages of other sessions are dropped and counted`() {
        var ledger = ledger()
        var foreign = message(1)
        foreign.session = withCho
        #expect(ledger.merge([foreign], from: .page(askedAt: 0)).messages.isEmpty)
        #expect(ledger.counters.foreignMessages == 1)
    }

    @Test(arguments: [
        (Message.State.accepted, Message.State.sending, Message.State.accepted),
        (.delivered, .accepted, .delivered), (.read(count: 2), .delivered, .read(count: 2)),
        (.read(count: 2), .read(count: 3), .read(count: 3)),
        (.accepted, .failed(reason: "x"), .accepted),
        (.sending, .failed(reason: "x"), .failed(reason: "x")),
        (.failed(reason: "x"), .accepted, .accepted),
        (.failed(reason: "x"), .sending, .sending),
    ])
    func `a state never goes back`(old: Message.State, new: Message.State, expected: Message.State) {
        #expect(MessageLedger.Entry.merged(old, new, isPage: false) == expected)
    }

    @Test func `a page that was read before the news does not undo it`() {
        var ledger = ledger()
        _ = ledger.merge([message(1, uuid: "a", text: "old")], from: .news)
        let askedAt = ledger.nextTick()
        _ = ledger.merge([message(1, uuid: "a", text: "new")], from: .news)
        _ = ledger.merge([message(1, uuid: "a", text: "old")], from: .page(askedAt: askedAt))
        #expect(ledger[MessageID(1)]?.message.content == .text("new"))
        // One that was asked for afterwards does, and with a revision that the flow takes.
        let before = ledger[MessageID(1)]?.message.revision ?? 0
        let later = ledger.nextTick()
        _ = ledger.merge([message(1, uuid: "a", text: "newer")], from: .page(askedAt: later))
        #expect(ledger[MessageID(1)]?.message.content == .text("newer"))
        #expect(ledger[MessageID(1)]?.message.revision ?? 0 > before)
    }

    @Test func `what was removed does not come back with a late copy`() {
        var ledger = ledger()
        _ = ledger.merge([message(1, uuid: "a"), message(2)], from: .news)
        ledger.remove([MessageID(1), MessageID(2)])
        let late = ledger.merge(
            [message(1, uuid: "a"), message(8, uuid: "a"), message(2)], from: .page(askedAt: 0))
        #expect(late.messages.isEmpty)
        // Unless the host brings it.
        ledger.readmit([message(2)])
        #expect(ledger.merge([message(2)], from: .host).messages.count == 1)
    }

    @Test func `controls change the row in place, by the rules of their authors`() {
        var ledger = ledger()
        let apply = { (ledger: inout MessageLedger, control: ControlContent, user: UserID) in
            _ = ledger.apply(
                NamedControl(
                    uuid: control.target ?? "", change: .control(control), author: user, milliseconds: 5))
        }
        _ = ledger.merge([message(1, uuid: "a", text: "one")], from: .news)
        apply(&ledger, .edit(EditContent(target: "a", change: .replace("forged"))), ada)
        apply(&ledger, .revoke(target: "a"), ada)
        #expect(ledger[MessageID(1)]?.message.content == .text("one"))
        apply(&ledger, .edit(EditContent(target: "a", change: .replace("two"))), ben)
        #expect(ledger[MessageID(1)]?.message.content == .text("two"))
        #expect(ledger[MessageID(1)]?.message.isEdited == true)
        for user in [ada, ben, ada] {
            apply(&ledger, .reaction(target: "a", emoji: "👍", isOn: true), user)
        }
        apply(&ledger, .reaction(target: "a", emoji: "👎", isOn: false), ada)
        #expect(
            ledger[MessageID(1)]?.message.reactions == [Message.Reaction(emoji: "👍", users: [ada, ben])])
        apply(&ledger, .reaction(target: "a", emoji: "👍", isOn: false), ada)
        // A page does not know of it and changes nothing back.
        _ = ledger.merge(
            [message(1, uuid: "a", text: "one")], from: .page(askedAt: ledger.nextTick()))
        #expect(ledger[MessageID(1)]?.message.content == .text("two"))
        #expect(ledger[MessageID(1)]?.message.reactions.first?.users == [ben])
        apply(&ledger, .revoke(target: "a"), ben)
        apply(&ledger, .edit(EditContent(target: "a", change: .replace("again"))), ben)
        _ = ledger.merge([message(1, uuid: "a", text: "one", revision: 99)], from: .news)
        #expect(ledger[MessageID(1)]?.message.content == .revoked)
    }

    @Test func `a flood of reactions has a bound, and texts are no emojis`() {
        var ledger = ledger()
        _ = ledger.merge([message(1, uuid: "a")], from: .news)
        for emoji in (0..<500).map({ "e\($0)" }) + ["", String(repeating: "x", count: 65)] {
            let reaction = ControlContent.reaction(target: "a", emoji: emoji, isOn: true)
            _ = ledger.apply(
                NamedControl(uuid: "a", change: .control(reaction), author: ben, milliseconds: 0))
        }
        #expect(ledger[MessageID(1)]?.message.reactions.count == NamedControl.reactionKindsMax)
    }

    @Test func `a change that comes before its message waits for it`() {
        var ledger = ledger()
        let edit = ControlContent.edit(EditContent(target: "a", change: .replace("edited")))
        _ = ledger.apply(
            NamedControl(uuid: "a", change: .control(edit), author: ben, milliseconds: 0))
        let outcome = ledger.merge([message(1, uuid: "a")], from: .news)
        #expect(outcome.messages.first?.content == .text("edited"))
    }

    @Test func `a streaming text grows in place, is not an edited one, and has a bound`() {
        var ledger = ledger()
        var first = message(1, uuid: "a")
        first.content = .text(TextContent("Once", isStreaming: true))
        _ = ledger.merge([first], from: .news)
        let append = { (ledger: inout MessageLedger, text: String, ends: Bool) in
            let edit = EditContent(target: "a", change: .append(text), endsStream: ends)
            _ = ledger.apply(
                NamedControl(uuid: "a", change: .control(.edit(edit)), author: ben, milliseconds: 0))
        }
        append(&ledger, " upon", false)
        append(&ledger, String(repeating: "x", count: NamedControl.streamBytesMax), false)
        append(&ledger, " a time", true)
        #expect(ledger[MessageID(1)]?.message.content == .text(TextContent("Once upon a time")))
        #expect(ledger[MessageID(1)]?.message.isEdited == false)
        #expect(ledger[MessageID(1)]?.message.revision == 2)
    }

    @Test func `votes are counted once per user, the last one wins, and odd ones are ignored`() {
        var ledger = ledger()
        var poll = message(1, uuid: "a")
        poll.content = .poll(PollContent(question: "?", options: ["a", "b"], closesMilliseconds: 100))
        _ = ledger.merge([poll], from: .news)
        let vote = { (ledger: inout MessageLedger, options: [Int], user: UserID, time: Int64) in
            _ = ledger.apply(
                NamedControl(
                    uuid: "a", change: .control(.vote(target: "a", options: options)), author: user,
                    milliseconds: time))
        }
        vote(&ledger, [0], ada, 1)
        vote(&ledger, [0], ben, 2)
        vote(&ledger, [1, 0], ben, 2)
        vote(&ledger, [7], ben, 2)
        vote(&ledger, [-1], ben, 2)
        vote(&ledger, [1], ada, 3)
        vote(&ledger, [0], ada, 100)
        #expect(ledger[MessageID(1)]?.votes == [ada: [1], ben: [0]])
    }

    @Test func `receipts raise the state, once for each reader`() {
        var ledger = ledger()
        _ = ledger.merge([message(1, uuid: "a", sender: ada, state: .accepted)], from: .news)
        let read = { (ledger: inout MessageLedger, user: UserID) in
            _ = ledger.apply(
                NamedControl(
                    uuid: "a", change: .control(.readed(target: "a")), author: user, milliseconds: 0))
        }
        _ = ledger.apply(NamedControl(uuid: "a", change: .delivered, author: ada, milliseconds: 0))
        #expect(ledger[MessageID(1)]?.message.state == .delivered)
        for user in [ben, ben, ada, UserID(9)] { read(&ledger, user) }
        #expect(ledger[MessageID(1)]?.message.state == .read(count: 2))
        #expect(ledger[MessageID(1)]?.readers == [ben, UserID(9)])
    }

    @Test func `a burned message keeps its shell, whatever comes`() {
        var ledger = ledger()
        _ = ledger.merge([message(1, uuid: "a", text: "secret")], from: .news)
        _ = ledger.apply(NamedControl(uuid: "a", change: .burned, author: ada, milliseconds: 0))
        _ = ledger.merge([message(1, uuid: "a", text: "secret", revision: 9)], from: .news)
        _ = ledger.merge(
            [message(1, uuid: "a", text: "secret", revision: 9)], from: .page(askedAt: ledger.nextTick()))
        #expect(ledger[MessageID(1)]?.message.content == .notice("burned"))
    }

    @Test func `it forgets what was not touched for longest, and never what is kept or unsent`() {
        var ledger = ledger()
        let local = ledger.makeLocal(message(0, uuid: "local", sender: ada, state: .sending))
        for id in 1...1_000 { _ = ledger.merge([message(Int64(id), uuid: "\(id)")], from: .news) }
        let gone = ledger.trim(to: 100, keeping: [MessageID(1)])
        #expect(gone.count == 901)
        #expect(
            ledger[MessageID(1)] != nil && ledger[local.id] != nil && ledger[MessageID(1_000)] != nil)
        #expect(ledger.row(uuid: "2") == nil)
        #expect(ledger.trim(to: 100, keeping: []).isEmpty)
    }

    @Test(arguments: 1...40 as ClosedRange<UInt64>)
    func `random copies of messages never make a second row`(seed: UInt64) {
        var random = Seeded(seed)
        var ledger = ledger()
        var shown: [MessageID: Message] = [:]
        for _ in 0..<300 {
            let number = Int64.random(in: 1...20, using: &random)
            // Each copy has an id of its own and at least one name that all know.
            let named = Bool.random(using: &random)
            let copy = message(
                number + Int64.random(in: 0...5, using: &random) * 1_000,
                uuid: named ? "u\(number)" : nil,
                key: !named || Bool.random(using: &random) ? number : nil, position: number,
                text: "\(Int.random(in: 0...3, using: &random))",
                revision: Int.random(in: 0...3, using: &random))
            let source: MessageLedger.Source =
                Bool.random(using: &random) ? .news : .page(askedAt: ledger.tick)
            let outcome = ledger.merge([copy], from: source)
            for id in outcome.absorbed { shown[id] = nil }
            for row in outcome.messages {
                #expect(row.revision >= shown[row.id]?.revision ?? 0)
                shown[row.id] = row
            }
        }
        // Two rows may live beside each other only while no copy has named them as one.
        let keys = shown.values.compactMap(\.serverKey)
        let uuids = shown.values.compactMap(\.uuid)
        #expect(Set(keys).count == keys.count)
        #expect(Set(uuids).count == uuids.count)
        #expect(shown == ledger.entries.mapValues(\.message))
    }
}

/// Every order of so many things.
private func permutations(of count: Int) -> [[Int]] {
    guard count > 0 else { return [[]] }
    return permutations(of: count - 1).flatMap { shorter in
        (0...shorter.count).map { place in
            var longer = shorter
            longer.insert(count - 1, at: place)
            return longer
        }
    }
}
