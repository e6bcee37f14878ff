public import RivuletWire

/// The packets of one connection that are not yet bytes.
///
/// Numbers and versions are stamped when packets leave it, so that a dropped push leaves no hole in the numbering
/// and METADATA stays next to its packet (docs/protocol.md, sections 2 and 11.5).
public struct OutgoingQueue: Sendable {
    private var groups: [Group] = []
    private var first = 0
    private var pushCount = 0
    private var sequence: Int32 = 0

    /// How many live copies may wait; one more drops the oldest.
    public let pushesMax: Int
    /// The version written into frames.
    public var version: UInt8 = 0
    /// How many pushes were dropped so far.
    public private(set) var droppedPushCount = 0

    private struct Group: Sendable {
        var packets: [Packet]
        var isPush: Bool
    }

    /// Makes an empty queue.
    public init(pushesMax: Int = 300) {
        self.pushesMax = max(1, pushesMax)
    }

    /// Whether nothing waits.
    public var isEmpty: Bool {
        first == groups.count
    }

    /// Adds packets that belong together; when too many live copies wait, the oldest of them goes.
    public mutating func add(_ packets: [Packet], _ delivery: Delivery) {
        if delivery == .push {
            if pushCount == pushesMax { dropOldestPush() }
            pushCount += 1
        }
        groups.append(Group(packets: packets, isPush: delivery == .push))
    }

    /// Takes the packets that waited longest, numbered and stamped; nil when nothing waits.
    public mutating func next() -> [Packet]? {
        guard first < groups.count else { return nil }
        var packets: [Packet] = []
        swap(&packets, &groups[first].packets)
        if groups[first].isPush { pushCount -= 1 }
        first += 1
        if first == groups.count {
            groups.removeAll(keepingCapacity: groups.count <= 32)
            first = 0
        }
        for index in packets.indices {
            sequence &+= 1
            packets[index].sequence = sequence
            packets[index].version = version
        }
        return packets
    }

    private mutating func dropOldestPush() {
        guard let index = groups[first...].firstIndex(where: \.isPush) else { return }
        groups.remove(at: index)
        pushCount -= 1
        droppedPushCount += 1
    }
}
