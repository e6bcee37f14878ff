import Foundation
import RivuletClient
import RivuletClientCore
import RivuletEngine
import RivuletModel
import RivuletServer
import RivuletServerCore
import RivuletStore
import RivuletWire

/// Somebody in the demonstration's chat room, who talks by script.
final class DemoVoice {
    let user: UserID
    let name: String
    private let account: ChatAccount
    private let room = DemoWorld.radio.id
    private let lines: [String]
    /// How long this voice is silent between two lines.
    private let pause: Duration
    private var count = 0

    private init(_ user: UserID, _ name: String, account: ChatAccount, lines: [String], pause: Duration) {
        self.user = user
        self.name = name
        self.account = account
        self.lines = lines
        self.pause = pause
    }

    /// All voices of the room, with an account each that keeps nothing.
    static func makeAll(on server: Server) throws -> [DemoVoice] {
        func account(_ number: Int64) throws -> ChatAccount {
            let token = try server.makeToken(for: UserID(number))
            let service = IMServiceConfiguration(
                endpoints: [ClientEndpoint(host: "127.0.0.1", port: server.port)],
                identity: ClientIdentity(
                    uid: number, appID: Account.defaultApp, token: token, deviceID: "voice-\(number)"))
            return ChatAccount(store: MemoryAccountStore(account: UserID(number)), service: service)
        }
        return [
            DemoVoice(UserID(21), "DJ Okoro", account: try account(21), lines: dj, pause: .seconds(17)),
            DemoVoice(
                UserID(22), "Ines Duarte", account: try account(22), lines: listeners, pause: .seconds(11)),
        ]
    }

    private static let dj = [
        "Good evening, this is Night Radio. Requests are open.", "That was Mulatu Astatke, from Addis Ababa.",
        "Next one is for the late shift at the harbour.", "Traffic: the ring road is free again.",
        "接下来是一首老歌，献给所有还醒着的人。", "Next one is for everybody on the night bus.",
    ]

    private static let listeners = [
        "Greetings from the bakery, we start at two.", "Could you play something by Cesária Évora?",
        "这首真好听！", "👏👏", "Raining here. Good music for it.", "Who is that singing?",
    ]

    /// Enters the room and says the first lines, which are the room's history.
    func begin() async {
        let states = account.service.connectionStates()
        account.start()
        for await state in states where state == .authenticated { break }
        do {
            try await account.service.enter(room: room)
            for _ in 0..<3 { try await say(nextLine()) }
        } catch {
            // The room is quieter then.
            return
        }
    }

    /// Talks now and then, and answers what the guest says, until cancelled.
    func run() async {
        await withDiscardingTaskGroup { group in
            group.addTask { await self.talk() }
            if user.rawValue == 21 { group.addTask { await self.answer() } }
        }
    }

    private func talk() async {
        do {
            while true {
                try await Task.sleep(for: pause)
                try await say(nextLine())
            }
        } catch {
            // The demonstration is over, or the server is gone.
            return
        }
    }

    private func answer() async {
        for await message in account.service.roomMessages() where message.sender == DemoWorld.guestID.rawValue
        {
            do {
                try await Task.sleep(for: .milliseconds(1_800))
                try await say("Thanks for that! Your song comes after the news.")
            } catch {
                return
            }
        }
    }

    private func nextLine() -> String {
        count += 1
        return lines[(count - 1) % lines.count]
    }

    private func say(_ text: String) async throws {
        let raw = try account.codec.encode(
            .text(text), envelope: ContentEnvelope(uuid: ChatAccount.systemUUID()))
        try await account.service.send(
            .room(RoomMessage(sender: user.rawValue, receiver: room, content: raw)))
    }

    func end() async { await account.close() }
}
