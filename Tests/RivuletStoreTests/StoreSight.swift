import RivuletModel
import SQLiteKit

@testable import RivuletStore

/// Everything that a reader can see of a store that `RandomOperations` filled.
struct StoreSight: Equatable {
    /// What is told of one message by itself.
    struct Detail: Equatable {
        var raw: String?
        /// By user, so that it can be compared as text.
        var votes: [String]
        var readers: [UserID]
        var earlierTexts: [String]
    }

    var list: [Conversation]
    var sessions: [Session]
    var conversations: [Conversation?] = []
    var unreadTotal: Int
    var flows: [[Message]] = []
    var details: [[Detail]] = []
    var media: [[MessageID]] = []
    var pinned: [[MessageID]] = []
    var favorites: [MessageID]
    var outbox: [StoredSend]
    var keys: [Int64?]
    var lastSend: Int64
    var found: [[MessageID]] = []
    /// What no reader sees, and what the next transactions depend on.
    var hidden: [String]
    var contacts: [Contact]
    var groups: [GroupProfile]
    var members: [GroupMemberProfile]

    /// Reads it all; without `isThorough` what is told of single messages is left out.
    init(_ store: any AccountStore, isThorough: Bool = true) async throws {
        list = try await store.conversations(limit: 100, offset: 0)
        sessions = try await store.sessions()
        unreadTotal = try await store.unreadTotal()
        favorites = try await store.favorites(limit: 1_000, offset: 0).map(\.id)
        let state = try await store.clientState()
        outbox = state.outbox
        keys = [state.peerKey, state.groupKeys[7]]
        lastSend = state.lastSendNumber
        hidden = try await Self.hidden(store)
        contacts = try await store.contacts()
        groups = try await store.groups()
        members = try await store.members(of: 7)
        for session in RandomOperations.sessions {
            conversations.append(try await store.conversation(session))
            let flow = try await store.page(PageQuery(session: session, limit: 1_000)).messages
            flows.append(flow)
            media.append(try await store.media(MediaQuery(session: session, limit: 1_000)).map(\.id))
            pinned.append(try await store.pinned(in: session).map(\.id))
            guard isThorough else { continue }
            var details: [Detail] = []
            for message in flow {
                details.append(
                    Detail(
                        raw: try await store.rawContent(of: message.id),
                        votes: try await store.votes(on: message.id).map { "\($0.rawValue): \($1)" }.sorted(),
                        readers: try await store.readers(of: message.id),
                        earlierTexts: try await store.earlierTexts(of: message.id)))
            }
            self.details.append(details)
        }
        for text in ["word", "京", "北京 word", "changed", "hush", "more"] {
            found.append(try await store.search(SearchQuery(text, limit: 500)).map(\.id))
        }
    }

    /// The numbers that are given next, the controls that wait, and all names that are known.
    private static func hidden(_ store: any AccountStore) async throws -> [String] {
        if let store = store as? SQLiteAccountStore {
            return try await store.read { tables, _ in
                let waiting = try tables.database.rows("SELECT target, sender, raw FROM waiting ORDER BY id")
                {
                    "\($0.text(at: 0)) \($0.integer(at: 1)) \($0.text(at: 2))"
                }
                let names = try tables.database.rows("SELECT uuid FROM message WHERE uuid IS NOT NULL") {
                    $0.text(at: 0)
                }
                let changes = try tables.database.rows(
                    "SELECT id, target, raw, hidden FROM own_change ORDER BY id"
                ) {
                    "\($0.integer(at: 0)) \($0.text(at: 1)) \($0.text(at: 2)) \($0.optionalText(at: 3) ?? "")"
                }
                return ["\(try tables.counters())"] + waiting + changes + names.sorted()
            }
        }
        guard let store = store as? MemoryAccountStore else { return [] }
        return try store.read { tables in
            let waiting = tables.state.waiting.map { "\($0.target) \($0.sender) \($0.raw)" }
            let changes = tables.state.ownChanges.values.sorted { $0.id < $1.id }.map {
                "\($0.id) \($0.target) \($0.raw) \($0.hidden ?? "")"
            }
            return ["\(tables.state.counters)"] + waiting + changes + tables.state.uuids.keys.sorted()
        }
    }

    /// The parts in which two differ, with what they are: the whole would be too long to read.
    func differences(from other: StoreSight) -> [String] {
        zip(Mirror(reflecting: self).children, Mirror(reflecting: other).children).compactMap {
            mine, theirs in
            let (left, right) = ("\(mine.value)", "\(theirs.value)")
            guard left != right else { return nil }
            let start = zip(left, right).prefix { $0 == $1 }.count
            let from = max(0, start - 300)
            return
                "\(mine.label ?? ""): …\(left.dropFirst(from).prefix(500)) is not …\(right.dropFirst(from).prefix(500))"
        }
    }
}
