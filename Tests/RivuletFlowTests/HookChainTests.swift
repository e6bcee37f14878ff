import RivuletModel
import Synchronization
import Testing

@testable import RivuletFlow

/// Writes down who was asked, in order.
private final class Log: Sendable {
    private let entries = Mutex<[String]>([])
    func add(_ entry: String) { entries.withLock { $0.append(entry) } }
    var all: [String] { entries.withLock { $0 } }
}

private struct Precheck: MessageServicePrechecker {
    let log: Log
    var name = "check"
    var vetoes: Set<MessageServiceCall> = []
    var reason: String?

    private func ask(_ call: MessageServiceCall) -> Bool {
        log.add("\(name) \(call.rawValue)")
        return !vetoes.contains(call)
    }
    func shouldSend(message: Message, in session: Session) -> Bool { ask(.send) }
    func shouldResend(message: Message) -> Bool { ask(.resend) }
    func shouldForward(message: Message, to session: Session) -> Bool { ask(.forward) }
    func shouldRevoke(message: Message) -> Bool { ask(.revoke) }
    func shouldSave(message: Message, in session: Session) -> Bool { ask(.save) }
    func shouldDelete(message: Message) -> Bool { ask(.delete) }
    func vetoReason(for call: MessageServiceCall, message: Message) -> String? { reason }
}

private struct Preparation: MessageServicePreparation {
    let log: Log
    var name: String
    var refuses: Set<MessageServiceCall> = []
    var gate: Gate?

    private func prepare(_ call: MessageServiceCall, _ message: Message) async throws -> Message {
        log.add("\(name) \(call.rawValue)")
        await gate?.pass()
        if refuses.contains(call) { throw InteractionError(.refused, reason: "\(name) says no") }
        var message = message
        if let text = message.content.text { message.content = .text(text + "+" + name) }
        message.uuid = "stolen"
        message.id = MessageID(1)
        message.sender = ben
        return message
    }
    func prepareSend(message: Message, in session: Session) async throws -> Message {
        try await prepare(.send, message)
    }
    func prepareResend(message: Message) async throws -> Message {
        try await prepare(.resend, message)
    }
    func prepareForward(message: Message, to session: Session) async throws -> Message {
        try await prepare(.forward, message)
    }
    func prepareRevoke(message: Message) async throws -> Message {
        try await prepare(.revoke, message)
    }
    func prepareSave(message: Message, in session: Session) async throws -> Message {
        try await prepare(.save, message)
    }
    func prepareDelete(message: Message) async throws -> Message {
        try await prepare(.delete, message)
    }
}

@Suite(.timeLimit(.minutes(5))) @MainActor struct `The hook chain` {
    private let log = Log()
    private let memory = MemoryEngine(history: 2)

    private func screen(
        _ prechecks: [Precheck] = [], _ preparations: [Preparation] = []
    ) -> Screen {
        var configuration = SessionConfiguration.test
        configuration.prechecks = prechecks
        configuration.preparations = preparations
        return Screen(engine: memory.engine, configuration: configuration)
    }

    /// A message of the user that the server has, one that failed, and the six calls on them.
    private func perform(_ call: MessageServiceCall, on screen: Screen) async throws {
        let manager = screen.manager
        switch call {
        case .send: try await manager.send(.text("hello"))
        case .resend:
            guard let failed = screen.messages.first(where: { $0.state.isFailed }) else {
                throw InteractionError(.notFound)
            }
            try await manager.resend(message: failed)
        case .forward: try await manager.forward(message: screen.messages[0], to: withCho)
        case .revoke: try await manager.revoke(message: screen.messages[2])
        case .save: try await manager.save(message: .sample(77, text: "note"))
        case .delete: try await manager.delete(message: screen.messages[0])
        }
    }

    /// Gives the session one own message that is sent and one that failed.
    private func fill(_ screen: Screen) async throws {
        screen.manager.open()
        await screen.wait { screen.messages.count == 2 }
        try await screen.manager.send(.text("own"))
        memory.setScript { $0.kind == .send ? .failing(with: InteractionError(.refused)) : .normal }
        _ = try? await screen.manager.send(.text("failed"))
        memory.setScript { _ in .normal }
        await screen.wait { screen.messages.count == 4 && screen.messages[3].state.isFailed }
    }

    @Test(arguments: MessageServiceCall.allCases)
    func `a vetoed call leaves no trace and tells the delegate why`(call: MessageServiceCall)
        async throws
    {
        let screen = screen()
        try await screen.run {
            try await fill(screen)
            let before = (screen.messages, memory.messages(in: withBen), memory.count(of: .call(call)))
            screen.manager.configuration.prechecks = [
                Precheck(log: log, name: "first"),
                Precheck(log: log, name: "second", vetoes: [call], reason: "not today"),
                Precheck(log: log, name: "third"),
            ]
            screen.manager.configuration.preparations = [Preparation(log: log, name: "prepare")]
            let error = await #expect(throws: InteractionError.self) {
                try await perform(call, on: screen)
            }
            #expect(error?.code == .vetoed)
            #expect(error?.reason == "not today")
            screen.manager.controller.drain()
            #expect(screen.messages == before.0)
            #expect(memory.messages(in: withBen) == before.1)
            #expect(memory.count(of: .call(call)) == before.2)
            #expect(memory.messages(in: withCho).isEmpty)
            #expect(screen.vetoes.map(\.0) == [call] && screen.vetoes.map(\.1) == ["not today"])
            #expect(log.all == ["first \(call.rawValue)", "second \(call.rawValue)"])
        }
    }

    @Test(arguments: MessageServiceCall.allCases)
    func `prechecks come before preparations and these before the service, each in order`(
        call: MessageServiceCall
    ) async throws {
        let screen = screen()
        try await screen.run {
            try await fill(screen)
            let before = memory.count(of: .call(call))
            screen.manager.configuration.prechecks = [
                Precheck(log: log, name: "a"), Precheck(log: log, name: "b"),
            ]
            screen.manager.configuration.preparations = [
                Preparation(log: log, name: "c"), Preparation(log: log, name: "d"),
            ]
            try await perform(call, on: screen)
            #expect(log.all == ["a", "b", "c", "d"].map { "\($0) \(call.rawValue)" })
            #expect(memory.count(of: .call(call)) == before + 1)
        }
    }

    @Test(arguments: MessageServiceCall.allCases)
    func `a refusing preparation ends the call, and the service hears nothing`(
        call: MessageServiceCall
    ) async throws {
        let screen = screen()
        try await screen.run {
            try await fill(screen)
            let before = memory.count(of: .call(call))
            screen.manager.configuration.preparations = [
                Preparation(log: log, name: "c", refuses: [call]), Preparation(log: log, name: "d"),
            ]
            let error = await #expect(throws: InteractionError.self) {
                try await perform(call, on: screen)
            }
            #expect(error?.reason == "c says no")
            #expect(log.all == ["c \(call.rawValue)"])
            #expect(memory.count(of: .call(call)) == before)
            #expect(screen.failures.last == call)
        }
    }

    @Test func `a preparation changes the content and never the identity`() async throws {
        let screen = screen([], [Preparation(log: log, name: "c"), Preparation(log: log, name: "d")])
        try await screen.run {
            screen.manager.open()
            await screen.wait { screen.messages.count == 2 }
            let message = screen.manager.makeMessage(.text("x"))
            let sent = try await screen.manager.send(message: message)
            #expect(sent.content == .text("x+c+d"))
            #expect(sent.uuid == message.uuid)
            #expect(sent.sender == ada)
            await screen.wait { screen.texts == ["1", "2", "x+c+d"] }
        }
    }

    @Test func `a message that is prepared shows as such, then as sent`() async throws {
        let gate = Gate()
        let screen = screen([], [Preparation(log: log, name: "c", gate: gate)])
        try await screen.run {
            screen.manager.open()
            await screen.wait { screen.messages.count == 2 }
            let sending = Task { try await screen.manager.send(.text("x")) }
            await gate.arrived()
            await screen.wait { screen.messages.last?.state == .preparing }
            #expect(screen.texts.last == "x")
            gate.open()
            _ = try await sending.value
            await screen.wait { screen.messages.last?.state == .accepted }
            #expect(screen.messages.count == 3)
        }
    }

    @Test func `without preparations no message shows as being prepared`() async throws {
        let screen = screen()
        try await screen.run {
            screen.manager.open()
            await screen.wait { screen.messages.count == 2 }
            try await screen.manager.send(.text("x"))
            await screen.wait { screen.messages.last?.state == .accepted }
            #expect(!screen.states.contains(.preparing))
        }
    }

    @Test func `a message that failed before the service had it starts again from its original`()
        async throws
    {
        let screen = screen(
            [],
            [
                Preparation(log: log, name: "c"), Preparation(log: log, name: "d", refuses: [.send]),
            ])
        try await screen.run {
            screen.manager.open()
            await screen.wait { screen.messages.count == 2 }
            _ = try? await screen.manager.send(.text("x"))
            await screen.wait { screen.messages.last?.state == .failed(reason: "d says no") }
            #expect(screen.texts.last == "x")
            screen.manager.configuration.preparations = [Preparation(log: log, name: "c")]
            let sent = try await screen.manager.resend(message: screen.messages[2])
            // Once for sending again, once for sending at all; not a second time on what was prepared.
            #expect(sent.content == .text("x+c+c"))
            #expect(memory.count(of: .send) == 1 && memory.count(of: .resend) == 0)
            await screen.wait { screen.messages.last?.state == .accepted && screen.messages.count == 3 }
        }
    }

    @Test func `a message that the service refused is sent again under the same name`() async throws {
        let screen = screen()
        try await screen.run {
            try await fill(screen)
            let failed = screen.messages[3]
            #expect(failed.state == .failed(reason: "It was refused."))
            let sent = try await screen.manager.resend(message: failed)
            #expect(sent.uuid == failed.uuid && sent.id == failed.id)
            #expect(memory.count(of: .resend) == 1)
            await screen.wait { screen.messages.last?.state == .accepted && screen.messages.count == 4 }
            // What did not fail is not sent again, and what is unknown cannot be.
            await #expect(throws: InteractionError.self) {
                try await screen.manager.resend(message: sent)
            }
            await #expect(throws: InteractionError.self) {
                try await screen.manager.resend(message: .sample(12_345))
            }
        }
    }

    @Test func `a lost answer leaves one row, which the engine's event corrects`() async throws {
        let screen = screen()
        try await screen.run {
            screen.manager.open()
            await screen.wait { screen.messages.count == 2 }
            memory.setScript { _ in Behaviour(error: InteractionError(.timedOut), losesAnswer: true) }
            _ = try? await screen.manager.send(.text("x"))
            await screen.wait { screen.messages.last?.state == .accepted }
            #expect(screen.texts == ["1", "2", "x"])
            #expect(screen.failures == [.send])
        }
    }

    @Test func `deleting a message that is prepared gives it up`() async throws {
        let gate = Gate()
        let screen = screen([], [Preparation(log: log, name: "c", gate: gate)])
        try await screen.run {
            screen.manager.open()
            await screen.wait { screen.messages.count == 2 }
            let sending = Task { try await screen.manager.send(.text("x")) }
            await screen.wait { screen.messages.count == 3 }
            screen.manager.configuration.preparations = []
            try await screen.manager.delete(message: screen.messages[2])
            gate.open()
            await #expect(throws: CancellationError.self) { try await sending.value }
            await screen.wait { screen.messages.count == 2 }
            #expect(memory.count(of: .send) == 0)
            #expect(memory.count(of: .call(.delete)) == 0)
        }
    }

    @Test func `saving writes a row without sending`() async throws {
        let screen = screen()
        try await screen.run {
            screen.manager.open()
            await screen.wait { screen.messages.count == 2 }
            let row = try await screen.manager.save(message: .sample(900, text: "remember the milk"))
            await screen.wait { screen.texts == ["1", "2", "remember the milk"] }
            #expect(screen.messages[2].id == row.id)
            #expect(memory.count(of: .send) == 0)
            // The next message stands after it.
            memory.receive(.text("3"), from: ben, in: withBen)
            await screen.wait { screen.texts == ["1", "2", "remember the milk", "3"] }
        }
    }

    @Test func `one's own sent messages alone are withdrawn`() async throws {
        let screen = screen()
        try await screen.run {
            try await fill(screen)
            for index in [0, 3] {
                await #expect(throws: InteractionError.self) {
                    try await screen.manager.revoke(message: screen.messages[index])
                }
            }
            try await screen.manager.revoke(message: screen.messages[2])
            await screen.wait { screen.messages[2].content == .revoked }
            #expect(memory.messages(in: withBen)[2].content == .revoked)
        }
    }
}

private typealias Behaviour = MemoryEngine.Behaviour
