internal import RivuletModel
internal import RivuletStore

/// Turns a store's changes into messages, and reads the store where changes were lost.
///
/// A store keeps a bounded number of changes for a slow reader and numbers them; a gap in the numbers says that some are
/// missing. Everything that came since the last message seen is then read from the store, and the newest of those seen
/// before are given again, since they may have changed.
struct ChangeFollower {
    private let store: any AccountStore
    private var lastNumber: UInt64 = 0
    /// The newest message at the start; older ones are nobody's business here.
    private let startID: MessageID
    /// The newest message that was given.
    private var lastID: MessageID

    /// How many messages of a conversation are looked at again after a gap, beside all new ones.
    static let repeatedCount = 100
    private static let pageCount = 500

    /// Begins behind everything that the store holds now; its changes must be followed from before this call.
    init(store: any AccountStore) async throws {
        self.store = store
        var newest = MessageID(0)
        for conversation in try await Self.conversations(of: store) {
            newest = max(newest, conversation.lastMessage?.id ?? newest)
        }
        startID = newest
        lastID = newest
    }

    private static func conversations(of store: any AccountStore) async throws -> [Conversation] {
        var all: [Conversation] = []
        while true {
            let some = try await store.conversations(limit: pageCount, offset: all.count)
            all += some
            guard some.count == pageCount else { return all }
        }
    }

    /// The messages that are new or changed; some may have been given before.
    mutating func messages(of changes: StoreChanges) async -> [Message] {
        let isGap = changes.number != lastNumber + 1
        lastNumber = changes.number
        var messages = changes.inserted + changes.updated
        if isGap {
            do {
                // The changes at hand are in what is read.
                messages = try await readAnew()
            } catch {
                // What came with the change is better than nothing; the next change looks like a gap and tries again.
                lastNumber = 0
                return messages
            }
        }
        for message in messages { lastID = max(lastID, message.id) }
        return messages
    }

    private func readAnew() async throws -> [Message] {
        var messages: [Message] = []
        for conversation in try await Self.conversations(of: store) {
            messages += try await newest(of: conversation.session)
        }
        return messages.sorted { $0.id < $1.id }
    }

    private func newest(of session: Session) async throws -> [Message] {
        var messages: [Message] = []
        var place = PageQuery.Place.newest
        while true {
            let page = try await store.page(
                PageQuery(session: session, place: place, limit: Self.pageCount))
            messages = page.messages + messages
            guard page.hasOlder, let first = page.messages.first,
                page.messages.contains(where: { $0.id > lastID })
            else { break }
            place = .before(first.position)
        }
        let again = messages.count - Self.repeatedCount
        return messages.enumerated().filter { index, message in
            message.id > lastID || (index >= again && message.id > startID)
        }.map(\.element)
    }
}
