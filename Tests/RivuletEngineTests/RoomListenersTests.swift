import RivuletClient
import RivuletClientCore
import RivuletEngine
import RivuletFlow
import RivuletModel
import RivuletServer
import RivuletWire
import Testing

/// A room in which two parts of one program are interested: the list of conversations and the one on screen.
@Suite("Listeners of one room", .timeLimit(.minutes(2)))
struct RoomListenersTests {
    private func started(_ account: ChatAccount) async {
        let states = account.service.connectionStates()
        account.start()
        for await state in states where state == .authenticated { break }
    }

    /// The first text that somebody says from now on.
    private func firstText(_ events: AsyncStream<SessionEvent>) async -> String? {
        for await event in events {
            if case .arrived(let messages) = event, let text = messages.first?.content.text { return text }
        }
        return nil
    }

    @Test func `the room is left when the last listener is gone, not before`() async throws {
        let world = try await TwoUsers()
        let ada = try world.account(1)
        let bob = try world.account(2)
        await started(ada)
        await started(bob)
        let room = Session.room(12)
        let rooms = RoomEngine(account: ada)
        let lasting = rooms.events(in: room)
        let others = RoomEngine(account: bob)
        let bobs = others.events(in: room)
        defer { withExtendedLifetime(bobs) {} }
        func say(_ text: String) async throws {
            let message = Message(
                id: MessageID(0), session: room, sender: UserID(2), isOutgoing: true, uuid: text,
                position: MessagePosition(0), timeMilliseconds: 0, content: .text(text))
            _ = try await others.send(message: message, in: room)
        }
        // A second listener hears the first word and goes.
        do {
            let passing = rooms.events(in: room)
            let heard = Task { await firstText(passing) }
            // What a connection says is heard in order: once these are acknowledged, both are in the room.
            try await ada.send(text: "in", to: .peer(UserID(2)))
            try await bob.send(text: "in", to: .peer(UserID(1)))
            try await say("one")
            #expect(await heard.value == "one")
        }
        try await say("two")
        var texts: [String] = []
        for await event in lasting {
            guard case .arrived(let messages) = event else { continue }
            texts += messages.compactMap(\.content.text)
            if texts.contains("two") { break }
        }
        #expect(texts == ["one", "two"])
        await ada.close()
        await bob.close()
        await world.server.stop()
    }
}
