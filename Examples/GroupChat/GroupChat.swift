import ExampleScreen
import ExampleService
import RivuletEngine
import RivuletFlow
import RivuletModel
import RivuletServer
import RivuletServerCore

/// A group whose rules are: small pages, days instead of times, quiet newcomers, and what is said may be sent on as one.
@main struct GroupChat {
    /// Keeps newcomers from writing before they were greeted.
    struct QuietUntilGreeted: MessageServicePrechecker {
        let isGreeted: @Sendable () -> Bool

        func shouldSend(message: Message, in session: Session) -> Bool { isGreeted() }
        func vetoReason(for call: MessageServiceCall, message: Message) -> String? {
            "please wait until somebody greets you"
        }
    }

    static let names: @Sendable (UserID) -> String = { user in
        [7: "Ada", 8: "Ben", 9: "Cho"][user.rawValue] ?? "somebody"
    }

    @MainActor static func main() async throws {
        let service = try await SampleService()
        let (ada, ben) = (try await service.signIn(7), try await service.signIn(8))
        try await service.server.apply([
            .createGroup(
                GroupID(40), app: Account.defaultApp, name: "Hikers", isSuper: false, owner: ada.user,
                members: [ada.user, ben.user])
        ])
        let hikers = Session.group(40)

        var rules = SessionConfiguration()
        rules.pageSize = 10
        rules.timeLabelRule = .never
        rules.showsDays = true
        rules.groupingGap = .seconds(60)
        rules.selection.countMax = 5
        rules.userName = names
        var newcomers = rules
        newcomers.prechecks = [QuietUntilGreeted(isGreeted: { false })]

        let adas = TextScreen(
            "Ada in Hikers", hikers, engine: ada.engine, configuration: rules,
            now: ChatAccount.systemTime, makeUUID: ChatAccount.systemUUID)
        let bens = TextScreen(
            "Ben in Hikers", hikers, engine: ben.engine, configuration: newcomers,
            now: ChatAccount.systemTime, makeUUID: ChatAccount.systemUUID)

        try await adas.run {
            try await bens.run {
                // Ben's rule is Ben's alone: Ada writes freely, in the same group.
                try await bens.attempt { try await bens.manager.send(.text("Hello?")) }
                adas.manager.setDraftText("Welcome,")
                adas.manager.mention(ben.user)
                let welcome = try await adas.manager.sendDraft()
                if case .text(let text) = welcome.content {
                    print("Ada mentioned:", text.mentions.map(\.name).joined())
                }
                await bens.waitForLine(containing: "Welcome, @Ben")
                bens.manager.configuration = rules
                try await bens.manager.send(.text("Thank you!"))
                await adas.waitForLine(containing: "Thank you!")
                try await adas.manager.send(
                    .poll(PollContent(question: "Which hill?", options: ["North", "South"])))
                await bens.waitForLine(containing: "Which hill?")

                // Several messages are picked and go to Ben privately, as one record.
                adas.manager.beginSelection()
                for message in adas.messages { adas.manager.toggleSelection(of: message.id) }
                let picked = adas.manager.selectedMessages.filter { $0.content.kind == .text }
                let sent = await adas.manager.forward(
                    messages: picked, to: [.peer(ben.user)], as: .merged(title: "From Hikers"))
                adas.manager.endSelection()
                for result in sent {
                    guard case .merged(let record) = try result.result.get().content else { continue }
                    print("\(record.title):", record.items.map(\.name).joined(separator: ", "))
                }
                adas.show()
                bens.show()
            }
        }
        try await service.stop(ada, ben)
    }
}
