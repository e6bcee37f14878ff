import RivuletWire

/// The sends whose fate is not yet known, in the order of their requests.
///
/// Ids grow with the requests, so the order of the ids is the order of the outbox. All operations are O(1) on average
/// but the look-up by ticket or uuid.
struct Outbox: Sendable {
    enum Stage: Sendable, Equatable {
        /// The storage does not have it yet.
        case storing
        /// It waits for a connection and its turn.
        case waiting
        case written(sequence: Int32, at: ClientInstant)
        /// Its fate is known and waits for the storage.
        case ending
    }

    struct Slot: Sendable {
        var entry: OutboxEntry
        var ticket: SendTicket?
        /// Whether the storage keeps it; messages of a room are not kept.
        var isKept: Bool
        var stage: Stage
        /// Whether an earlier run queued it, and may have written it.
        var isRestored = false
        var byteCount = 0
        var unansweredCount = 0
    }

    private struct Written: Sendable {
        var sequence: Int32
        var id: SendID
    }

    private(set) var slots: [SendID: Slot] = [:]
    private var order: [SendID] = []
    private var head = 0
    private var cursor = 0
    private var sequences: [Int32: SendID] = [:]
    private var written: [Written] = []
    private var writtenHead = 0
    private(set) var lastID = SendID(rawValue: 0)
    /// The size of all packets that are written and not yet acknowledged.
    private(set) var inFlightByteCount = 0
    private(set) var lastAcknowledgedAt = ClientInstant.start
    /// The messages that wait for an upload, in order.
    private(set) var heldIDs: [SendID] = []

    var hasHeld: Bool { !heldIDs.isEmpty }
    var count: Int { slots.count }
    var inFlightCount: Int { sequences.count }

    /// How often the first message in line was written already.
    var attemptsOfFirst: Int {
        order[head...].lazy.compactMap { slots[$0] }.first { $0.stage != .ending }?.entry.attempts ?? 0
    }

    mutating func restore(_ entries: [OutboxEntry], lastID: SendID) {
        self.lastID = max(self.lastID, lastID)
        for entry in entries where slots[entry.id] == nil {
            self.lastID = max(self.lastID, entry.id)
            slots[entry.id] = Slot(entry: entry, ticket: nil, isKept: true, stage: .waiting, isRestored: true)
            order.append(entry.id)
            if entry.needsUpload { heldIDs.append(entry.id) }
        }
    }

    mutating func makeID() -> SendID {
        lastID = SendID(rawValue: lastID.rawValue + 1)
        return lastID
    }

    mutating func add(_ slot: Slot) {
        slots[slot.entry.id] = slot
        if slot.isKept { order.append(slot.entry.id) }
        if slot.entry.needsUpload { heldIDs.append(slot.entry.id) }
    }

    mutating func release(_ id: SendID) -> Slot? {
        guard slots[id]?.stage == .storing else { return nil }
        slots[id]?.stage = .waiting
        return slots[id]
    }

    /// The next message to write; nil while the one in line is not stored yet.
    mutating func nextToWrite() -> OutboxEntry? {
        if hasHeld { return nextBesideHeld() }
        while cursor < order.count {
            switch slots[order[cursor]]?.stage {
            case .waiting: return slots[order[cursor]]?.entry
            case .storing: return nil
            case .written, .ending, nil: cursor += 1
            }
        }
        return nil
    }

    /// The next message whose conversation no upload keeps back.
    private func nextBesideHeld() -> OutboxEntry? {
        var keptBack: Set<Conversation> = []
        for id in order[max(head, min(cursor, order.count))...] {
            guard let slot = slots[id] else { continue }
            switch slot.stage {
            case .storing: return nil
            case .written, .ending: continue
            case .waiting:
                let conversation = Conversation(slot.entry)
                if slot.entry.needsUpload {
                    keptBack.insert(conversation)
                } else if !keptBack.contains(conversation) {
                    return slot.entry
                }
            }
        }
        return nil
    }

    /// Puts the body that names what was uploaded in; the message is storing again.
    mutating func markUploaded(_ id: SendID, body: PacketBody) -> OutboxEntry? {
        guard slots[id] != nil else { return nil }
        heldIDs.removeAll { $0 == id }
        slots[id]?.entry.body = body
        slots[id]?.entry.needsUpload = false
        slots[id]?.stage = .storing
        return slots[id]?.entry
    }

    mutating func markWritten(_ id: SendID, sequence: Int32, byteCount: Int, at now: ClientInstant) {
        slots[id]?.stage = .written(sequence: sequence, at: now)
        slots[id]?.entry.attempts += 1
        slots[id]?.byteCount = byteCount
        inFlightByteCount += byteCount
        sequences[sequence] = id
        written.append(Written(sequence: sequence, id: id))
    }

    /// Takes note of an ACK and names the send it belongs to.
    mutating func acknowledge(sequence: Int32, at now: ClientInstant) -> Slot? {
        guard let id = sequences[sequence], let slot = slots[id] else { return nil }
        lastAcknowledgedAt = now
        return slot
    }

    /// Marks that the fate of a send is known.
    ///
    /// - Returns: Whether the storage keeps the send; nil when its fate was known already.
    mutating func markEnding(_ id: SendID) -> Bool? {
        guard let slot = slots[id], slot.stage != .ending else { return nil }
        takeOffTheWire(slot)
        slots[id]?.stage = .ending
        return slot.isKept
    }

    mutating func remove(_ id: SendID) -> Slot? {
        guard let slot = slots.removeValue(forKey: id) else { return nil }
        takeOffTheWire(slot)
        if slot.entry.needsUpload { heldIDs.removeAll { $0 == id } }
        while head < order.count, slots[order[head]] == nil { head += 1 }
        if head > 1024, head > order.count / 2 {
            order.removeFirst(head)
            cursor = max(0, cursor - head)
            head = 0
        }
        cursor = max(cursor, head)
        return slot
    }

    private mutating func takeOffTheWire(_ slot: Slot) {
        guard case .written(let sequence, _) = slot.stage else { return }
        sequences[sequence] = nil
        inFlightByteCount -= slot.byteCount
        while writtenHead < written.count, sequences[written[writtenHead].sequence] == nil {
            writtenHead += 1
        }
        if writtenHead == written.count {
            written.removeAll(keepingCapacity: true)
            writtenHead = 0
        } else if writtenHead > 1024 {
            written.removeFirst(writtenHead)
            writtenHead = 0
        }
    }

    /// Puts written messages back in line, and names those that cannot wait for another connection.
    mutating func connectionEnded() -> [SendID] {
        var lost: [SendID] = []
        for item in written[writtenHead...] where sequences[item.sequence] == item.id {
            if slots[item.id]?.isKept == true {
                slots[item.id]?.stage = .waiting
            } else {
                lost.append(item.id)
            }
        }
        sequences = [:]
        written = []
        writtenHead = 0
        inFlightByteCount = 0
        cursor = head
        for id in lost { slots[id]?.stage = .waiting }
        return lost
    }

    /// The message that has waited longest for its ACK, and since when.
    var oldestWritten: (slot: Slot, since: ClientInstant)? {
        guard writtenHead < written.count, let slot = slots[written[writtenHead].id],
            case .written(_, let since) = slot.stage
        else { return nil }
        return (slot, since)
    }

    /// Lets the wait for ACKs begin anew, after a time in which none could be read.
    mutating func restartWait(at now: ClientInstant) {
        lastAcknowledgedAt = now
        for item in written[writtenHead...] {
            guard case .written(let sequence, _) = slots[item.id]?.stage, sequence == item.sequence else {
                continue
            }
            slots[item.id]?.stage = .written(sequence: sequence, at: now)
        }
    }

    mutating func countUnanswered(_ id: SendID) {
        slots[id]?.unansweredCount += 1
    }

    func find(_ reference: SendReference) -> Slot? {
        switch reference {
        case .id(let id): slots[id]
        case .ticket(let ticket): slots.values.first { $0.ticket == ticket }
        case .uuid(let uuid): slots.values.first { $0.entry.uuid == uuid && $0.stage != .ending }
        }
    }
}

/// Where messages keep their order: one peer, one group, one customer of one shop.
private struct Conversation: Hashable {
    var command: Command
    var numbers: [Int64]

    init(_ entry: OutboxEntry) {
        command = entry.command
        numbers =
            switch entry.body {
            case .im(let message): [message.receiver]
            case .customer(let message):
                [message.customerAppID, message.customerID, message.storeID, message.sellerID]
            case .customerV2(let message): [message.receiverAppID, message.receiver]
            default: []
            }
    }
}
