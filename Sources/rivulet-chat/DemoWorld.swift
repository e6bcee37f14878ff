import Foundation
import RivuletClient
import RivuletClientCore
import RivuletEngine
import RivuletModel
import RivuletServer
import RivuletServerCore
import RivuletStore
import RivuletWire

/// The demonstration: a server in this process, people who answer, and an account with a past.
final class DemoWorld {
    nonisolated static let guestID = UserID(1)

    /// Somebody in the demonstration.
    struct Person {
        var id: UserID
        var name: String
        /// Whether this person is connected and answers.
        var answers: Bool
    }

    nonisolated static let people = [
        Person(id: UserID(2), name: "Mei Arai", answers: true),
        Person(id: UserID(3), name: "Tomás Brandt", answers: true),
        Person(id: UserID(4), name: "林小雨", answers: true),
        Person(id: UserID(5), name: "Noor Haddad", answers: false),
        Person(id: UserID(6), name: "Ruth Kamau", answers: false),
    ]
    /// Who answers for the customer service.
    nonisolated static let agent = Person(id: UserID(30), name: "云朵客服", answers: true)
    nonisolated static let service = Session(kind: .customer, id: 30, appID: Account.defaultApp)
    nonisolated static let radio = Session.room(77)
    nonisolated static let hikers = Session.group(100)
    nonisolated static let crew = Session.group(101)

    /// The account of the person at the window.
    let guest: ChatAccount
    let firstSession = DemoWorld.hikers

    /// The chat rooms that the guest entered before.
    let rooms = [DemoWorld.radio.id]
    /// Where the server's HTTP interface is, and what lets the guest in.
    let http: URL?
    let guestToken: String
    let folder: String

    private let server: Server
    private var partners: [DemoPartner] = []
    private var voices: [DemoVoice] = []
    private var tasks: [Task<Void, Never>] = []

    private init(server: Server, folder: String, guest: ChatAccount, guestToken: String) {
        self.server = server
        self.folder = folder
        self.guest = guest
        self.guestToken = guestToken
        http = server.httpAddresses.first.flatMap { URL(string: "http://127.0.0.1:\($0.port)") }
    }

    /// Starts the server and fills the account.
    static func make() async throws -> DemoWorld {
        let folder = NSTemporaryDirectory() + "rivulet-chat-demo-" + UUID().uuidString.lowercased()
        do {
            try FileManager.default.createDirectory(
                atPath: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        } catch {
            throw ChatError("cannot make the temporary folder \(folder); set TMPDIR to one that is writable")
        }
        var configuration = ServerConfiguration(data: DataDirectory(path: folder + "/server"))
        configuration.listen = [ListenAddress(host: "127.0.0.1", port: 0)]
        configuration.http = [ListenAddress(host: "127.0.0.1", port: 0)]
        let server = Server(configuration)
        try await server.start()
        let guest = try account(of: guestID, server: server, folder: folder)
        try await makeGroup(on: server, for: guest)
        let world = DemoWorld(
            server: server, folder: folder, guest: guest, guestToken: try server.makeToken(for: guestID))
        world.voices = try DemoVoice.makeAll(on: server)
        for person in people + [agent] where person.answers {
            world.partners.append(
                DemoPartner(
                    person, account: try account(of: person.id, server: server, folder: folder),
                    guest: guestID))
        }
        for voice in world.voices { await voice.begin() }
        try await DemoPast.write(into: guest)
        return world
    }

    /// The hikers' group exists on the server; the other one does not, so that what is sent there fails.
    private static func makeGroup(on server: Server, for guest: ChatAccount) async throws {
        let members = [guestID] + people.filter { $0.id.rawValue != 2 }.map(\.id)
        _ = try await server.apply([
            .createGroup(
                GroupID(hikers.id), app: Account.defaultApp, name: "周末爬山", isSuper: false, owner: UserID(2),
                members: members)
        ])
        // The news of the new group would stand below its past, so it is taken in and put away first.
        guest.start()
        for _ in 0..<30 {
            try await Task.sleep(for: .milliseconds(50))
            if try await !guest.history(hikers, limit: 1).messages.isEmpty { break }
        }
        _ = try await guest.store.apply([.clear(hikers)])
    }

    private static func account(of user: UserID, server: Server, folder: String) throws -> ChatAccount {
        let token = try server.makeToken(for: user)
        var service = IMServiceConfiguration(
            endpoints: [ClientEndpoint(host: "127.0.0.1", port: server.port)],
            identity: ClientIdentity(
                uid: user.rawValue, appID: Account.defaultApp, token: token, deviceID: "demo-\(user.rawValue)"
            ))
        service.sendsDeliveryReceipts = true
        return try ChatAccount.open(
            in: folder + "/client", service: service, codec: try BurnedNote.makeCodec())
    }

    /// Tells who is who.
    func fill(_ contacts: Contacts) {
        contacts.set("Lena Weiss", for: Self.guestID)
        for person in Self.people { contacts.set(person.name, for: person.id) }
        contacts.set("周末爬山", forGroup: Self.hikers.id, memberCount: 6)
        contacts.set("Release crew", forGroup: Self.crew.id, memberCount: 4)
        contacts.set("Live room: Night Radio", forRoom: Self.radio.id)
        contacts.set(Self.agent.name, forService: Self.service)
        for voice in voices { contacts.set(voice.name, for: voice.user) }
        contacts.set(role: "organiser", of: UserID(2))
    }

    /// Lets the people answer.
    func start() {
        for partner in partners { tasks.append(Task { await partner.run() }) }
        for voice in voices { tasks.append(Task { await voice.run() }) }
    }

    /// Ends everything and removes the folder.
    func stop() async {
        for task in tasks { task.cancel() }
        for partner in partners { await partner.account.close() }
        for voice in voices { await voice.end() }
        await server.stop()
        do {
            try FileManager.default.removeItem(atPath: folder)
        } catch {
            // What is left lies in the system's temporary folder, which the system empties.
        }
    }
}

/// Somebody who answers by script.
final class DemoPartner {
    let account: ChatAccount
    private let person: DemoWorld.Person
    private let guest: UserID
    private var count = 0

    init(_ person: DemoWorld.Person, account: ChatAccount, guest: UserID) {
        self.person = person
        self.account = account
        self.guest = guest
    }

    /// Answers what the guest writes, until cancelled.
    func run() async {
        let changes = account.changes()
        account.start()
        let musing = Task { await museInGroup() }
        defer { musing.cancel() }
        do {
            if person.id.rawValue == 2 {
                try await Task.sleep(for: .seconds(1))
                try await type(in: .peer(guest), for: .seconds(2))
                try await account.send(
                    text: "The forecast changed: sun until four. Still on for Saturday?", to: .peer(guest))
            }
            for await change in changes {
                for message in change.inserted where message.sender == guest {
                    if message.session == .peer(guest) {
                        try await answer(message)
                    } else if message.session.kind == .customer {
                        try await answerCustomer(message)
                    } else if person.id.rawValue == 3, message.content.text != nil {
                        try await answerGroup(message)
                    }
                }
            }
        } catch {
            // The demonstration is over, or the server is gone; nobody waits for an answer then.
        }
    }

    private func answer(_ message: Message) async throws {
        try await Task.sleep(for: .milliseconds(400))
        try await account.markRead(.peer(guest))
        if let uuid = message.uuid { try await tellRead(uuid) }
        try await type(in: .peer(guest), for: .milliseconds(1_600))
        let text = Self.reply(to: message.content.summary, count: count, name: person.name)
        count += 1
        if message.content.summary.lowercased().contains("secret") {
            try await account.send(
                .text("The key to the hut lies under the third stone. Forget it soon!"), to: .peer(guest),
                burnSeconds: 10)
            return
        }
        if count % 4 == 3 { try await account.react(to: message, with: "👍") }
        try await account.send(text: text, to: .peer(guest))
    }

    /// Some time after the beginning Mei has something to say to everybody.
    private func museInGroup() async {
        guard person.id.rawValue == 2 else { return }
        do {
            try await Task.sleep(for: .seconds(7))
            try await type(in: DemoWorld.hikers, for: .seconds(3))
            try await type(in: DemoWorld.hikers, for: .seconds(3))
            try await account.send(text: "我到北门了，你们慢慢来。", to: DemoWorld.hikers)
        } catch {
            // The demonstration is over, or the server is gone.
            return
        }
    }

    private func answerCustomer(_ message: Message) async throws {
        try await Task.sleep(for: .milliseconds(1_400))
        let lines = [
            "您好，正在为您查询，请稍等。", "您的包裹已到达本地网点，明天上午送达。",
            "Of course. I have noted it for the driver.", "还有什么可以帮您的吗？",
        ]
        try await account.send(text: lines[count % lines.count], to: message.session)
        count += 1
    }

    private func answerGroup(_ message: Message) async throws {
        try await Task.sleep(for: .milliseconds(600))
        try await type(in: message.session, for: .milliseconds(1_800))
        let text = Self.reply(to: message.content.summary, count: count, name: person.name)
        count += 1
        try await account.send(
            .text(text), to: message.session, reference: count % 3 == 1 ? message.uuid : nil)
    }

    /// Types for so long, as far as the other side can see.
    private func type(in session: Session, for duration: Duration) async throws {
        do {
            try await account.sendTyping(in: session, isOn: true)
        } catch is IMServiceError {
            // Not connected yet: then nobody sees it.
        }
        try await Task.sleep(for: duration)
    }

    private func tellRead(_ uuid: String) async throws {
        let raw = try account.codec.encode(ControlContent.readed(target: uuid), envelope: ContentEnvelope())
        let body = IMMessage(sender: person.id.rawValue, receiver: guest.rawValue, content: raw)
        try await account.service.send(.peer(body, uuid: nil))
    }

    private static let others = [
        "Noted. I will bring the map.", "Good. I packed the blue rope and two lamps.",
        "Let us decide at the gate; the second bridge may be closed.", "Ha! Tell that to the mountain.",
        "I am on the train, the connection comes and goes.", "Yes. And somebody should bring tea.",
    ]

    private static let chinese = ["好的，周六见！", "我带了保温杯和地图。", "山顶见，记得早点出发。", "没问题，我来拍照。"]

    /// What is answered to a text as the `count`-th answer.
    static func reply(to text: String, count: Int, name: String) -> String {
        if text.unicodeScalars.contains(where: { (0x4E00...0x9FFF).contains($0.value) })
            || name.hasPrefix("林")
        {
            return chinese[count % chinese.count]
        }
        let lower = text.lowercased()
        if lower.contains("hello") || lower.hasPrefix("hi") { return "Hello! Good to hear from you." }
        if lower.contains("bus") || lower.contains("when") {
            return "Bus 17 leaves at 07:20, from the north gate."
        }
        if lower.contains("?") { return "Good question. I will ask the others." }
        return others[count % others.count]
    }
}
