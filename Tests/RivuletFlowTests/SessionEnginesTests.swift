import RivuletModel
import Testing

@testable import RivuletFlow

@Suite(.timeLimit(.minutes(5))) @MainActor struct `Engines by the kind of session` {
    private let chats = MemoryEngine(history: 2)
    private let rooms = MemoryEngine(history: 3, in: .room(5))

    private var engines: SessionEngines {
        SessionEngines(chats.engine, [.room: rooms.engine], makeUUID: { "copy" })
    }

    private func screen(_ session: Session) -> Screen {
        Screen(session, engine: engines.engine(for: session))
    }

    @Test func `each session reads and writes by the engine of its kind`() async throws {
        let (chat, room) = (screen(withBen), screen(.room(5)))
        try await chat.run {
            try await room.run {
                chat.manager.open()
                room.manager.open()
                await chat.wait { chat.texts == ["1", "2"] }
                await room.wait { room.texts == ["1", "2", "3"] }
                try await chat.manager.send(.text("to Ben"))
                let sent = try await room.manager.send(.text("to all"))
                #expect(chats.messages(in: withBen).last?.content == .text("to Ben"))
                #expect(rooms.messages(in: .room(5)).last?.content == .text("to all"))
                try await room.manager.revoke(message: sent)
                try await chat.manager.delete(message: chat.messages[0])
                #expect(rooms.count(of: .call(.revoke)) == 1 && chats.count(of: .call(.delete)) == 1)
            }
        }
    }

    @Test func `what is sent on to another kind goes out there, as a message of its own`() async throws {
        let room = screen(.room(5))
        try await room.run {
            room.manager.open()
            await room.wait { room.messages.count == 3 }
            let first = room.messages[0]
            let there = try await room.manager.forward(message: first, to: withBen)
            #expect(there.session == withBen && there.uuid == "copy" && there.isOutgoing)
            #expect(chats.messages(in: withBen).last?.content == first.content)
            #expect(chats.count(of: .send) == 1 && rooms.count(of: .call(.forward)) == 0)
            // Within the engine it is the engine's own call.
            try await room.manager.forward(message: first, to: .room(6))
            #expect(rooms.count(of: .call(.forward)) == 1)
            let merged = await room.manager.forward(
                messages: room.messages, to: [withCho], as: .merged(title: "Room"))
            #expect(try merged[0].result.get().session == withCho)
            #expect(chats.messages(in: withCho).count == 1)
        }
    }

    @Test func `what burns goes to no other kind either`() async throws {
        var secret = Message.sample(1, sender: 8, session: withBen)
        secret.burnSeconds = 3
        await #expect(throws: InteractionError.self) {
            try await engines.engine(for: withBen).service.forward(message: secret, to: .room(5))
        }
        #expect(rooms.count(of: .send) == 0)
    }
}
