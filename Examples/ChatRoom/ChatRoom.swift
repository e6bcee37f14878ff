import ExampleScreen
import ExampleService
import RivuletEngine
import RivuletFlow
import RivuletHTTPEngine
import RivuletModel
import RivuletServer

/// A chat room whose rules are: short messages, no receipts, no selection, and history from the server.
@main struct ChatRoom {
    /// Keeps the room readable.
    struct Short: MessageServicePrechecker {
        func shouldSend(message: Message, in session: Session) -> Bool {
            (message.content.text?.count ?? 0) <= 40
        }
        func vetoReason(for call: MessageServiceCall, message: Message) -> String? { "40 characters at most" }
    }

    /// What was said before, over the server's HTTP interface with the token of the login.
    static func history(_ service: SampleService, _ user: UserID) throws -> HTTPEngine {
        let token = try service.server.makeToken(for: user)
        var options = HTTPEngineOptions()
        options.authorization = { _ in "Bearer \(token)" }
        return HTTPEngine(
            user: user, base: service.httpAddress, mapping: .rivuletHistory(user: user), options: options)
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
            engine: RoomEngine(account: ada, history: try history(service, ada.user)).engine,
            configuration: rules, now: ChatAccount.systemTime, makeUUID: ChatAccount.systemUUID)
        try await adas.run {
            await adas.wait { adas.manager.controller.state.opening == .shown }
            try await adas.manager.send(.text("Anybody here?"))
            try await adas.attempt {
                try await adas.manager.send(.text(String(repeating: "Hello! ", count: 20)))
            }
            // Ben comes later and reads what was said before.
            let bens = TextScreen(
                "Ben in room 12", .room(12),
                engine: RoomEngine(account: ben, history: try history(service, ben.user)).engine,
                configuration: rules, now: ChatAccount.systemTime, makeUUID: ChatAccount.systemUUID)
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
