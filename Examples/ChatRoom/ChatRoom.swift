import ExampleScreen
import ExampleService
import RivuletEngine
import RivuletFlow
import RivuletModel
import RivuletServer
import RivuletServerCore

/// A chat room whose rules are: short messages, no receipts, no selection, and history from the server.
@main struct ChatRoom {
    /// What was said before, from the server in this process; over the network it is an `HTTPEngine` with the mapping
    /// `rivuletHistory`.
    struct RoomHistory: SessionMessageProvider {
        let server: Server
        let user: UserID

        func messages(
            in session: Session, anchorMessage: Message?, direction: PageDirection, limit: Int
        ) async throws -> MessagePage {
            guard direction == .older else {
                return MessagePage(messages: [], hasOlder: true, hasNewer: false)
            }
            let entries = try server.roomHistory(
                of: RoomID(session.id), before: anchorMessage?.serverKey, limit: limit)
            return MessagePage(
                messages: entries.compactMap { message(of: $0, in: session) },
                hasOlder: entries.count == limit, hasNewer: false)
        }

        private func message(of entry: RoomHistoryEntry, in session: Session) -> Message? {
            let decoded = ContentCodec().decode(entry.content)
            guard let content = decoded.message else { return nil }
            let isOwn = entry.author.user == user
            return Message(
                id: MessageID(entry.key), session: session, sender: entry.author.user, isOutgoing: isOwn,
                uuid: decoded.envelope.uuid, serverKey: entry.key, position: MessagePosition(entry.key),
                timeMilliseconds: entry.time.milliseconds, content: content,
                state: isOwn ? .accepted : .received)
        }
    }

    /// Keeps the room readable.
    struct Short: MessageServicePrechecker {
        func shouldSend(message: Message, in session: Session) -> Bool {
            (message.content.text?.count ?? 0) <= 40
        }
        func vetoReason(for call: MessageServiceCall, message: Message) -> String? { "40 characters at most" }
    }

    @MainActor static func main() async throws {
        let service = try await SampleService()
        let (ada, ben) = (try await service.signIn(7), try await service.signIn(8))
        var rules = SessionConfiguration()
        rules.prechecks = [Short()]
        rules.receipts = .none
        rules.selection.isAllowed = false
        rules.flow.windowCountMax = 200

        let adas = TextScreen(
            "Ada in room 12", .room(12),
            engine: RoomEngine(
                account: ada, history: RoomHistory(server: service.server, user: ada.user)
            ).engine, configuration: rules, now: ChatAccount.systemTime, makeUUID: ChatAccount.systemUUID)
        try await adas.run {
            await adas.wait { adas.manager.controller.state.opening == .shown }
            try await adas.manager.send(.text("Anybody here?"))
            try await adas.attempt {
                try await adas.manager.send(.text(String(repeating: "Hello! ", count: 20)))
            }
            // Ben comes later and reads what was said before.
            let bens = TextScreen(
                "Ben in room 12", .room(12),
                engine: RoomEngine(
                    account: ben, history: RoomHistory(server: service.server, user: ben.user)
                ).engine, configuration: rules, now: ChatAccount.systemTime,
                makeUUID: ChatAccount.systemUUID)
            try await bens.run {
                await bens.waitForLine(containing: "Anybody here?")
                try await bens.manager.send(.text("Now there is."))
                await adas.waitForLine(containing: "Now there is.")
                // The page that has the live messages, too, makes no second row of any.
                adas.manager.reload()
                try await adas.manager.send(.text("Welcome!"))
                await bens.waitForLine(containing: "Welcome!")
                adas.show()
                bens.show()
            }
        }
        try await service.stop(ada, ben)
    }
}
