import RivuletWire
import Testing

@testable import RivuletClientCore

@Suite("Receiving: committed first")
struct ReceivingTests {
    @Test func `a pushed message is acknowledged, reported and announced only after the commit`() {
        var driver = CoreDriver.online()
        let arrived = driver.push("hello", key: 11, previous: 10)
        #expect(arrived.packets().isEmpty)
        #expect(arrived.texts.isEmpty)
        #expect(arrived.batches.map(\.texts) == [["hello"]])
        #expect(arrived.batches.first?.peerKey == 11)
        let committed = driver.commit()
        #expect(committed.commands == [.ack, .syncKey])
        #expect(committed.packets().first?.body == .ack(Acknowledgement(sequence: driver.serverSequence)))
        #expect(committed.packets().last?.body == .syncKey(11))
        #expect(committed.texts == ["hello"])
    }

    @Test func `a pushed message knows its place`() {
        var driver = CoreDriver.online()
        let batch = driver.push("hello", key: 11, previous: 10).batches.first
        guard case .received(let message) = batch?.changes.first else {
            Issue.record("nothing received")
            return
        }
        #expect(message.place == QueuePlace(queue: .peer, key: 11))
    }

    @Test func `what comes during a commit becomes the next batch, and keys are reported once`() {
        var driver = CoreDriver.online()
        driver.push("1", key: 11, previous: 10)
        #expect(driver.push("2", key: 12, previous: 11).batches.isEmpty)
        #expect(driver.push("3", key: 13, previous: 12).batches.isEmpty)
        let first = driver.commit()
        #expect(first.texts == ["1"])
        #expect(first.batches.map(\.texts) == [["2", "3"]])
        let second = driver.commit()
        #expect(second.commands == [.ack, .ack, .syncKey])
        #expect(second.packets().last?.body == .syncKey(13))
    }

    @Test func `known messages are acknowledged and not announced`() {
        var driver = CoreDriver.online()
        driver.push("1", key: 11, previous: 10)
        driver.push("2", key: 12, previous: 11)
        driver.push("3", key: 13, previous: 12)
        driver.commit(isNew: [false])
        let actions = driver.commit(isNew: [false, true])
        #expect(actions.texts == ["3"])
        #expect(actions.commands == [.ack, .ack, .syncKey])
    }

    @Test func `a failed commit closes, acknowledges nothing and asks again with the old key`() {
        var driver = CoreDriver.online()
        driver.push("1", key: 11, previous: 10)
        driver.push("2", key: 12, previous: 11)
        let failed = driver.failCommit()
        #expect(failed.closes)
        #expect(failed.packets().isEmpty)
        #expect(failed.batches.isEmpty)
        #expect(failed.texts.isEmpty)
        driver.passDeadline()
        driver.open()
        let actions = driver.receive(.authStatus, .authStatus(AuthenticationStatus(status: 0)))
        #expect(actions.packets().map(\.body) == [.syncKey(10)])
    }

    @Test func `live packets keep their place between stored ones`() {
        var driver = CoreDriver.online()
        driver.push("stored", key: 11, previous: 10)
        let live = RoomMessage(sender: 8, receiver: 7, content: "live")
        #expect(driver.receive(.rt, .room(live)).notifications.isEmpty)
        let notifications = driver.commit().notifications
        #expect(notifications.count == 2)
        guard case .message = notifications.first, case .livePacket = notifications.last else {
            Issue.record("the order is \(notifications)")
            return
        }
    }

    @Test func `live packets pass at once when nothing waits for the storage`() {
        var driver = CoreDriver.online()
        let live = RoomMessage(sender: 8, receiver: 7, content: "live")
        #expect(driver.receive(.rt, .room(live)).notifications.count == 1)
        #expect(driver.receive(.notification, .text("{}")).notifications.count == 1)
        #expect(driver.receive(.roomIM, .room(live)).notifications.count == 1)
    }

    @Test(arguments: [Command.groupNotification, .system])
    func `texts of the server are stored and acknowledged`(command: Command) {
        var driver = CoreDriver.online()
        let arrived = driver.receive(command, .text("{}"))
        #expect(arrived.batches.map(\.texts) == [["{}"]])
        #expect(driver.commit().commands == [.ack])
    }

    @Test func `only the user's own messages can carry SELF`() {
        var driver = CoreDriver.online()
        let forged = driver.receive(.im, .im(im("forged", from: 8)), flags: .isSelf)
        guard case .received(let message) = forged.batches.first?.changes.first else {
            Issue.record("nothing received")
            return
        }
        #expect(!message.isFromThisDevice)
        #expect(!message.flags.contains(.isSelf))
        driver.commit()
        let own = driver.receive(.im, .im(im("own", from: 7, to: 8)), flags: .isSelf)
        guard case .received(let message) = own.batches.first?.changes.first else {
            Issue.record("nothing received")
            return
        }
        #expect(message.isFromThisDevice)
        #expect(message.isOwn)
    }

    @Test func `text that is not UTF-8 is acknowledged, passed over and moves the key`() {
        var driver = CoreDriver.online()
        let metadata = driver.frame(.metadata, .metadata(Metadata(syncKey: 11, previousSyncKey: 10)))
        var message = driver.frame(.im, .im(im("??")), flags: .push)
        message[message.count - 1] = 0xFF
        let arrived = driver.tell(.received(driver.core.epoch, metadata + message))
        #expect(arrived.batches.map(\.changes) == [[.peerKey(11)]])
        #expect(arrived.diagnostics == [.unreadableBody])
        let committed = driver.commit()
        #expect(committed.commands == [.ack, .syncKey])
        #expect(committed.texts.isEmpty)
    }

    @Test func `packets are read however they are cut`() {
        var driver = CoreDriver.online()
        let bytes =
            driver.frame(.metadata, .metadata(Metadata(syncKey: 11, previousSyncKey: 10)))
            + driver.frame(.im, .im(im("cut")), flags: .push)
        var batches: [StorageBatch] = []
        for byte in bytes { batches += driver.tell(.received(driver.core.epoch, [byte])).batches }
        #expect(batches.map(\.texts) == [["cut"]])
    }

    @Test func `nothing but the answer is heeded before the login`() {
        var driver = CoreDriver()
        driver.tell(.started(CoreDriver.identity))
        driver.tell(.restored(RestoredState(peerKey: 10)))
        driver.open()
        #expect(driver.receive(.im, .im(im("early"))).isEmpty)
        #expect(driver.receive(.syncEnd, .syncKey(99)).isEmpty)
    }

    @Test func `reading pauses while the storage is far behind, and no time-out strikes`() {
        var driver = CoreDriver.online { $0.uncommittedCountMax = 4 }
        driver.send("probe")
        driver.commit()
        var actions: [ClientAction] = []
        for key in 11...15 { actions += driver.push("x", key: Int64(key), previous: Int64(key - 1)) }
        #expect(actions.contains(.setReading(driver.core.epoch, false)))
        #expect(driver.pass(.seconds(100)).isEmpty)
        driver.commit()
        let resumed = driver.commit()
        #expect(resumed.contains(.setReading(driver.core.epoch, true)))
        #expect(!driver.pass(.seconds(9)).closes)
    }

    @Test func `in the seed profile each message is committed and acknowledged in order`() {
        var driver = CoreDriver.online { $0.profile = .seed }
        driver.receive(.im, .im(im("1")))
        driver.receive(.im, .im(im("2")))
        driver.receive(
            .customer,
            .customer(
                CustomerMessage(
                    customerAppID: 1, customerID: 2, storeID: 3, sellerID: 4, content: "3")))
        #expect(driver.commit().packets(.seed).map(\.command) == [.ack])
        let actions = driver.commit()
        #expect(actions.packets(.seed).map(\.command) == [.ack, .ack])
    }
}

@Suite("Sync rounds")
struct SyncTests {
    @Test func `a round is one batch with the key of its end`() {
        var driver = CoreDriver()
        driver.logIn()
        driver.receive(.syncBegin, .syncKey(10))
        #expect(driver.receive(.im, .im(im("1"))).batches.isEmpty)
        #expect(driver.receive(.groupIM, .im(im("2"))).batches.isEmpty)
        let ended = driver.receive(.syncEnd, .syncKey(12))
        #expect(ended.batches.map(\.texts) == [["1", "2"]])
        #expect(ended.batches.first?.changes.last == .peerKey(12))
        let committed = driver.commit()
        #expect(committed.commands == [.ack, .ack, .syncKey])
        #expect(committed.texts == ["1", "2"])
        #expect(committed.notifications.last == .roundFinished(.peer))
    }

    @Test func `an empty round changes nothing`() {
        var driver = CoreDriver()
        driver.logIn()
        let ended = driver.receive(.syncEnd, .syncKey(10))
        #expect(ended.batches.isEmpty)
        #expect(ended.packets().isEmpty)
    }

    @Test func `a key may go backwards`() {
        var driver = CoreDriver()
        driver.logIn()
        let ended = driver.receive(.syncEnd, .syncKey(4))
        #expect(ended.batches.first?.peerKey == 4)
        #expect(driver.commit().packets().map(\.body) == [.syncKey(4)])
    }

    @Test func `the echo of asking for everything is not a key`() {
        var driver = CoreDriver()
        driver.logIn(restored: RestoredState())
        #expect(driver.receive(.syncEnd, .syncKey(-1)).batches.isEmpty)
        #expect(driver.receive(.syncEnd, .syncKey(0)).batches.isEmpty)
        #expect(driver.core.queues[.peer]?.key == nil)
    }

    @Test func `a notify above the key starts a round, one at or below it does not`() {
        var driver = CoreDriver.online()
        #expect(driver.receive(.syncNotify, .syncKey(10)).packets().isEmpty)
        #expect(driver.receive(.syncNotify, .syncKey(11)).packets().map(\.body) == [.syncKey(10)])
    }

    @Test func `a notify during a round starts the next one after its commit`() {
        var driver = CoreDriver()
        driver.logIn()
        #expect(driver.receive(.syncNotify, .syncKey(13)).packets().isEmpty)
        driver.receive(.im, .im(im("1")))
        #expect(driver.receive(.syncEnd, .syncKey(12)).packets().isEmpty)
        let committed = driver.commit()
        #expect(committed.commands == [.ack, .syncKey, .sync])
        #expect(committed.packets().last?.body == .syncKey(12))
    }

    @Test func `a notify that the round satisfied starts no other`() {
        var driver = CoreDriver()
        driver.logIn()
        driver.receive(.syncNotify, .syncKey(12))
        driver.receive(.im, .im(im("1")))
        driver.receive(.syncEnd, .syncKey(12))
        #expect(!driver.commit().commands.contains(.sync))
    }

    @Test func `a push during a round is left to the round`() {
        var driver = CoreDriver()
        driver.logIn()
        #expect(driver.push("11", key: 11, previous: 10).batches.isEmpty)
        driver.receive(.syncNotify, .syncKey(11))
        driver.receive(.im, .im(im("11")))
        let ended = driver.receive(.syncEnd, .syncKey(11))
        #expect(ended.batches.map(\.texts) == [["11"]])
        #expect(!driver.commit().commands.contains(.sync))
    }

    @Test(arguments: [(12, 11), (11, 9), (11, 0), (0, 10)])
    func `a push that does not continue the key is ignored`(key: Int64, previous: Int64) {
        var driver = CoreDriver.online()
        #expect(driver.push("x", key: key, previous: previous).batches.isEmpty)
        #expect(driver.core.queues[.peer]?.key == 10)
    }

    @Test func `a push without METADATA right before it is ignored`() {
        var driver = CoreDriver.online()
        driver.receive(.metadata, .metadata(Metadata(syncKey: 11, previousSyncKey: 10)))
        driver.receive(.pong)
        #expect(driver.receive(.im, .im(im("x")), flags: .push).batches.isEmpty)
        #expect(driver.receive(.im, .im(im("x")), flags: .push).batches.isEmpty)
    }

    @Test func `a round that stands still starts again, and again later`() {
        var driver = CoreDriver()
        driver.logIn()
        let first = driver.pass(.seconds(4))
        #expect(first.diagnostics == [.roundTimedOut])
        #expect(first.commands == [.sync])
        #expect(driver.pass(.seconds(7)).commands.isEmpty)
        #expect(driver.pass(.seconds(1)).commands == [.sync])
    }

    @Test func `a round that moves is given time`() {
        var driver = CoreDriver()
        driver.logIn()
        for number in 1...5 {
            driver.pass(.seconds(3))
            driver.receive(.im, .im(im("\(number)")))
        }
        let ended = driver.receive(.syncEnd, .syncKey(15))
        #expect(ended.batches.map(\.texts) == [["1", "2", "3", "4", "5"]])
    }

    @Test func `a round beyond the limit is cut, and only its last part carries the key`() {
        var driver = CoreDriver { $0.roundCountMax = 2 }
        driver.logIn()
        driver.receive(.im, .im(im("1")))
        let cut = driver.receive(.im, .im(im("2")))
        #expect(cut.batches.map(\.texts) == [["1", "2"]])
        #expect(cut.batches.first?.peerKey == nil)
        driver.receive(.im, .im(im("3")))
        driver.receive(.syncEnd, .syncKey(13))
        let rest = driver.commit().batches
        #expect(rest.map(\.texts) == [["3"]])
        #expect(rest.first?.peerKey == 13)
    }

    @Test func `what a lost connection left of a round is forgotten`() {
        var driver = CoreDriver()
        driver.logIn()
        driver.receive(.im, .im(im("1")))
        driver.tell(.closed(driver.core.epoch, .failed))
        driver.reconnect()
        let ended = driver.receive(.syncEnd, .syncKey(10))
        #expect(ended.batches.isEmpty)
    }

    @Test func `a super group has a key and rounds of its own`() {
        var driver = CoreDriver.online(restored: RestoredState(peerKey: 10, groupKeys: [5: 50]))
        driver.receive(.syncGroupEnd, .groupSyncKey(GroupSyncKey(groupID: 5, key: 50)))
        let push =
            driver.frame(.metadata, .metadata(Metadata(syncKey: 51, previousSyncKey: 50)))
            + driver.frame(.groupIM, .im(im("live", to: 5)), flags: [.push, .superGroup])
        let arrived = driver.tell(.received(driver.core.epoch, push))
        #expect(arrived.batches.first?.changes.last == .groupKey(group: 5, key: 51))
        #expect(driver.commit().packets().last?.body == .groupSyncKey(GroupSyncKey(groupID: 5, key: 51)))
        let notified = driver.receive(
            .syncGroupNotify, .groupSyncKey(GroupSyncKey(groupID: 5, key: 52)))
        #expect(notified.packets().last?.body == .groupSyncKey(GroupSyncKey(groupID: 5, key: 51)))
        driver.receive(.groupIM, .im(im("from the round", to: 5)))
        let ended = driver.receive(.syncGroupEnd, .groupSyncKey(GroupSyncKey(groupID: 5, key: 52)))
        #expect(ended.batches.map(\.texts) == [["from the round"]])
        #expect(ended.batches.first?.changes.last == .groupKey(group: 5, key: 52))
    }

    /// While something waits for the storage, a round that timed out is not asked again, and its answer may come then.
    @Test(arguments: [2, 3000])
    func `what comes of a timed-out group is stored before the group's key`(roundCountMax: Int) {
        var driver = CoreDriver { $0.roundCountMax = roundCountMax }
        driver.logIn(restored: RestoredState(peerKey: 10, groupKeys: [5: 50, 6: 60]))
        driver.receive(.syncGroupEnd, .groupSyncKey(GroupSyncKey(groupID: 6, key: 60)))
        let push =
            driver.frame(.metadata, .metadata(Metadata(syncKey: 61, previousSyncKey: 60)))
            + driver.frame(.groupIM, .im(im("live", to: 6)), flags: [.push, .superGroup])
        driver.tell(.received(driver.core.epoch, push))
        driver.pass(.seconds(3))
        driver.receive(.im, .im(im("of the user's round")))
        #expect(driver.pass(.seconds(2)).diagnostics == [.roundTimedOut])
        for text in ["1", "2", "3"] { driver.receive(.groupIM, .im(im(text, to: 5))) }
        driver.receive(.syncGroupEnd, .groupSyncKey(GroupSyncKey(groupID: 5, key: 53)))
        let batch = driver.commit().batches.first
        #expect(batch?.texts == ["1", "2", "3"])
        #expect(batch?.changes.last == .groupKey(group: 5, key: 53))
        // The user's own round goes on, and what it brought goes with its end.
        let ended = driver.receive(.syncEnd, .syncKey(11)).batches + driver.commit().batches
        #expect(ended.map(\.texts) == [["of the user's round"]])
        #expect(ended.first?.peerKey == 11)
    }

    @Test func `a super group that is followed no longer is forgotten by the storage, too`() {
        var driver = CoreDriver.online(restored: RestoredState(peerKey: 10, groupKeys: [5: 50, 6: 60]))
        let removed = driver.tell(.superGroupRemoved(5))
        #expect(removed.batches.map(\.changes) == [[.groupRemoved(5)]])
        #expect(driver.tell(.superGroupRemoved(404)).batches.isEmpty)
        // The storage fails: it is asked again, since only the app knows.
        driver.failCommit()
        #expect(driver.passDeadline().batches.map(\.changes) == [[.groupRemoved(5)]])
        driver.commit()
        driver.tell(.superGroupsRemoved)
        #expect(driver.core.queues.keys.count == 1)
        driver.reconnect()
        driver.receive(.syncEnd, .syncKey(10))
        let named = driver.receive(.syncGroupNotify, .groupSyncKey(GroupSyncKey(groupID: 5, key: 51)))
        #expect(named.packets().map(\.body) == [.groupSyncKey(GroupSyncKey(groupID: 5, key: -1))])
    }

    @Test func `the key that the app gave for a super group outlives a failed commit`() {
        var driver = CoreDriver.online()
        #expect(
            driver.tell(.superGroupAdded(5, key: 50)).batches.map(\.changes) == [
                [.groupKey(group: 5, key: 50)]
            ])
        driver.failCommit()
        driver.passDeadline()
        driver.open()
        let asked = driver.receive(.authStatus, .authStatus(AuthenticationStatus(status: 0)))
        #expect(
            asked.packets().filter { $0.command == .syncGroup }.map(\.body)
                == [.groupSyncKey(GroupSyncKey(groupID: 5, key: 50))])
    }

    @Test func `what is asked of super groups before the storage was read is done afterwards`() {
        func changes(_ events: [ClientEvent]) -> [StorageChange] {
            var driver = CoreDriver()
            driver.tell(.started(CoreDriver.identity))
            for event in events { driver.tell(event) }
            return driver.tell(.restored(RestoredState(peerKey: 10, groupKeys: [5: 50, 6: 60]))).batches
                .flatMap(\.changes)
        }
        #expect(changes([.superGroupRemoved(5)]) == [.groupRemoved(5)])
        #expect(
            changes([.superGroupAdded(6, key: 61), .superGroupRemoved(6), .superGroupRemoved(404)])
                == [.groupRemoved(6)])
        #expect(
            changes([.superGroupRemoved(6), .superGroupAdded(6, key: 61)]) == [.groupKey(group: 6, key: 61)])
        #expect(
            changes([.superGroupAdded(7, key: 1), .superGroupsRemoved, .superGroupAdded(8, key: 80)])
                == [.groupRemoved(5), .groupRemoved(6), .groupKey(group: 8, key: 80)])
        #expect(changes([.superGroupRemoved(5), .stopped, .started(CoreDriver.identity)]).isEmpty)
    }

    @Test func `a notify of an unknown super group asks for everything, an end does not`() {
        var driver = CoreDriver.online()
        driver.receive(.syncGroupEnd, .groupSyncKey(GroupSyncKey(groupID: 6, key: 60)))
        #expect(driver.core.queues[.group(6)] == nil)
        let notified = driver.receive(
            .syncGroupNotify, .groupSyncKey(GroupSyncKey(groupID: 6, key: 60)))
        #expect(notified.packets().map(\.body) == [.groupSyncKey(GroupSyncKey(groupID: 6, key: -1))])
    }
}
