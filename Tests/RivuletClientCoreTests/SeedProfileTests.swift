import RivuletWire
import Testing

@testable import RivuletClientCore

@Suite("The seed profile")
struct SeedProfileTests {
    private func online(appID: Int64 = 0) -> CoreDriver {
        var driver = CoreDriver { $0.profile = .seed }
        var identity = CoreDriver.identity
        identity.appID = appID
        driver.tell(.started(identity))
        driver.tell(.restored(RestoredState()))
        driver.open()
        driver.receive(.authStatus, .authStatus(AuthenticationStatus(status: 0)))
        return driver
    }

    private func customer(app: Int64, id: Int64, seller: Int64) -> PacketBody {
        .customer(
            CustomerMessage(customerAppID: app, customerID: id, storeID: 3, sellerID: seller, content: "x"))
    }

    @Test func `every stored packet is acknowledged in the order of receipt, after its commit`() {
        var driver = online()
        let first = driver.receive(.im, .im(im("1")))
        let kept =
            driver.receive(.groupIM, .im(im("2", to: 70))) + driver.receive(.groupNotification, .text("{}"))
            + driver.receive(.system, .text("news"))
            + driver.receive(.customer, customer(app: 9, id: 8, seller: 7))
            + driver.receive(.customerSupport, customer(app: 9, id: 7, seller: 8))
        #expect((first + kept).packets(.seed).isEmpty)
        let acknowledged = driver.commit().packets(.seed) + driver.commit().packets(.seed)
        #expect(
            acknowledged.map(\.body) == (2...7).map { .ack(Acknowledgement(sequence: $0)) })
    }

    @Test func `customer service of early 2016 is acknowledged and shown to nobody`() {
        var driver = online()
        let body = CustomerServiceMessage(
            customerID: 1, sender: 8, receiver: 7, timestamp: 0, content: "old")
        let actions = driver.receive(.customerService, .customerService(body))
        #expect(actions.packets(.seed).map(\.command) == [.ack])
        #expect(actions.batches.isEmpty)
    }

    @Test func `text that is not UTF-8 is acknowledged and not shown`() {
        var driver = online()
        var bytes = driver.frame(.im, .im(im("ab")))
        bytes[bytes.count - 1] = 0xFF
        let actions = driver.tell(.received(driver.core.epoch, bytes))
        #expect(actions.packets(.seed).map(\.command) == [.ack])
        #expect(actions.batches.isEmpty && actions.texts.isEmpty)
        #expect(actions.diagnostics == [.unreadableBody])
    }

    /// The role of the app decides whose a customer's message is (docs/protocol.md, section 14).
    @Test(
        arguments: [
            (0, Command.customer, 9, 7, 8, true), (9, .customer, 9, 7, 8, true),
            (1, .customer, 9, 7, 8, false),
            (0, .customer, 9, 8, 7, false), (1, .customerSupport, 9, 8, 7, true),
            (0, .customerSupport, 9, 8, 7, false), (9, .customerSupport, 9, 8, 7, false),
        ] as [(Int64, Command, Int64, Int64, Int64, Bool)])
    func `one's own customer messages are known by role`(
        appID: Int64, command: Command, app: Int64, id: Int64, seller: Int64, isOwn: Bool
    ) {
        var driver = online(appID: appID)
        let actions = driver.receive(command, customer(app: app, id: id, seller: seller))
        guard case .received(let message)? = actions.batches.first?.changes.first else {
            Issue.record("nothing received")
            return
        }
        #expect(message.isOwn == isOwn)
    }

    @Test(
        arguments: [
            (Command.peerACK, PacketBody.peerACK(PeerAcknowledgement(sender: 8, receiver: 7, msgLocalID: 3))),
            (.inputing, .inputing(MessageInputing(sender: 8, receiver: 7))),
            (.loginPoint, .loginPoint(LoginPoint(upTimestamp: 1, platformID: .iOS, deviceID: "d"))),
            (.onlineState, .onlineState(OnlineState(uid: 8, online: 1))),
            (.voipControl, .voip(VOIPControl(sender: 8, receiver: 7, content: [0, 0, 0, 1]))),
            (.rt, .room(RoomMessage(sender: 8, receiver: 7, content: "x"))),
        ])
    func `live packets are told and not acknowledged`(command: Command, body: PacketBody) {
        var driver = online()
        let actions = driver.receive(command, body)
        #expect(actions.packets(.seed).isEmpty)
        #expect(
            actions.notifications.contains {
                if case .livePacket(let packet) = $0 { packet.body == body } else { false }
            })
    }

    @Test func `no packet of the current profile is ever written`() {
        var driver = online()
        driver.tell(.superGroupAdded(70, key: 5))
        driver.receive(.im, .im(im("1")))
        let actions = driver.commit() + driver.tell(.enteredBackground)
        let written = actions.packets(.seed).map(\.command.rawValue)
        #expect(written.allSatisfy { $0 <= 25 })
    }
}
