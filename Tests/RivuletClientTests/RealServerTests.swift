import RivuletClient
import RivuletClientCore
import RivuletModel
import RivuletServer
import RivuletServerCore
import RivuletWire
import Synchronization
import Testing

/// What docs/names.md, section 3, promises for the current profile, over real sockets and against the real server.
@MainActor
@Suite("The described calls against the real server", .timeLimit(.minutes(2)))
struct RealServerTests {
    /// A user with everything that can be told.
    @MainActor
    private final class Person {
        let service: IMService
        let storage: MemoryClientStorage
        let observer = EveryObserver()
        let later = LaterObserver()
        let handler = EveryHandler()

        init(
            _ user: Int64, on server: ChatServer, port: UInt16? = nil, device: String = "device",
            storage: MemoryClientStorage = makeStorage(),
            configure: (inout IMServiceConfiguration) -> Void = { _ in }
        ) throws {
            self.storage = storage
            service = try server.makeService(
                user: user, storage: storage, device: device, port: port, configure: configure)
            observer.observeEverything(of: service)
            later.observe(service)
            handler.handleEverything(of: service)
        }

        func start() async throws -> Person {
            try await service.startAndSync()
            return self
        }
    }

    private static let group = GroupID(70)

    private func end(_ server: ChatServer, _ people: Person...) async {
        for person in people { await person.service.stopAndWait() }
        await server.stop()
    }

    private func groupMessage(_ text: String, from sender: Int64, to group: Int64 = 70, id: Int32 = 0)
        -> IMMessage
    {
        IMMessage(sender: sender, receiver: group, msgLocalID: id, content: content(text))
    }

    private func makeGroup(_ server: ChatServer, isSuper: Bool = false, id: GroupID = group) async throws {
        try await server.server.apply([
            .createGroup(
                id, app: Account.defaultApp, name: "walkers", isSuper: isSuper, owner: UserID(7),
                members: [UserID(8)])
        ])
    }

    // MARK: Users

    @Test func `a message between users, its answer, and a refusal with the reason`() async throws {
        let server = try await ChatServer()
        let (ada, ben) = (try await Person(7, on: server).start(), try await Person(8, on: server).start())
        #expect(
            ada.service.sendPeerMessage(
                IMMessage(sender: 7, receiver: 8, msgLocalID: 3, content: content("hello"))))
        try await ben.observer.wait(for: "onPeerMessage \(content("hello"))")
        try await ada.observer.wait(for: "onPeerMessageACK 3 8")
        #expect(ben.handler.calls.contains("peer.handleMessage \(content("hello")) 7"))
        #expect(ada.handler.calls.contains("peer.handleMessageACK 3 8"))
        #expect(!ada.service.isPeerMessageSending(8, id: 3))
        #expect(ben.handler.calls.contains("saveSyncKey \(ben.service.syncKey)") && ben.service.syncKey > 0)

        try await server.server.apply([.setBlocked(by: Account(user: UserID(8)), UserID(7), true)])
        let refused = IMMessage(sender: 7, receiver: 8, msgLocalID: 4, content: content("still there?"))
        await #expect(throws: IMServiceError(.refused, status: .senderBlocked)) {
            try await ada.service.send(.peer(refused))
        }
        try await ada.observer.wait(for: "onPeerMessageFailure 4 8")
        try await ada.later.wait(for: "onPeerMessageACK 4 \(ACKStatus.senderBlocked.rawValue)")
        #expect(ada.handler.calls.contains("peer.handleMessageFailure 4 8"))
        await end(server, ada, ben)
    }

    @Test func `friends only, when the server says so`() async throws {
        let server = try await ChatServer { $0.checksFriends = true }
        let ada = try await Person(7, on: server).start()
        func send(_ text: String) async throws {
            try await ada.service.send(.peer(IMMessage(sender: 7, receiver: 8, content: content(text))))
        }
        await #expect(throws: IMServiceError(.refused, status: .receiverNotFriend)) { try await send("1") }
        try await server.server.apply([.setFriend(of: Account(user: UserID(7)), UserID(8), true)])
        await #expect(throws: IMServiceError(.refused, status: .senderNotFriend)) { try await send("2") }
        try await server.server.apply([.setFriend(of: Account(user: UserID(8)), UserID(7), true)])
        try await send("3")
        await end(server, ada)
    }

    @Test func `an app in the background gets what it missed, and its own other device too`() async throws {
        let server = try await ChatServer()
        let (ada, ben) = (try await Person(7, on: server).start(), try await Person(8, on: server).start())
        let desk = try await Person(7, on: server, device: "desk").start()
        ben.service.enterBackground()
        try await ben.observer.wait(for: "onConnectState unconnected")
        try await ada.service.send(peerMessage("meanwhile", from: 7, to: 8))
        try await desk.observer.wait(for: "onPeerMessage \(content("meanwhile"))")
        ben.service.enterForeground()
        try await ben.observer.wait(for: "onPeerMessage \(content("meanwhile"))")
        ben.service.onReachabilityChange(false)
        ben.service.onReachabilityChange(true)
        try await ada.service.send(peerMessage("again", from: 7, to: 8))
        try await ben.observer.wait(for: "onPeerMessage \(content("again"))")
        #expect(ben.storage.contents(from: 7) == ["meanwhile", "again"].map(content))
        await end(server, ada, ben, desk)
    }

    // MARK: Groups

    @Test func `a group, its news, its answers and its refusals`() async throws {
        let server = try await ChatServer(users: [7, 8, 9])
        let (ada, ben) = (try await Person(7, on: server).start(), try await Person(8, on: server).start())
        let carol = try await Person(9, on: server).start()
        let news = ben.service.groupNotifications()
        try await makeGroup(server)
        #expect(try await take(1, of: news).first?.contains("create") == true)
        // The stream may be told before the observer.
        try await ben.observer.wait(forPrefix: "onGroupNotification")
        #expect(ben.handler.calls.contains { $0.hasPrefix("handleGroupNotification") })

        #expect(ada.service.sendGroupMessage(groupMessage("to all", from: 7, id: 4)))
        try await ben.observer.wait(for: "onGroupMessage 70 \(content("to all"))")
        try await ben.later.wait(for: "onGroupMessages 70 \(content("to all"))")
        try await ada.observer.wait(for: "onGroupMessageACK 4 70")
        try await ada.later.wait(for: "onGroupMessageACK 4 0")
        #expect(ben.handler.calls.contains("group.handleMessage 70 \(content("to all"))"))
        #expect(ada.handler.calls.contains("group.handleMessageACK 4 70"))
        #expect(!ada.service.isGroupMessageSending(70, id: 4))

        await #expect(throws: IMServiceError(.refused, status: .notGroupMember)) {
            try await carol.service.send(.group(groupMessage("let me in", from: 9)))
        }
        await #expect(throws: IMServiceError(.refused, status: .noSuchGroup)) {
            try await ada.service.send(.group(groupMessage("anyone?", from: 7, to: 404)))
        }
        try await server.server.apply([.muteMember(Self.group, UserID(8), true)])
        await #expect(throws: IMServiceError(.refused, status: .memberMuted)) {
            try await ben.service.send(.group(groupMessage("mmm", from: 8, id: 6)))
        }
        try await ben.observer.wait(for: "onGroupMessageFailure 6 70")
        try await ben.later.wait(for: "onGroupMessageACK 6 \(ACKStatus.memberMuted.rawValue)")
        #expect(ben.handler.calls.contains("group.handleMessageFailure 6 70"))
        try await server.server.apply([
            .muteMember(Self.group, UserID(8), false), .muteGroup(Self.group, true),
        ])
        await #expect(throws: IMServiceError(.refused, status: .groupMuted)) {
            try await ben.service.send(.group(groupMessage("mmm", from: 8, id: 7)))
        }
        await end(server, ada, ben, carol)
    }

    @Test func `a super group is synced by its own key, over a restart, and until it is left`() async throws {
        let server = try await ChatServer()
        let ada = try await Person(7, on: server).start()
        try await makeGroup(server, isSuper: true)
        try await ada.service.send(.group(groupMessage("before", from: 7)))
        var ben = try await Person(8, on: server).start()
        #expect(ben.service.addSuperGroupSyncKey(0, gid: 70))
        try await ben.observer.wait(for: "onGroupMessage 70 \(content("before"))")
        try await ada.service.send(.group(groupMessage("live", from: 7)))
        try await ben.observer.wait(for: "onGroupMessage 70 \(content("live"))")
        await ben.service.stopAndWait()
        let key = try #require(ben.storage.restored.groupKeys[70])
        #expect(ben.handler.calls.contains("saveGroupSyncKey \(key) 70"))

        try await ada.service.send(.group(groupMessage("away", from: 7)))
        ben = try await Person(8, on: server, storage: ben.storage).start()
        try await ben.observer.wait(for: "onGroupMessage 70 \(content("away"))")
        #expect(!ben.observer.calls.contains("onGroupMessage 70 \(content("live"))"), "nothing comes twice")
        #expect(ben.service.removeSuperGroupSyncKey(70))
        await ben.service.stopAndWait()
        #expect(ben.storage.restored.groupKeys == [:])
        await end(server, ada)
    }

    // MARK: Rooms and customers

    @Test func `a chat room is entered, again after a lost connection, and left`() async throws {
        let server = try await ChatServer()
        let (ada, ben) = (try await Person(7, on: server).start(), try await Person(8, on: server).start())
        try await ada.service.enter(room: 5)
        try await ben.service.enter(room: 5)
        let hall = RoomMessage(sender: 7, receiver: 5, content: content("in the hall"))
        #expect(ada.service.sendRoomMessage(hall))
        try await ben.observer.wait(for: "onRoomMessage \(hall.content)")
        try await ada.observer.wait(for: "onRoomMessageACK \(hall.content)")
        #expect(ben.handler.calls.contains("handleRoomMessage \(hall.content)"))

        let states = (ada.service.connectionStates(), ben.service.connectionStates())
        await server.stop()
        try await first(of: states.0) { $0 != .authenticated }
        try await first(of: states.1) { $0 != .authenticated }
        try await server.restart()
        try await first(of: states.0) { $0 == .authenticated }
        try await first(of: states.1) { $0 == .authenticated }
        // The server has taken what follows the login once it answers something later.
        try await ben.service.send(peerMessage("I am back", from: 8, to: 7))
        let again = RoomMessage(sender: 7, receiver: 5, content: content("after the storm"))
        try await ada.service.send(.room(again))
        try await ben.observer.wait(for: "onRoomMessage \(again.content)")

        try await server.server.apply([.banFromRoom(RoomID(5), Account(user: UserID(7)), true)])
        await #expect(throws: IMServiceError(.refused, status: .memberMuted)) {
            try await ada.service.send(.room(hall))
        }
        try await ada.observer.wait(for: "onRoomMessageFailure \(hall.content)")
        try await ada.service.leave(room: 5)
        await #expect(throws: IMServiceError(.refused, status: .notGroupMember)) {
            try await ada.service.send(.room(hall))
        }
        await end(server, ada, ben)
    }

    @Test func `a customer asks and the staff answers`() async throws {
        let server = try await ChatServer(users: [7, 10], staff: [8])
        func asCustomer(_ configuration: inout IMServiceConfiguration) {
            configuration.identity.appID = Account.defaultApp
            configuration.customerServiceAppID = 9
        }
        let ada = try await Person(7, on: server, configure: asCustomer).start()
        let staff = try await Person(8, on: server) {
            $0.identity.appID = 9
            $0.customerServiceAppID = 9
        }.start()
        let question = CustomerMessage(
            customerAppID: Account.defaultApp, customerID: 7, storeID: 3, sellerID: 8,
            content: #"{"uuid":"uuid-q","store_id":3,"text":"ask"}"#, msgLocalID: 5)
        #expect(ada.service.sendCustomerMessage(question))
        try await staff.observer.wait(for: "onCustomerMessage \(question.line)")
        try await ada.observer.wait(for: "onCustomerMessageACK 5 \(question.line)")
        #expect(staff.handler.calls.contains("customer.handleMessage \(question.line)"))
        #expect(ada.handler.calls.contains("customer.handleMessageACK 5 \(question.line)"))
        #expect(!ada.service.isCustomerMessageSending(5, storeID: 3))

        var answer = question
        answer.content = #"{"uuid":"uuid-a","store_id":3,"text":"help"}"#
        answer.msgLocalID = 6
        #expect(staff.service.sendCustomerSupportMessage(answer))
        try await ada.observer.wait(for: "onCustomerSupportMessage \(answer.line)")
        try await staff.observer.wait(for: "onCustomerMessageACK 6 \(answer.line)")
        #expect(ada.handler.calls.contains("handleCustomerSupportMessage \(answer.line)"))
        #expect(!staff.service.isCustomerSupportMessageSending(6, customerID: 7, customerAppID: 1))

        let noStaff = CustomerMessageV2(
            senderAppID: Account.defaultApp, sender: 7, receiverAppID: Account.defaultApp, receiver: 10,
            content: "{}")
        await #expect(throws: IMServiceError(.refused, status: ACKStatus(rawValue: 68))) {
            try await ada.service.send(.customer(noStaff))
        }
        #expect(ada.observer.calls.filter { $0.hasPrefix("onCustomerMessageFailure") }.count <= 1)
        await end(server, ada, staff)
    }

    // MARK: What nobody keeps

    @Test func `live messages, typing, calls, receipts and presence`() async throws {
        let server = try await ChatServer()
        let ada = try await Person(7, on: server).start()
        #expect(ada.service.subscribeOnlineState([8]))
        try await ada.observer.wait(for: "onOnlineState 8 0")
        let ben = try await Person(8, on: server, configure: { $0.sendsDeliveryReceipts = true }).start()
        try await ada.observer.wait(for: "onOnlineState 8 1")

        #expect(ada.service.sendRTMessage(RTMessage(sender: 7, receiver: 8, content: #"{"wave":1}"#)))
        try await ben.observer.wait(for: #"onRTMessage {"wave":1}"#)
        #expect(ben.handler.calls.contains(#"handleRTMessage {"wave":1}"#))
        #expect(ada.service.sendInputing(MessageInputing(sender: 7, receiver: 8)))
        try await ben.observer.wait(for: "onPeerInputing 7")
        try await ada.service.send(.typing(MessageInputing(sender: 7, receiver: 8), isOn: false))
        try await ben.later.wait(for: "onPeerTyping 7 0 true")
        try await ben.later.wait(for: "onPeerTyping 7 0 false")
        let ring = VOIPControl(sender: 7, receiver: 8, content: Array(#"{"voip":{"command":1}}"#.utf8))
        #expect(ada.service.sendVOIPControl(ring))
        try await ben.observer.wait(for: #"onVOIPControl 7 {"voip":{"command":1}}"#)

        try await ada.service.send(peerMessage("did it arrive?", from: 7, to: 8))
        try await ada.observer.wait(for: #"onPeerMessagesDelivered 8 [] ["uuid-did it arrive?"]"#)
        #expect(ada.service.sendUnreadCount(3))
        await ben.service.stopAndWait()
        try await ada.observer.wait(for: "onOnlineState 8 0")
        await end(server, ada)
    }

    @Test func `the operator's words, stored and live`() async throws {
        let server = try await ChatServer()
        let ada = try await Person(7, on: server).start()
        let both = [7, 8].map { Account(user: UserID($0)) }
        try await server.server.post(.notification("now", to: both))
        try await server.server.post(.system("read this", to: both))
        try await ada.observer.wait(for: "onNotification now")
        try await ada.observer.wait(for: "onSystemMessage read this")
        #expect(ada.handler.calls.contains("handleNotification now"))
        #expect(ada.handler.calls.contains("handleSystemMessage read this"))
        // Who was away gets what is stored, and nothing else.
        let ben = try await Person(8, on: server).start()
        try await ben.observer.wait(for: "onSystemMessage read this")
        #expect(!ben.observer.calls.contains("onNotification now"))
        await end(server, ada, ben)
    }

    // MARK: Tokens

    @Test func `a token that ran out is replaced by the token source`() async throws {
        let server = try await ChatServer()
        let hour: Int64 = 3_600_000
        let old = try server.makeToken(of: 7, lifetimeMilliseconds: hour)
        let refusals = Mutex<[Int]>([])
        let ada = try await Person(7, on: server) { configuration in
            configuration.core.backoffMax = .seconds(60)
            configuration.core.backoffMin = .milliseconds(20)
            configuration.identity.token = old
            configuration.tokenSource = { count in
                refusals.withLock { $0.append(count) }
                do {
                    return try server.makeToken(of: 7, lifetimeMilliseconds: 24 * hour)
                } catch {
                    return nil
                }
            }
        }.start()
        server.passTime(milliseconds: 2 * hour)
        let states = ada.service.connectionStates()
        await server.stop()
        try await first(of: states) { $0 != .authenticated }
        try await server.restart()
        try await ada.observer.wait(for: "onConnectState authenticationFail")
        try await first(of: states) { $0 == .authenticated }
        #expect(refusals.withLock { $0 } == [1])
        #expect(ada.service.token != old)
        try await ada.service.send(peerMessage("with the new one", from: 7, to: 8))
        await end(server, ada)
    }
}

/// The later forms are asked and told of everything that the described forms are.
@MainActor
@Suite("The later forms of handlers and observers", .timeLimit(.minutes(2)))
struct LaterFormTests {
    private struct BrokenUploader: MessageUploader {
        struct Broken: Error {}

        func needsUpload(_ command: Command, _ body: PacketBody) -> Bool {
            guard case .im(let message) = body else { return false }
            return message.content.contains("file:")
        }

        func upload(_ entry: OutboxEntry) async throws -> PacketBody { throw Broken() }
    }

    @Test func `accepted, refused and given up`() async throws {
        let server = try await ScriptedServer(profile: .current)
        let (observer, handler) = (LaterObserver(), LaterHandler())
        let service = server.makeService { $0.uploader = BrokenUploader() }
        observer.observe(service)
        handler.handle(service)
        try await service.startAndLogIn()
        try await observer.wait(for: "onConnectionStatus authenticated")
        await server.answer(.success, .senderBlocked, .success, .groupMuted)
        for (id, text) in [(1, "a"), (2, "b"), (3, "file:c")] as [(Int32, String)] {
            let message = IMMessage(sender: 7, receiver: 8, msgLocalID: id, content: text)
            #expect(service.sendPeerMessage(message))
        }
        try await observer.wait(for: "onPeerMessageACK 1 0")
        try await observer.wait(for: "onPeerMessageACK 2 \(ACKStatus.senderBlocked.rawValue)")
        try await observer.wait(for: "onPeerMessageFailure 3")
        for (id, text) in [(4, "a"), (5, "b"), (6, "file:c")] as [(Int32, String)] {
            let message = IMMessage(sender: 7, receiver: 70, msgLocalID: id, content: text)
            #expect(service.sendGroupMessage(message))
        }
        try await observer.wait(for: "onGroupMessageACK 4 0")
        try await observer.wait(for: "onGroupMessageACK 5 \(ACKStatus.groupMuted.rawValue)")
        try await observer.wait(for: "onGroupMessageFailure 6")
        await service.stopAndWait()
        let answers = handler.calls.filter { $0.contains("handleMessageACK") || $0.contains("Failure") }
        #expect(
            Set(answers) == [
                "handleMessageACK 1 0 8", "handleMessageACK 2 \(ACKStatus.senderBlocked.rawValue) 8",
                "handleMessageFailure 3 8", "group handleMessageACK 4 0 70",
                "group handleMessageACK 5 \(ACKStatus.groupMuted.rawValue) 70",
                "group handleMessageFailure 6 70",
            ])
        #expect(answers.count == 6)
    }
}
