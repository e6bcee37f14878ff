internal import RivuletClientCore
internal import RivuletWire

/// The delivery receipts that are due: at most one frame a second to each peer, with at most 50 identities
/// (docs/extensions.md, section 1).
struct ReceiptBook {
    private struct Peer {
        var uuids: [String] = []
        var notBefore = ClientInstant.start
    }

    private struct Wrapped: Encodable {
        struct Delivered: Encodable {
            var msgids: [String]
        }

        var delivered: Delivered
    }

    static let uuidCountMax = 50
    /// What waits for one peer beyond this is forgotten, and so are peers beyond this.
    static let waitingCountMax = 500
    static let pause = Duration.seconds(1)

    private var peers: [Int64: Peer] = [:]

    /// Takes note of a message that was stored.
    mutating func add(_ message: ReceivedMessage) {
        guard message.command == .im, !message.isOwn, case .im(let body) = message.body, body.sender > 0,
            let uuid = ContentPeek(body.content)?.uuid, !uuid.isEmpty, uuid.utf8.count <= 128
        else { return }
        guard peers[body.sender] != nil || peers.count < Self.waitingCountMax else { return }
        var peer = peers[body.sender] ?? Peer()
        guard peer.uuids.count < Self.waitingCountMax else { return }
        peer.uuids.append(uuid)
        peers[body.sender] = peer
    }

    /// Takes what may be sent now.
    mutating func takeDue(by user: Int64, at now: ClientInstant) -> [Packet] {
        var packets: [Packet] = []
        for (uid, peer) in peers where peer.notBefore <= now {
            guard !peer.uuids.isEmpty else {
                peers[uid] = nil
                continue
            }
            let uuids = Array(peer.uuids.prefix(Self.uuidCountMax))
            peers[uid]?.uuids.removeFirst(uuids.count)
            peers[uid]?.notBefore = now + Self.pause
            guard let json = JSONText.encode(Wrapped(delivered: .init(msgids: uuids))) else { continue }
            packets.append(Packet(.rt, .room(RTMessage(sender: user, receiver: uid, content: json))))
        }
        return packets
    }

    /// When something may be sent next, or a peer may be forgotten.
    var nextDue: ClientInstant? {
        peers.values.map(\.notBefore).min()
    }
}
