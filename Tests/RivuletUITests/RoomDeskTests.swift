import RivuletClient
import RivuletClientCore
import RivuletEngine
import RivuletFlow
import RivuletModel
import RivuletStore
import Testing

@testable import rivulet_chat

/// The chat rooms of the list, without a connection.
@Suite(.timeLimit(.minutes(1))) @MainActor struct RoomDeskTests {
    /// What the server remembers of a room: one line, or nothing but an error.
    private struct History: SessionMessageProvider {
        struct Unreachable: Error {}

        func messages(
            in session: Session, anchorMessage: Message?, direction: PageDirection, limit: Int
        ) async throws -> MessagePage {
            guard session.id != 9 else { throw Unreachable() }
            let message = RoomDeskTests.message("line \(session.id)", in: session, at: 1_000)
            return MessagePage(messages: [message], hasOlder: true, hasNewer: false)
        }
    }

    nonisolated private static func message(_ text: String, in session: Session, at time: Int64) -> Message {
        Message(
            id: MessageID(time), session: session, sender: UserID(2), isOutgoing: false, uuid: text,
            position: MessagePosition(time), timeMilliseconds: time, content: .text(text))
    }

    private let account = ChatAccount(
        store: MemoryAccountStore(account: UserID(1)),
        service: IMServiceConfiguration(
            endpoints: [ClientEndpoint(host: "127.0.0.1", port: 1)],
            identity: ClientIdentity(uid: 1, token: "t", deviceID: "d")))

    @Test func `the rooms of the last time come back with their last words and choices`() async throws {
        _ = try await account.store.apply([.setMuted(.room(7), true)])
        let desk = RoomDesk(account: account, history: History())
        await desk.load([7, 9, 7, 0, -3])
        #expect(desk.lines.map(\.session) == [.room(7), .room(9)])
        while desk.lines[0].lastMessage == nil { await Task.yield() }
        #expect(desk.lines[0].lastMessage?.content.text == "line 7" && desk.lines[0].isMuted)
        // One without history is there nevertheless.
        #expect(desk.lines[1].lastMessage == nil && !desk.lines[1].isMuted)
        desk.stop()
        await account.close()
    }

    @Test func `what was in view is the last word, and an older row does not take its place`() async throws {
        let desk = RoomDesk(account: account, history: History())
        await desk.load([7])
        while desk.lines[0].lastMessage == nil { await Task.yield() }
        desk.see([Self.message("new", in: .room(7), at: 2_000)])
        desk.see([Self.message("old", in: .room(7), at: 1_500), Self.message("x", in: .group(1), at: 9_000)])
        desk.see([Self.message("elsewhere", in: .room(8), at: 9_000)])
        #expect(desk.lines.map(\.lastMessage?.content.text) == ["new"])
        desk.stop()
        await account.close()
    }

    @Test func `rooms that are entered and left are told, to be kept`() async throws {
        let desk = RoomDesk(account: account, history: nil)
        var kept: [[Int64]] = []
        desk.onRooms = { kept.append($0) }
        desk.enter(.room(7))
        desk.enter(.room(8))
        desk.enter(.room(7))
        desk.enter(.group(100))
        desk.remove(.room(7))
        #expect(kept == [[7], [7, 8], [8]])
        #expect(desk.lines.map(\.session) == [.room(8)])
        desk.stop()
        await account.close()
    }
}
