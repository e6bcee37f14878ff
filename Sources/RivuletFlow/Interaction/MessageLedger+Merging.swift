import RivuletModel

extension MessageLedger.Entry {
    /// Takes over what a copy of the message says, as far as that is news.
    mutating func absorb(_ incoming: Message, from source: MessageLedger.Source, shell: MessageContent) {
        let isStale = isStale(incoming, from: source)
        message.uuid = message.uuid ?? incoming.uuid
        message.serverKey = incoming.serverKey ?? message.serverKey
        // A place among the unsent never takes the place of a real one.
        let isPlaced = incoming.position.rawValue < MessageLedger.localBase
        if isPlaced || message.position.rawValue >= MessageLedger.localBase, !isStale {
            message.position = incoming.position
        }
        message.state = Self.merged(message.state, incoming.state, isPage: source.isPage)
        sourceRevision = max(sourceRevision, incoming.revision)
        if original != nil, !incoming.state.isFailed, incoming.state != .preparing { original = nil }
        guard !isBurned, message.content != .revoked else { return }
        message.isFavorite = incoming.isFavorite
        // What burned or was withdrawn stays so, whenever that was said.
        if incoming.content == .erased { return burn(to: shell) }
        guard !isStale || incoming.content == .revoked else { return }
        message.timeMilliseconds = incoming.timeMilliseconds
        message.content = incoming.content
        message.reference = incoming.reference
        message.reactions = incoming.reactions
        message.tags = incoming.tags
        message.isPinned = incoming.isPinned
        message.burnSeconds = incoming.burnSeconds
        message.isEdited = incoming.isEdited
        message.isOutgoing = incoming.isOutgoing
    }

    /// Whether a copy may have been made before what is known.
    private func isStale(_ incoming: Message, from source: MessageLedger.Source) -> Bool {
        if case .host = source { return false }
        if incoming.revision != sourceRevision { return incoming.revision < sourceRevision }
        // An engine that counts no revisions does not know what was applied by name; one that does has it in its pages.
        if case .page(let askedAt) = source { return hasOverlay && sourceRevision == 0 || newsTick > askedAt }
        return hasOverlay
    }

    /// How far a message has come when one source says this and another that: it never goes back.
    ///
    /// A failure counts only while the message is on its way, and after it another attempt does.
    static func merged(_ old: Message.State, _ new: Message.State, isPage: Bool) -> Message.State {
        switch (old, new) {
        case (.failed, .preparing), (.failed, .sending): isPage ? old : new
        case (.failed, _): new
        case (.preparing, .failed), (.sending, .failed): new
        case (_, .failed): old
        default: rank(new) > rank(old) ? new : old
        }
    }

    private static func rank(_ state: Message.State) -> Int {
        switch state {
        case .failed: 0
        case .preparing: 1
        case .sending: 2
        case .received: 3
        case .accepted: 4
        case .delivered: 5
        case .read(let count): 6 + max(0, min(count, 1 << 30))
        }
    }
}

extension MessageLedger.Entry {
    /// Leaves an empty shell, for ever.
    mutating func burn(to shell: MessageContent) {
        message.content = shell
        message.reactions = []
        message.tags = []
        message.isEdited = false
        isBurned = true
        votes = [:]
    }
}

extension MessageLedger.Source {
    var isPage: Bool {
        if case .page = self { true } else { false }
    }

    var isHost: Bool {
        if case .host = self { true } else { false }
    }
}

/// A change of a message that is known by its uuid.
struct NamedControl {
    enum Change {
        case control(ControlContent)
        case delivered
        case burned
    }

    var uuid: String
    var change: Change
    var author: UserID
    var milliseconds: Int64

    /// How long a text that grows while it is written may become, in UTF-8 bytes; what is beyond is left out.
    static let streamBytesMax = 1 << 18

    /// How many labels a message takes.
    static let tagsMax = 32

    /// Applies the change for this user; false when it does not apply to this message.
    func apply(to entry: inout MessageLedger.Entry, user: UserID, shell: MessageContent) -> Bool {
        switch change {
        case .delivered:
            guard entry.message.isOutgoing else { return false }
            entry.message.state = MessageLedger.Entry.merged(entry.message.state, .delivered, isPage: false)
            return false
        case .burned:
            guard entry.message.content != .revoked else { return false }
            entry.burn(to: shell)
            return true
        case .control(.custom(let box)):
            guard case .erase? = box.value.effect, mayErase(entry.message, user: user), !entry.isBurned,
                entry.message.content != .revoked
            else { return false }
            entry.burn(to: shell)
            return true
        case .control(let control):
            guard entry.message.content != .revoked, !entry.isBurned else { return false }
            return apply(control, to: &entry)
        }
    }

    /// The author may, and of what burns after reading its readers (see `ContentEffect`).
    private func mayErase(_ message: Message, user: UserID) -> Bool {
        if author == message.sender { return true }
        return message.burnSeconds != nil && (author == user || message.session == .peer(author))
    }

    private func apply(_ control: ControlContent, to entry: inout MessageLedger.Entry) -> Bool {
        switch control {
        case .revoke:
            guard author == entry.message.sender else { return false }
            entry.message.content = .revoked
            entry.message.reactions = []
            entry.message.isEdited = false
            return true
        case .edit(let edit): return apply(edit, to: &entry.message)
        case .reaction(_, let emoji, let isOn):
            return Self.react(&entry.message.reactions, emoji, author, isOn: isOn)
        case .vote(_, let options): return vote(options, &entry)
        case .readed:
            // The word of a reader; the user's own is about somebody else's message and changes nothing here.
            guard entry.message.isOutgoing, author != entry.message.sender else { return false }
            entry.readers.insert(author)
            entry.message.state = MessageLedger.Entry.merged(
                entry.message.state, .read(count: entry.readers.count), isPage: false)
            return false
        case .tag(_, let tag, let isAdded):
            let known = entry.message.tags
            guard known.contains(tag) != isAdded, !isAdded || known.count < Self.tagsMax else {
                return false
            }
            entry.message.tags = isAdded ? (known + [tag]).sorted() : known.filter { $0 != tag }
            return true
        case .pin(_, let isOn):
            guard entry.message.isPinned != isOn else { return false }
            entry.message.isPinned = isOn
            return true
        case .readMark, .custom: return false
        }
    }

    private func apply(_ edit: EditContent, to message: inout Message) -> Bool {
        guard author == message.sender, case .text(var text) = message.content else { return false }
        let wasStreaming = text.isStreaming
        switch edit.change {
        case .replace(let new):
            text.text = new
            text.mentions = edit.mentions
        case .append(let more):
            guard text.text.utf8.count + more.utf8.count <= Self.streamBytesMax else { return false }
            text.text += more
            text.mentions += edit.mentions
        case .none: break
        }
        if edit.endsStream { text.isStreaming = false }
        // A text that grows while it is written is not a changed one.
        if !wasStreaming { message.isEdited = true }
        message.content = .text(text)
        return true
    }

    /// How many different emojis a message takes, and how long each may be in UTF-8: joined ones are long.
    static let reactionKindsMax = 64
    static let emojiBytesMax = 64

    private static func react(
        _ reactions: inout [Message.Reaction], _ emoji: String, _ user: UserID, isOn: Bool
    ) -> Bool {
        let index = reactions.firstIndex { $0.emoji == emoji }
        switch (index, isOn) {
        case (let index?, true):
            guard !reactions[index].users.contains(user) else { return false }
            reactions[index].users.append(user)
        case (nil, true):
            guard reactions.count < reactionKindsMax, (1...emojiBytesMax).contains(emoji.utf8.count) else {
                return false
            }
            reactions.append(Message.Reaction(emoji: emoji, users: [user]))
        case (let index?, false):
            guard let place = reactions[index].users.firstIndex(of: user) else { return false }
            reactions[index].users.remove(at: place)
            if reactions[index].users.isEmpty { reactions.remove(at: index) }
        case (nil, false): return false
        }
        return true
    }

    private func vote(_ options: [Int], _ entry: inout MessageLedger.Entry) -> Bool {
        guard case .poll(let poll) = entry.message.content else { return false }
        if let closes = poll.closesMilliseconds, milliseconds >= closes { return false }
        let chosen = Set(options).filter(poll.options.indices.contains).sorted()
        // As the account's store has it: a vote that does not fit the poll is none.
        guard chosen.count == options.count, poll.allowsMultiple || chosen.count <= 1 else { return false }
        guard entry.votes[author] ?? [] != chosen else { return false }
        entry.votes[author] = chosen.isEmpty ? nil : chosen
        // The tally stands beside the message, so the row is told to look again.
        entry.message.revision += 1
        return true
    }
}

/// Changes of messages that have not come yet; bounded, the oldest go first.
struct WaitingControls {
    private let countMax: Int
    private var order: [String] = []
    private var controls: [String: [NamedControl]] = [:]

    init(countMax: Int) {
        self.countMax = countMax
    }

    mutating func add(_ control: NamedControl) {
        if order.count >= countMax {
            // Half at once, so that a flood is not quadratic.
            for uuid in order.prefix(countMax / 2) { controls[uuid] = nil }
            order.removeFirst(countMax / 2)
        }
        order.append(control.uuid)
        controls[control.uuid, default: []].append(control)
    }

    mutating func take(_ uuid: String) -> [NamedControl] {
        guard let found = controls.removeValue(forKey: uuid) else { return [] }
        order.removeAll { $0 == uuid }
        return found
    }
}
