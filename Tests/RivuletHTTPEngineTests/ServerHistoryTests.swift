import Foundation
import RivuletClient
import RivuletClientCore
import RivuletEngine
import RivuletFlow
import RivuletHTTPEngine
import RivuletModel
import RivuletServer
import RivuletServerCore
import RivuletStore
import RivuletTestSupport
import Testing

/// A server in this process with its HTTP interface, and accounts on it.
final class World: Sendable {
    let folder: TemporaryFolder
    let server: Server

    init() async throws {
        folder = try TemporaryFolder()
        var configuration = ServerConfiguration(data: DataDirectory(path: folder.path + "/server"))
        configuration.listen = [ListenAddress(host: "127.0.0.1", port: 0)]
        configuration.http = [ListenAddress(host: "127.0.0.1", port: 0)]
        server = Server(configuration)
        try await server.start()
    }

    private func token(of account: Account) throws -> String {
        let directory = try AccountDirectory(in: DataDirectory(path: folder.path + "/server"))
        defer { directory.close() }
        var random = SystemRandomNumberGenerator()
        return try directory.createToken(for: account, now: .current, using: &random).token
    }

    /// A user who is logged in.
    func signIn(_ user: Int64) async throws -> ChatAccount {
        try await signIn(Account(user: UserID(user)))
    }

    /// A user of any app who is logged in.
    func signIn(_ who: Account) async throws -> ChatAccount {
        let user = who.user.rawValue
        let account = try ChatAccount.open(
            in: folder.path + "/\(who.app)-\(user)",
            service: IMServiceConfiguration(
                endpoints: [ClientEndpoint(host: "127.0.0.1", port: server.port)],
                identity: ClientIdentity(
                    uid: user, appID: who.app, token: try token(of: who), deviceID: "test-\(user)")))
        let states = account.service.connectionStates()
        account.start()
        for await state in states where state == .authenticated { break }
        return account
    }

    /// What the user sees over HTTP.
    func http(
        _ user: Int64, _ change: (inout HTTPEngineOptions) -> Void = { _ in }
    ) throws -> HTTPEngine {
        try http(Account(user: UserID(user)), change)
    }

    /// What a user of any app sees over HTTP.
    func http(
        _ account: Account, _ change: (inout HTTPEngineOptions) -> Void = { _ in }
    ) throws -> HTTPEngine {
        let port = try #require(server.httpAddresses.first).port
        let (token, user) = (try token(of: account), account.user.rawValue)
        var options = HTTPEngineOptions()
        options.authorization = { _ in "Bearer \(token)" }
        change(&options)
        return HTTPEngine(
            user: UserID(user), base: try #require(URL(string: "http://127.0.0.1:\(port)")),
            mapping: .rivuletHistory(user: UserID(user)), options: options)
    }

    func stop(_ accounts: ChatAccount...) async {
        for account in accounts { await account.close() }
        await server.stop()
    }
}

/// What a session shows, and a way to wait for it.
@MainActor final class Watcher: FlowObserver {
    let manager: DataManager
    private let changes: AsyncStream<Void>
    private let signal: AsyncStream<Void>.Continuation

    init(_ session: Session, _ engine: Engine, pageSize: Int = 20) {
        (changes, signal) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
        var configuration = SessionConfiguration()
        configuration.pageSize = pageSize
        manager = DataManager(
            session: session, engine: engine, configuration: configuration, now: ChatAccount.systemTime,
            makeUUID: ChatAccount.systemUUID)
        manager.controller.addObserver(self)
        manager.controller.submit(.resized(LayoutSize(width: 400, height: 300)))
        manager.open()
    }

    var messages: [Message] { manager.controller.snapshot.messages }
    var texts: [String] { messages.map(\.content.summary) }

    func flow(_ controller: FlowController, didApply update: FlowUpdate) { signal.yield() }

    func wait(until isDone: () -> Bool) async {
        manager.controller.drain()
        if isDone() { return }
        for await _ in changes where isDone() { break }
    }

    func run(_ body: () async throws -> Void) async throws {
        let running = Task { [manager] in await manager.run() }
        defer { running.cancel() }
        try await body()
    }
}

/// The part of a message that both ways of reading must agree on.
struct Seen: Hashable {
    var uuid: String?
    var sender: UserID
    var content: MessageContent
    var reactions: [Message.Reaction]
    var isEdited: Bool

    init(_ message: Message) {
        uuid = message.uuid
        sender = message.sender
        content = message.content
        reactions = message.reactions
        isEdited = message.isEdited
    }
}

@Suite("The history of a real server over HTTP", .timeLimit(.minutes(1))) @MainActor
struct ServerHistoryTests {
    private let ada = Session.peer(UserID(1))
    private let ben = Session.peer(UserID(2))

    @Test func `it shows what the synced device shows, with every change, page by page`() async throws {
        let world = try await World()
        let (adas, bens) = (try await world.signIn(1), try await world.signIn(2))
        var sent: [Message] = []
        for number in 0..<12 { sent.append(try await adas.send(text: "line \(number)", to: ben)) }
        try await adas.edit(sent[1], text: "changed")
        try await adas.revoke(sent[2])
        // More changes than a page has items: pages of changes alone must not end the history.
        for number in 0..<15 {
            try await adas.react(to: sent[3], with: number % 2 == 0 ? "👍" : "🎉", isOn: number % 3 > 0)
        }
        let answer = try await bens.send(.text("an answer"), to: ada, reference: sent[0].uuid)
        let http = try world.http(1)
        var anchor: Message?
        var read: [Message] = []
        for _ in 0..<20 {
            let page = try await http.messages(in: ben, anchorMessage: anchor, direction: .older, limit: 4)
            read = page.messages + read
            guard page.hasOlder, let first = page.messages.first else { break }
            anchor = first
        }
        let stored = try await adas.history(ben, limit: 100).messages
        #expect(read.map(Seen.init) == stored.map(Seen.init))
        #expect(read.last?.uuid == answer.uuid && read.last?.reference == sent[0].uuid)
        #expect(read.map(\.isOutgoing) == stored.map(\.isOutgoing))
        // And forward again, from a message in the middle.
        let newer = try await http.messages(
            in: ben, anchorMessage: read[5], direction: .newer, limit: 200)
        #expect(newer.messages.map(\.uuid) == read[6...].map(\.uuid))
        #expect(newer.hasOlder && !newer.hasNewer)
        await world.stop(adas, bens)
    }

    @Test func `a session over HTTP lives by polling: news, changes of old rows, jumps`() async throws {
        let world = try await World()
        let (adas, bens) = (try await world.signIn(1), try await world.signIn(2))
        let first = try await bens.send(text: "first", to: ada)
        for number in 0..<30 { try await bens.send(text: "\(number)", to: ada) }
        let watcher = Watcher(
            ben, try world.http(1) { $0.pollInterval = .milliseconds(20) }.engine, pageSize: 10)
        try await watcher.run {
            await watcher.wait { watcher.texts.last == "29" }
            let key = try #require(
                try await world.http(1).messages(
                    in: ben, anchorMessage: nil, direction: .older, limit: 200
                ).messages.first { $0.uuid == first.uuid })
            watcher.manager.jump(to: key.id)
            await watcher.wait { watcher.texts.contains("first") }
            try await bens.revoke(first)
            await watcher.wait { watcher.messages.first { $0.uuid == first.uuid }?.content == .revoked }
            let poll = try await adas.send(
                .poll(PollContent(question: "When?", options: ["now", "later"])), to: ben)
            watcher.manager.controller.submit(.latestRequested)
            await watcher.wait { watcher.messages.last?.uuid == poll.uuid }
            let row = watcher.messages[watcher.messages.count - 1]
            try await bens.engine.controls?.apply(
                .vote(target: poll.uuid ?? "", options: [1]), in: ada)
            await watcher.wait { watcher.manager.votes(on: row.id) == [[], [UserID(2)]] }
        }
        await world.stop(adas, bens)
    }

    @Test func `who may not read is told so by the server's own code`() async throws {
        let world = try await World()
        let http = try world.http(1)
        let failure = await #expect(throws: FlowFailure.self) {
            try await http.messages(in: .group(5), anchorMessage: nil, direction: .older, limit: 4)
        }
        #expect(failure?.code == "refused")
        let answer = await #expect(throws: HTTPEngineError.self) {
            try await http.perform(HTTPRequest("GET", "v1/client/sessions/group/5/messages"))
        }
        #expect(answer?.status == 403 && answer?.serverCode == "not_a_member")
        for session in [Session.group(-1), .peer(UserID(0)), Session(kind: .system, id: 0)] {
            let failure = await #expect(throws: FlowFailure.self) {
                try await http.messages(in: session, anchorMessage: nil, direction: .older, limit: 4)
            }
            #expect(failure?.code == "invalid_request")
        }
        // A token that ran out is asked for anew, once.
        let token = try world.server.makeToken(for: UserID(1))
        let renewed = try world.http(1) { $0.authorization = { $0 ? "Bearer \(token)" : "Bearer old" } }
        #expect(
            try await renewed.messages(in: ben, anchorMessage: nil, direction: .older, limit: 4).messages
                .isEmpty)
        let stale = try world.http(1) { $0.authorization = { _ in "Bearer old" } }
        let refusal = await #expect(throws: FlowFailure.self) {
            try await stale.messages(in: ben, anchorMessage: nil, direction: .older, limit: 4)
        }
        #expect(refusal?.code == "unauthorized")
        await world.stop()
    }

    @Test func `a group's notices and messages are read as the device has them`() async throws {
        let world = try await World()
        let (adas, bens) = (try await world.signIn(1), try await world.signIn(2))
        try await world.server.apply([
            .createGroup(
                GroupID(5), app: Account.defaultApp, name: "Hikers", isSuper: false, owner: UserID(1),
                members: [UserID(2)])
        ])
        try await adas.send(text: "welcome", to: .group(5))
        try await bens.send(text: "thanks", to: .group(5))
        let page = try await world.http(2).messages(
            in: .group(5), anchorMessage: nil, direction: .older, limit: 20)
        #expect(page.messages.suffix(2).map(\.content.summary) == ["welcome", "thanks"])
        #expect(page.messages.suffix(2).map(\.isOutgoing) == [false, true])
        let notices = page.messages.dropLast(2)
        #expect(!notices.isEmpty)
        for notice in notices {
            guard case .groupNotification(let notification) = notice.content else {
                Issue.record("not a notification: \(notice.content)")
                continue
            }
            #expect(notification.groupID == 5)
        }
        await world.stop(adas, bens)
    }

    @Test func `a room shows each message once, whether it was heard live or read over HTTP`() async throws {
        let world = try await World()
        let (adas, bens) = (try await world.signIn(1), try await world.signIn(2))
        let room = Session.room(9)
        let watchers = (
            Watcher(room, RoomEngine(account: adas, history: try world.http(1)).engine),
            Watcher(room, try world.http(2) { $0.pollInterval = .milliseconds(20) }.engine)
        )
        try await watchers.0.run {
            await watchers.0.wait { watchers.0.manager.controller.state.opening == .shown }
            try await watchers.0.manager.send(.text("anybody here?"))
            try await watchers.1.run {
                // The second has no connection to the room at all.
                await watchers.1.wait { watchers.1.texts == ["anybody here?"] }
                try await watchers.0.manager.send(.text("hello"))
                await watchers.1.wait { watchers.1.texts == ["anybody here?", "hello"] }
            }
            watchers.0.manager.reload()
            await watchers.0.wait { watchers.0.messages.count { $0.serverKey != nil } == 2 }
            #expect(watchers.0.texts == ["anybody here?", "hello"])
        }
        await world.stop(adas, bens)
    }
}
