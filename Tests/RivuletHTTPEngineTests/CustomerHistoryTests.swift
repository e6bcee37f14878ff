import Foundation
import RivuletEngine
import RivuletFlow
import RivuletHTTPEngine
import RivuletModel
import RivuletServerCore
import RivuletStore
import Testing

/// Customer service over the server's HTTP interface (docs/extensions.md, section 4).
@Suite("A customer's chat over HTTP", .timeLimit(.minutes(1))) @MainActor
struct CustomerHistoryTests {
    /// The two sides have the same number, as users of two apps may.
    private let customer = Account(app: 11, user: UserID(7))
    private let staff = Account(app: 12, user: UserID(7))
    private let shop = Session(kind: .customer, id: 7, appID: 12)
    private let client = Session(kind: .customer, id: 7, appID: 11)

    /// All pages of a chat, the oldest message first.
    private func all(_ http: HTTPEngine, _ session: Session, limit: Int) async throws -> [Message] {
        var read: [Message] = []
        for _ in 0..<40 {
            let page = try await http.messages(
                in: session, anchorMessage: read.first, direction: .older, limit: limit)
            read = page.messages + read
            guard page.hasOlder, !page.messages.isEmpty else { break }
        }
        return read
    }

    /// Waits until the other side's device has a message.
    private func wait(for uuid: String?, on account: ChatAccount) async throws {
        let changes = account.changes()
        if try await account.store.message(uuid: uuid ?? "") != nil { return }
        for await change in changes where change.inserted.contains(where: { $0.uuid == uuid }) { return }
    }

    @Test func `both sides read what their devices have, with every change, page by page`() async throws {
        let world = try await World()
        let (asking, answering) = (try await world.signIn(customer), try await world.signIn(staff))
        var questions: [Message] = []
        for number in 0..<6 {
            questions.append(try await asking.send(text: "question \(number)", to: shop))
            try await answering.send(text: "answer \(number)", to: client)
        }
        try await asking.edit(questions[1], text: "a better question")
        try await asking.revoke(questions[2])
        for number in 0..<8 {
            try await answering.react(to: questions[3], with: "👍", isOn: number % 2 == 0)
        }
        let poll = try await answering.send(
            .poll(PollContent(question: "Content?", options: ["yes", "no"])), to: client)
        try await wait(for: poll.uuid, on: asking)
        try await asking.engine.controls?.apply(.vote(target: poll.uuid ?? "", options: [0]), in: shop)
        let last = try await asking.send(.text("thanks"), to: shop, reference: poll.uuid)
        try await wait(for: last.uuid, on: answering)

        let (asked, answered) = (try world.http(customer), try world.http(staff))
        for (http, session, account) in [(asked, shop, asking), (answered, client, answering)] {
            let read = try await all(http, session, limit: 3)
            let stored = try await account.history(session, limit: 100).messages
            #expect(read.map(Seen.init) == stored.map(Seen.init))
            #expect(read.map(\.isOutgoing) == stored.map(\.isOutgoing))
            #expect(read.last?.reference == poll.uuid)
            let row = try #require(read.first { $0.uuid == poll.uuid })
            #expect(try await http.votes(on: row) == [UserID(7): [0]])
            let newer = try await http.messages(
                in: session, anchorMessage: read[4], direction: .newer, limit: 200)
            #expect(newer.messages.map(\.uuid) == read[5...].map(\.uuid))
        }
        await world.stop(asking, answering)
    }

    @Test func `a chat with the shop is no chat with the user of that number, nor anybody else's`()
        async throws
    {
        let world = try await World()
        let stranger = Account(app: 13, user: UserID(7))
        let asking = try await world.signIn(customer)
        try await asking.send(text: "where is my parcel?", to: shop)
        let http = try world.http(customer)
        #expect(try await all(http, shop, limit: 10).map(\.content.summary) == ["where is my parcel?"])
        #expect(try await all(http, .peer(UserID(7)), limit: 10).isEmpty)
        #expect(try await all(http, Session(kind: .customer, id: 8, appID: 12), limit: 10).isEmpty)
        #expect(try await all(try world.http(stranger), shop, limit: 10).isEmpty)
        #expect(try await all(try world.http(stranger), client, limit: 10).isEmpty)
        for session in [
            Session(kind: .customer, id: 0, appID: 12), Session(kind: .customer, id: 7, appID: 0),
        ] {
            await #expect(throws: FlowFailure.self) {
                try await http.messages(in: session, anchorMessage: nil, direction: .older, limit: 4)
            }
        }
        await world.stop(asking)
    }

    @Test func `a session of the staff lives by HTTP alone, with its hooks and its page size`() async throws {
        let world = try await World()
        let (asking, answering) = (try await world.signIn(customer), try await world.signIn(staff))
        for number in 0..<9 { try await asking.send(text: "\(number)", to: shop) }
        // Reading over HTTP, writing over the connection: the session has a service of its own.
        let http = try world.http(staff) { $0.pollInterval = .milliseconds(20) }
        let watcher = Watcher(client, http.engine, pageSize: 4)
        watcher.manager.configuration.service = Connection(account: answering)
        try await watcher.run {
            await watcher.wait { watcher.texts.last == "8" }
            watcher.manager.controller.submit(.loadRequested(.older))
            await watcher.wait { watcher.texts.contains("1") }
            let sent = try await watcher.manager.send(.text("here"))
            try await asking.send(text: "there", to: shop)
            await watcher.wait { watcher.texts.last == "there" }
            // The answer of the call and what polling brings are one row.
            #expect(watcher.messages.count { $0.uuid == sent.uuid } == 1)
            #expect(watcher.messages.first { $0.uuid == sent.uuid }?.isOutgoing == true)
            #expect(watcher.messages.last?.isOutgoing == false)
        }
        await world.stop(asking, answering)
    }
}

/// Sends over an account's connection; places and revisions are those of the history that the session reads.
private struct Connection: MessageServiceInterface {
    let account: ChatAccount

    func send(message: Message, in session: Session) async throws -> Message {
        _ = try await account.engine.service.send(message: message, in: session)
        return message
    }

    func resend(message: Message) async throws -> Message {
        _ = try await account.engine.service.resend(message: message)
        return message
    }

    func forward(message: Message, to session: Session) async throws -> Message {
        try await account.engine.service.forward(message: message, to: session)
    }

    func revoke(message: Message) async throws { try await account.engine.service.revoke(message: message) }
    func save(message: Message, in session: Session) async throws { throw InteractionError(.unsupported) }
    func delete(message: Message) async throws { throw InteractionError(.unsupported) }
}
