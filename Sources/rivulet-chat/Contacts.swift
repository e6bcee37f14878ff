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
    private var rooms: [Int64: String] = [:]
    private var services: [Session: String] = [:]
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
    /// Takes a person as the store knows him; a name given by hand stays.
    func keep(_ contact: Contact) {
        let name = contact.displayName
        if names[contact.id] == nil, !name.isEmpty { names[contact.id] = name }
    }
    /// Takes a group as the store knows it.
    func keep(_ group: GroupProfile, memberCount: Int) {
        if !group.name.isEmpty { groups[group.id] = group.name }
        if memberCount > 0 { memberCounts[group.id] = memberCount }
    }
    func set(_ name: String, forRoom id: Int64) { rooms[id] = name }
    /// Names a customer service, and whoever answers there.
    func set(_ name: String, forService session: Session) {
        services[session] = name
        names[UserID(session.id)] = name
    }
    func set(role: String, of user: UserID) { roles[user] = role }

    func name(of user: UserID, in session: Session) -> String {
        names[user] ?? Words.say("User %1", "\(user.rawValue)")
    }
    func role(of user: UserID, in session: Session) -> String? { session.kind == .group ? roles[user] : nil }
    func message(uuid: String, in session: Session) -> Message? { quotes.message(uuid) }

    /// How many members a group has, as far as is known.
    func memberCount(of session: Session) -> Int? {
        session.kind == .group ? memberCounts[session.id] : nil
    }

    /// What a conversation is called.
    func title(of session: Session) -> String {
        switch session.kind {
        case .peer: names[UserID(session.id)] ?? Words.say("User %1", "\(session.id)")
        case .group: groups[session.id] ?? Words.say("Group %1", "\(session.id)")
        case .room: rooms[session.id] ?? Words.say("Room %1", "\(session.id)")
        case .customer: services[session] ?? Words.say("Service %1", "\(session.id)")
        default: Words.say("System")
        }
    }

    /// What stands under a conversation's name.
    func subtitle(of session: Session) -> String {
        switch session.kind {
        case .group: memberCounts[session.id].map { Words.say("%1 members", count: $0) } ?? Words.say("Group")
        case .room: Words.say("Live chat room")
        case .customer: Words.say("Customer service")
        default: ""
        }
    }

    /// What tells people of the same name apart.
    func about(_ session: Session) -> String {
        session.kind == .peer ? Words.say("User %1", "\(session.id)") : subtitle(of: session)
    }

    /// The letters in a conversation's picture.
    func initials(of session: Session) -> String {
        session.kind == .room ? "♪" : Initials.of(title(of: session))
    }

    /// All people with a name, the reader and those of customer services left out, by name.
    var people: [UserID] {
        let others = Set(services.keys.map { UserID($0.id) }).union(reader.map { [$0] } ?? [])
        return names.filter { !others.contains($0.key) }.sorted {
            ($0.value, $0.key.rawValue) < ($1.value, $1.key.rawValue)
        }
        .map(\.key)
    }

    /// The groups with a name, by name.
    var knownGroups: [Session] {
        groups.sorted { ($0.value, $0.key) < ($1.value, $1.key) }.map { .group($0.key) }
    }
    /// The rooms with a name.
    var knownRooms: [Session] { rooms.keys.sorted().map { .room($0) } }
    /// The customer services with a name.
    var knownServices: [Session] { services.keys.sorted { $0.id < $1.id } }
}
