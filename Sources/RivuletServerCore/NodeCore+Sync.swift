import RivuletModel
import RivuletWire

// SYNC and its pages (docs/protocol.md, sections 11.2 and 23.4).
extension NodeCore {
    mutating func requestSync(after key: Int64, on connection: ConnectionID, of client: NodeClient) {
        guard client.waitingSyncs.count < limits.waitingSyncsMax else {
            actions.append(.close(connection, .tooManyRequests, afterMilliseconds: 0))
            return
        }
        clients[connection]?.waitingSyncs.append(key)
        if client.waitingSyncs.isEmpty {
            actions.append(.load(connection, client.account.user, after: key))
        }
    }

    mutating func answerSync(on connection: ConnectionID, with page: SyncPage) {
        guard let client = clients[connection], !client.waitingSyncs.isEmpty else { return }
        var packets: [Packet] = []
        packets.reserveCapacity(page.messages.count + 3)
        packets.append(Packet(.syncBegin, .syncKey(page.start)))
        for message in page.messages {
            packets.append(Packet(message, to: client.account.user, on: client.device))
        }
        packets.append(Packet(.syncEnd, .syncKey(page.end)))
        if page.hasMore {
            // A key above the client's own makes it ask again; there is no other sign for "more".
            packets.append(Packet(.syncNotify, .syncKey(page.end + 1)))
        }
        send(packets, to: connection)
        nextSync(on: connection)
    }

    /// The log could not be read: the round ends where it began, so that the client keeps its key and asks again
    /// when it next hears of something new.
    mutating func answerFailedSync(on connection: ConnectionID) {
        guard let key = clients[connection]?.waitingSyncs.first else { return }
        let kept = PacketBody.syncKey(max(key, 0))
        send([Packet(.syncBegin, kept), Packet(.syncEnd, kept)], to: connection)
        nextSync(on: connection)
    }

    private mutating func nextSync(on connection: ConnectionID) {
        clients[connection]?.waitingSyncs.removeFirst()
        guard let client = clients[connection], let next = client.waitingSyncs.first else { return }
        actions.append(.load(connection, client.account.user, after: next))
    }
}
