import RivuletModel
import RivuletWire

// Rooms: relayed, never stored, with a bounded history (docs/protocol.md, section 13).
extension NodeCore {
    /// One room per connection: entering another leaves the first; a newer connection of the same device takes the
    /// place of the older one.
    mutating func enterRoom(_ room: RoomID, of client: NodeClient, on connection: ConnectionID) {
        guard room != RoomID(0), room != client.room else { return }
        leaveRoom(connection, client.room)
        if client.device != .none {
            for own in connectionsOfUser[client.account] ?? [] where own != connection {
                guard let other = clients[own], other.room == room,
                    other.device.isSameDevice(as: client.device)
                else { continue }
                clients[own]?.room = RoomID(0)
                leaveRoom(own, room)
            }
        }
        rooms[room, default: []].append(connection)
        clients[connection]?.room = room
    }

    mutating func leaveRoom(_ connection: ConnectionID, _ room: RoomID) {
        guard room != RoomID(0), var members = rooms.removeValue(forKey: room) else { return }
        members.removeAll { $0 == connection }
        if !members.isEmpty { rooms[room] = members }
    }

    mutating func relayToRoom(
        _ message: RoomMessage, _ packet: Packet, of client: NodeClient, on connection: ConnectionID
    ) {
        let author = client.account
        guard message.sender == author.user.rawValue else { return }
        meter(client, on: connection)
        let room = RoomID(message.receiver)
        guard room != RoomID(0), room == client.room else {
            // The public server says nothing; here each message is answered (docs/protocol.md, section 12).
            acknowledge(packet.sequence, status: .notGroupMember, on: connection)
            return
        }
        guard !memberships.isBanned(author, from: room) else {
            acknowledge(packet.sequence, status: .memberMuted, on: connection)
            return
        }
        var message = message
        switch filtered(message.content, of: author, .roomIM, to: message.receiver) {
        case .keep: break
        case .replace(let content): message.content = content
        case .refuse(let status):
            acknowledge(packet.sequence, status: status, on: connection)
            return
        }
        keep(message, of: author, in: room)
        let live = [Packet(.roomIM, .room(message), flags: packet.flags.intersection(.text))]
        broadcast(live, to: roomAudience(room, of: client, on: connection))
        acknowledge(packet.sequence, on: connection)
    }

    private func roomAudience(
        _ room: RoomID, of client: NodeClient, on connection: ConnectionID
    ) -> [ConnectionID] {
        var audience = rooms[room] ?? []
        // The author's other connections are few: they are looked up, not each of the room's.
        let own = (connectionsOfUser[client.account] ?? []).filter { candidate in
            candidate == connection
                || clients[candidate].map { $0.device.isSameDevice(as: client.device) } ?? false
        }
        audience.removeAll { own.contains($0) }
        return audience
    }

    // MARK: History

    private mutating func keep(_ message: RoomMessage, of author: Account, in room: RoomID) {
        guard rules.roomHistoryCountMax > 0 else { return }
        if roomHistories[room] == nil, roomHistories.count >= rules.roomHistoriesMax,
            let quietest = roomHistories.min(by: { $0.value.lastTime < $1.value.lastTime })?.key
        {
            roomHistories[quietest] = nil
        }
        lastRoomKey = RoomKey.next(after: lastRoomKey, at: now)
        roomHistories[room, default: RoomHistory()].add(
            RoomHistoryEntry(key: lastRoomKey, author: author, time: now, content: message.content), rules)
    }

    /// Some messages of a room, oldest first: the newest, the last before a key, or the first after one.
    ///
    /// - Parameters:
    ///   - room: The room.
    ///   - before: Only messages with a smaller key.
    ///   - after: Only messages with a greater key, the oldest of them.
    ///   - limit: At most so many.
    ///   - time: Now, for their age.
    /// - Returns: At most `limit` messages.
    public func roomHistory(
        of room: RoomID, before: Int64? = nil, after: Int64? = nil, limit: Int, at time: WallTime
    ) -> [RoomHistoryEntry] {
        guard var history = roomHistories[room] else { return [] }
        history.expire(at: time, rules)
        let entries = history.current.drop { $0.key <= after ?? .min }.prefix { $0.key < before ?? .max }
        return Array(after == nil ? entries.suffix(max(0, limit)) : entries.prefix(max(0, limit)))
    }
}
