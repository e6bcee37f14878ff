import RivuletModel
import RivuletServerCore
import RivuletWire

/// A small server of the first era (docs/protocol.md, section 10), since ``NodeCore`` speaks the current one alone.
///
/// It stores every message in the receivers' queues and the author's own, and remembers for each device up to which
/// place of its queue it acknowledged. At login it writes what comes after, then live messages as they are stored; a
/// frame that was not acknowledged comes again at the next login. Actions and events are those of the node.
struct SeedRelay {
    private struct Client {
        var account: Account?
        var device = DeviceNumber.none
        /// The number of the last frame; the shell counts the same way.
        var sequence: Int32 = 0
        /// The places of the frames that wait for their ACK.
        var places: [Int32: Int64] = [:]
    }

    private struct Pending {
        var connection: ConnectionID
        var sequence: Int32
        var entry: LogEntry
    }

    private let log: MemoryLog
    private let marksWhenWritten: Bool
    private var clients: [ConnectionID: Client] = [:]
    private var pending: [BatchID: [Pending]] = [:]
    private var lastBatch: UInt64 = 0
    private var actions: [NodeAction] = []

    /// Makes a relay that reads from this log.
    init(log: MemoryLog, marksWhenWritten: Bool) {
        self.log = log
        self.marksWhenWritten = marksWhenWritten
    }

    mutating func handle(_ events: [NodeEvent], _ memberships: Memberships, at now: WallTime) -> [NodeAction]
    {
        var taken: [Pending] = []
        for event in events {
            switch event {
            case .opened(let connection, _): clients[connection] = Client()
            case .closed(let connection): clients[connection] = nil
            case .received(let connection, let packet):
                if let message = receive(packet, on: connection, memberships, at: now) {
                    taken.append(message)
                }
            case .loginAnswered(let connection, let result): finishLogin(of: connection, result)
            case .appended(let batch, let outcomes): finish(batch, outcomes)
            case .appendFailed(let batch):
                let connections = Set((pending.removeValue(forKey: batch) ?? []).map(\.connection))
                for connection in connections.sorted(by: { $0.rawValue < $1.rawValue }) {
                    actions.append(.close(connection, .storageFailed, afterMilliseconds: 0))
                }
            case .loaded, .loadFailed, .membershipsChanged, .tokenRevoked, .posted: break
            }
        }
        if !taken.isEmpty {
            lastBatch += 1
            pending[BatchID(rawValue: lastBatch)] = taken
            actions.append(.append(BatchID(rawValue: lastBatch), taken.map(\.entry)))
        }
        defer { actions = [] }
        return actions
    }

    private mutating func write(_ packets: [Packet], to connection: ConnectionID, place: Int64? = nil) {
        guard clients[connection] != nil else { return }
        clients[connection]?.sequence += Int32(packets.count)
        if let place, let sequence = clients[connection]?.sequence {
            clients[connection]?.places[sequence] = place
            if marksWhenWritten { move(connection, to: place) }
        }
        actions.append(.send(connection, packets, .reply))
    }

    // MARK: What clients write

    private mutating func receive(
        _ packet: Packet, on connection: ConnectionID, _ memberships: Memberships, at now: WallTime
    ) -> Pending? {
        guard let client = clients[connection] else { return nil }
        switch packet.body {
        case .authToken(let token):
            if client.account == nil { actions.append(.authenticate(connection, token)) }
        case .ack(let answer):
            if let place = clients[connection]?.places.removeValue(forKey: answer.sequence) {
                move(connection, to: place)
            }
        case .im(let message):
            guard let author = client.account, message.sender == author.user.rawValue else { return nil }
            switch queues(packet.command, message, author, memberships) {
            case nil:
                // This era has no word for a refusal.
                write([Packet(.ack, .ack(Acknowledgement(sequence: packet.sequence)))], to: connection)
            case let queues?:
                let entry = LogEntry(
                    author: author, device: client.device, command: packet.command, flags: [],
                    receiver: message.receiver, timestamp: now.timestamp, msgLocalID: message.msgLocalID,
                    content: message.content, queues: queues)
                return Pending(connection: connection, sequence: packet.sequence, entry: entry)
            }
        default:
            if packet.command == .ping { write([Packet(.pong)], to: connection) }
        }
        return nil
    }

    /// The queues that are to hold a message; nil when its author may not write there.
    private func queues(
        _ command: Command, _ message: IMMessage, _ author: Account, _ memberships: Memberships
    ) -> [QueueID]? {
        guard command == .groupIM else {
            let receiver = Account(user: UserID(message.receiver))
            if receiver != author, memberships.isBlocked(author.user, by: receiver) { return nil }
            return [.user(receiver), .user(author)]
        }
        guard let group = memberships.group(GroupID(message.receiver)),
            let member = group.member(author.user), !member.isMuted
        else { return nil }
        let others = group.members.filter { $0.user != author.user }
        return others.map { .user(Account(user: $0.user)) } + [.user(author)]
    }

    // MARK: What the relay writes

    private mutating func finishLogin(of connection: ConnectionID, _ result: LoginResult) {
        guard case .accepted(let account, let device, _) = result else {
            write([Packet(.authStatus, .authStatus(AuthenticationStatus(status: 1)))], to: connection)
            actions.append(.close(connection, .loginRefused, afterMilliseconds: 1000))
            return
        }
        clients[connection]?.account = account
        clients[connection]?.device = device
        actions.append(.useVersion(connection, Profile.seed.version))
        write([Packet(.authStatus, .authStatus(AuthenticationStatus(status: 0)))], to: connection)
        do {
            let mark = try log.reportedKey(of: .user(account), by: Self.reader(account, device))
            let limit = PageLimit(countMax: .max, bytesMax: .max)
            for message in try log.messages(in: .user(account), after: mark, limit: limit).messages
            where !message.device.isSameDevice(as: device) {
                deliver(message, to: connection)
            }
        } catch {
            actions.append(.close(connection, .storageFailed, afterMilliseconds: 0))
        }
    }

    private mutating func finish(_ batch: BatchID, _ outcomes: [AppendOutcome]) {
        for (message, outcome) in zip(pending.removeValue(forKey: batch) ?? [], outcomes) {
            write(
                [Packet(.ack, .ack(Acknowledgement(sequence: message.sequence)))], to: message.connection)
            guard case .stored(let places) = outcome else { continue }
            for (queue, place) in zip(message.entry.queues, places) {
                let readers = clients.filter { $0.value.account.map(QueueID.user) == queue }.keys
                for connection in readers.sorted(by: { $0.rawValue < $1.rawValue })
                where clients[connection]?.device.isSameDevice(as: message.entry.device) == false {
                    deliver(StoredMessage(message.entry, key: place.key), to: connection)
                }
            }
        }
    }

    private mutating func deliver(_ message: StoredMessage, to connection: ConnectionID) {
        let body = IMMessage(
            sender: message.author.user.rawValue, receiver: message.receiver, timestamp: message.timestamp,
            msgLocalID: message.msgLocalID, content: message.content)
        write([Packet(message.command, .im(body))], to: connection, place: message.key)
    }

    /// An ACK counts for everything before it, too, and never goes back.
    private func move(_ connection: ConnectionID, to place: Int64) {
        guard let client = clients[connection], let account = client.account else { return }
        do {
            try log.report(place, of: .user(account), by: Self.reader(account, client.device))
        } catch {
            // The mark stays, and the frames come again.
        }
    }

    /// Marks belong to devices; in the log they are told apart by an app that no account has.
    private static func reader(_ account: Account, _ device: DeviceNumber) -> Account {
        Account(app: -1 - device.rawValue, user: account.user)
    }
}
