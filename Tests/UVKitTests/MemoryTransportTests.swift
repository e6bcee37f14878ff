import RivuletTransport
import Testing

/// A client and a server end in memory, with everything that either of them was told.
private final class Pair {
    let context = ManualContext()
    let transport: MemoryTransport
    let address = Endpoint(host: "10.0.0.1", port: 1)
    var client: (any Connection)?
    var server: MemoryPeer?
    var clientEvents: [ConnectionEvent] = []
    var serverEvents: [ConnectionEvent] = []

    init(faults: LinkFaults = LinkFaults()) {
        transport = MemoryTransport(context: context)
        transport.setFaults { _ in faults }
        context.run {
            transport.serve(address) { peer in
                self.server = peer
                peer.handler = { self.serverEvents.append($0) }
            }
        }
    }

    func connect() {
        context.run { client = transport.connect(to: address) { self.clientEvents.append($0) } }
    }
}

struct MemoryTransportTests {
    @Test func `Bytes arrive in pieces of the size that was asked for`() {
        let pair = Pair(faults: LinkFaults(chunkByteCount: 2))
        pair.connect()
        pair.context.run { pair.client?.write([1, 2, 3, 4, 5]) }
        #expect(pair.serverEvents == [.opened, .bytes([1, 2]), .bytes([3, 4]), .bytes([5])])
    }

    @Test(arguments: 0...5)
    func `A cut lets exactly so many bytes through and breaks both ends`(_ count: Int) {
        let pair = Pair(faults: LinkFaults(cutAfterBytesToServer: count))
        pair.connect()
        pair.context.run { pair.client?.write([1, 2, 3, 4, 5]) }
        let received = pair.serverEvents.reduce(into: [UInt8]()) { all, event in
            if case .bytes(let bytes) = event { all += bytes }
        }
        #expect(received == Array([1, 2, 3, 4, 5].prefix(count)))
        for events in [pair.clientEvents, pair.serverEvents] {
            guard case .closed(.failed) = events.last else {
                Issue.record("\(events)")
                continue
            }
        }
    }

    @Test func `A held link delivers nothing until it is released`() {
        let pair = Pair()
        pair.connect()
        pair.context.run {
            pair.server?.hold()
            pair.client?.write([1])
        }
        #expect(pair.serverEvents == [.opened])
        #expect(pair.client?.pendingWriteByteCount == 1)
        pair.context.run { pair.server?.release() }
        #expect(pair.serverEvents == [.opened, .bytes([1])])
        #expect(pair.clientEvents == [.opened, .drained])
    }

    @Test func `What was written before closing still arrives`() {
        let pair = Pair()
        pair.connect()
        pair.context.run {
            pair.server?.write([1])
            pair.server?.close()
            pair.server?.write([2])
        }
        #expect(pair.clientEvents == [.opened, .bytes([1]), .closed(.closedByPeer)])
        #expect(pair.serverEvents.last == .closed(.closedHere))
    }

    @Test func `Refused and unserved addresses refuse`() {
        let pair = Pair(faults: LinkFaults(isRefused: true))
        pair.connect()
        #expect(
            pair.clientEvents == [
                .closed(
                    .failed(
                        TransportError(
                            code: "ECONNREFUSED", message: "connect to 10.0.0.1:1: connection refused")))
            ])
        #expect(pair.server == nil)
    }

    @Test func `Nothing is kept when a connection is over`() {
        weak var weakPair: Pair?
        weak var weakServer: MemoryPeer?
        do {
            let pair = Pair()
            pair.connect()
            pair.context.run { pair.client?.close() }
            weakServer = pair.server
            pair.server = nil
            pair.transport.stopServing(pair.address)
            weakPair = pair
        }
        #expect(weakPair == nil)
        #expect(weakServer == nil)
    }

    @Test func `Deadlines pass in the order of their times, at their times`() throws {
        let context = ManualContext()
        let start = context.nowNanoseconds
        var passed: [(String, UInt64)] = []
        var kept: [any Deadline] = []
        try context.run {
            for (name, delay) in [("b", UInt64(20)), ("a", 10), ("c", 30), ("never", 40)] {
                let deadline = try context.makeDeadline {
                    passed.append((name, context.nowNanoseconds - start))
                }
                deadline.arm(at: start + delay)
                kept.append(deadline)
            }
            kept[3].disarm()
        }
        context.advance(by: .nanoseconds(25))
        #expect(passed.map(\.0) == ["a", "b"])
        context.advance(by: .nanoseconds(100))
        #expect(passed.map(\.1) == [10, 20, 30])
        #expect(context.nextDeadlineNanoseconds == nil)
    }
}
