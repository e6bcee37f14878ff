import RivuletModel
import RivuletWire

// What leaves when the log has committed (docs/protocol.md, sections 11.5 and 11.6).
extension NodeCore {
    mutating func finish(_ batch: BatchID, _ outcomes: [AppendOutcome]) {
        guard let messages = pendingBatches.removeValue(forKey: batch) else { return }
        for (message, outcome) in zip(messages, outcomes) {
            switch outcome {
            case .stored(let places):
                counts.messages += 1
                answer(message, at: places.last)
                push(message, at: places)
            case .duplicate(let places):
                // The first ACK was lost: it is given again, with the same place, and nothing else happens.
                counts.duplicates += 1
                answer(message, at: places.last)
            case .unknown:
                guard case .client(let connection, let sequence) = message.origin, clients[connection] != nil,
                    let refusal = message.refusal
                else { continue }
                acknowledge(sequence, status: refusal.status, flags: refusal.flags, on: connection)
            }
        }
    }

    /// No ACK leaves: the clients send again, and the uuid keeps the message single.
    ///
    /// Their connections end, since what they send next must not overtake what they have to send again.
    mutating func fail(_ batch: BatchID) {
        var closed: Set<ConnectionID> = []
        for message in pendingBatches.removeValue(forKey: batch) ?? [] {
            counts.failures += 1
            switch message.origin {
            case .client(let connection, _):
                guard clients[connection] != nil, closed.insert(connection).inserted else { continue }
                actions.append(.close(connection, .storageFailed, afterMilliseconds: 0))
            case .post(let id): actions.append(.posted(id, .failed))
            case .node: break
            }
        }
    }

    /// METADATA and ACK to the author, if the connection is still there.
    private mutating func answer(_ message: PendingMessage, at place: QueuePlace?) {
        switch message.origin {
        case .client(let connection, let sequence):
            guard clients[connection] != nil else { return }
            let isSuper = message.entry.isInSuperGroup
            let ack = Packet.acknowledging(sequence, flags: isSuper ? .superGroup : [])
            send(place.map { [.metadata(of: $0), ack] } ?? [ack], to: connection)
        case .post(let id):
            actions.append(.posted(id, .done))
        case .node:
            break
        }
    }

    /// METADATA, the message and the notify to every connection of each reader but the author's own.
    private mutating func push(_ message: PendingMessage, at places: [QueuePlace]) {
        let entry = message.entry
        var connection: ConnectionID?
        if case .client(let own, _) = message.origin { connection = own }
        let author = LiveAuthor(account: entry.author, device: entry.device, connection: connection)
        var live: Packet?
        for (queue, place) in zip(entry.queues, places) {
            let audience: [ConnectionID]
            let notify: Packet
            switch queue {
            case .user(let user):
                audience = self.audience(of: user, without: author)
                notify = Packet(.syncNotify, .syncKey(place.key))
            case .group(let group):
                audience = self.audience(of: group, without: author)
                notify = Packet(
                    .syncGroupNotify, .groupSyncKey(GroupSyncKey(groupID: group.rawValue, key: place.key)))
            }
            guard !audience.isEmpty else { continue }
            if message.isPushed {
                let packet =
                    live ?? Packet(entry, adding: entry.isInSuperGroup ? [.push, .superGroup] : .push)
                live = packet
                broadcast([.metadata(of: place), packet, notify], to: audience)
            } else {
                broadcast([notify], to: audience)
            }
        }
    }

    /// The connections of a super group's members that are to see a live copy.
    func audience(of id: GroupID, without author: LiveAuthor) -> [ConnectionID] {
        guard let group = memberships.group(id) else { return [] }
        return group.members.flatMap {
            audience(of: Account(app: group.app, user: $0.user), without: author)
        }
    }
}

extension LogEntry {
    /// Whether the entry stands in the log of a super group.
    var isInSuperGroup: Bool {
        if case .group = queues.last { true } else { false }
    }
}

extension Packet {
    /// The frame of an entry as live copies carry it.
    init(_ entry: LogEntry, adding flags: PacketFlags) {
        self.init(entry.command, PacketBody(StoredMessage(entry, key: 0)), flags: entry.flags.union(flags))
    }

    /// The frame of a stored message as a sync round carries it to one device of the reader.
    init(_ message: StoredMessage, to reader: Account, on device: DeviceNumber) {
        var flags = message.flags
        if message.author == reader, message.device.isSameDevice(as: device) {
            flags.insert(.isSelf)
        }
        self.init(message.command, PacketBody(message), flags: flags)
    }
}

extension PacketBody {
    /// The body of a stored message in the layout of its command.
    init(_ message: StoredMessage) {
        switch message.command {
        case .customerV2:
            self = .customerV2(
                CustomerMessageV2(
                    senderAppID: message.author.app, sender: message.author.user.rawValue,
                    receiverAppID: message.receiverApp, receiver: message.receiver,
                    timestamp: message.timestamp, content: message.content))
        case .system, .notification, .groupNotification:
            self = .text(message.content)
        default:
            self = .im(
                IMMessage(
                    sender: message.author.user.rawValue, receiver: message.receiver,
                    timestamp: message.timestamp, msgLocalID: message.msgLocalID, content: message.content))
        }
    }
}
