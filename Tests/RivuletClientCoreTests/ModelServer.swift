import RivuletClientCore
import RivuletWire

/// A server for one user, as small as the protocol allows; it never loses what it has acknowledged.
struct ModelServer {
    struct Entry {
        var key: Int64
        var message: IMMessage
    }

    /// The user's queue: messages of others and copies of the user's own.
    private(set) var queue: [Entry] = []
    /// What the user sent, each uuid (here: each text) once, in the order of arrival.
    private(set) var accepted: [String] = []
    private var acceptedKeys: [String: (key: Int64, previous: Int64)] = [:]
    private(set) var isLoggedIn = false
    private var sequence: Int32 = 0
    private var decoder = PacketDecoder(role: .server, profile: .current)
    private var encoder = PacketEncoder(role: .server, profile: .current)
    static let pageCount = 4

    var lastKey: Int64 { queue.last?.key ?? 0 }

    mutating func connectionOpened() {
        isLoggedIn = false
        sequence = 0
        decoder.reset()
        _ = encoder.takeBytes()
    }

    mutating func takeBytes() -> [UInt8] { encoder.takeBytes() }

    /// Someone else writes to the user.
    mutating func post(_ text: String) throws {
        let previous = lastKey
        // Keys grow and have gaps.
        let key = previous + 1 + Int64(text.utf8.count % 3)
        let message = IMMessage(sender: 8, receiver: 7, timestamp: 1, content: text)
        queue.append(Entry(key: key, message: message))
        guard isLoggedIn else { return }
        try write(.metadata, .metadata(Metadata(syncKey: key, previousSyncKey: previous)))
        try write(.im, .im(message), flags: .push)
        try write(.syncNotify, .syncKey(key))
    }

    mutating func receive(_ bytes: [UInt8]) throws {
        decoder.append(bytes)
        while let frame = try decoder.next() {
            guard case .packet(let packet) = frame else { continue }
            try receive(packet)
        }
    }

    private mutating func receive(_ packet: Packet) throws {
        switch packet.body {
        case .authToken:
            isLoggedIn = true
            try write(.authStatus, .authStatus(AuthenticationStatus(status: 0)))
        case .syncKey(let key) where packet.command == .sync: try answerSync(key)
        case .im(let message): try accept(message, packet.sequence)
        case .empty where packet.command == .ping: try write(.pong, .empty)
        default: break
        }
    }

    private mutating func answerSync(_ key: Int64) throws {
        try write(.syncBegin, .syncKey(key))
        let rest = queue.filter { $0.key > key }
        for entry in rest.prefix(Self.pageCount) {
            try write(.im, .im(entry.message), flags: entry.message.sender == 7 ? .isSelf : [])
        }
        let end = rest.prefix(Self.pageCount).last?.key ?? min(key, lastKey)
        try write(.syncEnd, .syncKey(end))
        if rest.count > Self.pageCount { try write(.syncNotify, .syncKey(end + 1)) }
    }

    private mutating func accept(_ message: IMMessage, _ acknowledged: Int32) throws {
        if acceptedKeys[message.content] == nil {
            let previous = lastKey
            let key = previous + 1
            queue.append(Entry(key: key, message: message))
            accepted.append(message.content)
            acceptedKeys[message.content] = (key, previous)
        }
        if let keys = acceptedKeys[message.content] {
            try write(.metadata, .metadata(Metadata(syncKey: keys.key, previousSyncKey: keys.previous)))
        }
        try write(.ack, .ack(Acknowledgement(sequence: acknowledged)))
    }

    private mutating func write(_ command: Command, _ body: PacketBody, flags: PacketFlags = []) throws {
        sequence += 1
        try encoder.append(Packet(command, body, sequence: sequence, flags: flags))
    }
}

/// A storage that a test can look into; it knows messages by their text.
struct ModelStorage {
    private(set) var received: [String] = []
    private(set) var outbox: [OutboxEntry] = []
    private(set) var sent: [String] = []
    private(set) var ended: [SendID: StorageChange] = [:]
    private(set) var peerKey: Int64?
    private(set) var lastID = SendID(rawValue: 0)

    var restored: RestoredState {
        RestoredState(peerKey: peerKey, outbox: outbox, lastSendID: lastID)
    }

    mutating func apply(_ batch: StorageBatch) -> CommitOutcome {
        var isNew: [Bool] = []
        for change in batch.changes {
            switch change {
            case .received(let message):
                let text = message.body.text ?? ""
                let isKnown = received.contains(text) || sent.contains(text)
                if !isKnown { received.append(text) }
                isNew.append(!isKnown)
            case .queued(let entry):
                outbox.append(entry)
                sent.append(entry.body.text ?? "")
                lastID = max(lastID, entry.id)
            case .uploaded(let entry):
                if let index = outbox.firstIndex(where: { $0.id == entry.id }) { outbox[index] = entry }
            case .acknowledged(let id, _), .refused(let id, _), .failed(let id, _), .cancelled(let id):
                outbox.removeAll { $0.id == id }
                ended[id] = change
            case .peerKey(let key): peerKey = key
            case .groupKey, .groupRemoved: break
            }
        }
        return CommitOutcome(isNew: isNew)
    }
}
