import RivuletModel
import RivuletWire

// RT: relayed to those who are there, never stored (docs/protocol.md, section 13; docs/extensions.md, section 1).
extension NodeCore {
    mutating func relayLive(_ message: RTMessage, of client: NodeClient, on connection: ConnectionID) {
        let author = client.account
        guard message.sender == author.user.rawValue else { return }
        if let limit = limits.livePerConnection,
            clients[connection]?.liveMeter.takeIfAllowed(limit, at: now) == false
        {
            counts.limited += 1
            return
        }
        guard message.receiver != 0 else {
            answerPresence(message, of: client, on: connection)
            return
        }
        let live = [Packet(.rt, .room(message))]
        let origin = LiveAuthor(account: author, device: client.device, connection: connection)
        if let group = ContentScanner.integer(at: LivePath.typingGroup, in: message.content),
            group == message.receiver
        {
            relayTyping(live, in: GroupID(group), from: origin)
            return
        }
        let receiver = Account(app: author.app, user: UserID(message.receiver))
        guard refusal(from: author, to: receiver) == nil else { return }
        broadcast(live, to: audience(of: receiver, without: origin))
    }

    /// Typing in a group reaches the members who looked at the group lately, and nobody else.
    private mutating func relayTyping(_ live: [Packet], in id: GroupID, from author: LiveAuthor) {
        guard let group = memberships.group(id), group.app == author.account.app,
            group.refusal(of: author.account.user) == nil
        else { return }
        groupViews.note(author.account, in: id, at: now)
        var connections: [ConnectionID] = []
        for viewer in groupViews.viewers(of: id, at: now) where group.member(viewer.user) != nil {
            connections += audience(of: viewer, without: author)
        }
        broadcast(live, to: connections)
    }

    /// A read mark or a receipt for a group says that its author has the group on the screen.
    mutating func noteGroupView(in content: String, by author: Account) {
        guard content.utf8.count < 1024, Self.mayTellGroupView(content) else { return }
        let group: Int64?
        if ContentScanner.string(at: LivePath.readMarkKind, in: content) == Array("group".utf8) {
            group = ContentScanner.integer(at: LivePath.readMarkID, in: content)
        } else if ContentScanner.string(at: LivePath.readReceipt, in: content) != nil {
            group = ContentScanner.integer(at: LivePath.groupID, in: content)
        } else {
            group = nil
        }
        guard let group, memberships.group(GroupID(group))?.member(author.user) != nil else { return }
        groupViews.note(author, in: GroupID(group), at: now)
    }

    private static let readKeyStart = Array("\"read".utf8)

    /// Whether a content may be a read mark or a receipt: both have `"read` in them, and nearly no text has.
    ///
    /// Each message is asked; reading it as JSON three times would cost as much as all other checks.
    private static func mayTellGroupView(_ content: String) -> Bool {
        content.utf8.withContiguousStorageIfAvailable { bytes in
            bytes.indices.contains { start in
                bytes[start] == UInt8(ascii: "\"") && bytes[start...].starts(with: readKeyStart)
            }
        } ?? true
    }

    // MARK: Presence

    /// `{"presence":{"watch":[…]}}` to uid 0: from now on the connection hears of these users, and of no others.
    private mutating func answerPresence(
        _ message: RTMessage, of client: NodeClient, on connection: ConnectionID
    ) {
        guard
            let watched = ContentScanner.integers(
                at: LivePath.watch, in: message.content, countMax: limits.watchedMax)
        else { return }
        let accounts = watched.map { Account(app: client.account.app, user: UserID($0)) }
        presence.watch(accounts, on: connection)
        let states = accounts.map { state(of: $0, for: client.account) }
        // The answer goes out in parts that fit into a frame.
        for start in stride(from: 0, to: states.count, by: 250) {
            sendPresence(Array(states[start..<min(start + 250, states.count)]), to: connection)
        }
    }

    /// Tells those who watch a user that the user came or went.
    mutating func tellPresence(of account: Account) {
        if connectionsOfUser[account] == nil { presence.left(account, at: now) }
        for watcher in presence.watchers(of: account) {
            guard let client = clients[watcher] else { continue }
            sendPresence([state(of: account, for: client.account)], to: watcher)
        }
    }

    /// To somebody who is blocked a user is never online.
    private func state(of account: Account, for watcher: Account) -> PresenceState {
        let isHidden = rules.checksBlacklist && memberships.isBlocked(watcher.user, by: account)
        let isOnline = !isHidden && connectionsOfUser[account] != nil
        return PresenceState(
            user: account.user, isOnline: isOnline,
            lastSeen: isOnline || isHidden ? nil : presence.lastSeen(account))
    }

    private mutating func sendPresence(_ states: [PresenceState], to connection: ConnectionID) {
        guard let client = clients[connection] else { return }
        let content = "{\"presence\":{\"states\":[\(states.map(\.json).joined(separator: ","))]}}"
        let message = RTMessage(sender: 0, receiver: client.account.user.rawValue, content: content)
        send([Packet(.rt, .room(message))], to: connection, as: .push)
    }
}

/// Where the live contents that the server looks into have what it looks for.
enum LivePath {
    static let typingGroup = path("typing", "group")
    static let watch = path("presence", "watch")
    static let readMarkKind = path("read_mark", "kind")
    static let readMarkID = path("read_mark", "id")
    static let readReceipt = path("readed", "msgid")
    static let groupID = path("group_id")

    private static func path(_ keys: String...) -> [[UInt8]] {
        keys.map { Array($0.utf8) }
    }
}
