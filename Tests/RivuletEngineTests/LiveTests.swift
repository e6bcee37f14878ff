import Foundation
import RivuletClient
import RivuletClientCore
import RivuletEngine
import RivuletModel
import RivuletServer
import RivuletServerCore
import Testing

/// What is told and not kept, over real sockets.
@Suite("Live signs of an account", .timeLimit(.minutes(2)))
struct LiveTests {
    private func started(_ account: ChatAccount) async {
        let states = account.service.connectionStates()
        account.start()
        for await state in states where state == .authenticated { break }
    }

    @Test func `typing reaches the other user, and the members who look at a group, as its conversation`()
        async throws
    {
        let world = try await TwoUsers()
        try await world.server.apply([
            .createGroup(
                GroupID(100), app: RivuletServerCore.Account.defaultApp, name: "hikers", isSuper: false,
                owner: UserID(1), members: [UserID(2)])
        ])
        let ada = try world.account(1)
        let bob = try world.account(2)
        await started(ada)
        await started(bob)
        let seen = ada.service.typings()
        let heard = bob.service.typings()
        // Whoever types in a group looks at it.
        try await ada.sendTyping(in: .group(100), isOn: true)
        try await ada.sendTyping(in: .peer(UserID(2)), isOn: true)
        for await sign in heard where sign.uid == 1 { break }
        try await bob.sendTyping(in: .group(100), isOn: true)
        try await bob.sendTyping(in: .peer(UserID(1)), isOn: false)
        var signs: [PeerTyping] = []
        for await sign in seen {
            signs.append(sign)
            if signs.count == 2 { break }
        }
        #expect(signs == [PeerTyping(uid: 2, groupID: 100), PeerTyping(uid: 2, isOn: false)])
        #expect(signs.map(\.session) == [.group(100), .peer(UserID(2))])
        await ada.close()
        await bob.close()
        await world.server.stop()
    }

    @Test func `who is watched is there, and then was there lately`() async throws {
        let world = try await TwoUsers()
        let ada = try world.account(1)
        let bob = try world.account(2)
        await started(ada)
        await started(bob)
        let presences = bob.service.presences()
        try await bob.service.send(.onlineState(of: [1, 3]))
        var seen: [Int64: [PeerPresence]] = [:]
        let before = ChatAccount.systemTime() - 60_000
        for await presence in presences {
            seen[presence.uid, default: []].append(presence)
            if presence.uid == 1, presence.isOnline { await ada.close() }
            if presence.uid == 1, !presence.isOnline { break }
        }
        #expect(seen[1]?.map(\.isOnline) == [true, false])
        #expect(seen[1]?.last?.lastSeenMilliseconds ?? 0 > before)
        // Of somebody who never came nothing is known.
        #expect(seen[3] == [PeerPresence(uid: 3, isOnline: false)])
        await bob.close()
        await world.server.stop()
    }

    @Test func `nothing is told of rooms and customers, and nothing waits for a connection`() async throws {
        let world = try await TwoUsers()
        let ada = try world.account(1)
        // Not started: what would be told anywhere else is refused.
        try await ada.sendTyping(in: .room(1), isOn: true)
        try await ada.sendTyping(in: Session(kind: .customer, id: 2, appID: 7), isOn: true)
        await #expect(throws: IMServiceError.self) {
            try await ada.sendTyping(in: .peer(UserID(2)), isOn: true)
        }
        await ada.close()
        await world.server.stop()
    }
}
