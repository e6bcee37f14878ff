public import RivuletModel

/// A change of a message that stands in a history as an item of its own: a withdrawal, an edit, a reaction, a vote.
public struct HistoryChange: Hashable, Sendable {
    /// What changes.
    public var control: ControlContent
    /// Who changed it.
    public var author: UserID
    /// The server's key of the change, by which changes are put in order.
    public var key: Int64
    /// When it was made, in milliseconds since 1970.
    public var milliseconds: Int64

    /// Makes a change.
    public init(control: ControlContent, author: UserID, key: Int64, milliseconds: Int64) {
        self.control = control
        self.author = author
        self.key = key
        self.milliseconds = milliseconds
    }
}

/// Brings the changes of a history into the messages that they name.
///
/// A history that is read backwards has the withdrawal before the message; one that is read forwards changes messages
/// that were read long ago. The fold remembers both, so that every message comes out as it is now, however the pages
/// are cut and however often they are read. Each change counts once, in the order of the keys. An engine over such a
/// history keeps one fold for each session.
public struct HistoryFold: Sendable {
    /// What a page is after folding.
    public struct Outcome: Sendable {
        /// The page's messages as they are now, in the order in which they were given.
        public var messages: [Message]
        /// Messages of earlier pages that this page changed, as they are now.
        public var updated: [Message]
    }

    /// How many changes of one message are remembered; of more, the oldest are forgotten.
    public static let changesPerMessageMax = 1_024

    /// The user who reads.
    public let user: UserID
    /// How many messages, and how many messages' changes, are remembered.
    public let countMax: Int
    private var originals: [String: Message] = [:]
    private var readOrder: [String] = []
    private var changes: [String: [HistoryChange]] = [:]
    private var changeOrder: [String] = []

    /// Makes a fold that remembers nothing yet.
    public init(user: UserID, countMax: Int = 4_096) {
        self.user = user
        self.countMax = max(1, countMax)
    }

    /// Takes a page in.
    ///
    /// - Parameters:
    ///   - messages: Its messages, as the author wrote them.
    ///   - new: Its changes, in any order.
    /// - Returns: The messages as they are now, and earlier ones that changed.
    public mutating func take(_ messages: [Message], changes new: [HistoryChange]) -> Outcome {
        var touched: Set<String> = []
        for change in new {
            if let uuid = change.control.target, note(change, of: uuid) { touched.insert(uuid) }
        }
        for message in messages {
            guard let uuid = message.uuid else { continue }
            touched.remove(uuid)
            remember(message, uuid)
        }
        let updated = touched.compactMap { originals[$0] }.map { folded($0).message }
        return Outcome(
            messages: messages.map { folded($0).message },
            updated: updated.sorted { ($0.position, $0.id) < ($1.position, $1.id) })
    }

    /// The votes on a poll that was read.
    public func votes(on uuid: String) -> [UserID: [Int]] {
        originals[uuid].map { folded($0).votes } ?? [:]
    }

    /// Who has read a message that was read here.
    public func readers(of uuid: String) -> Set<UserID> {
        originals[uuid].map { folded($0).readers } ?? []
    }

    private func folded(_ message: Message) -> MessageLedger.Entry {
        var entry = MessageLedger.Entry(
            message: message, engineID: nil, sourceRevision: message.revision)
        guard let uuid = message.uuid, let changes = changes[uuid], let last = changes.last else {
            return entry
        }
        for change in changes {
            let control = NamedControl(
                uuid: uuid, change: .control(change.control), author: change.author,
                milliseconds: change.milliseconds)
            _ = control.apply(to: &entry, user: user, shell: .erased)
        }
        // Grows with every change that becomes known, also with one that lies before others.
        let (revision, overflows) = Int(clamping: last.key).addingReportingOverflow(changes.count)
        entry.message.revision = max(message.revision, overflows ? .max : revision)
        return entry
    }

    /// Whether the change was not known.
    private mutating func note(_ change: HistoryChange, of uuid: String) -> Bool {
        var known = changes[uuid] ?? []
        let index = known.firstIndex { $0.key >= change.key } ?? known.count
        guard index == known.count || known[index].key != change.key else { return false }
        known.insert(change, at: index)
        if known.count > Self.changesPerMessageMax { known.removeFirst() }
        if changes[uuid] == nil {
            for old in Self.overflow(of: &changeOrder, countMax) { changes[old] = nil }
            changeOrder.append(uuid)
        }
        changes[uuid] = known
        return true
    }

    private mutating func remember(_ message: Message, _ uuid: String) {
        if originals[uuid] == nil {
            for old in Self.overflow(of: &readOrder, countMax) { originals[old] = nil }
            readOrder.append(uuid)
        }
        originals[uuid] = message
    }

    /// Takes the oldest half when there is no more room: at once, so that a flood is not quadratic.
    private static func overflow(of order: inout [String], _ countMax: Int) -> [String] {
        guard order.count >= countMax else { return [] }
        let gone = Array(order.prefix(countMax / 2 + 1))
        order.removeFirst(gone.count)
        return gone
    }
}
