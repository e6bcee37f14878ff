import RivuletWire
import Testing

@testable import RivuletClientCore

/// A server that says anything the wire allows, whenever it likes.
private struct HostileServer {
    private var random: SplitMixGenerator
    private static let extremes: [Int64] = [.min, -1, 0, 1, 10, 11, .max - 1, .max]

    init(seed: UInt64) {
        random = SplitMixGenerator(seed: seed)
    }

    private mutating func number() -> Int64 {
        Self.extremes.randomElement(using: &random) ?? 0
    }

    mutating func packet() -> Packet {
        let flags = PacketFlags(rawValue: UInt8.random(in: 0...(.max), using: &random))
        let sequence = Int32(
            truncatingIfNeeded: [1, 2, 3, .min, .max, number()].randomElement(using: &random) ?? 1)
        let (command, body) = content()
        return Packet(command, body, sequence: sequence, flags: flags)
    }

    private mutating func content() -> (Command, PacketBody) {
        let message = IMMessage(sender: number(), receiver: number(), content: "x")
        switch Int.random(in: 0..<14, using: &random) {
        case 0: return (.im, .im(message))
        case 1: return (.groupIM, .im(message))
        case 2: return (.ack, .ack(Acknowledgement(sequence: Int32.random(in: 0...40, using: &random))))
        case 3: return (.syncBegin, .syncKey(number()))
        case 4: return (.syncEnd, .syncKey(number()))
        case 5: return (.syncNotify, .syncKey(number()))
        case 6: return (.syncGroupBegin, .groupSyncKey(GroupSyncKey(groupID: number(), key: number())))
        case 7: return (.syncGroupEnd, .groupSyncKey(GroupSyncKey(groupID: number(), key: number())))
        case 8: return (.syncGroupNotify, .groupSyncKey(GroupSyncKey(groupID: number(), key: number())))
        case 9: return (.metadata, .metadata(Metadata(syncKey: number(), previousSyncKey: number())))
        case 10: return (.system, .text(""))
        case 11: return (.authStatus, .authStatus(AuthenticationStatus(status: 0)))
        case 12: return (.rt, .room(RoomMessage(sender: number(), receiver: number(), content: "")))
        default: return (.pong, .empty)
        }
    }

    mutating func noise() -> [UInt8] {
        (0..<Int.random(in: 0...40, using: &random)).map { _ in UInt8.random(in: 0...(.max), using: &random) }
    }

    mutating func chance(_ percent: Int) -> Bool {
        Int.random(in: 0..<100, using: &random) < percent
    }
}

@Suite("A hostile server")
struct HostileServerTests {
    @Test(arguments: 1...40 as ClosedRange<UInt64>)
    func `cannot make the client trap, grow or forget its sends`(seed: UInt64) throws {
        var server = HostileServer(seed: seed)
        var driver = CoreDriver.online(restored: RestoredState(peerKey: 10, groupKeys: [11: 5]))
        var ended = 0
        var requested = 0
        for _ in 0..<3000 {
            var actions: [ClientAction] = []
            if server.chance(3) {
                requested += 1
                actions += driver.send("\(requested)", ticket: UInt64(requested))
            }
            let bytes = try server.packet().pack(from: .server, profile: .current)
            actions += driver.tell(.received(driver.core.epoch, bytes))
            if server.chance(1) { actions += driver.tell(.received(driver.core.epoch, server.noise())) }
            if server.chance(40) { actions += server.chance(10) ? driver.failCommit() : driver.commit() }
            if server.chance(2) { actions += driver.passDeadline() }
            if !driver.core.isOnline { driver.reconnect() }
            ended += actions.reports.count { $0.step.isLast }
        }
        #expect(ended + driver.core.outbox.count >= requested)
        #expect(ended <= requested)
        #expect(driver.core.queues.count < 20)
    }

    @Test func `unknown groups are remembered up to a limit`() {
        var driver = CoreDriver.online()
        for group in 1...10_050 {
            driver.receive(.syncGroupNotify, .groupSyncKey(GroupSyncKey(groupID: Int64(group), key: 1)))
        }
        #expect(driver.core.queues.count <= 10_001)
    }
}
