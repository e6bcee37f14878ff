import RivuletModel
import RivuletWire

// IM: stored in both queues in one commit, then acknowledged and pushed (docs/protocol.md, sections 11.5, 11.6, 12).
extension NodeCore {
    mutating func takePeerMessage(
        _ message: IMMessage, _ packet: Packet, of client: NodeClient, on connection: ConnectionID
    ) {
        let author = client.account.user
        // A forged sender gets silence (docs/protocol.md, section 23, item 3).
        guard message.sender == author.rawValue else { return }
        let entry = LogEntry(
            author: client.account, device: client.device, command: .im,
            flags: packet.flags.intersection(.text), receiver: message.receiver, timestamp: now.timestamp,
            msgLocalID: message.msgLocalID, content: message.content,
            queues: [UserID(message.receiver), author])
        taken.append(PendingMessage(connection: connection, sequence: packet.sequence, entry: entry))
    }

    mutating func finish(_ batch: BatchID, _ outcomes: [AppendOutcome]) {
        guard let messages = pendingBatches.removeValue(forKey: batch) else { return }
        for (message, outcome) in zip(messages, outcomes) {
            switch outcome {
            case .stored(let places):
                answer(message, at: places.last)
                push(message, at: places)
            case .duplicate(let places):
                // The first ACK was lost: it is given again, with the same place, and nothing else happens.
                answer(message, at: places.last)
            }
        }
    }

    /// METADATA and ACK to the author, if the connection is still there.
    private mutating func answer(_ message: PendingMessage, at place: QueuePlace?) {
        guard clients[message.connection] != nil else { return }
        let ack = Packet.acknowledging(message.sequence)
        guard let place else {
            send([ack], to: message.connection)
            return
        }
        send([.metadata(of: place), ack], to: message.connection)
    }

    /// METADATA, the message and SYNC_NOTIFY to every connection of each queue's owner but the author's own.
    private mutating func push(_ message: PendingMessage, at places: [QueuePlace]) {
        let entry = message.entry
        var live: Packet?
        for (user, place) in zip(entry.queues, places) {
            let audience = audience(
                of: user, without: entry.author.user, on: message.connection, device: entry.device)
            guard !audience.isEmpty else { continue }
            let packet = live ?? Packet(entry, adding: .push)
            live = packet
            let packets = [
                Packet.metadata(of: place), packet, Packet(.syncNotify, .syncKey(place.key)),
            ]
            for connection in audience {
                send(packets, to: connection, as: .push)
            }
        }
    }
}

extension Packet {
    /// The frame of an entry as live copies carry it.
    init(_ entry: LogEntry, adding flags: PacketFlags) {
        self.init(
            entry.command,
            .im(
                IMMessage(
                    sender: entry.author.user.rawValue, receiver: entry.receiver, timestamp: entry.timestamp,
                    msgLocalID: entry.msgLocalID, content: entry.content)),
            flags: entry.flags.union(flags))
    }

    /// The frame of a stored message as a sync round carries it to one device of the queue's owner.
    init(_ message: StoredMessage, to user: UserID, on device: DeviceNumber) {
        var flags = message.flags
        if message.author.user == user, message.device.isSameDevice(as: device) {
            flags.insert(.isSelf)
        }
        self.init(
            message.command,
            .im(
                IMMessage(
                    sender: message.author.user.rawValue, receiver: message.receiver,
                    timestamp: message.timestamp, msgLocalID: message.msgLocalID, content: message.content)),
            flags: flags)
    }
}
