import Foundation
import RivuletClient
import RivuletClientCore
import RivuletEngine
import RivuletFlow
import RivuletModel
import RivuletServer
import RivuletServerCore
import RivuletStore
import RivuletWire
import Synchronization
import Testing

/// A server in this process with two users who have accounts in a folder.
final class TwoUsers: Sendable {
    let folder: TestFolder
    let server: Server
    let tokens: [Int64: String]

    init() async throws {
        folder = try TestFolder()
        let data = DataDirectory(path: folder.path + "/server")
        try data.create()
        let directory = try AccountDirectory(in: data)
        var random = SystemRandomNumberGenerator()
        var tokens: [Int64: String] = [:]
        for user in Int64(1)...3 {
            tokens[user] =
                try directory.createToken(
                    for: RivuletServerCore.Account(user: UserID(user)), now: .current, using: &random
                ).token
        }
        directory.close()
        self.tokens = tokens
        var configuration = ServerConfiguration(data: data)
        configuration.listen = [ListenAddress(host: "127.0.0.1", port: 0)]
        server = Server(configuration)
        try await server.start()
    }

    /// The account of a user, on a device of this name.
    ///
    /// A port of 1 is one at which nobody listens; the account has the same file nevertheless.
    func account(
        _ user: Int64, device: String = "first", port: UInt16? = nil,
        configure: (inout IMServiceConfiguration) -> Void = { _ in }
    ) throws -> ChatAccount {
        var service = IMServiceConfiguration(
            endpoints: [ClientEndpoint(host: "127.0.0.1", port: server.port)],
            identity: ClientIdentity(uid: user, token: tokens[user] ?? "", deviceID: "\(device)-\(user)"))
        service.core.backoffMax = .milliseconds(500)
        configure(&service)
        let file = AccountFile(
            folder: folder.path + "/\(device)", user: UserID(user), host: "127.0.0.1", port: server.port)
        try file.makeFolder()
        if let port { service.core.endpoints = [ClientEndpoint(host: "127.0.0.1", port: port)] }
        return ChatAccount(
            store: try SQLiteAccountStore(path: file.path, account: UserID(user)), service: service)
    }
}

/// Puts the files of messages elsewhere, at once, and counts them.
private final class Uploader: MessageUploader {
    private let uploads = Mutex(0)

    var count: Int { uploads.withLock { $0 } }

    func needsUpload(_ command: Command, _ body: PacketBody) -> Bool {
        guard case .im(let message) = body else { return false }
        return message.content.contains("file:")
    }

    func upload(_ entry: OutboxEntry) async throws -> PacketBody {
        uploads.withLock { $0 += 1 }
        guard case .im(var message) = entry.body else { return entry.body }
        message.content = message.content.replacingOccurrences(
            of: "file:\\/\\/\\/tmp", with: "https:\\/\\/media"
        ).replacingOccurrences(of: "file:///tmp", with: "https://media")
        return .im(message)
    }
}

@Suite("Chat account, over real sockets", .timeLimit(.minutes(3)))
struct ChatAccountTests {
    /// Waits until a conversation has this many messages.
    private func messages(_ account: ChatAccount, _ session: Session, count: Int) async throws -> [Message] {
        let changes = account.changes()
        func found() async throws -> [Message]? {
            let page = try await account.history(session, limit: 1_000)
            return page.messages.count >= count ? page.messages : nil
        }
        if let page = try await found() { return page }
        for await _ in changes {
            if let page = try await found() { return page }
        }
        return []
    }

    @Test func `two users talk, also while one is away`() async throws {
        let world = try await TwoUsers()
        let ada = try world.account(1)
        let bob = try world.account(2)
        ada.start()
        bob.start()
        let hello = try await ada.send(text: "hello 你好", to: .peer(UserID(2)))
        #expect(hello.state == .accepted)
        #expect(hello.isOutgoing)
        let received = try await messages(bob, .peer(UserID(1)), count: 1)
        #expect(received.map(\.content.text) == ["hello 你好"])
        #expect(received[0].uuid == hello.uuid)
        #expect(try await bob.conversations().map(\.unreadCount) == [1])
        await bob.close()
        for index in 0..<20 {
            try await ada.send(text: "away \(index)", to: .peer(UserID(2)))
        }
        let back = try world.account(2)
        back.start()
        let all = try await messages(back, .peer(UserID(1)), count: 21)
        #expect(all.compactMap(\.content.text) == ["hello 你好"] + (0..<20).map { "away \($0)" })
        try await back.send(text: "thanks", to: .peer(UserID(1)))
        #expect(try await messages(ada, .peer(UserID(2)), count: 22).last?.content.text == "thanks")
        await ada.close()
        await back.close()
        await world.server.stop()
    }

    @Test func `an account whose file was deleted gets everything back`() async throws {
        let world = try await TwoUsers()
        let ada = try world.account(1)
        ada.start()
        for index in 0..<5 { try await ada.send(text: "\(index)", to: .peer(UserID(2))) }
        await ada.close()
        try FileManager.default.removeItem(atPath: world.folder.path + "/first")
        let again = try world.account(1)
        again.start()
        let all = try await messages(again, .peer(UserID(2)), count: 5)
        #expect(all.compactMap(\.content.text) == ["0", "1", "2", "3", "4"])
        #expect(all.allSatisfy { $0.isOutgoing && $0.state == .accepted })
        #expect(try await again.store.unreadTotal() == 0)
        await again.close()
        await world.server.stop()
    }

    @Test func `a file that is damaged inside is kept aside, and the server brings everything back`()
        async throws
    {
        let world = try await TwoUsers()
        let ada = try world.account(1)
        ada.start()
        let texts = (0..<60).map { "\($0) " + String(repeating: "long ", count: 200) }
        for text in texts { try await ada.send(text: text, to: .peer(UserID(2))) }
        await ada.close()
        let path = try #require((ada.store as? SQLiteAccountStore)?.path)
        var bytes = try Data(contentsOf: URL(fileURLWithPath: path))
        try #require(bytes.count > 40 * 4_096)
        for index in (30 * 4_096)..<bytes.count { bytes[index] = 0xA5 }
        try bytes.write(to: URL(fileURLWithPath: path))
        let damaged = try world.account(1)
        let error = await #expect(throws: StoreError.self) {
            _ = try await damaged.history(.peer(UserID(2)), limit: 1_000)
        }
        #expect(error?.code == .damaged)
        await damaged.close()
        let fresh = try SQLiteAccountStore(path: path, account: UserID(1), damagePolicy: .keepAside)
        #expect(fresh.damagedFile == path + ".damaged-1")
        await fresh.close()
        let again = try world.account(1)
        again.start()
        let all = try await messages(again, .peer(UserID(2)), count: texts.count)
        #expect(all.compactMap(\.content.text) == texts)
        await again.close()
        await world.server.stop()
    }

    @Test(arguments: [
        #"{"uuid":"old","image2":{"url":"u","width":1,"height":2,"blur":"x"},"more":1.50,"reference":"r"}"#,
        #"{"uuid":"old","unheard":{"of":1},"fallback":"news"}"#,
    ]) func `what is sent on keeps what this build does not know, under a name of its own`(raw: String)
        async throws
    {
        let world = try await TwoUsers()
        let ada = try world.account(1)
        let ben = try world.account(2)
        ada.start()
        ben.start()
        _ = try await ada.store.apply([
            .receive(
                IncomingMessage(
                    session: .peer(UserID(3)), sender: UserID(3), isOutgoing: false, raw: raw,
                    content: ada.codec.decode(raw), timeMilliseconds: 1))
        ])
        let source = try #require(try await ada.store.message(uuid: "old"))
        let sent = try await ada.engine.service.forward(message: source, to: .peer(UserID(2)))
        #expect(sent.content.kind == source.content.kind)
        #expect(sent.uuid != "old")
        #expect(sent.reference == nil)
        let received = try #require(try await messages(ben, .peer(UserID(1)), count: 1).first)
        let copy = try #require(try await ben.store.rawContent(of: received.id))
        #expect(received.uuid == sent.uuid)
        for part in [#""blur":"x""#, #""more":1.50"#, #""unheard":{"of":1}"#, #""fallback":"news""#] {
            #expect(copy.contains(part) == raw.contains(part), "\(part)")
        }
        await ada.close()
        await ben.close()
        await world.server.stop()
    }

    @Test func `edits, reactions, revokes and read marks reach the other side and the other device`()
        async throws
    {
        let world = try await TwoUsers()
        let ada = try world.account(1)
        let bob = try world.account(2)
        let bobsPhone = try world.account(2, device: "phone")
        for account in [ada, bob, bobsPhone] { account.start() }
        let message = try await ada.send(text: "helo", to: .peer(UserID(2)))
        try await ada.edit(message, text: "hello")
        let gone = try await ada.send(text: "oops", to: .peer(UserID(2)))
        try await ada.revoke(gone)
        #expect(
            try await ada.history(.peer(UserID(2))).messages.map(\.content) == [.text("hello"), .revoked])
        let received = try await messages(bob, .peer(UserID(1)), count: 2)
        try await bob.react(to: received[0], with: "👍")
        try await waitUntil(ada) { try await ada.store.message(message.id)?.reactions.first?.emoji == "👍" }
        try await waitUntil(bob) {
            try await bob.history(.peer(UserID(1))).messages.map(\.content) == [.text("hello"), .revoked]
        }
        _ = try await messages(bobsPhone, .peer(UserID(1)), count: 2)
        try await bob.markRead(.peer(UserID(1)))
        try await waitUntil(bobsPhone) { try await bobsPhone.store.unreadTotal() == 0 }
        for account in [ada, bob, bobsPhone] { await account.close() }
        await world.server.stop()
    }

    @Test func `a message is delivered when its receiver's device says so, and nobody else's`() async throws {
        let world = try await TwoUsers()
        let ada = try world.account(1)
        let bob = try world.account(2) { $0.sendsDeliveryReceipts = true }
        for account in [ada, bob] { account.start() }
        let forCarol = try await ada.send(text: "for Carol", to: .peer(UserID(3)))
        let first = try await ada.send(text: "one", to: .peer(UserID(2)))
        try await waitUntil(ada) { try await ada.store.message(first.id)?.state == .delivered }
        // Bob says that Carol's message arrived; then he says the truth about another one.
        let lie = #"{"delivered":{"msgids":["\#(forCarol.uuid ?? "")"]}}"#
        try await bob.service.send(.rt(RTMessage(sender: 2, receiver: 1, content: lie)))
        let second = try await ada.send(text: "two", to: .peer(UserID(2)))
        try await waitUntil(ada) { try await ada.store.message(second.id)?.state == .delivered }
        #expect(try await ada.store.message(forCarol.id)?.state == .accepted)
        // A device that sends no receipts leaves the message as it is.
        #expect(try await messages(bob, .peer(UserID(1)), count: 2).count == 2)
        let answer = try await bob.send(text: "three", to: .peer(UserID(1)))
        _ = try await messages(ada, .peer(UserID(2)), count: 3)
        #expect(try await bob.store.message(answer.id)?.state == .accepted)
        for account in [ada, bob] { await account.close() }
        await world.server.stop()
    }

    @Test func `what was uploaded before a restart is not uploaded again`() async throws {
        let world = try await TwoUsers()
        let picture = MessageContent.image(ImageContent(url: "file:///tmp/1.png", width: 3, height: 2))
        let before = Uploader()
        let offline = try world.account(1, port: 1) { $0.uploader = before }
        let changes = offline.changes()
        offline.start()
        let uuid = try offline.post(picture, to: .peer(UserID(2)))
        for await change in changes where change.updated.contains(where: { $0.uuid == uuid }) { break }
        await offline.close()
        #expect(before.count == 1)

        let after = Uploader()
        let ada = try world.account(1) { $0.uploader = after }
        let bob = try world.account(2)
        for account in [ada, bob] { account.start() }
        let sent = try await messages(bob, .peer(UserID(1)), count: 1)
        let uploaded = MessageContent.image(ImageContent(url: "https://media/1.png", width: 3, height: 2))
        #expect(sent.map(\.content) == [uploaded])
        #expect(after.count == 0)
        #expect(try await ada.store.message(uuid: uuid)?.content == uploaded)
        for account in [ada, bob] { await account.close() }
        await world.server.stop()
    }

    @Test func `files and folders are for their owner only`() async throws {
        let world = try await TwoUsers()
        let ada = try world.account(1)
        let manager = FileManager.default
        func mode(_ path: String) throws -> Int? {
            (try manager.attributesOfItem(atPath: path)[.posixPermissions] as? NSNumber)?.intValue
        }
        let folder = world.folder.path + "/first"
        #expect(try mode(folder) == 0o700)
        let name = "1@127.0.0.1_\(world.server.port).sqlite"
        #expect(try mode(folder + "/" + name) == 0o600)
        await ada.close()
        await world.server.stop()
    }

    @Test func `a conversation kind without sending is refused`() async throws {
        let world = try await TwoUsers()
        let ada = try world.account(1)
        ada.start()
        await #expect(throws: ChatAccountError(code: .unsupportedSession)) {
            try await ada.send(text: "x", to: Session(kind: .system, id: 0))
        }
        await ada.close()
        await world.server.stop()
    }

    private func waitUntil(_ account: ChatAccount, _ isTrue: () async throws -> Bool) async throws {
        let changes = account.changes()
        if try await isTrue() { return }
        for await _ in changes {
            if try await isTrue() { return }
        }
    }
}
