import RivuletModel
import Synchronization
import Testing

@testable import RivuletFlow

/// A provider that answers when its gate is open, with whatever it has, whoever waits.
private struct SlowProvider: SessionMessageProvider {
    let base: any SessionMessageProvider
    let gate: Gate
    func messages(
        in session: Session, anchorMessage: Message?, direction: PageDirection, limit: Int
    ) async throws -> MessagePage {
        await gate.pass()
        return try await base.messages(
            in: session, anchorMessage: anchorMessage, direction: direction, limit: limit)
    }
}

@Suite(.timeLimit(.minutes(5))) @MainActor struct `A session's messages` {
    @Test func `pages come from both sides of a message that was jumped to`() async throws {
        let memory = MemoryEngine(history: 500)
        let screen = Screen(engine: memory.engine)
        try await screen.run {
            screen.manager.open()
            await screen.wait { screen.texts.last == "500" }
            screen.manager.jump(to: MessageID(200))
            await screen.wait { screen.texts.contains("200") }
            #expect(screen.manager.controller.state.older.canLoad)
            #expect(screen.manager.controller.state.newer.canLoad)
            screen.manager.controller.submit(.loadRequested(.older))
            await screen.wait { screen.texts.contains("165") }
            screen.manager.controller.submit(.loadRequested(.newer))
            await screen.wait { screen.texts.contains("240") }
            // Without a gap, and within the bound of the window.
            let numbers = screen.texts.compactMap { Int($0) }
            #expect(numbers == Array(numbers[0]...numbers[numbers.count - 1]))
            screen.manager.jump(to: MessageID(99_999))
            await screen.wait { screen.missing == [MessageID(99_999)] }
        }
    }

    @Test func `it jumps to a time and to the first unread message`() async throws {
        let memory = MemoryEngine(history: 300)
        memory.setReadPosition(MessagePosition(120), in: withBen)
        let screen = Screen(engine: memory.engine)
        try await screen.run {
            screen.manager.open()
            await screen.wait { screen.texts.last == "300" }
            let isFound = try await screen.manager.jump(toTime: 50 * 60_000)
            #expect(isFound)
            await screen.wait { screen.texts.contains("51") }
            let isThere = try await screen.manager.jump(toTime: 1 << 50)
            #expect(!isThere)
            let hasUnread = try await screen.manager.jumpToFirstUnread()
            #expect(hasUnread)
            await screen.wait { screen.texts.contains("121") }
            await screen.wait {
                screen.manager.controller.snapshot.rows.contains {
                    $0.id == .unreadMark(above: MessageID(121))
                }
            }
        }
    }

    @Test func `the unread mark is fixed on opening and is found anew on the next`() async throws {
        let memory = MemoryEngine(history: 30)
        memory.setReadPosition(MessagePosition(20), in: withBen)
        let screen = Screen(engine: memory.engine)
        let marks = {
            screen.manager.controller.snapshot.rows.filter { $0.id.kind == .unreadMark }.map(\.id.message)
        }
        try await screen.run {
            screen.manager.open()
            await screen.wait { marks() == [MessageID(21)] }
            await screen.manager.noteSeen(screen.messages.map(\.id))
            memory.receive(.text("31"), from: ben, in: withBen)
            await screen.wait { screen.texts.last == "31" }
            #expect(marks() == [MessageID(21)])
            screen.manager.close()
            screen.manager.open()
            await screen.wait { screen.texts.last == "31" && marks() == [MessageID(31)] }
            screen.manager.configuration.showsUnreadMark = false
            await screen.wait { marks().isEmpty }
        }
    }

    @Test func `the standard entries of the menu do what they say`() async throws {
        let memory = MemoryEngine(history: 2)
        let screen = Screen(engine: memory.engine)
        try await screen.run {
            screen.manager.open()
            await screen.wait { screen.messages.count == 2 }
            let own = try await screen.manager.send(.text("own"))
            #expect(screen.manager.menuItems(for: own).map(\.id).contains(.revoke))
            let isReplying = try await screen.manager.perform(.reply, on: own)
            #expect(isReplying && screen.manager.draft.reference == own.uuid)
            for item in [MessageMenuItem.ID.revoke, .delete] {
                let isDone = try await screen.manager.perform(item, on: own)
                #expect(isDone)
            }
            let isCopied = try await screen.manager.perform(.copy, on: screen.messages[0])
            #expect(!isCopied)
            await screen.wait { screen.messages.count == 2 }
            #expect(memory.count(of: .call(.revoke)) == 1 && memory.count(of: .call(.delete)) == 1)
        }
    }

    @Test func `the default searches of a provider find the same`() async throws {
        struct OnlyPages: SessionMessageProvider {
            let base: MemoryEngine
            func messages(
                in session: Session, anchorMessage: Message?, direction: PageDirection, limit: Int
            ) async throws -> MessagePage {
                try await base.messages(
                    in: session, anchorMessage: anchorMessage, direction: direction, limit: limit)
            }
        }
        let memory = MemoryEngine(history: 350)
        let provider = OnlyPages(base: memory)
        for id in [1, 42, 199, 350] {
            let page = try await provider.messages(in: withBen, around: MessageID(Int64(id)), limit: 20)
            #expect(page.messages.contains { $0.id == MessageID(Int64(id)) })
            #expect(page.messages.count == 20)
            #expect(page.hasOlder == (id > 10) && page.hasNewer == (id < 341))
        }
        #expect(
            try await provider.messages(in: withBen, around: MessageID(999), limit: 20).messages.isEmpty)
        #expect(try await provider.message(in: withBen, sentFrom: 60_000 * 9)?.content == .text("10"))
        #expect(try await provider.message(in: withBen, sentFrom: 1 << 50) == nil)
    }

    @Test func `live events, changes and removals show in place`() async throws {
        let memory = MemoryEngine(history: 3)
        let screen = Screen(engine: memory.engine)
        try await screen.run {
            screen.manager.open()
            await screen.wait { screen.messages.count == 3 }
            memory.receive(.text("4"), from: ben, in: withBen)
            await screen.wait { screen.texts == ["1", "2", "3", "4"] }
            let uuid = screen.messages[3].uuid ?? ""
            memory.receive(
                .edit(EditContent(target: uuid, change: .replace("four"))), from: ben, in: withBen)
            memory.receive(.reaction(target: uuid, emoji: "👍", isOn: true), from: ben, in: withBen)
            await screen.wait { screen.texts.last == "four" && screen.messages[3].reactions.count == 1 }
            screen.manager.take(.burned(uuid: uuid))
            await screen.wait { screen.messages[3].content == .erased }
            screen.manager.take(.control(.pin(target: uuid, isOn: true), by: ben, milliseconds: 0))
            #expect(screen.controls == [.pin(target: uuid, isOn: true)])
            screen.manager.take(.deleted([screen.messages[0].id]))
            await screen.wait { screen.messages.count == 3 }
            screen.manager.take(.cleared)
            await screen.wait { screen.messages.isEmpty }
        }
    }

    @Test func `a flood is read anew instead of being lost`() async throws {
        let memory = MemoryEngine(history: 3)
        let screen = Screen(engine: memory.engine)
        try await screen.run {
            screen.manager.open()
            await screen.wait { screen.messages.count == 3 }
            memory.flood(5_000, in: withBen, from: ben)
            await screen.wait { screen.texts.last == "message 5000 of 5000" }
            #expect(screen.messages.count <= 600)
            #expect(Set(screen.messages.map(\.id)).count == screen.messages.count)
        }
    }

    @Test func `the host inserts, changes and removes rows of its own`() async throws {
        let memory = MemoryEngine(history: 3)
        let screen = Screen(engine: memory.engine)
        try await screen.run {
            screen.manager.open()
            await screen.wait { screen.messages.count == 3 }
            var notice = Message.sample(1_000_000, text: "")
            notice.session = withBen
            notice.content = .notice("Mind the gap")
            notice.position = MessagePosition(2)
            screen.manager.insert([notice])
            await screen.wait { screen.texts == ["1", "2", "Mind the gap", "3"] }
            notice.content = .notice("Mind it")
            screen.manager.update([notice])
            await screen.wait { screen.texts == ["1", "2", "Mind it", "3"] }
            // The window is read anew, and the provider does not know of it.
            screen.manager.reload()
            memory.receive(.text("4"), from: ben, in: withBen)
            await screen.wait { screen.texts == ["1", "2", "Mind it", "3", "4"] }
            screen.manager.close()
            screen.manager.open()
            await screen.wait { screen.texts == ["1", "2", "Mind it", "3", "4"] }
            screen.manager.remove([notice.id])
            await screen.wait { screen.texts == ["1", "2", "3", "4"] }
        }
    }

    @Test func `push, history and answer of one message are one row on screen`() async throws {
        let memory = MemoryEngine(history: 2)
        let screen = Screen(engine: memory.engine)
        try await screen.run {
            screen.manager.open()
            await screen.wait { screen.messages.count == 2 }
            let sent = try await screen.manager.send(.text("once"))
            screen.manager.take(.arrived(memory.messages(in: withBen)))
            screen.manager.reload()
            memory.receive(.text("end"), from: ben, in: withBen)
            await screen.wait { screen.texts == ["1", "2", "once", "end"] }
            #expect(screen.messages[2].id == sent.id)
            #expect(screen.manager.counters.mergedIdentities > 0)
        }
    }

    @Test func `away and back again with a slow provider never shows a row of the other session`()
        async throws
    {
        let memory = MemoryEngine(history: 40)
        memory.addHistory(40, in: withCho)
        let gates = (0..<3).map { _ in Gate() }
        var configuration = SessionConfiguration.test
        configuration.provider = SlowProvider(base: memory, gate: gates[0])
        let first = Screen(withBen, engine: memory.engine, configuration: configuration)
        configuration.provider = SlowProvider(base: memory, gate: gates[1])
        let second = Screen(withCho, engine: memory.engine, configuration: configuration)
        try await first.run {
            try await second.run {
                first.manager.open()
                await gates[0].arrived()
                first.manager.close()
                second.manager.open()
                await gates[1].arrived()
                second.manager.close()
                first.manager.configuration.provider = SlowProvider(base: memory, gate: gates[2])
                first.manager.open()
                await gates[2].arrived()
                // The answers come in the wrong order, the old ones first.
                gates[1].open()
                gates[0].open()
                memory.receive(.text("for Cho"), from: UserID(9), in: withCho)
                memory.receive(.text("41"), from: ben, in: withBen)
                gates[2].open()
                await first.wait { first.texts.last == "41" }
                #expect(first.everShown == [withBen])
                #expect(second.everShown.isEmpty)
                #expect(second.messages.isEmpty)
                #expect(Set(first.messages.map(\.id)).count == first.messages.count)
            }
        }
    }

    @Test func `a provider that answers for another session shows nothing of it`() async throws {
        struct Confused: SessionMessageProvider {
            let base: MemoryEngine
            func messages(
                in session: Session, anchorMessage: Message?, direction: PageDirection, limit: Int
            ) async throws -> MessagePage {
                var page = try await base.messages(
                    in: session, anchorMessage: anchorMessage, direction: direction, limit: limit)
                page.messages += base.messages(in: withCho)
                return page
            }
        }
        let memory = MemoryEngine(history: 2)
        memory.addHistory(5, in: withCho)
        var configuration = SessionConfiguration.test
        configuration.provider = Confused(base: memory)
        let screen = Screen(engine: memory.engine, configuration: configuration)
        try await screen.run {
            screen.manager.open()
            await screen.wait { screen.messages.count == 2 }
            #expect(screen.everShown == [withBen])
            #expect(screen.manager.counters.foreignMessages == 5)
        }
    }

    @Test func `two sessions side by side share neither hooks, nor page sizes, nor services`()
        async throws
    {
        struct Quiet: MessageServicePrechecker {
            func shouldSend(message: Message, in session: Session) -> Bool { false }
            func vetoReason(for call: MessageServiceCall, message: Message) -> String? { "quiet hours" }
        }
        let (one, other) = (MemoryEngine(history: 100), MemoryEngine(history: 100, in: withCho))
        let reserve = MemoryEngine(history: 100, in: withCho)
        var strict = SessionConfiguration.test
        strict.pageSize = 10
        strict.prechecks = [Quiet()]
        var loose = SessionConfiguration.test
        loose.pageSize = 25
        loose.service = reserve
        let left = Screen(withBen, engine: one.engine, configuration: strict)
        let right = Screen(withCho, engine: other.engine, configuration: loose)
        try await left.run {
            try await right.run {
                left.manager.open()
                right.manager.open()
                await left.wait { left.messages.count >= 10 }
                await right.wait { right.messages.count >= 25 }
                await #expect(throws: InteractionError.self) { try await left.manager.send(.text("no")) }
                try await right.manager.send(.text("yes"))
                await right.wait { right.texts.last == "yes" }
                #expect(left.vetoes.map(\.1) == ["quiet hours"] && right.vetoes.isEmpty)
                #expect(!left.texts.contains("no") && !left.texts.contains("yes"))
                #expect(other.count(of: .send) == 0 && reserve.count(of: .send) == 1)
            }
        }
    }

    @Test func `what came while nobody ran the session is read on the next run`() async throws {
        let memory = MemoryEngine(history: 2)
        let screen = Screen(engine: memory.engine)
        screen.manager.open()
        try await screen.run { await screen.wait { screen.messages.count == 2 } }
        memory.receive(.text("3"), from: ben, in: withBen)
        try await screen.run { await screen.wait { screen.texts == ["1", "2", "3"] } }
    }

    @Test func `a page that fails is shown as failed and can be asked for again`() async throws {
        let memory = MemoryEngine(history: 2)
        memory.setScript { $0.kind == .page ? .failing(with: FlowFailure(code: "offline")) : .normal }
        let screen = Screen(engine: memory.engine)
        try await screen.run {
            screen.manager.open()
            await screen.wait {
                screen.manager.controller.state.opening == .failed(FlowFailure(code: "offline"))
            }
            memory.setScript { _ in .normal }
            screen.manager.controller.submit(.loadRequested(.older))
            await screen.wait { screen.messages.count == 2 }
        }
    }
}

@Suite(.timeLimit(.minutes(5))) @MainActor struct `What a reader does` {
    @Test func `read marks only go forward and are sent once`() async throws {
        let memory = MemoryEngine(history: 30)
        var configuration = SessionConfiguration.test
        configuration.receipts = .eachMessage
        let screen = Screen(engine: memory.engine, configuration: configuration)
        try await screen.run {
            screen.manager.open()
            await screen.wait { screen.messages.count == 30 }
            let ids = screen.messages.map(\.id)
            await screen.manager.noteSeen(Array(ids[10...14]))
            let read1 = try await memory.readPosition(in: withBen)
            #expect(read1 == MessagePosition(15))
            #expect(memory.count(of: .control) == 6)
            await screen.manager.noteSeen(Array(ids[10...12]))
            #expect(memory.count(of: .control) == 6)
            // A failure is made up for by what is seen next.
            memory.setScript { _ in .failing(with: InteractionError(.refused)) }
            await screen.manager.noteSeen([ids[20]])
            memory.setScript { _ in .normal }
            await screen.manager.noteSeen([ids[5]])
            let read2 = try await memory.readPosition(in: withBen)
            #expect(read2 == MessagePosition(21))
        }
    }

    @Test func `edits, reactions and votes go to the engine first`() async throws {
        let memory = MemoryEngine(history: 1)
        let screen = Screen(engine: memory.engine)
        try await screen.run {
            screen.manager.open()
            await screen.wait { screen.messages.count == 1 }
            let text = try await screen.manager.send(.text("draft"))
            let poll = try await screen.manager.send(
                .poll(PollContent(question: "?", options: ["a", "b"])))
            try await screen.manager.edit(message: text, text: "final")
            try await screen.manager.react(to: text, with: "🎉")
            try await screen.manager.vote(on: poll, options: [1])
            await screen.wait { screen.texts[1] == "final" && screen.messages[1].reactions.count == 1 }
            #expect(screen.manager.votes(on: poll.id) == [[], [ada]])
            #expect(screen.messages[1].isEdited)
            memory.setScript { _ in .failing(with: InteractionError(.refused)) }
            await #expect(throws: InteractionError.self) {
                try await screen.manager.edit(message: text, text: "never")
            }
            await #expect(throws: InteractionError.self) {
                try await screen.manager.edit(message: screen.messages[0], text: "not mine")
            }
            #expect(screen.manager.message(text.id)?.content == .text("final"))
        }
    }

    @Test func `several messages go on one by one, or as one record`() async throws {
        let memory = MemoryEngine(history: 4)
        var configuration = SessionConfiguration.test
        configuration.userName = { $0 == ben ? "Ben" : "?" }
        configuration.selection.countMax = 3
        let screen = Screen(engine: memory.engine, configuration: configuration)
        try await screen.run {
            screen.manager.open()
            await screen.wait { screen.messages.count == 4 }
            let ids = screen.messages.map(\.id)
            #expect(!screen.manager.toggleSelection(of: ids[0]))
            #expect(screen.manager.beginSelection(with: ids[2]))
            #expect(screen.manager.toggleSelection(of: ids[0]))
            #expect(screen.manager.toggleSelection(of: ids[1]))
            #expect(!screen.manager.toggleSelection(of: ids[3]))
            #expect(screen.manager.selectedMessages.map(\.id) == Array(ids[0...2]))
            #expect(screen.manager.toggleSelection(of: ids[1]))
            let group = Session.group(3)
            let separate = await screen.manager.forward(
                messages: screen.manager.selectedMessages, to: [withCho, group])
            #expect(separate.count == 4)
            #expect(memory.messages(in: withCho).map(\.content.summary) == ["1", "3"])
            #expect(memory.messages(in: group).map(\.content.summary) == ["1", "3"])
            _ = await screen.manager.forward(
                messages: screen.manager.selectedMessages, to: [withCho], as: .merged(title: "Chat"))
            guard case .merged(let record)? = memory.messages(in: withCho).last?.content else {
                Issue.record("no record came")
                return
            }
            #expect(record.items.map(\.name) == ["Ben", "Ben"])
            #expect(ContentCodec().decode(record.items[1].content).message == .text("3"))
            screen.manager.endSelection()
            #expect(screen.manager.selection == MessageSelection())
        }
    }

    @Test func `a record holds the texts as they came, unless a hook changed them`() throws {
        let maker = RecordMaker(codec: ContentCodec(), name: { _ in "" })
        var message = Message.sample(1)
        message.content = .text("hello")
        let raw = #"{"text":"hello","uuid":"u","mood":"happy"}"#
        let kept = try maker.record(of: [message], title: "t", originals: [message.id: raw])
        #expect(kept.items.map(\.content) == [raw])
        message.content = .text("changed")
        let changed = try maker.record(of: [message], title: "t", originals: [message.id: raw])
        #expect(ContentCodec().decode(changed.items[0].content).message == .text("changed"))
    }

    @Test func `records lie in each other three deep at most`() throws {
        let maker = RecordMaker(codec: ContentCodec(), name: { _ in "" })
        var message = Message.sample(1)
        for _ in 0..<RecordMaker.depthMax {
            message.content = .merged(try maker.record(of: [message], title: "t"))
        }
        #expect(throws: InteractionError.self) { try maker.record(of: [message], title: "t") }
        let many = (0...Int64(MergedContent.itemsMax)).map { Message.sample($0) }
        #expect(throws: InteractionError.self) { try maker.record(of: many, title: "t") }
    }

    @Test func `a draft keeps text, mentions and the answered message, and is emptied by sending`()
        async throws
    {
        let memory = MemoryEngine(history: 2)
        var configuration = SessionConfiguration.test
        configuration.userName = { $0 == ben ? "Ben" : "Cho" }
        let screen = Screen(engine: memory.engine, configuration: configuration)
        try await screen.run {
            screen.manager.open()
            await screen.wait { screen.messages.count == 2 }
            await #expect(throws: InteractionError.self) { try await screen.manager.sendDraft() }
            screen.manager.setDraftText("Look,")
            screen.manager.mention(ben)
            screen.manager.mention(UserID(9))
            #expect(screen.manager.draft.text == "Look, @Ben @Cho ")
            screen.manager.setDraftText("Look, @Ben  ")
            #expect(screen.manager.beginReply(to: screen.messages[0]))
            await screen.manager.draftTask?.value
            let kept3 = try await memory.draft(in: withBen)
            #expect(kept3?.reference == screen.messages[0].uuid)
            let sent = try await screen.manager.sendDraft()
            #expect(sent.reference == screen.messages[0].uuid)
            #expect(
                sent.content
                    == .text(
                        TextContent("Look, @Ben", mentions: [TextContent.Mention(user: ben, name: "Ben")])))
            #expect(screen.manager.draft == Draft())
            await screen.manager.draftTask?.value
            let kept4 = try await memory.draft(in: withBen)
            #expect(kept4 == nil)
        }
    }

    @Test func `a draft is found again, and a vetoed one is kept`() async throws {
        struct Never: MessageServicePrechecker {
            func shouldSend(message: Message, in session: Session) -> Bool { false }
        }
        let memory = MemoryEngine(history: 1)
        try await memory.setDraft(Draft(text: "half a"), in: withBen)
        var configuration = SessionConfiguration.test
        configuration.prechecks = [Never()]
        let screen = Screen(engine: memory.engine, configuration: configuration)
        try await screen.run {
            screen.manager.open()
            await screen.wait { screen.messages.count == 1 && screen.manager.draft.text == "half a" }
            await #expect(throws: InteractionError.self) { try await screen.manager.sendDraft() }
            #expect(screen.manager.draft.text == "half a")
        }
    }
}
