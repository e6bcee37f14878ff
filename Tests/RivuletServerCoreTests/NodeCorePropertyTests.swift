import RivuletModel
import RivuletServerCore
import RivuletWire
import Testing

/// Whatever clients, log and directory do, in whatever order.
@Suite struct NodeCorePropertyTests {
    /// What one connection saw.
    private struct Seen {
        var user: Int64
        var sent: [Int32] = []
        var acknowledged: [Int32] = []
        var isOpen = true
        /// Whether the node was told of the end.
        var isForgotten = false
    }

    @Test(arguments: 1...40 as ClosedRange<UInt64>)
    func `each message of a living connection is acknowledged once, in order, and only after its commit`(
        seed: UInt64
    ) throws {
        var random = SeededGenerator(seed: seed)
        var node = NodeDriver()
        node.holdsLog = true
        var seen: [ConnectionID: Seen] = [:]
        var open: [NodeEvent] = []
        for step in 0..<400 {
            node.now.milliseconds += 10
            let living = seen.filter(\.value.isOpen).keys.sorted { $0.rawValue < $1.rawValue }
            switch Int.random(in: 0..<12, using: &random) {
            case 0:
                let user = Int64.random(in: 1...4, using: &random)
                let id = try node.login(user, device: .random(in: 0...2, using: &random))
                seen[id] = Seen(user: user)
            case 1:
                if let id = living.randomElement(using: &random), living.count > 2 {
                    seen[id]?.isOpen = false
                    open.append(.closed(id))
                }
            case 2..<5:
                // The log answers one batch, in order, or the oldest load.
                if !node.held.isEmpty, let event = try node.perform(node.held.removeFirst()) {
                    open.append(event)
                }
            default:
                guard let id = living.randomElement(using: &random), let user = seen[id]?.user else { break }
                let packet = randomPacket(from: user, sequence: Int32(step + 1), &random)
                if packet.command == .im { seen[id]?.sent.append(packet.sequence) }
                open.append(.received(id, packet))
            }
            if Bool.random(using: &random) {
                try record(try node.feed(open), &seen)
                open = []
                for id in seen.keys where seen[id]?.isOpen == false { seen[id]?.isForgotten = true }
            }
        }
        try record(try node.feed(open), &seen)
        while !node.held.isEmpty {
            guard let event = try node.perform(node.held.removeFirst()) else { continue }
            try record(try node.feed([event]), &seen)
        }
        #expect(node.core.pendingBatchCount == 0)
        for connection in seen.values where connection.isOpen {
            #expect(connection.acknowledged == connection.sent)
        }
        #expect(node.core.connectionCount == seen.values.filter(\.isOpen).count)
    }

    private func randomPacket(from user: Int64, sequence: Int32, _ random: inout SeededGenerator) -> Packet {
        let receiver = Int64.random(in: 1...5, using: &random)
        switch Int.random(in: 0..<10, using: &random) {
        case 0: return Packet(.sync, .syncKey(.random(in: -1...300, using: &random)), sequence: sequence)
        case 1: return Packet(.ping, sequence: sequence)
        case 2: return Packet(.enterRoom, .roomID(.random(in: 0...2, using: &random)), sequence: sequence)
        case 3: return Packet(.leaveRoom, .roomID(.random(in: 0...2, using: &random)), sequence: sequence)
        case 4: return Packet(.syncKey, .syncKey(.random(in: 0...300, using: &random)), sequence: sequence)
        case 5:
            return Packet(
                .rt, .room(RTMessage(sender: user, receiver: receiver, content: "x")), sequence: sequence)
        default:
            let uuid = Int.random(in: 0...30, using: &random)
            return NodeDriver.im(user, receiver, #"{"uuid":"\#(uuid)"}"#, sequence: sequence)
        }
    }

    /// Notes the acknowledgements, and checks the shape of what is sent.
    private func record(_ actions: [NodeAction], _ seen: inout [ConnectionID: Seen]) throws {
        let sent = actions.flatMap { action -> [(ConnectionID, [Packet])] in
            switch action {
            case .send(let id, let packets, _): [(id, packets)]
            case .broadcast(let ids, let packets): ids.map { ($0, packets) }
            default: []
            }
        }
        for (id, packets) in sent {
            #expect(seen[id]?.isForgotten != true, "sent to a closed connection")
            for (index, packet) in packets.enumerated() {
                switch packet.body {
                case .ack(let ack):
                    #expect(packets.first?.command == .metadata)
                    seen[id]?.acknowledged.append(ack.sequence)
                case .metadata(let metadata):
                    #expect(metadata.syncKey > metadata.previousSyncKey)
                    #expect(index + 1 < packets.count, "METADATA belongs to the packet after it")
                default:
                    if packet.flags.contains(.push) { #expect(packets.first?.command == .metadata) }
                }
            }
        }
    }
}
