import Foundation
import RivuletModel
import RivuletStore
import Testing

@testable import rivulet_chat

/// What the list of conversations shows, before anything is drawn.
@MainActor struct SidebarTests {
    private let utc = TimeZone(secondsFromGMT: 0) ?? .current
    private let now: Int64 = 1_773_230_400_000
    private let hikers = Session.group(100)
    private let contacts: Contacts

    init() {
        contacts = Contacts(names: [
            UserID(2): "Mei Arai", UserID(3): "Tomás Brandt", UserID(1): "Lena Weiss",
        ])
        contacts.reader = UserID(1)
        contacts.set("周末爬山", forGroup: 100, memberCount: 6)
        contacts.set("Night Radio", forRoom: 77)
        contacts.set("云朵客服", forService: Session(kind: .customer, id: 30, appID: 7))
    }

    private func message(
        _ session: Session, _ text: String, by sender: Int64 = 2, minutesAgo: Int64 = 0
    ) -> Message {
        Message(
            id: MessageID(1), session: session, sender: UserID(sender), isOutgoing: sender == 1, uuid: "u",
            position: MessagePosition(1), timeMilliseconds: now - minutesAgo * 60_000, content: .text(text))
    }

    private func line(
        _ session: Session, _ last: Message? = nil, _ edit: (inout Conversation) -> Void = { _ in }
    )
        -> Conversation
    {
        var line = Conversation(session: session)
        line.lastMessage = last
        edit(&line)
        return line
    }

    private func face(_ line: Conversation, typists: [UserID] = [], isSelected: Bool = false) -> RowFace {
        RowFace.conversation(
            line, contacts: contacts, typists: typists, isSelected: isSelected, now: now, zone: utc)
    }

    @Test func `a group's last message is told with its author's first name, one's own without`() {
        #expect(face(line(hikers, message(hikers, "Hello\nyou"))).line == "Mei: Hello")
        #expect(face(line(hikers, message(hikers, "Hello", by: 1))).line == "Hello")
        #expect(face(line(.peer(UserID(2)), message(.peer(UserID(2)), "Hello"))).line == "Hello")
        #expect(face(line(.room(77), message(.room(77), "Hi", by: 99))).line == "User 99: Hi")
    }

    @Test
    func `typing stands before a draft, a draft before a mention, and the open conversation has neither`() {
        var call = message(hikers, "")
        call.content = .text(
            TextContent("@Lena can you sign?", mentions: [TextContent.Mention(user: UserID(1), name: "Lena")])
        )
        let mentioned = line(hikers, call) { $0.mentionCount = 1 }
        #expect(face(mentioned).line == "@you can you sign?")
        #expect(face(mentioned).lineMarks == [RowFace.Mark(range: 0..<4, look: .accent)])
        let drafted = line(hikers, message(hikers, "x")) {
            ($0.mentionCount, $0.draft) = (1, "see you\nthere")
        }
        #expect(face(drafted).line == "Draft: see you")
        #expect(face(drafted).lineMarks == [RowFace.Mark(range: 0..<6, look: .failure)])
        #expect(face(drafted, typists: [UserID(2)]).line == "Mei is typing…")
        #expect(face(drafted, typists: [UserID(2)], isSelected: true).line == "@you x")
    }

    @Test func `a message that was not sent says so`() {
        var failed = message(hikers, "rope", by: 1)
        failed.state = .failed(reason: "no")
        #expect(face(line(hikers, failed)).line == "Not sent: rope")
        #expect(face(line(hikers, failed)).lineMarks == [RowFace.Mark(range: 0..<9, look: .failure)])
    }

    @Test func `assistive technology hears everything that is drawn`() {
        let known = line(hikers, message(hikers, "Hello", minutesAgo: 5)) {
            ($0.unreadCount, $0.isMuted, $0.isPinned) = (120, true, true)
        }
        let face = face(known)
        #expect(face.badge == "99+")
        #expect(face.label == "周末爬山, Mei: Hello, 11:55, 120 unread, muted, pinned")
    }

    @Test func `a hit shows its conversation, its author and the words in bold`() {
        let hit = RowFace.hit(
            message(hikers, "山顶日落"), query: "日落", contacts: contacts, now: now, zone: utc)
        #expect(hit.title == "周末爬山" && hit.line == "Mei: 山顶日落")
        #expect(hit.lineMarks == [RowFace.Mark(range: 11..<17, look: .bold)])
    }

    @Test func `rooms stand among conversations by time, pinned ones on top`() {
        let stored = [
            line(.group(1), message(.group(1), "a", minutesAgo: 50)) { $0.isPinned = true },
            line(.peer(UserID(2)), message(.peer(UserID(2)), "b", minutesAgo: 10)),
            line(.room(5)), line(.peer(UserID(3)), message(.peer(UserID(3)), "c", minutesAgo: 30)),
        ]
        func order(_ room: Conversation) -> [Int64] {
            AccountModel.merged(stored, rooms: [room]).map(\.session.id)
        }
        #expect(order(line(.room(77), message(.room(77), "x", minutesAgo: 20))) == [1, 2, 77, 3])
        #expect(order(line(.room(77), message(.room(77), "x", minutesAgo: 1))) == [1, 77, 2, 3])
        #expect(order(line(.room(77))) == [1, 2, 3, 77])
        #expect(order(line(.room(77)) { $0.isPinned = true }) == [1, 77, 2, 3])
    }

    @Test func `a conversation begins with a name, a room, a service or any number`() {
        let all = NewConversation.offers(for: " ", contacts: contacts, appID: 7)
        #expect(all.compactMap(\.heading) == ["People", "Groups", "Chat rooms", "Customer service"])
        #expect(
            all.map(\.session) == [
                .peer(UserID(2)), .peer(UserID(3)), hikers, .room(77),
                Session(kind: .customer, id: 30, appID: 7),
            ])
        let tomas = NewConversation.offers(for: "tomas", contacts: contacts, appID: 7)
        #expect(tomas.map(\.session) == [.peer(UserID(3))])
        let number = NewConversation.offers(for: "42", contacts: contacts, appID: 7)
        #expect(
            number.map(\.session) == [
                .peer(UserID(42)), .room(42), Session(kind: .customer, id: 42, appID: 7),
            ])
        for text in ["0", "-1", "99999999999999999999", "nobody"] {
            #expect(NewConversation.offers(for: text, contacts: contacts, appID: 7).isEmpty)
        }
    }

    @Test(arguments: [
        "{}", "[]", "", "null", #"{"look":"pink","textPercent":7,"isStrong":"yes","rooms":[0,-1,"x"]}"#,
        #"{"textPercent":1e99,"rooms":{}}"#,
    ])
    func `settings that make no sense are as designed`(text: String) throws {
        let folder = NSTemporaryDirectory() + "rivulet-settings-" + UUID().uuidString
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        try Data(text.utf8).write(to: URL(filePath: folder + "/settings.json"))
        #expect(ChatSettings.read(from: folder + "/settings.json") == ChatSettings())
        var chosen = ChatSettings()
        (chosen.look, chosen.textPercent, chosen.isStrong, chosen.rooms) = (.dark, 150, true, [7])
        try chosen.write(to: folder + "/settings.json")
        #expect(ChatSettings.read(from: folder + "/settings.json") == chosen)
    }
}
