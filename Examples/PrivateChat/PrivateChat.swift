import ExampleScreen
import ExampleService
import RivuletEngine
import RivuletFlow
import RivuletModel

/// A private chat whose rules are: no addresses of web pages, tidy text, a receipt for each message.
@main struct PrivateChat {
    /// Looks at a message before anything happens.
    struct NoLinks: MessageServicePrechecker {
        func shouldSend(message: Message, in session: Session) -> Bool {
            message.content.text.map { !$0.contains("://") } ?? true
        }

        func vetoReason(for call: MessageServiceCall, message: Message) -> String? {
            "addresses are not allowed here"
        }
    }

    /// Changes a message on its way out.
    struct Tidy: MessageServicePreparation {
        func prepareSend(message: Message, in session: Session) async throws -> Message {
            guard case .text(var content) = message.content else { return message }
            content.text = content.text.split(separator: " ").joined(separator: " ")
            var message = message
            message.content = .text(content)
            return message
        }
    }

    @MainActor static func main() async throws {
        let service = try await SampleService()
        let (ada, ben) = (try await service.signIn(7), try await service.signIn(8))

        var rules = SessionConfiguration()
        rules.pageSize = 20
        rules.timeLabelRule = .gapToPrevious(.seconds(600))
        rules.prechecks = [NoLinks()]
        rules.preparations = [Tidy()]
        rules.receipts = .eachMessage
        let adas = TextScreen(
            "Ada with Ben", .peer(ben.user), engine: ada.engine, configuration: rules,
            now: ChatAccount.systemTime, makeUUID: ChatAccount.systemUUID)
        let bens = TextScreen(
            "Ben with Ada", .peer(ada.user), engine: ben.engine, configuration: rules,
            now: ChatAccount.systemTime, makeUUID: ChatAccount.systemUUID)

        try await adas.run {
            try await bens.run {
                let first = try await adas.manager.send(.text("Shall   we meet at the   gate?"))
                await bens.waitForLine(containing: "Shall we meet at the gate?")
                // Ben's screen shows it, so Ada's learns that it was read.
                await bens.manager.noteSeen(bens.messages.map(\.id))
                await adas.waitForLine(containing: "read by 1")

                bens.manager.setDraftText("Yes, at noon.")
                bens.manager.beginReply(to: bens.messages[0])
                try await bens.manager.sendDraft()
                await adas.waitForLine(containing: "Yes, at noon.")
                print("Ben answered Ada's message:", adas.messages[1].reference == first.uuid)

                try await adas.manager.react(to: adas.messages[1], with: "👍")
                try await adas.attempt { try await adas.manager.send(.text("See https://example.org")) }
                let mistake = try await adas.manager.send(.text("Bring the wrong keys"))
                try await adas.manager.edit(message: mistake, text: "Bring the keys")
                let regret = try await adas.manager.send(.text("Forget it"))
                try await adas.manager.revoke(message: regret)
                try await adas.manager.save(
                    message: adas.manager.makeMessage(.text("Note to myself: noon")))
                await bens.waitForLine(containing: "withdrawn")
                await bens.waitForLine(containing: "(edited)")
                await adas.waitForLine(containing: "Note to myself")
                adas.show()
                bens.show()
            }
        }
        try await service.stop(ada, ben)
    }
}
