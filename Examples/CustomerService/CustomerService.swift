import ExampleScreen
import ExampleService
import RivuletEngine
import RivuletFlow
import RivuletModel
import RivuletServerCore

/// Customer service whose rules are: the staff's messages are signed, the customer cannot withdraw, and a greeting is
/// written locally without being sent.
@main struct CustomerService {
    /// Signs what the staff says.
    struct Signed: MessageServicePreparation {
        let signature: String

        func prepareSend(message: Message, in session: Session) async throws -> Message {
            guard case .text(var content) = message.content else { return message }
            content.text += " — \(signature)"
            var message = message
            message.content = .text(content)
            return message
        }
    }

    /// What was asked stays asked.
    struct NothingIsWithdrawn: MessageServicePrechecker {
        func shouldRevoke(message: Message) -> Bool { false }
        func vetoReason(for call: MessageServiceCall, message: Message) -> String? {
            "questions to the shop are kept"
        }
    }

    @MainActor static func main() async throws {
        let service = try await SampleService()
        let (customer, staff) = (try await service.signIn(7), try await service.signIn(100))
        let shop = Session(kind: .customer, id: 100, appID: Account.defaultApp)
        let client = Session(kind: .customer, id: 7, appID: Account.defaultApp)

        var customers = SessionConfiguration()
        customers.prechecks = [NothingIsWithdrawn()]
        customers.pageSize = 15
        var staffs = SessionConfiguration()
        staffs.preparations = [Signed(signature: "Mia, customer service")]
        staffs.receipts = .none
        staffs.menu.edit = { items, _, _ in
            items.append(MessageMenuItem(id: MessageMenuItem.ID(rawValue: "ticket"), title: "Open a ticket"))
        }

        let customerScreen = TextScreen(
            "Customer", shop, engine: customer.engine, configuration: customers,
            now: ChatAccount.systemTime, makeUUID: ChatAccount.systemUUID)
        let staffScreen = TextScreen(
            "Shop", client, engine: staff.engine, configuration: staffs, now: ChatAccount.systemTime,
            makeUUID: ChatAccount.systemUUID)

        try await customerScreen.run {
            try await staffScreen.run {
                var greeting = customerScreen.manager.makeMessage(.text("Welcome to the shop! (never sent)"))
                greeting.sender = UserID(100)
                greeting.isOutgoing = false
                greeting.state = .received
                try await customerScreen.manager.save(message: greeting)
                let question = try await customerScreen.manager.send(.text("Where is my parcel?"))
                await staffScreen.waitForLine(containing: "Where is my parcel?")
                try await staffScreen.manager.send(.text("On its way."))
                await customerScreen.waitForLine(containing: "Mia")
                try await customerScreen.attempt {
                    try await customerScreen.manager.revoke(message: question)
                }
                let menu = staffs.menu.items(for: staffScreen.messages[0], component: .content)
                print("The staff's menu:", menu.map(\.title).joined(separator: ", "))
                customerScreen.show()
                staffScreen.show()
            }
        }
        try await service.stop(customer, staff)
    }
}
