import RivuletModel
import RivuletUI
import Synchronization

/// Messages that are quoted, found when the answer is read from the store.
nonisolated final class QuoteCache: Sendable {
    /// How many are kept.
    static let countMax = 2_000

    private let messages = Mutex<[String: Message]>([:])

    func message(_ uuid: String) -> Message? { messages.withLock { $0[uuid] } }

    func keep(_ message: Message) {
        guard let uuid = message.uuid else { return }
        messages.withLock { messages in
            if messages.count >= Self.countMax { messages = [:] }
            messages[uuid] = message
        }
    }
}

/// The names of users and groups, as the reader knows them.
final class Contacts: MessageDirectory {
    private(set) var names: [UserID: String]
    /// The user who looks at the screen.
    var reader: UserID?
    private var groups: [Int64: String] = [:]
    private var roles: [UserID: String] = [:]
    private var memberCounts: [Int64: Int] = [:]
    /// The messages that shown ones answer.
    let quotes = QuoteCache()

    init(names: [UserID: String] = [:]) {
        self.names = names
    }

    func set(_ name: String, for user: UserID) { names[user] = name }
    func set(_ name: String, forGroup id: Int64, memberCount: Int) {
        groups[id] = name
        memberCounts[id] = memberCount
    }
    func set(role: String, of user: UserID) { roles[user] = role }

    func name(of user: UserID, in session: Session) -> String { names[user] ?? "User \(user.rawValue)" }
    func role(of user: UserID, in session: Session) -> String? { session.kind == .group ? roles[user] : nil }
    func message(uuid: String, in session: Session) -> Message? { quotes.message(uuid) }

    /// How many members a group has, as far as is known.
    func memberCount(of session: Session) -> Int? {
        session.kind == .group ? memberCounts[session.id] : nil
    }

    /// What a conversation is called.
    func title(of session: Session) -> String {
        switch session.kind {
        case .peer: names[UserID(session.id)] ?? "User \(session.id)"
        case .group: groups[session.id] ?? "Group \(session.id)"
        case .room: "Room \(session.id)"
        case .customer: "Service \(session.id)"
        default: "System"
        }
    }

    /// What stands under a conversation's name.
    func subtitle(of session: Session) -> String {
        guard session.kind == .group else { return "" }
        return memberCounts[session.id].map { "\($0) members" } ?? "Group"
    }
}
