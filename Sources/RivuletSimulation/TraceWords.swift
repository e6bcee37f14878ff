import RivuletModel
import RivuletServerCore
import RivuletWire

/// How a trace names packets, queues and places: in the protocol's words, short enough to read a thousand lines.
enum TraceWords {
    static func packet(_ packet: Packet, _ profile: Profile) -> String {
        let name = packet.command.name(in: profile) ?? "command \(packet.command.rawValue)"
        let words = body(packet.body)
        return words.isEmpty ? name : "\(name) \(words)"
    }

    private static func body(_ body: PacketBody) -> String {
        switch body {
        case .empty: ""
        case .authToken(let token): "of \(token.deviceID)"
        case .authStatus(let status): "\(status.status)"
        case .im(let message): "\(message.sender) → \(message.receiver) \(message.content)"
        case .room(let message): "\(message.sender) → \(message.receiver) \(message.content)"
        case .customerV2(let message): "\(message.sender) → \(message.receiver) \(message.content)"
        case .ack(let answer): "of \(answer.sequence), status \(answer.status.rawValue)"
        case .roomID(let id): "\(id)"
        case .syncKey(let key): "\(key)"
        case .groupSyncKey(let key): "\(key.groupID), \(key.key)"
        case .metadata(let keys): "key \(keys.syncKey) after \(keys.previousSyncKey)"
        default: "\(body)"
        }
    }

    static func outcome(_ outcome: AppendOutcome?) -> String {
        switch outcome {
        case .stored(let places)?: "stored, keys " + places.map { "\($0.key)" }.joined(separator: ", ")
        case .duplicate(let places)?: "known, keys " + places.map { "\($0.key)" }.joined(separator: ", ")
        case .unknown?: "not known"
        case nil: "nothing"
        }
    }

    static func queue(_ queue: QueueID) -> String {
        switch queue {
        case .user(let account): "the queue of user \(account.user.rawValue)"
        case .group(let group): "the queue of group \(group.rawValue)"
        }
    }
}
