import RivuletClient
import RivuletClientCore
import RivuletWire
import Testing

/// Every send and question of docs/names.md, section 3, in both profiles.
@MainActor
@Suite("What the described sends write", .timeLimit(.minutes(2)))
struct DescribedSendingTests {
    private let message = IMMessage(sender: 7, receiver: 8, msgLocalID: 3, content: "{}")
    private let groupMessage = IMMessage(sender: 7, receiver: 70, msgLocalID: 4, content: "{}")
    private let room = RoomMessage(sender: 7, receiver: 1, content: "{}")
    private let rt = RTMessage(sender: 7, receiver: 8, content: "{}")
    private let byCustomer = CustomerMessage(
        customerAppID: 9, customerID: 7, storeID: 3, sellerID: 8, content: #"{"text":"ask"}"#, msgLocalID: 5)
    private let byStaff = CustomerMessage(
        customerAppID: 9, customerID: 8, storeID: 3, sellerID: 7, content: #"{}"#, msgLocalID: 6)
    private let call = VOIPControl(sender: 7, receiver: 8, content: [0, 0, 0, 2])
    private let typing = MessageInputing(sender: 7, receiver: 8)

    private func running(
        _ profile: Profile, appID: Int64 = 0
    ) async throws -> (ScriptedServer, IMService) {
        let server = try await ScriptedServer(profile: profile)
        let service = server.makeService {
            $0.identity.appID = appID
            $0.customerServiceAppID = 1
        }
        try await service.startAndLogIn()
        return (server, service)
    }

    /// The next packets that are no part of the login, sync or heartbeat.
    private func next(_ count: Int, from server: ScriptedServer) async throws -> [Packet] {
        var packets: [Packet] = []
        for await packet in server.packets {
            switch packet.command {
            case .authToken, .ping, .sync, .syncKey: continue
            default: packets.append(packet)
            }
            if packets.count == count { break }
        }
        return packets
    }

    private func sendEverything(_ service: IMService) {
        #expect(service.sendPeerMessage(message))
        #expect(service.sendGroupMessage(groupMessage))
        #expect(service.sendRoomMessage(room))
        #expect(service.sendCustomerMessage(byCustomer))
        #expect(service.sendCustomerSupportMessage(byStaff))
    }

    private func sendEverythingLive(_ service: IMService) {
        #expect(service.sendRTMessage(rt))
        #expect(service.sendVOIPControl(call))
        #expect(service.sendInputing(typing))
        #expect(service.subscribeOnlineState([8, 9]))
        #expect(service.sendUnreadCount(2))
        service.enterRoom(1)
        service.leaveRoom(1)
    }

    @Test func `in the seed profile`() async throws {
        let (server, service) = try await running(.seed)
        sendEverythingLive(service)
        let live = try await next(7, from: server)
        #expect(
            live.map(\.body) == [
                .room(rt), .voip(call), .inputing(typing), .onlineStateSubscription([8, 9]), .unreadCount(2),
                .roomID(1), .roomID(1),
            ])
        #expect(live.map(\.command).suffix(2) == [.enterRoom, .leaveRoom])
        sendEverything(service)
        let sent = try await next(5, from: server)
        #expect(
            Set(sent.map(\.command)) == [.im, .groupIM, .roomIM, .customer, .customerSupport])
        #expect(sent.first { $0.command == .im }?.body == .im(message))
        var travelled = byCustomer
        travelled.msgLocalID = 0
        #expect(sent.first { $0.command == .customer }?.body == .customer(travelled))
        await service.stopAndWait()
    }

    @Test func `typing in a group names the group, and the seed profile has no word for it`() async throws {
        let inGroup = MessageInputing(sender: 7, receiver: 70)
        let (server, service) = try await running(.current, appID: 1)
        try await service.send(.groupTyping(inGroup))
        try await service.send(.groupTyping(inGroup, isOn: false))
        let sent = try await next(2, from: server)
        #expect(
            sent.map(\.body.roomContent) == [
                #"{"typing":{"on":1,"group":70}}"#, #"{"typing":{"on":0,"group":70}}"#,
            ])
        await service.stopAndWait()
        let (seedServer, seed) = try await running(.seed)
        try await seed.send(.groupTyping(inGroup))
        try await seed.send(.typing(typing))
        #expect(try await next(1, from: seedServer).map(\.body) == [.inputing(typing)])
        await seed.stopAndWait()
    }

    @Test func `in the current profile`() async throws {
        let (server, service) = try await running(.current, appID: 1)
        sendEverythingLive(service)
        let live = try await next(7, from: server)
        #expect(
            live.compactMap(\.body.roomContent) == [
                "{}", #"{"voip":{"channel_id":"","command":2}}"#, #"{"typing":{"on":1}}"#,
                #"{"presence":{"watch":[8,9]}}"#,
            ])
        #expect(live.map(\.command) == [.rt, .rt, .rt, .rt, .unreadCount, .enterRoom, .leaveRoom])
        sendEverything(service)
        let sent = try await next(5, from: server)
        let customers = sent.compactMap { packet -> CustomerMessageV2? in
            guard case .customerV2(let body) = packet.body else { return nil }
            return body
        }
        #expect(
            customers == [
                CustomerMessageV2(
                    senderAppID: 9, sender: 7, receiverAppID: 1, receiver: 8,
                    content: #"{"store_id":3,"text":"ask"}"#),
                CustomerMessageV2(
                    senderAppID: 1, sender: 7, receiverAppID: 9, receiver: 8, content: #"{"store_id":3}"#),
            ])
        await service.stopAndWait()
    }

    @Test(arguments: Profile.allCases)
    func `the four questions are true until the answer, whatever it is`(profile: Profile) async throws {
        let server = try await ScriptedServer(profile: profile)
        let service = server.makeService {
            $0.identity.appID = 1
            $0.customerServiceAppID = 1
        }
        let observer = EveryObserver()
        observer.observeEverything(of: service)
        try await service.startAndLogIn()
        await server.answer(.success, .notGroupMember, .success, .senderBlocked)
        #expect(service.sendPeerMessage(message))
        #expect(service.sendGroupMessage(groupMessage))
        if profile == .seed {
            #expect(service.sendCustomerMessage(byCustomer))
        }
        #expect(service.sendCustomerSupportMessage(byStaff))
        #expect(service.isPeerMessageSending(8, id: 3))
        #expect(service.isGroupMessageSending(70, id: 4))
        #expect(service.isCustomerMessageSending(5, storeID: 3) == (profile == .seed))
        #expect(service.isCustomerSupportMessageSending(6, customerID: 8, customerAppID: 9))
        #expect(!service.isPeerMessageSending(8, id: 4) && !service.isGroupMessageSending(71, id: 4))
        #expect(!service.isCustomerSupportMessageSending(6, customerID: 8, customerAppID: 8))

        try await first(of: observer.stream) { $0.hasPrefix("onCustomerMessage") && $0.contains(" 6 ") }
        #expect(!service.isPeerMessageSending(8, id: 3))
        #expect(!service.isGroupMessageSending(70, id: 4))
        #expect(!service.isCustomerMessageSending(5, storeID: 3))
        #expect(!service.isCustomerSupportMessageSending(6, customerID: 8, customerAppID: 9))
        let told = observer.calls.filter { $0.contains("ACK") || $0.contains("Failure") }
        #expect(told.contains("onPeerMessageACK 3 8"))
        // In the seed profile an ACK has no status.
        #expect(told.contains(profile == .seed ? "onGroupMessageACK 4 70" : "onGroupMessageFailure 4 70"))
        await service.stopAndWait()
    }

    @Test(arguments: Profile.allCases)
    func `the async forms return when acknowledged or handed on, and throw what went wrong`(
        profile: Profile
    ) async throws {
        let (server, service) = try await running(profile)
        #expect(try await service.send(.peer(message)).step == .acknowledged)
        #expect(try await service.send(.group(groupMessage)).step == .acknowledged)
        #expect(try await service.send(.room(room)).step == .acknowledged)
        #expect(try await service.send(.customer(byCustomer)).step == .acknowledged)
        #expect(try await service.send(.customerSupport(byStaff)).step == .acknowledged)
        try await service.send(LiveMessage.rt(rt))
        try await service.send(.call(call))
        try await service.send(.typing(typing))
        try await service.send(.typing(typing, isOn: false))
        try await service.send(.onlineState(of: [8]))
        try await service.send(.unreadCount(1))
        try await service.enter(room: 1)
        try await service.leave(room: 1)
        if profile == .current {
            for status in [
                ACKStatus.receiverNotFriend, .senderNotFriend, .senderBlocked, .noSuchGroup, .groupMuted,
            ] {
                await server.answer(status)
                await #expect(throws: IMServiceError(.refused, status: status)) {
                    try await service.send(.peer(message))
                }
            }
        }
        await #expect(throws: IMServiceError(.notEncodable)) {
            try await service.send(.onlineState(of: Array(repeating: 1, count: 501)))
        }
        await service.stopAndWait()
        await #expect(throws: IMServiceError(.notStarted)) { try await service.send(LiveMessage.rt(rt)) }
        await #expect(throws: IMServiceError(.notStarted)) { try await service.enter(room: 1) }
    }

    @Test func `what a profile lacks is a typed error, and false`() async throws {
        let (_, seed) = try await running(.seed)
        let wire = CustomerMessageV2(senderAppID: 9, sender: 7, receiverAppID: 1, receiver: 8, content: "{}")
        await #expect(throws: IMServiceError(.notInProfile)) { try await seed.send(.customer(wire)) }
        await #expect(throws: IMServiceError(.notInProfile)) {
            try await seed.send(.packet(Packet(.sync, .syncKey(1))))
        }
        #expect(!seed.addSuperGroupSyncKey(0, gid: 70))
        #expect(!seed.supports(.superGroups) && !seed.supports(.sync) && !seed.supports(.notifications))
        let (_, current) = try await running(.current)
        await #expect(throws: IMServiceError(.notInProfile)) {
            try await current.send(.packet(Packet(.inputing, .inputing(typing))))
        }
        #expect(!current.sendLive(Packet(.subscribeOnlineState, .onlineStateSubscription([8]))))
        #expect(!current.sendVOIPControl(VOIPControl(sender: 7, receiver: 8, content: [1])))
        await seed.stopAndWait()
        await current.stopAndWait()
    }

    /// The table of docs/extensions.md, section 1.
    @Test func `each feature travels by the command of the table`() {
        let seed = IMFeature.allCases.map { $0.command(in: .seed)?.rawValue }
        #expect(seed == [4, 8, 20, 17, 24, 25, 64, 10, 9, 11, 16, 22, 21, nil, nil, nil])
        let current = IMFeature.allCases.map { $0.command(in: .current)?.rawValue }
        #expect(current == [4, 8, 20, 17, 64, 64, 17, 17, 17, 17, 36, 22, 21, 36, 26, 30])
        #expect(IMFeature(rawValue: "teleport").command(in: .current) == nil)
    }

    @Test func `super groups are followed, and their keys kept`() async throws {
        let server = try await ScriptedServer(profile: .current)
        let storage = MemoryClientStorage()
        let service = server.makeService(storage: storage)
        try await service.startAndLogIn()
        #expect(service.addSuperGroupSyncKey(5, gid: 70))
        let asked = try await next(1, from: server)
        #expect(asked.map(\.body) == [.groupSyncKey(GroupSyncKey(groupID: 70, key: 5))])
        #expect(service.removeSuperGroupSyncKey(70))
        #expect(service.clearSuperGroupSyncKey())
        #expect(service.addSuperGroupSyncKey(6, gid: 70))
        #expect(
            try await next(1, from: server).map(\.body) == [
                .groupSyncKey(GroupSyncKey(groupID: 70, key: 6))
            ])
        await service.stopAndWait()
        #expect(storage.restored.groupKeys == [70: 6])
    }

    @Test func `a super group that was left is not asked for after a restart`() async throws {
        let server = try await ScriptedServer(profile: .current)
        let storage = MemoryClientStorage(restored: RestoredState(groupKeys: [70: 5, 71: 6, 72: 7]))
        let service = server.makeService(storage: storage)
        try await service.startAndLogIn()
        #expect(service.removeSuperGroupSyncKey(71))
        await service.stopAndWait()
        #expect(!service.removeSuperGroupSyncKey(70), "a service that rests does nothing")
        #expect(storage.restored.groupKeys == [70: 5, 72: 7])
        let again = server.makeService(storage: storage)
        try await again.startAndLogIn()
        #expect(again.clearSuperGroupSyncKey())
        await again.stopAndWait()
        #expect(storage.restored.groupKeys == [:])
        let seed = try await running(.seed).1
        #expect(!seed.removeSuperGroupSyncKey(70) && !seed.clearSuperGroupSyncKey())
        await seed.stopAndWait()
    }
}

extension PacketBody {
    var roomContent: String? {
        guard case .room(let body) = self else { return nil }
        return body.content
    }
}
