import RivuletModel

/// The tables of an account in memory: plain dictionaries, copied as a whole to undo a transaction.
final class MemoryTables: StoreTables, PageTables {
    struct State {
        var counters = Counters()
        var sessions: [Int64: SessionRow] = [:]
        var sessionNumbers: [Session: Int64] = [:]
        var messages: [Int64: MessageRow] = [:]
        var uuids: [String: Int64] = [:]
        /// The shown rows of each conversation, by position.
        var places: [Int64: [(position: Int64, id: Int64)]] = [:]
        var sends: [Int64: SendRow] = [:]
        var peerKey: Int64?
        var groupKeys: [Int64: Int64] = [:]
        var reactions: [Int64: [(emoji: String, user: UserID)]] = [:]
        var readers: [Int64: Set<Int64>] = [:]
        var votes: [Int64: [Int64: [Int]]] = [:]
        var earlierTexts: [Int64: [String]] = [:]
        var waiting: [WaitingControl] = []
        var ownChanges: [Int64: OwnChange] = [:]
        var searchTexts: [Int64: String] = [:]
        var tags: [Int64: Set<String>] = [:]
        /// In the order in which they were made.
        var favorites: [Int64] = []
        var contacts: [UserID: Contact] = [:]
        var groups: [Int64: GroupProfile] = [:]
        var members: [Int64: [UserID: GroupMemberProfile]] = [:]
    }

    /// How many controls may wait for their targets.
    static let waitingMax = 10_000

    var state: State

    init(state: State) {
        self.state = state
    }

    func counters() -> Counters { state.counters }

    func save(_ counters: Counters) { state.counters = counters }

    // MARK: Conversations

    func session(_ session: Session) -> SessionRow? {
        state.sessionNumbers[session].flatMap { state.sessions[$0] }
    }

    func session(id: Int64) -> SessionRow? { state.sessions[id] }

    func insert(_ session: Session) -> SessionRow {
        let row = SessionRow(id: Int64(state.sessions.count) + 1, session: session)
        state.sessions[row.id] = row
        state.sessionNumbers[session] = row.id
        return row
    }

    func save(_ row: SessionRow) { state.sessions[row.id] = row }

    // MARK: Messages

    func message(id: Int64) -> MessageRow? { state.messages[id] }

    func message(uuid: String) -> MessageRow? { state.uuids[uuid].flatMap { state.messages[$0] } }

    func message(likeSender sender: Int64, localNumber: Int64, timeMilliseconds: Int64, session: Int64)
        -> MessageRow?
    {
        state.messages.values.filter { row in
            row.uuid == nil && row.sender == sender && row.localNumber == localNumber
                && row.timeMilliseconds == timeMilliseconds && row.session == session
        }.min { $0.id < $1.id }
    }

    func insert(_ row: MessageRow) {
        state.messages[row.id] = row
        if let uuid = row.uuid { state.uuids[uuid] = row.id }
        if let position = row.position { place(row.id, at: position, in: row.session) }
    }

    func update(_ row: MessageRow) {
        guard let before = state.messages[row.id] else { return }
        state.messages[row.id] = row
        guard before.position != row.position else { return }
        if let position = before.position { unplace(at: position, in: row.session) }
        if let position = row.position { place(row.id, at: position, in: row.session) }
    }

    func last(in session: Int64) -> MessageRow? {
        (state.places[session]?.last).flatMap { state.messages[$0.id] }
    }

    func countUnread(in session: Int64, after position: Int64) -> (unread: Int64, mentions: Int64) {
        var counts: (unread: Int64, mentions: Int64) = (0, 0)
        let places = state.places[session] ?? []
        for place in places[firstIndex(in: session, after: position)...] {
            guard let row = state.messages[place.id], row.flags.contains(.counts) else { continue }
            counts.unread += 1
            if row.flags.contains(.mention) { counts.mentions += 1 }
        }
        return counts
    }

    func shown(in session: Int64, after position: Int64, limit: Int) -> [MessageRow] {
        let places = state.places[session] ?? []
        let start = firstIndex(in: session, after: position)
        return places[start...].prefix(limit).compactMap { state.messages[$0.id] }
    }

    func shown(in session: Int64, before position: Int64, limit: Int) -> [MessageRow] {
        let places = state.places[session] ?? []
        var end = firstIndex(in: session, after: position)
        if end > 0, places[end - 1].position == position { end -= 1 }
        return places[..<end].suffix(limit).compactMap { state.messages[$0.id] }
    }

    func firstPosition(in session: Int64, fromMilliseconds: Int64) -> Int64? {
        state.places[session]?.first { place in
            (state.messages[place.id]?.timeMilliseconds ?? 0) >= fromMilliseconds
        }?.position
    }

    /// The index of the first place behind the position.
    private func firstIndex(in session: Int64, after position: Int64) -> Int {
        let places = state.places[session] ?? []
        var low = 0
        var high = places.count
        while low < high {
            let middle = (low + high) / 2
            if places[middle].position > position { high = middle } else { low = middle + 1 }
        }
        return low
    }

    private func place(_ id: Int64, at position: Int64, in session: Int64) {
        let index = firstIndex(in: session, after: position)
        state.places[session, default: []].insert((position, id), at: index)
    }

    private func unplace(at position: Int64, in session: Int64) {
        let index = firstIndex(in: session, after: position) - 1
        guard index >= 0, state.places[session]?[index].position == position else { return }
        state.places[session]?.remove(at: index)
    }

    // MARK: Sends and keys

    func insert(_ row: SendRow) { state.sends[row.send.number] = row }

    func send(number: Int64) -> SendRow? { state.sends[number] }

    func sends(ofMessage id: Int64) -> [SendRow] { state.sends.values.filter { $0.message == id } }

    func deleteSend(number: Int64) { state.sends[number] = nil }

    func setKey(group: Int64?, key: Int64) {
        if let group { state.groupKeys[group] = key } else { state.peerKey = key }
    }

    func deleteKey(group: Int64) { state.groupKeys[group] = nil }

    // MARK: What belongs to a message

    func reactions(of message: Int64) -> [Message.Reaction] {
        var all: [Message.Reaction] = []
        for (emoji, user) in state.reactions[message] ?? [] {
            if let index = all.firstIndex(where: { $0.emoji == emoji }) {
                all[index].users.append(user)
            } else {
                all.append(Message.Reaction(emoji: emoji, users: [user]))
            }
        }
        return all
    }

    func setReaction(_ emoji: String, of user: Int64, on message: Int64, isOn: Bool) {
        var all = state.reactions[message] ?? []
        let entry = (emoji: emoji, user: UserID(user))
        if !isOn {
            all.removeAll { $0 == entry }
        } else if !all.contains(where: { $0 == entry }) {
            all.append(entry)
        }
        state.reactions[message] = all
    }

    func deleteReactions(of message: Int64) { state.reactions[message] = nil }

    func addReader(_ user: Int64, of message: Int64) -> Int64 {
        state.readers[message, default: []].insert(user)
        return Int64(state.readers[message]?.count ?? 0)
    }

    func setVote(_ options: [Int], of user: Int64, on message: Int64) {
        state.votes[message, default: [:]][user] = options
    }

    func keepEarlierText(_ text: String, of message: Int64, timeMilliseconds: Int64) {
        state.earlierTexts[message, default: []].append(text)
    }

    func deleteEarlierTexts(of message: Int64) { state.earlierTexts[message] = nil }

    func insert(_ waiting: WaitingControl) {
        state.waiting.append(waiting)
        if state.waiting.count > Self.waitingMax { state.waiting.removeFirst() }
    }

    func takeWaiting(for target: String) -> [WaitingControl] {
        let taken = state.waiting.filter { $0.target == target }
        if !taken.isEmpty { state.waiting.removeAll { $0.target == target } }
        return taken
    }

    func insert(_ change: OwnChange) { state.ownChanges[change.id] = change }

    func ownChange(_ id: Int64) -> OwnChange? { state.ownChanges[id] }

    func ownChanges(of target: String) -> [OwnChange] {
        // Asked for every withdrawn or deleted message, and mostly there is none.
        guard !state.ownChanges.isEmpty else { return [] }
        return state.ownChanges.values.filter { $0.target == target }.sorted { $0.id < $1.id }
    }

    func deleteOwnChange(_ id: Int64) { state.ownChanges[id] = nil }

    func index(_ text: String, row: MessageRow) { state.searchTexts[row.id] = text }

    func unindex(_ text: String, row: MessageRow) { state.searchTexts[row.id] = nil }
}
