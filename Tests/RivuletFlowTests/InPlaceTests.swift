import RivuletModel
import Synchronization
import Testing

@testable import RivuletFlow

/// An engine's changes that are carried out when the test says so, and what it was asked for.
private final class HeldControls: MessageControlService {
    let gate = Gate()
    private let asked = Mutex<[ControlContent]>([])

    var controls: [ControlContent] { asked.withLock { $0 } }

    func apply(_ control: ControlContent, in session: Session) async throws {
        asked.withLock { $0.append(control) }
        await gate.pass()
    }
}

@Suite(.timeLimit(.minutes(5))) @MainActor struct `Rows that change in place` {
    private let memory = MemoryEngine(history: 3)
    private let cho = UserID(9)

    private func opened(
        _ configuration: SessionConfiguration = .test, engine: Engine? = nil,
        _ body: (Screen) async throws -> Void
    ) async throws {
        let screen = Screen(engine: engine ?? memory.engine, configuration: configuration)
        try await screen.run {
            screen.manager.open()
            await screen.wait { screen.messages.count == memory.messages(in: withBen).count }
            try await body(screen)
        }
    }

    private func append(_ text: String, to uuid: String, ends: Bool = false) -> ControlContent {
        .edit(EditContent(target: uuid, change: .append(text), endsStream: ends))
    }

    // MARK: streaming text

    @Test func `a text that grows is one row, and not a changed one`() async throws {
        try await opened { screen in
            let message = memory.receive(.text(TextContent("The", isStreaming: true)), from: ben, in: withBen)
            await screen.wait { screen.texts.last == "The" }
            let id = screen.messages[3].id
            for word in [" answer", " is", " 42"] {
                memory.receive(append(word, to: message.uuid ?? ""), from: ben, in: withBen)
            }
            await screen.wait { screen.texts.last == "The answer is 42" }
            #expect(screen.messages[3].id == id && screen.messages.count == 4)
            guard case .text(let growing) = screen.messages[3].content else { return }
            #expect(growing.isStreaming && !screen.messages[3].isEdited)
            // Somebody else cannot write into it.
            memory.receive(append("!", to: message.uuid ?? ""), from: cho, in: withBen)
            memory.receive(append(".", to: message.uuid ?? "", ends: true), from: ben, in: withBen)
            await screen.wait { screen.messages[3].content == .text("The answer is 42.") }
            #expect(!screen.messages[3].isEdited)
            // A page that is read afterwards says the same.
            screen.manager.reload()
            memory.receive(.text("end"), from: ben, in: withBen)
            await screen.wait { screen.texts.suffix(2) == ["The answer is 42.", "end"] }
            // After its end a change is a change.
            memory.receive(
                .edit(EditContent(target: message.uuid ?? "", change: .replace("43"))), from: ben, in: withBen
            )
            await screen.wait { screen.texts[3] == "43" && screen.messages[3].isEdited }
        }
    }

    @Test func `what is appended before the message came waits for it, in order`() async throws {
        try await opened { screen in
            for word in ["b", "c"] {
                screen.manager.take(.control(append(word, to: "s"), by: ben, milliseconds: 0))
            }
            var message = Message.sample(900, sender: 8, session: withBen)
            message.uuid = "s"
            message.content = .text(TextContent("a", isStreaming: true))
            screen.manager.take(.arrived([message]))
            await screen.wait { screen.texts.last == "abc" }
        }
    }

    @Test func `a text that grows without end stops at its bound`() async throws {
        try await opened { screen in
            let message = memory.receive(.text(TextContent("", isStreaming: true)), from: ben, in: withBen)
            let part = String(repeating: "x", count: 1 << 16)
            for _ in 0..<6 {
                screen.manager.take(.control(append(part, to: message.uuid ?? ""), by: ben, milliseconds: 0))
            }
            await screen.wait { screen.messages.count == 4 }
            let text = screen.manager.message(uuid: message.uuid ?? "")?.content.text ?? ""
            #expect(text.utf8.count == 1 << 18)
        }
    }

    // MARK: polls

    @Test func `the last vote of each counts, while the poll is open and for what it offers`() async throws {
        try await opened { screen in
            let poll = memory.receive(
                .poll(PollContent(question: "?", options: ["a", "b", "c"], closesMilliseconds: 70_000_000)),
                from: ben, in: withBen)
            let uuid = poll.uuid ?? ""
            await screen.wait { screen.messages.count == 4 }
            let id = screen.messages[3].id
            let vote = { (options: [Int], user: UserID, time: Int64) in
                screen.manager.take(
                    .control(.vote(target: uuid, options: options), by: user, milliseconds: time))
            }
            vote([0], ben, 1)
            vote([1], ben, 2)
            vote([0], cho, 3)
            let revision = screen.manager.message(id)?.revision ?? 0
            #expect(screen.manager.votes(on: id) == [[cho], [ben], []])
            // Two at once, one that does not exist, one too late: none is a vote.
            vote([0, 2], ben, 4)
            vote([7], ben, 5)
            vote([-1], ben, 5)
            vote([2], ben, 70_000_000)
            #expect(screen.manager.votes(on: id) == [[cho], [ben], []])
            #expect(screen.manager.message(id)?.revision == revision)
            vote([], cho, 6)
            #expect(screen.manager.votes(on: id) == [[], [ben], []])
            // The tally stands beside the message, so the row must be drawn anew.
            await screen.wait { screen.messages[3].revision > revision }
            try await screen.manager.vote(on: poll, options: [2])
            #expect(screen.manager.votes(on: id) == [[], [ben], [ada]])
            await #expect(throws: InteractionError.self) {
                try await screen.manager.vote(on: screen.messages[0], options: [0])
            }
        }
    }

    @Test func `a poll that allows several options takes several`() async throws {
        try await opened { screen in
            let content = PollContent(question: "?", options: ["a", "b", "c"], allowsMultiple: true)
            let poll = try await screen.manager.send(.poll(content))
            try await screen.manager.vote(on: poll, options: [2, 0])
            #expect(screen.manager.votes(on: poll.id) == [[ada], [], [ada]])
            try await screen.manager.vote(on: poll, options: [])
            #expect(screen.manager.votes(on: poll.id) == [[], [], []])
        }
    }

    // MARK: burning

    @Test func `what burned is a shell in its place, and nothing brings it back`() async throws {
        var secret = Message.sample(0, text: "secret", sender: 8, session: withBen)
        secret.burnSeconds = 5
        secret.uuid = "secret"
        secret.reactions = [Message.Reaction(emoji: "👍", users: [cho])]
        memory.add([secret])
        var configuration = SessionConfiguration.test
        configuration.burnedShell = .notice("gone")
        try await opened(configuration) { screen in
            memory.receive(.text("5"), from: ben, in: withBen)
            await screen.wait { screen.texts == ["1", "2", "3", "secret", "5"] }
            let before = screen.messages[3]
            screen.manager.beginSelection()
            #expect(!screen.manager.toggleSelection(of: before.id))
            screen.manager.take(.burned(uuid: "secret"))
            await screen.wait { screen.texts == ["1", "2", "3", "gone", "5"] }
            #expect(screen.messages[3].id == before.id && screen.messages[3].position == before.position)
            #expect(screen.messages[3].reactions.isEmpty)
            // The engine's page still has the text; a change of it, too.
            screen.manager.reload()
            screen.manager.take(.updated([before]))
            screen.manager.take(
                .control(.reaction(target: "secret", emoji: "👍", isOn: true), by: cho, milliseconds: 9))
            screen.manager.take(
                .control(
                    .edit(EditContent(target: "secret", change: .replace("again"))), by: ben, milliseconds: 9)
            )
            memory.receive(.text("6"), from: ben, in: withBen)
            await screen.wait { screen.texts == ["1", "2", "3", "gone", "5", "6"] }
            #expect(screen.messages[3].reactions.isEmpty)
            #expect(!screen.manager.beginEdit(of: screen.messages[3]))
        }
    }

    @Test func `what burns is not sent on, neither by itself nor in a record`() async throws {
        var secret = Message.sample(0, text: "secret", sender: 8, session: withBen)
        secret.burnSeconds = 5
        memory.add([secret])
        try await opened { screen in
            let row = screen.messages[3]
            let error = await #expect(throws: InteractionError.self) {
                try await screen.manager.forward(message: row, to: withCho)
            }
            #expect(error?.code == .burning && error?.reason.isEmpty == false)
            #expect(screen.failures == [.forward] && screen.vetoes.isEmpty)
            #expect(memory.count(of: .call(.forward)) == 0)
            // Its service refuses, too, whoever asks it.
            await #expect(throws: InteractionError.self) {
                try await memory.forward(message: row, to: withCho)
            }
            let results = await screen.manager.forward(
                messages: [screen.messages[0], row], to: [withCho], as: .merged(title: "Chat"))
            guard case .merged(let record) = try results[0].result.get().content else { return }
            #expect(record.items.map { ContentCodec().decode($0.content).message } == [.text("1")])
            let alone = await screen.manager.forward(
                messages: [row], to: [withCho], as: .merged(title: "Chat"))
            #expect(throws: InteractionError.self) { try alone[0].result.get() }
            let ids = screen.manager.menuItems(for: row).map(\.id)
            #expect(!ids.contains(.forward) && !ids.contains(.copy) && ids.contains(.reply))
            #expect(memory.messages(in: withCho).count == 1)
        }
    }

    // MARK: read marks and receipts

    @Test(arguments: [SessionConfiguration.Receipts.none, .mark, .eachMessage])
    func `what was seen is told as the session says`(receipts: SessionConfiguration.Receipts) async throws {
        let controls = HeldControls()
        controls.gate.open()
        var engine = memory.engine
        engine.controls = controls
        var configuration = SessionConfiguration.test
        configuration.receipts = receipts
        memory.setReadPosition(MessagePosition(1), in: withBen)
        try await opened(configuration, engine: engine) { screen in
            let own = try await screen.manager.send(.text("own"))
            await screen.manager.noteSeen(screen.messages.map(\.id) + [own.id, MessageID(777)])
            let uuids = screen.messages.prefix(3).map { $0.uuid ?? "" }
            let mark = ControlContent.readMark(session: withBen, target: uuids[2])
            // The first was read before the session was opened, so its author knows.
            let each = uuids.dropFirst().map { ControlContent.readed(target: $0) }
            switch receipts {
            case .none: #expect(controls.controls.isEmpty)
            case .mark: #expect(controls.controls == [mark])
            case .eachMessage: #expect(controls.controls == [mark] + each)
            }
        }
    }

    @Test func `what is seen while the engine is being told is told next, once`() async throws {
        let controls = HeldControls()
        var engine = memory.engine
        engine.controls = controls
        try await opened(engine: engine) { screen in
            let ids = screen.messages.map(\.id)
            let first = Task { await screen.manager.noteSeen([ids[0]]) }
            await controls.gate.arrived()
            await screen.manager.noteSeen([ids[1]])
            await screen.manager.noteSeen([ids[2], ids[0]])
            controls.gate.open()
            await first.value
            #expect(
                controls.controls
                    == [0, 2].map {
                        .readMark(session: withBen, target: screen.messages[$0].uuid ?? "")
                    })
        }
    }

    @Test func `receipts of several readers are counted once each, and states never go back`() async throws {
        try await opened { screen in
            let own = try await screen.manager.send(.text("own"))
            let uuid = own.uuid ?? ""
            let read = { (user: UserID) in
                screen.manager.take(.control(.readed(target: uuid), by: user, milliseconds: 0))
            }
            screen.manager.take(.delivered(uuids: [uuid, "unknown"]))
            #expect(screen.manager.message(own.id)?.state == .delivered)
            read(ben)
            read(ben)
            read(cho)
            // The author's own word says nothing.
            read(ada)
            screen.manager.take(.delivered(uuids: [uuid]))
            await screen.wait { screen.messages.last?.state == .read(count: 2) }
            #expect(screen.manager.readers(of: own.id) == [ben, cho])
            #expect(try await screen.manager.loadReaders(of: own.id) == [ben, cho])
            await #expect(throws: InteractionError.self) {
                try await screen.manager.loadReaders(of: MessageID(9_999))
            }
        }
    }

    // MARK: changes that cross

    @Test func `a change that another device made after this one's stays, though the call returns later`()
        async throws
    {
        let controls = HeldControls()
        var engine = memory.engine
        engine.controls = controls
        try await opened(engine: engine) { screen in
            let own = try await screen.manager.send(.text("first"))
            let edit = Task { try await screen.manager.edit(message: own, text: "here") }
            await controls.gate.arrived()
            // An engine with revisions tells both changes, in the server's order, before the call returns.
            for (revision, text) in [(5, "here"), (6, "there")] {
                var told = own
                told.content = .text(TextContent(text))
                told.revision = revision
                told.isEdited = true
                screen.manager.take(.updated([told]))
            }
            controls.gate.open()
            try await edit.value
            #expect(screen.manager.message(own.id)?.content == .text("there"))
        }
    }
}
