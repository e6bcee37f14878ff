import ExampleScreen
import Foundation
import RivuletFlow
import RivuletModel

/// Puts a foreign messaging kit under the flow: the described forms with completions are enough.
struct PigeonEngine: CompletionMessageProvider, CompletionMessageService {
    let kit: PigeonKit
    let user: UserID
    let hub = SessionEventHub()

    /// The whole join: completions are counted once by the adapters, pushes are told by the hub.
    var engine: Engine {
        kit.listen { letter in
            let session = Session.group(Int64(letter.loft) ?? 0)
            hub.publish(.arrived([message(of: letter, in: session)]), in: session)
        }
        return Engine(
            user: user, provider: CompletionProviderAdapter(self), service: CompletionServiceAdapter(self),
            events: hub)
    }

    func message(of letter: PigeonKit.Letter, in session: Session) -> Message {
        let sender = UserID(Int64(letter.from) ?? 0)
        return Message(
            id: MessageID(Int64(letter.serial)), session: session, sender: sender, isOutgoing: sender == user,
            uuid: letter.ticket, position: MessagePosition(Int64(letter.serial)), timeMilliseconds: 0,
            content: .text(letter.words), state: sender == user ? .accepted : .received)
    }

    func messages(
        in session: Session, anchorMessage: Message?, limit: Int,
        completion: @escaping @Sendable ([Message]) -> Void
    ) {
        let serial = anchorMessage.map { Int($0.position.rawValue) }
        kit.fetchLetters(loft: "\(session.id)", below: serial, max: limit) { letters in
            completion(letters.map { message(of: $0, in: session) })
        }
    }

    func send(message: Message, in session: Session, completion: @escaping MessageServiceInterfaceCompletion)
    {
        kit.release(
            words: message.content.text ?? "", ticket: message.uuid ?? "", loft: "\(session.id)",
            from: "\(user.rawValue)"
        ) { result in
            completion(result.map { self.message(of: $0, in: session) })
        }
    }

    func resend(message: Message, completion: @escaping MessageServiceInterfaceCompletion) {
        send(message: message, in: message.session, completion: completion)
    }

    func forward(
        message: Message, to session: Session, completion: @escaping MessageServiceInterfaceCompletion
    ) {
        var copy = message
        copy.uuid = UUID().uuidString
        send(message: copy, in: session, completion: completion)
    }

    func revoke(message: Message, completion: @escaping MessageServiceInterfaceCompletion) {
        completion(.failure(InteractionError(.unsupported, reason: "pigeons do not turn back")))
    }

    func save(message: Message, in session: Session, completion: @escaping MessageServiceInterfaceCompletion)
    {
        completion(.success(message))
    }

    func delete(message: Message, completion: @escaping MessageServiceInterfaceCompletion) {
        completion(.success(message))
    }
}

@main struct ForeignSDK {
    @MainActor static func main() async throws {
        let kit = PigeonKit()
        let (ada, ben) = (UserID(7), UserID(8))
        for number in 1...3 {
            kit.release(words: "letter \(number)", ticket: "t\(number)", loft: "40", from: "8") { _ in }
        }
        var rules = SessionConfiguration()
        rules.pageSize = 2
        let screen = TextScreen(
            "Pigeons", .group(40), engine: PigeonEngine(kit: kit, user: ada).engine, configuration: rules,
            now: { 0 }, makeUUID: { UUID().uuidString })
        try await screen.run {
            await screen.waitForLine(containing: "letter 1")
            try await screen.manager.send(.text("coo"))
            kit.setStorm(true)
            do {
                try await screen.manager.send(.text("in the storm"))
            } catch is PigeonKit.Trouble {
                await screen.waitForLine(containing: "failed")
            }
            kit.setStorm(false)
            try await screen.manager.resend(message: screen.messages[screen.messages.count - 1])
            kit.release(words: "heard you", ticket: "t9", loft: "40", from: "\(ben.rawValue)") { _ in }
            await screen.waitForLine(containing: "heard you")
            screen.show()
        }
    }
}
