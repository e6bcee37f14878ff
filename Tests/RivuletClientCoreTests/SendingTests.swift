import RivuletWire
import Testing

@testable import RivuletClientCore

@Suite("Sending")
struct SendingTests {
    @Test func `a message is stored first, then written, then probed`() {
        var driver = CoreDriver.online()
        let requested = driver.send("hi")
        #expect(requested.packets().isEmpty)
        guard case .queued(let entry) = requested.batches.first?.changes.first else {
            Issue.record("nothing queued")
            return
        }
        #expect(entry.uuid == "uuid-hi")
        let stored = driver.commit()
        #expect(stored.commands == [.im, .ping])
        #expect(stored.reports.map(\.step) == [.queued])
    }

    @Test func `an ACK is told after it is stored`() {
        var driver = CoreDriver.online()
        driver.send("hi")
        let written = driver.commit().packets()
        let answered = driver.acknowledge([written[0]])
        #expect(answered.reports.isEmpty)
        #expect(answered.batches.first?.changes == [.acknowledged(SendID(rawValue: 1), place: nil)])
        let reports = driver.commit().reports
        #expect(reports.map(\.step) == [.acknowledged])
        #expect(reports.first?.ticket == SendTicket(rawValue: 1))
        #expect(driver.core.outbox.count == 0)
    }

    @Test(arguments: [ACKStatus.receiverNotFriend, .senderBlocked, .notGroupMember, .memberMuted])
    func `a refusal is told with its status`(status: ACKStatus) {
        var driver = CoreDriver.online()
        driver.send("hi")
        let written = driver.commit().packets()
        let answered = driver.acknowledge([written[0]], status: status)
        #expect(answered.batches.first?.changes == [.refused(SendID(rawValue: 1), status)])
        #expect(driver.commit().reports.map(\.step) == [.refused(status)])
    }

    @Test func `an ACK whose METADATA continues the key moves it`() {
        var driver = CoreDriver.online()
        driver.send("hi")
        let written = driver.commit().packets()[0]
        driver.receive(.metadata, .metadata(Metadata(syncKey: 11, previousSyncKey: 10)))
        let answered = driver.receive(.ack, .ack(Acknowledgement(sequence: written.sequence)))
        let place = QueuePlace(queue: .peer, key: 11)
        #expect(
            answered.batches.first?.changes == [
                .acknowledged(SendID(rawValue: 1), place: place), .peerKey(11),
            ])
        #expect(driver.commit().packets().map(\.body) == [.syncKey(11)])
    }

    @Test func `an ACK whose METADATA leaves a gap gives no place`() {
        var driver = CoreDriver.online()
        driver.send("hi")
        let written = driver.commit().packets()[0]
        driver.receive(.metadata, .metadata(Metadata(syncKey: 12, previousSyncKey: 11)))
        let answered = driver.receive(.ack, .ack(Acknowledgement(sequence: written.sequence)))
        #expect(answered.batches.first?.changes == [.acknowledged(SendID(rawValue: 1), place: nil)])
    }

    @Test func `an ACK of nothing is ignored`() {
        var driver = CoreDriver.online()
        #expect(driver.receive(.ack, .ack(Acknowledgement(sequence: 4711))).isEmpty)
    }

    @Test func `a lost connection sends again, in order, the same bytes under new numbers`() {
        var driver = CoreDriver.online()
        driver.send("1", ticket: 1)
        let first = driver.commit().packets()
        driver.send("2", ticket: 2)
        let second = driver.commit().packets()
        driver.tell(.closed(driver.core.epoch, .failed))
        driver.passDeadline()
        driver.open()
        let actions = driver.receive(.authStatus, .authStatus(AuthenticationStatus(status: 0)))
        let again = actions.packets().filter { $0.command == .im }
        #expect(again.map(\.body) == [first[0].body, second[0].body])
        #expect(again.allSatisfy { $0.sequence > second[0].sequence })
    }

    @Test func `messages that were requested offline go out after the login`() {
        var driver = CoreDriver()
        driver.tell(.started(CoreDriver.identity))
        driver.send("before the storage is read")
        let restored = driver.tell(.restored(RestoredState(peerKey: 10, lastSendID: SendID(rawValue: 41))))
        guard case .queued(let entry) = restored.batches.first?.changes.first else {
            Issue.record("nothing queued")
            return
        }
        #expect(entry.id == SendID(rawValue: 42))
        driver.commit()
        driver.open()
        let actions = driver.receive(.authStatus, .authStatus(AuthenticationStatus(status: 0)))
        #expect(actions.commands == [.sync, .im, .ping])
    }

    @Test func `a message behind a refused one keeps its place`() {
        var driver = CoreDriver.online()
        for number in 1...3 { driver.send("\(number)", ticket: UInt64(number)) }
        driver.commit()
        let written = driver.commit().packets().filter { $0.command == .im }
        #expect(written.map { $0.body.text } == ["2", "3"])
        driver.acknowledge([written[0]], status: .senderBlocked)
        driver.tell(.closed(driver.core.epoch, .failed))
        driver.commit()
        driver.passDeadline()
        driver.open()
        let actions = driver.receive(.authStatus, .authStatus(AuthenticationStatus(status: 0)))
        #expect(actions.packets().filter { $0.command == .im }.map { $0.body.text } == ["1", "3"])
    }

    @Test func `no ACK in ten seconds means a new connection`() {
        var driver = CoreDriver.online()
        driver.send("hi")
        driver.commit()
        driver.receive(.pong)
        let actions = driver.pass(.seconds(10))
        #expect(actions.closes)
        #expect(actions.diagnostics == [.acknowledgementTimedOut])
    }

    @Test func `a message that a living server never answers is given up, and those behind it are not`() {
        var driver = CoreDriver.online()
        driver.send("mute", ticket: 1)
        driver.commit()
        driver.send("fine", ticket: 2)
        driver.acknowledge([driver.commit().packets()[0]])
        #expect(driver.commit().reports.map(\.step) == [.acknowledged])
        var reports: [SendReport] = []
        for _ in 1...3 {
            driver.pass(.seconds(1))
            driver.receive(.pong)
            driver.pass(.seconds(10))
            reports += driver.commit().reports
            if driver.core.link.isOnline { continue }
            driver.reconnect()
            driver.receive(.syncEnd, .syncKey(10))
        }
        #expect(reports.map(\.step) == [.failed(.unanswered)])
        #expect(reports.first?.ticket == SendTicket(rawValue: 1))
        #expect(driver.core.link.isOnline)
    }

    @Test func `a message that was not written can be withdrawn`() {
        var driver = CoreDriver.online()
        driver.tell(.enteredBackground)
        driver.send("no", ticket: 5)
        driver.commit()
        let ticket = SendReference.ticket(SendTicket(rawValue: 5))
        #expect(driver.core.isCancellable(ticket))
        #expect(driver.core.withdrawal(of: ticket) == .withdrawn)
        let cancelled = driver.tell(.sendCancelled(ticket))
        #expect(cancelled.batches.first?.changes == [.cancelled(SendID(rawValue: 1))])
        #expect(driver.commit().reports.map(\.step) == [.cancelled])
        driver.tell(.enteredForeground)
        driver.open()
        let actions = driver.receive(.authStatus, .authStatus(AuthenticationStatus(status: 0)))
        #expect(actions.commands == [.sync])
    }

    @Test func `a message that an earlier run queued can be withdrawn, and may have gone out`() {
        var driver = CoreDriver()
        let entry = OutboxEntry(
            id: SendID(rawValue: 4), uuid: "old", command: .im, body: .im(im("old", from: 7, to: 8)),
            createdMilliseconds: 1)
        driver.tell(.started(CoreDriver.identity))
        driver.tell(.restored(RestoredState(peerKey: 10, outbox: [entry], lastSendID: entry.id)))
        #expect(driver.core.withdrawal(of: .uuid("old")) == .uncertain)
        #expect(driver.core.withdrawal(of: .uuid("unknown")) == .tooLate)
        let cancelled = driver.tell(.sendCancelled(.uuid("old")))
        #expect(cancelled.batches.first?.changes == [.cancelled(entry.id)])
        #expect(driver.core.withdrawal(of: .uuid("old")) == .tooLate)
    }

    @Test func `a message on the wire cannot be withdrawn`() {
        var driver = CoreDriver.online()
        driver.send("yes", ticket: 5)
        driver.commit()
        #expect(!driver.core.isCancellable(.uuid("uuid-yes")))
        #expect(driver.core.withdrawal(of: .uuid("uuid-yes")) == .tooLate)
        #expect(driver.tell(.sendCancelled(.uuid("uuid-yes"))).isEmpty)
    }

    @Test func `a message that is too long fails at once and is not stored`() {
        var driver = CoreDriver.online()
        let actions = driver.send(String(repeating: "x", count: 32_744))
        #expect(actions.reports.map(\.step) == [.failed(.notEncodable)])
        #expect(actions.batches.isEmpty)
        #expect(driver.send(String(repeating: "x", count: 32_743)).batches.count == 1)
    }

    @Test func `a full outbox says so`() {
        var driver = CoreDriver.online { $0.outboxCountMax = 2 }
        driver.send("1", ticket: 1)
        driver.send("2", ticket: 2)
        #expect(driver.send("3", ticket: 3).reports.map(\.step) == [.failed(.outboxFull)])
    }

    @Test func `no more messages are on the wire than the window allows`() {
        var driver = CoreDriver.online { $0.inFlightCountMax = 2 }
        for number in 1...4 { driver.send("\(number)", ticket: UInt64(number)) }
        var written = driver.commit().packets() + driver.commit().packets()
        written.removeAll { $0.command != .im }
        #expect(written.map { $0.body.text } == ["1", "2"])
        #expect(driver.acknowledge([written[0]]).commands == [.im, .ping])
    }

    @Test func `a failed commit keeps the fate of sends for the next one`() {
        var driver = CoreDriver.online()
        driver.send("1")
        let written = driver.commit().packets()
        driver.acknowledge([written[0]])
        let failed = driver.failCommit()
        #expect(failed.reports.isEmpty)
        let retried = driver.passDeadline()
        #expect(retried.batches.first?.changes == [.acknowledged(SendID(rawValue: 1), place: nil)])
        #expect(driver.commit().reports.map(\.step) == [.acknowledged])
    }

    @Test func `a stop withdraws what the storage was not even given`() {
        var driver = CoreDriver.online()
        driver.send("with the storage", ticket: 1)
        driver.send("not yet", ticket: 2)
        let stopped = driver.tell(.stopped)
        #expect(stopped.reports.map(\.step) == [.cancelled])
        #expect(stopped.reports.first?.ticket == SendTicket(rawValue: 2))
        driver.commit()
        let restarted = driver.tell(.started(CoreDriver.identity))
        #expect(restarted.batches.isEmpty)
        #expect(driver.core.outbox.count == 1)
    }

    @Test func `a room's message is not stored and fails with the connection`() {
        var driver = CoreDriver.online()
        let room = RoomMessage(sender: 7, receiver: 99, content: "hi")
        let request = SendRequest(ticket: SendTicket(rawValue: 9), command: .roomIM, body: .room(room))
        let sent = driver.tell(.sendRequested(request))
        #expect(sent.batches.isEmpty)
        #expect(sent.commands == [.roomIM, .ping])
        let lost = driver.tell(.closed(driver.core.epoch, .failed))
        #expect(lost.reports.map(\.step) == [.failed(.connectionLost)])
        #expect(driver.tell(.sendRequested(request)).reports.map(\.step) == [.failed(.connectionLost)])
    }

    @Test func `an unanswered room message fails and the connection stays`() {
        var driver = CoreDriver.online()
        let room = RoomMessage(sender: 7, receiver: 99, content: "hi")
        driver.tell(
            .sendRequested(
                SendRequest(ticket: SendTicket(rawValue: 9), command: .roomIM, body: .room(room))))
        driver.receive(.pong)
        let actions = driver.pass(.seconds(10))
        #expect(actions.reports.map(\.step) == [.failed(.unanswered)])
        #expect(!actions.closes)
    }

    @Test func `live packets are written when logged in and dropped otherwise`() {
        var driver = CoreDriver.online()
        let live = Packet(.rt, .room(RoomMessage(sender: 7, receiver: 8, content: "typing")))
        #expect(driver.tell(.livePacketRequested(live)).commands == [.rt])
        driver.tell(.enteredBackground)
        #expect(driver.tell(.livePacketRequested(live)).isEmpty)
    }

    @Test func `a packet that the profile lacks is told, not sent`() {
        var driver = CoreDriver.online()
        let typing = Packet(.inputing, .inputing(MessageInputing(sender: 7, receiver: 8)))
        let actions = driver.tell(.livePacketRequested(typing))
        #expect(actions.packets().isEmpty)
        #expect(actions.diagnostics == [.notEncodable])
    }

    @Test func `a room is entered once, entered again on each connection, and left`() {
        var driver = CoreDriver.online()
        #expect(driver.tell(.roomEntered(99)).commands == [.enterRoom])
        #expect(driver.tell(.roomEntered(99)).isEmpty)
        #expect(driver.tell(.roomLeft(98)).isEmpty)
        driver.tell(.closed(driver.core.epoch, .failed))
        driver.passDeadline()
        driver.open()
        let actions = driver.receive(.authStatus, .authStatus(AuthenticationStatus(status: 0)))
        #expect(actions.commands == [.enterRoom, .sync])
        #expect(driver.tell(.roomLeft(99)).commands == [.leaveRoom])
    }
}
