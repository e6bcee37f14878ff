import RivuletWire
import Testing

@testable import RivuletClientCore

@Suite("The connection of a client")
struct ConnectionTests {
    @Test func `a start reads the storage before anything else`() {
        var driver = CoreDriver()
        #expect(driver.tell(.started(CoreDriver.identity)) == [.restore])
    }

    @Test func `a restored client looks its server up and connects`() {
        var driver = CoreDriver()
        driver.tell(.started(CoreDriver.identity))
        let resolving = driver.tell(.restored(RestoredState()))
        #expect(resolving.first == .resolve(CoreDriver.endpoint))
        #expect(resolving.states == [.connecting])
        let opening = driver.tell(.resolved(CoreDriver.endpoint, addresses: ["10.0.0.1", "10.0.0.2"]))
        let epoch = ConnectionEpoch(rawValue: 1)
        #expect(opening.first == .open(epoch, CoreDriver.endpoint, address: "10.0.0.1"))
    }

    @Test func `an open connection writes the login and nothing else`() {
        var driver = CoreDriver()
        driver.tell(.started(CoreDriver.identity))
        driver.tell(.restored(RestoredState(peerKey: 10)))
        let actions = driver.open()
        #expect(actions.commands == [.authToken])
        let login = AuthenticationToken(token: "secret", platformID: .linux, deviceID: "device")
        #expect(actions.packets().first?.body == .authToken(login))
        #expect(actions.states == [.connected])
    }

    @Test func `after the login come the room, the round and the outbox, in this order`() {
        var driver = CoreDriver()
        let entry = OutboxEntry(
            id: SendID(rawValue: 3), uuid: nil, command: .im, body: .im(im("kept", from: 7, to: 8)),
            createdMilliseconds: 0)
        driver.tell(.roomEntered(99))
        driver.tell(.started(CoreDriver.identity))
        driver.tell(.restored(RestoredState(peerKey: 10, groupKeys: [5: 50, 4: 40], outbox: [entry])))
        driver.open()
        let actions = driver.receive(.authStatus, .authStatus(AuthenticationStatus(status: 0)))
        #expect(actions.commands == [.enterRoom, .sync, .syncGroup, .syncGroup, .im, .ping])
        #expect(actions.packets()[1].body == .syncKey(10))
        #expect(actions.packets()[2].body == .groupSyncKey(GroupSyncKey(groupID: 4, key: 40)))
        #expect(actions.states == [.authenticated])
    }

    @Test func `a new installation asks for everything`() {
        var driver = CoreDriver()
        driver.tell(.started(CoreDriver.identity))
        driver.tell(.restored(RestoredState()))
        driver.open()
        let actions = driver.receive(.authStatus, .authStatus(AuthenticationStatus(status: 0)))
        #expect(actions.packets().map(\.body) == [.syncKey(-1)])
    }

    @Test func `events of an old connection change nothing`() {
        var driver = CoreDriver.online()
        let old = driver.core.epoch
        driver.tell(.closed(old, .endOfStream))
        driver.reconnect()
        // No round may hide what the client makes of it.
        driver.receive(.syncEnd, .syncKey(10))
        let bytes = driver.frame(.im, .im(im("late")))
        #expect(driver.tell(.received(old, bytes)).isEmpty)
        #expect(driver.tell(.closed(old, .failed)).isEmpty)
        #expect(driver.core.isOnline)
    }

    @Test func `a lost connection is reported and tried again after a drawn delay`() {
        var driver = CoreDriver.online()
        let actions = driver.tell(.closed(driver.core.epoch, .endOfStream))
        #expect(actions.states == [.unconnected])
        #expect(!actions.closes)
        guard case .waiting(let until) = driver.core.link else {
            Issue.record("the client does not wait")
            return
        }
        #expect(until.sinceStart >= .milliseconds(400))
        #expect(until.sinceStart <= .milliseconds(800))
        #expect(driver.passDeadline().opens)
    }

    @Test func `delays grow to a minute and shrink only after a login`() {
        var driver = CoreDriver()
        driver.tell(.started(CoreDriver.identity))
        driver.tell(.restored(RestoredState()))
        var longest = Duration.zero
        for _ in 0..<20 {
            driver.open()
            let before = driver.now
            driver.tell(.closed(driver.core.epoch, .endOfStream))
            let delay = before.duration(to: driver.core.link.deadline ?? before)
            #expect(delay >= .milliseconds(400))
            #expect(delay <= .seconds(60))
            longest = max(longest, delay)
            driver.passDeadline()
        }
        #expect(longest > .seconds(20))
        driver.open()
        driver.receive(.authStatus, .authStatus(AuthenticationStatus(status: 0)))
        let before = driver.now
        driver.tell(.closed(driver.core.epoch, .endOfStream))
        #expect(before.duration(to: driver.core.link.deadline ?? before) <= .milliseconds(800))
    }

    @Test func `all addresses of all endpoints are tried before the first wait`() {
        let second = ClientEndpoint(host: "backup.example", port: 1)
        var driver = CoreDriver { $0.endpoints.append(second) }
        driver.tell(.started(CoreDriver.identity))
        driver.tell(.restored(RestoredState()))
        driver.tell(.resolved(CoreDriver.endpoint, addresses: ["10.0.0.1", "10.0.0.2"]))
        let next = driver.tell(.closed(driver.core.epoch, .refused))
        #expect(next.contains(.open(driver.core.epoch, CoreDriver.endpoint, address: "10.0.0.2")))
        let failover = driver.tell(.closed(driver.core.epoch, .refused))
        #expect(failover.contains(.resolve(second)))
        let exhausted = driver.tell(.resolveFailed(second))
        #expect(exhausted.states == [.connectFail])
        let again = driver.passDeadline()
        #expect(again.contains(.open(driver.core.epoch, CoreDriver.endpoint, address: "10.0.0.1")))
    }

    @Test func `a connect without an answer is given up after the time-out`() {
        var driver = CoreDriver()
        driver.tell(.started(CoreDriver.identity))
        driver.tell(.restored(RestoredState()))
        driver.tell(.resolved(CoreDriver.endpoint, addresses: ["10.0.0.1"]))
        let epoch = driver.core.epoch
        let actions = driver.pass(.seconds(10))
        #expect(actions.contains(.close(epoch)))
        #expect(actions.states == [.connectFail])
    }

    @Test func `a login without an answer is given up after the time-out`() {
        var driver = CoreDriver()
        driver.tell(.started(CoreDriver.identity))
        driver.tell(.restored(RestoredState()))
        driver.open()
        let actions = driver.pass(.seconds(10))
        #expect(actions.closes)
        #expect(actions.diagnostics.contains(.loginTimedOut))
    }

    @Test func `addresses are looked up again when they are five minutes old`() {
        var driver = CoreDriver.online()
        driver.now = driver.now + .seconds(301)
        driver.tell(.closed(driver.core.epoch, .endOfStream))
        let actions = driver.passDeadline()
        #expect(actions.contains(.resolve(CoreDriver.endpoint)))
        let fallback = driver.tell(.resolveFailed(CoreDriver.endpoint))
        #expect(fallback.opens, "an old address serves while the resolver does not answer")
    }

    @Test func `the background gives the connection up and the foreground makes a new one`() {
        var driver = CoreDriver.online()
        let away = driver.tell(.enteredBackground)
        #expect(away.closes)
        #expect(away.states == [.unconnected])
        #expect(driver.tell(.enteredBackground).isEmpty)
        #expect(driver.tell(.enteredForeground).opens)
        #expect(driver.tell(.enteredForeground).isEmpty)
    }

    @Test func `the unread count is reported when the app goes to the background`() {
        var driver = CoreDriver.online()
        driver.tell(.livePacketRequested(Packet(.unreadCount, .unreadCount(4))))
        let away = driver.tell(.enteredBackground)
        #expect(away.commands == [.unreadCount])
    }

    @Test func `nothing is tried while the network is away`() {
        var driver = CoreDriver.online()
        #expect(driver.tell(.reachabilityChanged(false)).closes)
        #expect(driver.pass(.seconds(5)).isEmpty)
        let back = driver.tell(.reachabilityChanged(true))
        #expect(back.contains(.resolve(CoreDriver.endpoint)), "the new network is asked anew")
    }

    @Test func `a kick is terminal until a stop and a start`() {
        var driver = CoreDriver.online()
        let reset: [UInt8] = [0, 0, 0, 0, 0, 0, 0, 9, 6, 2, 0, 0]
        let kicked = driver.tell(.received(driver.core.epoch, reset))
        #expect(kicked.closes)
        #expect(kicked.states == [.kicked])
        #expect(driver.pass(.seconds(3600)).isEmpty)
        #expect(driver.tell(.enteredBackground).isEmpty)
        #expect(!driver.tell(.enteredForeground).opens)
        driver.tell(.stopped)
        let restarted = driver.tell(.started(CoreDriver.identity))
        #expect(restarted.contains(.resolve(CoreDriver.endpoint)))
    }

    @Test func `a stop closes and nothing follows`() {
        var driver = CoreDriver.online()
        let epoch = driver.core.epoch
        driver.push("in flight", key: 11, previous: 10)
        let stopped = driver.tell(.stopped)
        #expect(stopped.contains(.close(epoch)))
        #expect(stopped.contains(.setDeadline(nil)))
        #expect(driver.commit().isEmpty)
        #expect(driver.tell(.closed(epoch, .endOfStream)).isEmpty)
        #expect(driver.tell(.deadline).isEmpty)
        #expect(driver.tell(.enteredForeground).isEmpty)
        #expect(driver.send("too late").isEmpty)
        driver.tell(.started(CoreDriver.identity))
        #expect(driver.core.queues[.peer]?.committedKey == 11, "what was committed meanwhile counts")
    }

    @Test func `a malformed header closes the connection`() {
        var driver = CoreDriver.online()
        let actions = driver.tell(
            .received(driver.core.epoch, [0xFF, 0xFF, 0xFF, 0xFF] + [UInt8](repeating: 0, count: 8)))
        #expect(actions.closes)
        #expect(actions.diagnostics == [.malformedFrame])
    }

    @Test func `half a packet of an old connection is not joined with the next one`() {
        var driver = CoreDriver.online()
        let frame = driver.frame(.im, .im(im("whole")))
        driver.tell(.received(driver.core.epoch, Array(frame.prefix(20))))
        driver.tell(.closed(driver.core.epoch, .failed))
        driver.reconnect()
        #expect(driver.core.isOnline)
    }

    @Test func `a storage that cannot be read is asked again and no connection is made before`() {
        var driver = CoreDriver()
        driver.tell(.started(CoreDriver.identity))
        let failed = driver.tell(.restoreFailed)
        #expect(failed.diagnostics == [.restoreFailed])
        #expect(driver.passDeadline().contains(.restore))
        #expect(driver.tell(.restored(RestoredState())).contains(.resolve(CoreDriver.endpoint)))
    }
}

@Suite("Heartbeat")
struct HeartbeatTests {
    @Test func `a quiet connection is probed every 180 seconds`() {
        var driver = CoreDriver.online()
        #expect(driver.pass(.seconds(179)).isEmpty)
        #expect(driver.pass(.seconds(1)).commands == [.ping])
        driver.receive(.pong)
        #expect(driver.pass(.seconds(179)).isEmpty)
        #expect(driver.pass(.seconds(1)).commands == [.ping])
    }

    @Test func `no byte within 3.1 seconds of a PING means a dead connection`() {
        var driver = CoreDriver.online()
        driver.pass(.seconds(180))
        #expect(driver.pass(.milliseconds(3099)).isEmpty)
        let actions = driver.pass(.milliseconds(1))
        #expect(actions.closes)
        #expect(actions.diagnostics == [.pingTimedOut])
    }

    @Test func `any byte answers a PING`() {
        var driver = CoreDriver.online()
        driver.pass(.seconds(180))
        driver.tell(.received(driver.core.epoch, [0]))
        #expect(!driver.pass(.seconds(10)).closes)
    }

    @Test func `only one PING is outstanding`() {
        var driver = CoreDriver.online()
        driver.send("one")
        #expect(driver.commit().commands == [.im, .ping])
        driver.send("two", ticket: 2)
        #expect(driver.commit().commands == [.im])
    }

    @Test func `megabytes on their way give a slow uplink more time`() {
        var driver = CoreDriver.online()
        driver.tell(.enteredBackground)
        for number in 1...10 {
            driver.send(String(repeating: "x", count: 30_000), ticket: UInt64(number))
            driver.commit()
        }
        driver.tell(.enteredForeground)
        driver.open()
        let actions = driver.receive(.authStatus, .authStatus(AuthenticationStatus(status: 0)))
        #expect(actions.commands.count == 12)
        let waited = driver.pass(.seconds(20)).diagnostics
        #expect(!waited.contains(.pingTimedOut))
        #expect(driver.pass(.seconds(2)).diagnostics == [.pingTimedOut])
    }
}

@Suite("Refused logins")
struct RefusalTests {
    private func refused(configure: (inout ClientCoreConfiguration) -> Void = { $0.hasTokenSource = true })
        -> (CoreDriver, [ClientAction])
    {
        var driver = CoreDriver(configure: configure)
        driver.tell(.started(CoreDriver.identity))
        driver.tell(.restored(RestoredState()))
        driver.open()
        let actions = driver.receive(.authStatus, .authStatus(AuthenticationStatus(status: 1)))
        return (driver, actions)
    }

    @Test func `a refusal closes, says so and asks for a token once`() {
        let (_, actions) = refused()
        #expect(actions.closes)
        #expect(actions.states == [.authenticationFail])
        #expect(actions.contains(.askToken(refusals: 1)))
    }

    @Test func `the next login waits for the token and carries it`() {
        var (driver, _) = refused()
        #expect(!driver.passDeadline().opens, "a token is on its way")
        #expect(driver.tell(.tokenProvided("fresh")).opens)
        let login = driver.open().packets().first?.body
        #expect(
            login == .authToken(AuthenticationToken(token: "fresh", platformID: .linux, deviceID: "device")))
    }

    @Test func `a token source that never answers does not stop the client for ever`() {
        var (driver, _) = refused()
        driver.passDeadline()
        #expect(driver.passDeadline().opens)
    }

    @Test func `each refusal in a row waits longer and a login ends the row`() {
        var (driver, _) = refused()
        var longest = Duration.zero
        for count in 2...9 {
            driver.tell(.tokenProvided("again"))
            driver.passDeadline()
            driver.open()
            let actions = driver.receive(.authStatus, .authStatus(AuthenticationStatus(status: 1)))
            #expect(actions.contains(.askToken(refusals: count)))
            longest = max(longest, driver.now.duration(to: driver.core.link.deadline ?? driver.now))
        }
        #expect(longest > .seconds(2))
        driver.tell(.tokenProvided("good"))
        driver.passDeadline()
        driver.open()
        driver.receive(.authStatus, .authStatus(AuthenticationStatus(status: 0)))
        #expect(driver.core.refusals == 0)
    }

    @Test func `without a token source the old token is tried again`() {
        var (driver, actions) = refused { _ in }
        #expect(!actions.contains(.askToken(refusals: 1)))
        #expect(driver.passDeadline().opens)
    }

    @Test func `a token that cannot travel is a refusal, not a crash`() {
        var driver = CoreDriver()
        let long = ClientIdentity(uid: 7, token: String(repeating: "t", count: 300), deviceID: "d")
        driver.tell(.started(long))
        driver.tell(.restored(RestoredState()))
        let actions = driver.open()
        #expect(actions.closes)
        #expect(actions.diagnostics.contains(.loginNotEncodable))
        #expect(actions.commands.isEmpty)
    }
}
