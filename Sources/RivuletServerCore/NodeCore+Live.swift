import RivuletModel
import RivuletWire

// What is relayed and never stored: RT and rooms (docs/protocol.md, section 13).
extension NodeCore {
    mutating func relayLive(_ message: RTMessage, of client: NodeClient, on connection: ConnectionID) {
        guard message.sender == client.account.user.rawValue else { return }
        let audience = audience(
            of: UserID(message.receiver), without: client.account.user, on: connection, device: client.device)
        for listener in audience {
            send([Packet(.rt, .room(message))], to: listener, as: .push)
        }
    }

    /// One room per connection: entering another leaves the first; a newer connection of the same device takes the
    /// place of the older one.
    mutating func enterRoom(_ room: Int64, of client: NodeClient, on connection: ConnectionID) {
        guard room != 0, room != client.room else { return }
        leaveRoom(connection, client.room)
        for member in rooms[room] ?? [] {
            guard let other = clients[member], other.account == client.account,
                other.device.isSameDevice(as: client.device)
            else { continue }
            clients[member]?.room = 0
            leaveRoom(member, room)
        }
        rooms[room, default: []].append(connection)
        clients[connection]?.room = room
    }

    mutating func leaveRoom(_ connection: ConnectionID, _ room: Int64) {
        guard room != 0, var members = rooms.removeValue(forKey: room) else { return }
        members.removeAll { $0 == connection }
        if !members.isEmpty { rooms[room] = members }
    }

    mutating func relayToRoom(
        _ message: RoomMessage, _ packet: Packet, of client: NodeClient, on connection: ConnectionID
    ) {
        guard message.sender == client.account.user.rawValue, message.receiver != 0,
            message.receiver == client.room
        else { return }
        let live = [Packet(.roomIM, .room(message), flags: packet.flags.intersection(.text))]
        for member in rooms[client.room] ?? [] where member != connection {
            guard let other = clients[member] else { continue }
            let isAuthor = other.account == client.account && other.device.isSameDevice(as: client.device)
            if !isAuthor { send(live, to: member, as: .push) }
        }
        acknowledge(packet.sequence, on: connection)
    }
}
