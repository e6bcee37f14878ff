import RivuletModel
import RivuletWire

// Taking stored messages: checks, limits, the filter, the queues (docs/protocol.md, sections 11.6 and 12).
extension NodeCore {
    mutating func takePeerMessage(
        _ message: IMMessage, _ packet: Packet, of client: NodeClient, on connection: ConnectionID
    ) {
        let author = client.account
        // A forged sender gets silence (docs/protocol.md, section 23, item 3).
        guard message.sender == author.user.rawValue else { return }
        meter(client, on: connection)
        let receiver = Account(app: author.app, user: UserID(message.receiver))
        let entry = LogEntry(
            author: author, device: client.device, command: .im, flags: packet.flags.intersection(.text),
            receiver: message.receiver, timestamp: now.timestamp, msgLocalID: message.msgLocalID,
            content: message.content, queues: [.user(receiver), .user(author)])
        if let refusal = refusal(from: author, to: receiver) {
            refuse(entry, refusal, packet.sequence, on: connection)
            return
        }
        noteGroupView(in: message.content, by: author)
        take(entry, packet.sequence, on: connection)
    }

    mutating func takeGroupMessage(
        _ message: IMMessage, _ packet: Packet, of client: NodeClient, on connection: ConnectionID
    ) {
        let author = client.account
        guard message.sender == author.user.rawValue else { return }
        meter(client, on: connection)
        let found = memberships.group(GroupID(message.receiver))
        let group = found?.app == author.app ? found : nil
        let refusal = group.map { $0.refusal(of: author.user) } ?? .noSuchGroup
        let entry = LogEntry(
            author: author, device: client.device, command: .groupIM,
            flags: packet.flags.intersection(.text), receiver: message.receiver, timestamp: now.timestamp,
            msgLocalID: message.msgLocalID, content: message.content,
            queues: group?.queues(authorLast: author.user, refusal: refusal) ?? [])
        if let refusal {
            refuse(entry, refusal, packet.sequence, on: connection)
            return
        }
        groupViews.note(author, in: GroupID(message.receiver), at: now)
        take(entry, packet.sequence, on: connection)
    }

    mutating func takeCustomerMessage(
        _ message: CustomerMessageV2, _ packet: Packet, of client: NodeClient, on connection: ConnectionID
    ) {
        let author = client.account
        guard message.sender == author.user.rawValue, message.senderAppID == author.app else { return }
        meter(client, on: connection)
        if let service = rules.customerServiceApp, message.senderAppID != service,
            message.receiverAppID != service
        {
            acknowledge(packet.sequence, status: .notCustomerService, on: connection)
            return
        }
        let receiver = Account(app: message.receiverAppID, user: UserID(message.receiver))
        take(
            LogEntry(
                author: author, device: client.device, command: .customerV2,
                flags: packet.flags.intersection(.text), receiver: message.receiver,
                receiverApp: message.receiverAppID, timestamp: now.timestamp, msgLocalID: 0,
                content: message.content, queues: [.user(receiver), .user(author)]),
            packet.sequence, on: connection)
    }

    /// Refuses a message, unless it is one that was taken before and whose ACK was lost: its author could no longer
    /// write it, but did when it came first, and everybody else has it.
    private mutating func refuse(
        _ entry: LogEntry, _ status: ACKStatus, _ sequence: Int32, on connection: ConnectionID
    ) {
        let flags: PacketFlags = entry.isInSuperGroup ? .superGroup : []
        guard MessageIdentity(entry)?.isPermanent == true else {
            acknowledge(sequence, status: status, flags: flags, on: connection)
            return
        }
        var entry = entry
        entry.isRepeatOnly = true
        taken.append(
            PendingMessage(
                origin: .client(connection, sequence), entry: entry, refusal: (status, flags)))
    }

    /// Lets the filter see the entry and puts it into the batch of this call.
    private mutating func take(_ entry: LogEntry, _ sequence: Int32, on connection: ConnectionID) {
        var entry = entry
        switch filtered(entry.content, of: entry.author, entry.command, to: entry.receiver) {
        case .keep: break
        case .replace(let content): entry.content = content
        case .refuse(let status):
            acknowledge(sequence, status: status, on: connection)
            return
        }
        taken.append(PendingMessage(origin: .client(connection, sequence), entry: entry))
    }

    func filtered(
        _ content: String, of author: Account, _ command: Command, to receiver: Int64
    ) -> FilterVerdict {
        guard let filter else { return .keep }
        return filter(
            FilteredMessage(author: author, command: command, receiver: receiver, content: content))
    }

    /// Why a user may not write to another; the checks run in the order 1, 2, 3 (docs/protocol.md, section 6).
    func refusal(from author: Account, to receiver: Account) -> ACKStatus? {
        guard author != receiver else { return nil }
        if rules.checksFriends {
            if !memberships.isFriend(receiver.user, of: author) { return .receiverNotFriend }
            if !memberships.isFriend(author.user, of: receiver) { return .senderNotFriend }
        }
        if rules.checksBlacklist, memberships.isBlocked(author.user, by: receiver) { return .senderBlocked }
        return nil
    }

    /// Counts a message; who sends too many is not read for a while, so that nothing is lost.
    mutating func meter(_ client: NodeClient, on connection: ConnectionID) {
        var pause: Int64 = 0
        if let limit = limits.messagesPerUser {
            pause = userMeters.take(limit, for: client.account, at: now)
        }
        if let limit = limits.messagesPerDevice, client.device != .none {
            pause = max(pause, deviceMeters.take(limit, for: client.device, at: now))
        }
        guard pause > 0 else { return }
        counts.limited += 1
        actions.append(.pauseReading(connection, milliseconds: min(pause, 10_000)))
    }
}

extension ChatGroup {
    /// Why a user may not write in the group; a member's own mute weighs more than the group's.
    func refusal(of user: UserID) -> ACKStatus? {
        guard let member = member(user) else { return .notGroupMember }
        if member.isMuted { return .memberMuted }
        if isMuted, member.role == .member { return .groupMuted }
        return nil
    }

    /// The queues of a message to the group, the author's last: one log for a super group, else each member's.
    ///
    /// A message that is refused goes to no member, so the members of a large group are not gone through for it.
    func queues(authorLast author: UserID, refusal: ACKStatus? = nil) -> [QueueID] {
        guard !isSuper else { return [.group(id)] }
        guard refusal == nil else { return [] }
        var queues: [QueueID] = []
        queues.reserveCapacity(members.count)
        for member in members where member.user != author {
            queues.append(.user(Account(app: app, user: member.user)))
        }
        if member(author) != nil { queues.append(.user(Account(app: app, user: author))) }
        return queues
    }
}
