import RivuletClient
import RivuletClientCore
import RivuletWire
import Testing

/// Every handler and observer of docs/names.md, section 3, is told by what the description says tells it.
@MainActor
@Suite("What the described handlers and observers are told", .timeLimit(.minutes(2)))
struct DescribedReceivingTests {
    private let observer = EveryObserver()
    private let handler = EveryHandler()

    private func run(
        _ profile: Profile, _ scripts: [ScriptedServer.Script],
        configure: (inout IMServiceConfiguration) -> Void = { _ in }
    ) async throws {
        let server = try await ScriptedServer(profile: profile)
        let service = server.makeService(configure: configure)
        observer.observeEverything(of: service)
        handler.handleEverything(of: service)
        try await service.startAndLogIn()
        let end = RTMessage(sender: 8, receiver: 7, content: "end")
        await server.send(scripts + [ScriptedServer.Script(command: .rt, body: .room(end))])
        try await first(of: observer.stream) { $0 == "onRTMessage end" }
        await service.stopAndWait()
    }

    private func im(_ content: String, from sender: Int64 = 8, to receiver: Int64 = 7, id: Int32 = 0)
        -> PacketBody
    {
        .im(IMMessage(sender: sender, receiver: receiver, msgLocalID: id, content: content))
    }

    private func rt(_ content: String, from sender: Int64 = 8) -> ScriptedServer.Script {
        ScriptedServer.Script(
            command: .rt, body: .room(RTMessage(sender: sender, receiver: 7, content: content)))
    }

    private func customer(_ content: String, id: Int64, seller: Int64) -> PacketBody {
        .customer(
            CustomerMessage(customerAppID: 9, customerID: id, storeID: 3, sellerID: seller, content: content))
    }

    private var seedScripts: [ScriptedServer.Script] {
        [
            .init(command: .im, body: im("one")),
            .init(command: .im, body: im("own", from: 7, to: 8, id: 5)),
            .init(command: .groupIM, body: im("two", to: 70)),
            .init(command: .groupIM, body: im("ours", from: 7, to: 70, id: 6)),
            .init(command: .groupNotification, body: .text("{}")),
            .init(command: .system, body: .text("news")),
            .init(command: .customer, body: customer("ask", id: 8, seller: 7)),
            .init(command: .customerSupport, body: customer("help", id: 7, seller: 8)),
            .init(command: .customer, body: customer("mine", id: 7, seller: 8)),
            .init(
                command: .peerACK, body: .peerACK(PeerAcknowledgement(sender: 8, receiver: 7, msgLocalID: 5))),
            .init(command: .inputing, body: .inputing(MessageInputing(sender: 8, receiver: 7))),
            .init(command: .onlineState, body: .onlineState(OnlineState(uid: 8, online: 1))),
            .init(
                command: .loginPoint,
                body: .loginPoint(LoginPoint(upTimestamp: 4, platformID: .iOS, deviceID: "phone"))),
            .init(
                command: .voipControl,
                body: .voip(VOIPControl(sender: 8, receiver: 7, content: Array("ring".utf8)))),
            .init(
                command: .roomIM, body: .room(RoomMessage(sender: 8, receiver: 1, content: "hall"))),
            rt(#"{"typing":{"on":1}}"#),
        ]
    }

    @Test func `in the seed profile`() async throws {
        try await run(.seed, seedScripts)
        #expect(
            handler.calls == [
                "peer.handleMessage one 8", "peer.handleMessage own 8", "peer.handleMessageACK 5 8",
                "group.handleMessage 70 two", "group.handleMessage 70 ours", "group.handleMessageACK 6 70",
                "handleGroupNotification {}", "handleSystemMessage news",
                "customer.handleMessage 9/8 3/7 ask",
                "handleCustomerSupportMessage 9/7 3/8 help", "customer.handleMessage 9/7 3/8 mine",
                "customer.handleMessageACK 0 9/7 3/8 mine", "handleOnlineState 8", "handleLoginPoint phone",
                "handleVOIPControl 8", "handleRoomMessage hall", #"handleRTMessage {"typing":{"on":1}}"#,
                "handleRTMessage end",
            ])
        #expect(
            observer.calls.filter { !$0.hasPrefix("onConnectState") } == [
                "onPeerMessage one", "onPeerMessage own", "onPeerMessageACK 5 8", "onGroupMessage 70 two",
                "onGroupMessage 70 ours", "onGroupMessageACK 6 70", "onGroupNotification {}",
                "onSystemMessage news", "onCustomerMessage 9/8 3/7 ask",
                "onCustomerSupportMessage 9/7 3/8 help", "onCustomerMessage 9/7 3/8 mine",
                "onCustomerMessageACK 0 9/7 3/8 mine", "onPeerMessagesDelivered 8 [5] []", "onPeerInputing 8",
                "onOnlineState 8 1", "onLoginPoint 4 1 phone", "onVOIPControl 8 ring", "onRoomMessage hall",
                #"onRTMessage {"typing":{"on":1}}"#, "onRTMessage end",
            ])
        #expect(
            Array(observer.calls.filter { $0.hasPrefix("onConnectState") }.prefix(3)) == [
                "onConnectState connecting", "onConnectState connected", "onConnectState authenticated",
            ])
    }

    @Test func `in the current profile`() async throws {
        let byCustomer = CustomerMessageV2(
            senderAppID: 9, sender: 8, receiverAppID: 1, receiver: 7, content: #"{"store_id":3,"text":"ask"}"#
        )
        let byStaff = CustomerMessageV2(
            senderAppID: 1, sender: 8, receiverAppID: 9, receiver: 7, content: #"{"store_id":3}"#)
        try await run(
            .current,
            [
                .init(command: .im, body: im("one")),
                .init(command: .im, body: im(#"{"secret":{"ciphertext":"x","type":1}}"#)),
                .init(command: .im, body: im(#"{"group_id":70,"text":"private"}"#)),
                .init(command: .groupIM, body: im("two", to: 70)),
                .init(command: .groupNotification, body: .text("{}")),
                .init(command: .system, body: .text("news")),
                .init(command: .customerV2, body: .customerV2(byCustomer)),
                .init(command: .customerV2, body: .customerV2(byStaff)),
                .init(command: .syncNotify, body: .syncKey(5)),
                .init(command: .notification, body: .text("hello")),
                .init(
                    command: .notification,
                    body: .text(#"{"login_point":{"time":4,"platform":1,"device":"phone"}}"#)),
                .init(
                    command: .roomIM, body: .room(RoomMessage(sender: 8, receiver: 1, content: "hall"))),
                rt(#"{"typing":{"on":1}}"#), rt(#"{"typing":{"on":0}}"#),
                rt(#"{"delivered":{"msgids":["a","b"]}}"#),
                rt(#"{"presence":{"states":[{"uid":8,"online":1}]}}"#, from: 0),
                rt(#"{"presence":{"states":[{"uid":9,"online":1}]}}"#, from: 8),
                rt(#"{"voip":{"command":1,"channel_id":"c"}}"#), rt(#"{"p2p":{}}"#),
            ]
        ) { $0.customerServiceAppID = 1 }
        let stored = [
            "peer.handleMessage one 8", #"peer.handleMessage {"secret":{"ciphertext":"x","type":1}} 8"#,
            #"group.handleMessage 70 {"group_id":70,"text":"private"}"#, "group.handleMessage 70 two",
            "handleGroupNotification {}", "handleSystemMessage news",
            #"customer.handleMessage 9/8 3/7 {"store_id":3,"text":"ask"}"#,
            #"handleCustomerSupportMessage 9/7 3/8 {"store_id":3}"#,
        ]
        #expect(handler.calls.filter { stored.contains($0) } == stored)
        #expect(handler.calls.contains("handleLoginPoint phone"))
        #expect(
            handler.calls.contains("handleOnlineState 8") && !handler.calls.contains("handleOnlineState 9"))
        let expected = [
            "onPeerMessage one", "onPeerSecretMessage",
            #"onGroupMessage 70 {"group_id":70,"text":"private"}"#,
            "onGroupMessage 70 two", "onGroupNotification {}", "onSystemMessage news",
            #"onCustomerMessage 9/8 3/7 {"store_id":3,"text":"ask"}"#,
            #"onCustomerSupportMessage 9/7 3/8 {"store_id":3}"#, "onNotification hello",
            "onLoginPoint 4 1 phone", "onRoomMessage hall", "onPeerInputing 8",
            #"onPeerMessagesDelivered 8 [] ["a", "b"]"#, "onOnlineState 8 1",
            #"onVOIPControl 8 {"voip":{"command":1,"channel_id":"c"}}"#, #"onVOIPControl 8 {"p2p":{}}"#,
        ]
        let told = observer.calls.filter { !$0.hasPrefix("onConnectState") && !$0.hasPrefix("onRTMessage") }
        #expect(told.filter { !$0.hasPrefix("onNotification {") } == expected)
    }

    @Test func `what a handler does not store is not acknowledged, and comes to nobody`() async throws {
        let server = try await ScriptedServer(profile: .seed)
        let service = server.makeService()
        observer.observeEverything(of: service)
        handler.handleEverything(of: service)
        for refused in [
            "peer.handleMessage", "customer.handleMessage", "handleSystemMessage", "handleGroupNotification",
        ] {
            handler.refuse(refused)
            let count = await server.connectionCount
            try await service.startAndLogIn()
            switch refused {
            case "peer.handleMessage": await server.send(.im, im("no"))
            case "customer.handleMessage": await server.send(.customer, customer("no", id: 8, seller: 7))
            case "handleSystemMessage": await server.send(.system, .text("no"))
            default: await server.send(.groupNotification, .text("no"))
            }
            // The service gives the connection up and comes again for what it could not store.
            while await server.connectionCount < count + 2 { await Task.yield() }
            await service.stopAndWait()
        }
        #expect(!observer.calls.contains { $0.hasSuffix("no") })
        #expect(handler.calls.filter { $0.contains("no") }.count == 4)
        var acknowledged = 0
        server.endPackets()
        for await packet in server.packets where packet.command == .ack { acknowledged += 1 }
        #expect(acknowledged == 0)
    }

    @Test func `what a live handler keeps back comes to no observer and no stream`() async throws {
        handler.refuse(
            "handleNotification", "handleRoomMessage", "handleLoginPoint", "handleOnlineState",
            "handleVOIPControl")
        try await run(.seed, seedScripts)
        let kept = ["onRoomMessage", "onLoginPoint", "onOnlineState", "onVOIPControl"]
        #expect(!observer.calls.contains { call in kept.contains { call.hasPrefix($0) } })
        #expect(observer.calls.contains("onPeerInputing 8"))
        #expect(handler.calls.contains("handleVOIPControl 8"))
    }

    @Test func `every stream gives what its observers are told`() async throws {
        let server = try await ScriptedServer(profile: .seed)
        let service = server.makeService()
        let streams = (
            service.peerMessages(), service.groupMessages(), service.groupNotifications(),
            service.systemMessages(), service.customerMessages(), service.customerSupportMessages()
        )
        let live = (
            service.roomMessages(), service.rtMessages(), service.typings(), service.deliveries(),
            service.loginPoints(), service.onlineStates(), service.voipControls()
        )
        let statuses = service.connectionStatuses()
        try await service.startAndLogIn()
        await server.send(seedScripts)
        #expect(try await take(2, of: streams.0).map(\.content) == ["one", "own"])
        #expect(try await take(2, of: streams.1).map(\.content) == ["two", "ours"])
        #expect(try await take(1, of: streams.2) == ["{}"])
        #expect(try await take(1, of: streams.3) == ["news"])
        #expect(try await take(2, of: streams.4).map(\.content) == ["ask", "mine"])
        #expect(try await take(1, of: streams.5).map(\.content) == ["help"])
        #expect(try await take(1, of: live.0).map(\.content) == ["hall"])
        #expect(try await take(1, of: live.1).map(\.content) == [#"{"typing":{"on":1}}"#])
        #expect(try await take(1, of: live.2) == [PeerTyping(uid: 8)])
        #expect(try await take(1, of: live.3) == [PeerDelivery(uid: 8, msgLocalIDs: [5])])
        #expect(try await take(1, of: live.4).map(\.deviceID) == ["phone"])
        #expect(try await take(1, of: live.5) == [OnlineState(uid: 8, online: 1)])
        #expect(try await take(1, of: live.6).map(\.sender) == [8])
        try await first(of: statuses) { $0.state == .authenticated }
        await service.stopAndWait()
    }

    @Test func `since when somebody is away is told by the server alone`() async throws {
        let server = try await ScriptedServer(profile: .current)
        let service = server.makeService()
        let presences = service.presences()
        try await service.startAndLogIn()
        let forged = #"{"presence":{"states":[{"uid":9,"online":1}]}}"#
        let states = #"{"presence":{"states":[{"uid":8,"online":0,"last_ms":1500},{"uid":9,"online":1}]}}"#
        await server.send(.rt, .room(RTMessage(sender: 8, receiver: 7, content: forged)))
        await server.send(.rt, .room(RTMessage(sender: 0, receiver: 7, content: states)))
        let expected = [
            PeerPresence(uid: 8, isOnline: false, lastSeenMilliseconds: 1_500),
            PeerPresence(uid: 9, isOnline: true),
        ]
        #expect(try await take(2, of: presences) == expected)
        await service.stopAndWait()
    }

    @Test func `the operator's live texts have a stream in the current profile`() async throws {
        let server = try await ScriptedServer(profile: .current)
        let service = server.makeService()
        let texts = service.operatorNotifications()
        try await service.startAndLogIn()
        await server.send(.notification, .text("hello"))
        #expect(try await take(1, of: texts) == ["hello"])
        await service.stopAndWait()
    }

    @Test func `only the top observer of calls is told, and a removed one is told nothing`() async throws {
        let server = try await ScriptedServer(profile: .seed)
        let service = server.makeService()
        let (below, top) = (EveryObserver(), EveryObserver())
        observer.observeEverything(of: service)
        service.pushVOIPObserver(below)
        service.pushVOIPObserver(top)
        service.popVOIPObserver(below)
        try await service.startAndLogIn()
        let ring = PacketBody.voip(VOIPControl(sender: 8, receiver: 7, content: Array("ring".utf8)))
        await server.send(.voipControl, ring)
        try await first(of: top.stream) { $0.hasPrefix("onVOIPControl") }
        service.popVOIPObserver(top)
        await server.send(.voipControl, ring)
        try await first(of: below.stream) { $0.hasPrefix("onVOIPControl") }
        #expect(top.calls.count == 1 && below.calls.count == 1, "a pop below the top does nothing")

        service.popVOIPObserver(below)
        observer.observeNothing(of: service)
        let before = observer.calls.count
        let ends = service.rtMessages()
        await server.send(seedScripts + [rt("end")])
        try await first(of: ends) { $0.content == "end" }
        await service.stopAndWait()
        #expect(observer.calls.count == before)
    }
}
