public import RivuletModel

/// Who is typing where, with the times of docs/extensions.md, section 1.
///
/// A host tells it what it hears, asks who is shown as typing, and wakes up at ``nextEnd``. Times are durations since any
/// moment that the host chose, as long as it is always the same.
///
/// ```swift
/// typing.note(mei, in: hikers, isOn: true, at: now)
/// header.show(typing.users(in: hikers))            // until now + 6 s, or until a message of hers
/// ```
public struct TypingBook: Sendable {
    /// How long a sign of typing counts unless another follows.
    public static let shownFor = Duration.seconds(6)
    /// How many people one conversation shows at most; the sign of one more is passed over.
    public static let userCountMax = 32
    /// How many conversations are watched at most; a sign from one more is passed over.
    public static let sessionCountMax = 256

    private struct Typist: Sendable {
        var user: UserID
        var end: Duration
    }

    private var typists: [Session: [Typist]] = [:]

    /// Makes a book in which nobody types.
    public init() {}

    /// Those who are shown as typing, in the order in which they began.
    public func users(in session: Session) -> [UserID] {
        typists[session]?.map(\.user) ?? []
    }

    /// When the next sign ends by itself; nil when nobody types.
    public var nextEnd: Duration? {
        typists.values.lazy.flatMap { $0 }.map(\.end).min()
    }

    /// Takes note that somebody types, or stopped.
    ///
    /// - Parameters:
    ///   - user: Who it is.
    ///   - session: Where.
    ///   - isOn: Whether this person types.
    ///   - now: The present time.
    /// - Returns: Whether other people are shown than before.
    @discardableResult
    public mutating func note(_ user: UserID, in session: Session, isOn: Bool, at now: Duration) -> Bool {
        guard isOn else { return remove(user, from: session) }
        let end = now + Self.shownFor
        if let place = typists[session]?.firstIndex(where: { $0.user == user }) {
            typists[session]?[place].end = end
            return false
        }
        let isKnown = typists[session] != nil
        guard isKnown || typists.count < Self.sessionCountMax,
            typists[session]?.count ?? 0 < Self.userCountMax
        else { return false }
        typists[session, default: []].append(Typist(user: user, end: end))
        return true
    }

    /// Takes note that a message of somebody came, which ends the typing.
    ///
    /// - Returns: Whether other people are shown than before.
    @discardableResult
    public mutating func noteMessage(by user: UserID, in session: Session) -> Bool {
        remove(user, from: session)
    }

    /// Ends what is over.
    ///
    /// - Parameter now: The present time.
    /// - Returns: The conversations that show other people than before.
    @discardableResult
    public mutating func expire(at now: Duration) -> Set<Session> {
        var changed: Set<Session> = []
        for (session, known) in typists {
            let left = known.filter { $0.end > now }
            guard left.count < known.count else { continue }
            typists[session] = left.isEmpty ? nil : left
            changed.insert(session)
        }
        return changed
    }

    private mutating func remove(_ user: UserID, from session: Session) -> Bool {
        guard let known = typists[session] else { return false }
        let left = known.filter { $0.user != user }
        guard left.count < known.count else { return false }
        typists[session] = left.isEmpty ? nil : left
        return true
    }
}

/// When a writer tells the other side about typing: every four seconds at most, and once when the line is empty again
/// (docs/extensions.md, section 1).
public struct TypingPace: Sendable {
    /// The least time from one sign to the next.
    public static let interval = Duration.seconds(4)

    private var lastOn: Duration?
    /// Whether the other side shows the typing, as far as is known here.
    private var isShown = false

    /// Makes a pace for one conversation.
    public init() {}

    /// Whether typing is told at all: between two users and in groups.
    public static func applies(to session: Session) -> Bool {
        session.kind == .peer || session.kind == .group
    }

    /// What to tell now that the line has another text; nil for nothing.
    ///
    /// - Parameters:
    ///   - isEmpty: Whether the line is empty now.
    ///   - now: The present time.
    /// - Returns: True for "types", false for "stopped".
    public mutating func write(isEmpty: Bool, at now: Duration) -> Bool? {
        if isEmpty { return stop(at: now) }
        if let lastOn, now - lastOn < Self.interval { return nil }
        lastOn = now
        isShown = true
        return true
    }

    /// What to tell now that the writer left; nil for nothing.
    ///
    /// - Parameter now: The present time.
    /// - Returns: False for "stopped".
    public mutating func stop(at now: Duration) -> Bool? {
        defer { isShown = false }
        // What is over there by itself needs no word.
        guard isShown, let lastOn, now - lastOn < TypingBook.shownFor else { return nil }
        return false
    }

    /// Takes note that a message was sent, which ends the typing by itself.
    public mutating func noteSent() { isShown = false }
}
