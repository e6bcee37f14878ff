import RivuletModel

/// What is known about the messages of one session: which rows they are, and what was last heard of each.
///
/// One message may come three times, as a push, in a page and as the answer to a send, each time under another id. The
/// ledger gives all of them the identity of the row that was there first. It is a value: it knows no clock and no thread.
struct MessageLedger {
    /// How a message came.
    enum Source {
        /// In a page that was asked for at this tick.
        case page(askedAt: Int)
        /// As news of the engine.
        case news
        /// From the host or the user of this device, who are always right.
        case host
    }

    /// One message.
    struct Entry {
        /// As it is shown.
        var message: Message
        /// The id under which the engine knows it; nil when the engine does not know it yet.
        var engineID: MessageID?
        /// The engine's revision of it.
        var sourceRevision: Int
        /// When news last changed it.
        var newsTick = 0
        /// Whether changes were applied to it which the engine's pages may not have.
        var hasOverlay = false
        /// Whether it burned.
        var isBurned = false
        /// As the user wrote it, for another attempt; nil once the service had it.
        var original: Message?
        /// Who has read it.
        var readers: Set<UserID> = []
        /// The votes of a poll.
        var votes: [UserID: [Int]] = [:]
        /// Other ids under which the engine spoke of it.
        var aliases: [MessageID] = []
        /// When it was last looked at, for forgetting.
        var touchTick = 0
    }

    /// What bringing messages in did.
    struct Outcome {
        /// All of them as they are shown, each row once, in the order in which they came.
        var messages: [Message] = []
        /// Those that were not known before.
        var inserted: Set<MessageID> = []
        /// Those that were known and changed.
        var changed: [Message] = []
        /// Rows that turned out to be the same message as another one, and have to go.
        var absorbed: [MessageID] = []
    }

    /// Ids and positions of messages that only this device knows start here, after all others.
    static let localBase: Int64 = 1 << 62
    /// How many removed messages, and changes of unknown ones, are remembered.
    static let memoryCountMax = 4_096

    let session: Session
    let user: UserID
    var burnedShell: MessageContent
    private(set) var entries: [MessageID: Entry] = [:]
    private var byUUID: [String: MessageID] = [:]
    private var byKey: [Int64: MessageID] = [:]
    private var byEngineID: [MessageID: MessageID] = [:]
    private var removed: Set<MessageID> = []
    private var removedUUIDs: Set<String> = []
    private var waiting = WaitingControls(countMax: memoryCountMax)
    private(set) var counters = MergeCounters()
    private(set) var tick = 0
    private var lastLocal: Int64 = 0
    /// The last position that any unsent message has.
    private var lastUnsent = localBase

    init(session: Session, user: UserID, burnedShell: MessageContent = .notice("")) {
        self.session = session
        self.user = user
        self.burnedShell = burnedShell
    }

    // MARK: look-up

    subscript(_ id: MessageID) -> Entry? { entries[id] }

    /// The row of a message by any of its names; nil when it is not known.
    func row(uuid: String) -> MessageID? { byUUID[uuid] }

    /// The row of the message that the engine knows under this id.
    func row(engineID: MessageID) -> MessageID? {
        byEngineID[engineID] ?? (entries[engineID]?.engineID == nil ? nil : engineID)
    }

    /// The message in the engine's words: with the engine's id.
    func engineForm(of message: Message) -> Message {
        var message = message
        if let id = entries[message.id]?.engineID { message.id = id }
        return message
    }

    /// The message from which a page may extend: the given one, or the nearest that the engine knows.
    func anchor(for message: Message) -> Message? {
        if entries[message.id].map({ $0.engineID != nil }) ?? true { return engineForm(of: message) }
        return entries.values.filter { $0.engineID != nil && $0.message.position <= message.position }
            .max { ($0.message.position, $0.message.id) < ($1.message.position, $1.message.id) }
            .map { engineForm(of: $0.message) }
    }

    /// The messages that only this device knows: being prepared, or failed before the service had them, or the host's.
    var localMessages: [Message] {
        entries.values.filter { $0.engineID == nil }.map(\.message).sorted { $0.id < $1.id }
    }

    /// The newest message that the engine has placed.
    var newest: Message? {
        entries.values.lazy.map(\.message).filter { $0.position.rawValue < Self.localBase }
            .max { ($0.position, $0.id) < ($1.position, $1.id) }
    }

    mutating func nextTick() -> Int {
        tick += 1
        return tick
    }

    mutating func noteStale() { counters.staleAnswers += 1 }

    // MARK: messages of this device

    /// Gives a message that only this device knows its row, after all others.
    mutating func makeLocal(_ message: Message, at position: MessagePosition? = nil) -> Message {
        lastLocal += 1
        var message = message
        message.session = session
        message.id = MessageID(Self.localBase + lastLocal)
        lastUnsent = max(lastUnsent, Self.localBase) + 1
        message.position = position ?? MessagePosition(lastUnsent)
        insert(message, engineID: nil, source: .host)
        return message
    }

    /// Changes a row by the word of this device; nil when it is not known or nothing changed.
    mutating func change(_ id: MessageID, _ change: (inout Entry) -> Void) -> Message? {
        guard var entry = entries[id] else { return nil }
        let before = entry.message
        change(&entry)
        entry.message.id = id
        if Self.looksDifferent(before, entry.message) { entry.message.revision = before.revision + 1 }
        entry.newsTick = nextTick()
        entry.touchTick = tick
        store(entry, id)
        return entry.message == before ? nil : entry.message
    }

    // MARK: messages of the engine

    /// Brings messages in by identity.
    ///
    /// - Parameters:
    ///   - batch: The messages.
    ///   - source: How they came.
    ///   - countsDuplicates: Whether one that another page had counts as a duplicate.
    /// - Returns: What they are on this device.
    mutating func merge(
        _ batch: [Message], from source: Source, countsDuplicates: Bool = false
    ) -> Outcome {
        var outcome = Outcome()
        var seen: Set<MessageID> = []
        _ = nextTick()
        for message in batch {
            guard message.session == session else {
                counters.foreignMessages += 1
                continue
            }
            if isRemoved(message) { continue }
            let id = resolve(message, from: source, absorbed: &outcome.absorbed)
            if let id, let known = entries[id] {
                count(source, isRepeated: seen.contains(id), acrossPages: countsDuplicates)
                if known.engineID != nil, known.engineID != message.id { counters.mergedIdentities += 1 }
                if known.engineID == nil { counters.mergedIdentities += 1 }
                if update(id, with: message, from: source), let now = entries[id]?.message {
                    outcome.changed.removeAll { $0.id == id }
                    outcome.changed.append(now)
                }
                if seen.insert(id).inserted, let now = entries[id]?.message { outcome.messages.append(now) }
            } else {
                let new = adopt(message, from: source)
                seen.insert(new.id)
                outcome.inserted.insert(new.id)
                outcome.messages.append(new)
            }
        }
        // What came twice in one batch is reported as it is in the end.
        for index in outcome.messages.indices {
            if let now = entries[outcome.messages[index].id]?.message { outcome.messages[index] = now }
        }
        return outcome
    }

    private mutating func count(_ source: Source, isRepeated: Bool, acrossPages: Bool) {
        switch source {
        case .page where isRepeated: counters.duplicatesInPages += 1
        case .page where acrossPages: counters.duplicatesAcrossPages += 1
        case .news: counters.repeatedNews += 1
        case .page, .host: break
        }
    }

    /// A message that was not known gets a row: under its own id where that is free.
    private mutating func adopt(_ message: Message, from source: Source) -> Message {
        var new = message
        if entries[new.id] != nil || removed.contains(new.id) {
            lastLocal += 1
            new.id = MessageID(Self.localBase + lastLocal)
        }
        insert(new, engineID: source.isHost ? nil : message.id, source: source)
        if let uuid = new.uuid {
            for control in waiting.take(uuid) { _ = apply(control) }
        }
        return entries[new.id]?.message ?? new
    }

    private mutating func insert(_ message: Message, engineID: MessageID?, source: Source) {
        var entry = Entry(message: message, engineID: engineID, sourceRevision: message.revision)
        if message.content == .erased { entry.burn(to: burnedShell) }
        if case .page(let askedAt) = source { entry.newsTick = askedAt } else { entry.newsTick = nextTick() }
        entry.touchTick = tick
        store(entry, message.id)
    }

    /// The row that a message is; rows that turn out to be the same are made one.
    private mutating func resolve(
        _ message: Message, from source: Source, absorbed: inout [MessageID]
    ) -> MessageID? {
        if source.isHost, entries[message.id] != nil, agrees(message.id, with: message) { return message.id }
        let named = message.uuid.flatMap { byUUID[$0] }
        var keyed = message.serverKey.flatMap { byKey[$0] }
        if let id = keyed, !agrees(id, with: message) { keyed = nil }
        var own = byEngineID[message.id]
        if let id = own, !agrees(id, with: message) { own = nil }
        let found = [named, keyed, own].compactMap(\.self)
        guard let id = found.first else { return nil }
        for other in Set(found) where other != id {
            absorbed.append(other)
            counters.mergedIdentities += 1
            forget(other)
        }
        return id
    }

    /// Whether a row may be this message: two different uuids, or two different authors, never are.
    private func agrees(_ id: MessageID, with message: Message) -> Bool {
        guard let known = entries[id]?.message, known.sender == message.sender else { return false }
        guard let left = known.uuid, let right = message.uuid else { return true }
        return left == right
    }

    private mutating func update(_ id: MessageID, with incoming: Message, from source: Source) -> Bool {
        guard var entry = entries[id] else { return false }
        let before = entry.message
        entry.absorb(incoming, from: source, shell: burnedShell)
        entry.touchTick = tick
        entry.message.id = id
        // A service that hands back what it was given says nothing about its own id.
        if !source.isHost, entry.engineID != incoming.id, incoming.id.rawValue < Self.localBase {
            if let alias = entry.engineID { entry.aliases.append(alias) }
            entry.engineID = incoming.id
        }
        let changed = entry.message != before
        if changed {
            if case .page = source {
                // The flow takes what a page says only from a higher revision.
                entry.message.revision = before.revision + 1
            } else {
                if Self.looksDifferent(before, entry.message) {
                    entry.message.revision = before.revision + 1
                }
                entry.newsTick = tick
            }
        }
        store(entry, id)
        return changed
    }

    private static func looksDifferent(_ left: Message, _ right: Message) -> Bool {
        left.content != right.content || left.isEdited != right.isEdited || left.reference != right.reference
            || left.reactions != right.reactions || left.tags != right.tags
            || left.isPinned != right.isPinned || left.revision != right.revision
    }

    private mutating func store(_ entry: Entry, _ id: MessageID) {
        entries[id] = entry
        // Far below the greatest number, so that one more can be added for ever.
        lastUnsent = max(lastUnsent, min(entry.message.position.rawValue, Int64.max - (1 << 32)))
        if let uuid = entry.message.uuid { byUUID[uuid] = id }
        if let key = entry.message.serverKey { byKey[key] = id }
        if let engineID = entry.engineID { byEngineID[engineID] = id }
    }

    // MARK: changes by name

    /// Applies a change to the message that it names; one that is not known yet is changed when it comes.
    mutating func apply(_ control: NamedControl) -> Message? {
        guard let id = byUUID[control.uuid] else {
            if !removedUUIDs.contains(control.uuid) { waiting.add(control) }
            return nil
        }
        let (user, shell) = (user, burnedShell)
        return change(id) { entry in
            if control.apply(to: &entry, user: user, shell: shell) { entry.hasOverlay = true }
        }
    }

    // MARK: removal

    /// Removes messages and remembers that they are gone, so that nothing that comes late brings them back.
    mutating func remove(_ ids: [MessageID]) {
        for id in ids {
            if removed.count >= Self.memoryCountMax {
                removed.removeAll()
                removedUUIDs.removeAll()
            }
            removed.insert(id)
            if let entry = entries[id] {
                if let engineID = entry.engineID { removed.insert(engineID) }
                if let uuid = entry.message.uuid { removedUUIDs.insert(uuid) }
            }
            forget(id)
        }
    }

    /// Lets messages that were removed come back, because the host brings them.
    mutating func readmit(_ messages: [Message]) {
        for message in messages {
            removed.remove(message.id)
            if let uuid = message.uuid { removedUUIDs.remove(uuid) }
        }
    }

    private func isRemoved(_ message: Message) -> Bool {
        if let uuid = message.uuid {
            if removedUUIDs.contains(uuid) { return true }
            // An id that another message had once says nothing about this one.
            if byUUID[uuid] != nil { return false }
        }
        return removed.contains(message.id) && message.uuid == nil
    }

    private mutating func forget(_ id: MessageID) {
        guard let entry = entries.removeValue(forKey: id) else { return }
        if let uuid = entry.message.uuid, byUUID[uuid] == id { byUUID[uuid] = nil }
        if let key = entry.message.serverKey, byKey[key] == id { byKey[key] = nil }
        for engineID in entry.aliases + [entry.engineID].compactMap(\.self) where byEngineID[engineID] == id {
            byEngineID[engineID] = nil
        }
    }

    /// Whether so many are known that some should be forgotten; with some room, so that it is not done for every message.
    func needsTrim(to countMax: Int) -> Bool {
        entries.count > countMax + countMax / 4 + 64
    }

    /// Forgets those that were not touched for longest, down to the bound.
    ///
    /// - Parameters:
    ///   - countMax: The bound.
    ///   - kept: Rows that must stay.
    /// - Returns: What was forgotten; it may come back as if it were new.
    mutating func trim(to countMax: Int, keeping kept: Set<MessageID>) -> [MessageID] {
        guard needsTrim(to: countMax) else { return [] }
        let candidates = entries.filter { id, entry in
            entry.engineID != nil && !kept.contains(id) && !entry.message.state.isPending
                && !entry.message.state.isFailed
        }
        let gone = candidates.sorted { $0.value.touchTick < $1.value.touchTick }
            .prefix(max(0, entries.count - countMax)).map(\.key)
        for id in gone { forget(id) }
        return gone
    }

    /// Forgets everything that the engine knows.
    mutating func clear() -> [MessageID] {
        let ids = entries.filter { $0.value.engineID != nil }.map(\.key)
        for id in ids { forget(id) }
        return ids
    }
}

/// How often messages came that were there already.
public struct MergeCounters: Hashable, Sendable {
    /// Messages that one page had twice.
    public internal(set) var duplicatesInPages = 0
    /// Messages of a page that an earlier page or event had brought.
    public internal(set) var duplicatesAcrossPages = 0
    /// News about messages that were known.
    public internal(set) var repeatedNews = 0
    /// Messages that were recognised under another id.
    public internal(set) var mergedIdentities = 0
    /// Messages of other sessions, which were dropped.
    public internal(set) var foreignMessages = 0
    /// Answers to requests of an earlier opening, which were dropped.
    public internal(set) var staleAnswers = 0

    /// Makes counters at 0.
    public init() {}
}
