import RivuletModel
import RivuletWire

// SYNC, SYNC_GROUP and their pages (docs/protocol.md, sections 11.2, 11.4 and 23.4).
extension NodeCore {
    mutating func request(_ request: PageRequest, on connection: ConnectionID) {
        guard let client = clients[connection] else { return }
        guard client.waitingSyncs.count < limits.waitingSyncsMax else {
            actions.append(.close(connection, .tooManyRequests, afterMilliseconds: 0))
            return
        }
        clients[connection]?.waitingSyncs.append(request)
        if client.waitingSyncs.isEmpty { actions.append(.load(connection, request)) }
    }

    /// The public server is silent to strangers and about groups that are not loaded; here each request is answered
    /// (docs/protocol.md, section 21, pitfall 17).
    mutating func requestGroupSync(
        _ body: GroupSyncKey, of client: NodeClient, on connection: ConnectionID
    ) {
        guard let (group, member) = superGroup(body.groupID, of: client.account) else {
            let answer = PacketBody.groupSyncKey(GroupSyncKey(groupID: body.groupID, key: max(body.key, 0)))
            send([Packet(.syncGroupBegin, answer), Packet(.syncGroupEnd, answer)], to: connection)
            return
        }
        request(
            PageRequest(
                queue: .group(group), reader: client.account, after: body.key,
                notBefore: member.joinedKey == nil ? member.joined.timestamp : .min,
                joinedKey: member.joinedKey ?? 0), on: connection)
    }

    mutating func reportGroupKey(_ body: GroupSyncKey, of client: NodeClient) {
        guard let (group, _) = superGroup(body.groupID, of: client.account) else { return }
        actions.append(.reportKey(.group(group), client.account, body.key))
    }

    private func superGroup(_ id: Int64, of account: Account) -> (GroupID, GroupMember)? {
        guard let group = memberships.group(GroupID(id)), group.isSuper, group.app == account.app,
            let member = group.member(account.user)
        else { return nil }
        return (group.id, member)
    }

    mutating func answerSync(on connection: ConnectionID, with page: SyncPage) {
        guard let client = clients[connection], let request = client.waitingSyncs.first else { return }
        var packets: [Packet] = []
        packets.reserveCapacity(page.messages.count + 3)
        packets.append(Packet.begin(request.queue, page.start))
        for message in page.messages {
            packets.append(Packet(message, to: client.account, on: client.device))
        }
        packets.append(Packet.end(request.queue, page.end))
        if page.hasMore {
            // A key above the client's own makes it ask again; there is no other sign for "more".
            packets.append(Packet.notify(request.queue, page.end + 1))
        }
        send(packets, to: connection)
        nextSync(on: connection)
    }

    /// The log could not be read: the round ends where it began, so that the client keeps its key and asks again
    /// when it next hears of something new.
    mutating func answerFailedSync(on connection: ConnectionID) {
        guard let request = clients[connection]?.waitingSyncs.first else { return }
        let kept = max(request.after, 0)
        send([Packet.begin(request.queue, kept), Packet.end(request.queue, kept)], to: connection)
        nextSync(on: connection)
    }

    private mutating func nextSync(on connection: ConnectionID) {
        clients[connection]?.waitingSyncs.removeFirst()
        guard let next = clients[connection]?.waitingSyncs.first else { return }
        actions.append(.load(connection, next))
    }
}

extension Packet {
    fileprivate static func begin(_ queue: QueueID, _ key: Int64) -> Packet {
        Packet(queue, key, user: .syncBegin, group: .syncGroupBegin)
    }

    fileprivate static func end(_ queue: QueueID, _ key: Int64) -> Packet {
        Packet(queue, key, user: .syncEnd, group: .syncGroupEnd)
    }

    fileprivate static func notify(_ queue: QueueID, _ key: Int64) -> Packet {
        Packet(queue, key, user: .syncNotify, group: .syncGroupNotify)
    }

    private init(_ queue: QueueID, _ key: Int64, user: Command, group: Command) {
        switch queue {
        case .user: self.init(user, .syncKey(key))
        case .group(let id): self.init(group, .groupSyncKey(GroupSyncKey(groupID: id.rawValue, key: key)))
        }
    }
}
