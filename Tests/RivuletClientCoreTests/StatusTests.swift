import RivuletWire
import Testing

@testable import RivuletClientCore

@Suite("The connection's status, heartbeat and kick")
struct StatusTests {
    @Test func `the delay until the next try is told with its reason`() throws {
        var driver = CoreDriver.online()
        let lost = driver.tell(.closed(driver.core.epoch, .endOfStream))
        let status = try #require(lost.statuses.last)
        #expect(status.state == .unconnected)
        #expect(status.reason == .connectionLost)
        #expect(status.closeReason == .endOfStream)
        guard case .waiting(let until) = driver.core.link else {
            Issue.record("not waiting: \(driver.core.link)")
            return
        }
        #expect(status.retryDelay == driver.now.duration(to: until))
        #expect(driver.tell(.reachabilityChanged(true)).statuses.isEmpty, "nothing changed")
    }

    @Test func `a login forgets the failure, and nothing is due any more`() throws {
        var driver = CoreDriver.online()
        driver.tell(.closed(driver.core.epoch, .failed))
        driver.passDeadline()
        driver.open()
        let back = driver.receive(.authStatus, .authStatus(AuthenticationStatus(status: 0)))
        #expect(back.statuses.last == ConnectionStatus(state: .authenticated))
    }

    @Test func `a kick is terminal and says so, until a stop and a start`() throws {
        var driver = CoreDriver.online()
        let kicked = driver.receive(.rst)
        #expect(kicked.closes)
        #expect(kicked.statuses.last == ConnectionStatus(state: .kicked, reason: .kicked))
        #expect(!driver.pass(.seconds(200)).opens)
        #expect(!driver.tell(.enteredForeground).opens)
        #expect(!driver.tell(.reachabilityChanged(true)).opens)
        driver.tell(.stopped)
        let again = driver.tell(.started(CoreDriver.identity))
        #expect(again.statuses.last?.reason == nil)
        #expect(again.contains { if case .open = $0 { true } else { false } })
    }

    @Test(arguments: [[0, 0, 0, 0], [0, 0, 0, 1]])
    func `a kick is read in both profiles, with an empty body and with any other`(length: [UInt8]) {
        for profile in Profile.allCases {
            var driver = CoreDriver.online { $0.profile = profile }
            let bytes: [UInt8] = length + [0, 0, 0, 9, 6, 2, 0, 0] + (length.last == 1 ? [0x78] : [])
            let actions = driver.tell(.received(driver.core.epoch, bytes))
            #expect(actions.states.last == .kicked, "\(profile)")
        }
    }

    @Test func `an adaptive heartbeat grows while PINGs are answered and steps back when one is not`() {
        let rule = AdaptiveHeartbeat(
            shortest: .seconds(10), longest: .seconds(30), step: .seconds(10), successCount: 2)
        var driver = CoreDriver.online { $0.adaptiveHeartbeat = rule }
        var gaps: [Duration] = []
        for _ in 0..<8 {
            let before = driver.now
            while !driver.passDeadline().commands.contains(.ping) {}
            gaps.append(before.duration(to: driver.now))
            driver.receive(.pong)
        }
        #expect(gaps.map { $0.components.seconds } == [10, 10, 20, 20, 30, 30, 30, 30])
        // The next one is not answered: from then on 20 s is the most.
        while !driver.passDeadline().commands.contains(.ping) {}
        #expect(driver.pass(.seconds(4)).diagnostics == [.pingTimedOut])
        #expect(driver.core.pingInterval == .seconds(20))
        driver.reconnect()
        driver.receive(.syncEnd, .syncKey(10))
        for _ in 0..<5 {
            while !driver.passDeadline().commands.contains(.ping) {}
            driver.receive(.pong)
        }
        #expect(driver.core.pingInterval == .seconds(20))
        driver.tell(.reachabilityChanged(false))
        driver.tell(.reachabilityChanged(true))
        #expect(driver.core.pingInterval == .seconds(10), "another network is another matter")
    }

    @Test func `a round is cut when it holds too many bytes`() {
        var driver = CoreDriver.online {
            $0.roundBytesMax = 3000
            $0.uncommittedBytesMax = 1 << 20
        }
        driver.receive(.syncNotify, .syncKey(99))
        let text = String(repeating: "x", count: 1000)
        #expect(driver.receive(.im, .im(im(text + "1"))).batches.isEmpty)
        #expect(driver.receive(.im, .im(im(text + "2"))).batches.isEmpty)
        let cut = driver.receive(.im, .im(im(text + "3")))
        #expect(cut.batches.first?.texts.count == 3)
        #expect(cut.batches.first?.peerKey == nil, "the key comes with the end of the round")
        #expect(driver.core.collectedByteCount == 0)
    }

    @Test func `a slow storage stops the reading by bytes, live packets counted`() {
        var driver = CoreDriver.online { $0.uncommittedBytesMax = 4000 }
        driver.push("first", key: 11, previous: 10)
        var actions: [ClientAction] = []
        for _ in 0..<4 {
            actions += driver.receive(
                .rt, .room(RoomMessage(sender: 8, receiver: 7, content: String(repeating: "y", count: 1000))))
        }
        #expect(actions.contains(.setReading(driver.core.epoch, false)))
        #expect(driver.commit().contains(.setReading(driver.core.epoch, true)))
    }

    @Test func `a super group that the app adds is asked for, also before the storage was read`() {
        var driver = CoreDriver()
        driver.tell(.started(CoreDriver.identity))
        driver.tell(.superGroupAdded(70, key: 5))
        driver.tell(.restored(RestoredState(peerKey: 10)))
        driver.open()
        let loggedIn = driver.receive(.authStatus, .authStatus(AuthenticationStatus(status: 0)))
        let asked = loggedIn + driver.commit() + driver.receive(.syncEnd, .syncKey(10)) + driver.commit()
        #expect(asked.packets().contains { $0.body == .groupSyncKey(GroupSyncKey(groupID: 70, key: 5)) })
        driver.tell(.superGroupRemoved(70))
        #expect(driver.core.queues[.group(70)] == nil)
        let late = driver.receive(.syncGroupEnd, .groupSyncKey(GroupSyncKey(groupID: 70, key: 6)))
        #expect(late.batches.isEmpty)
    }
}
