public import RivuletModel
public import RivuletServerCore
import RivuletWire

/// Some messages of a chat, oldest first.
public struct HistoryPage: Sendable, Equatable {
    /// The messages; their keys are those of the queue in which they stand.
    public var messages: [StoredMessage]
    /// Whether the chat has more in the direction asked for.
    public var hasMore: Bool
}

/// One chat of a user.
public enum HistoryChat: Sendable, Hashable {
    /// With another user of the same app.
    case peer(UserID)
    /// In a group of which the user is a member.
    case group(GroupID)
    /// With a user of an app, by CUSTOMER_V2.
    case customer(app: Int64, UserID)
}

/// Which part of a chat.
public enum HistoryPlace: Sendable, Hashable {
    /// The newest messages.
    case newest
    /// Those with smaller keys, the nearest of them.
    case before(Int64)
    /// Those with greater keys, the nearest of them.
    case after(Int64)
}

// What the server has of chats and rooms, for the HTTP calls of docs/extensions.md, section 4.
extension Server {
    /// The most messages of one page.
    public static let historyLimitMax = 200

    /// Some messages of a chat to which a user belongs.
    ///
    /// The queue is searched in steps, between which other work of the server goes on.
    ///
    /// - Parameters:
    ///   - chat: The chat.
    ///   - account: Who asks.
    ///   - place: Which part.
    ///   - limit: At most so many, 1 to 200.
    /// - Returns: The messages, oldest first.
    /// - Throws: ``ServerError`` with `notAMember` for a group that is not the user's, `notRunning`, or
    ///   `databaseUnusable` when the log cannot be read.
    public func history(
        of chat: HistoryChat, for account: Account, _ place: HistoryPlace, limit: Int
    ) async throws -> HistoryPage {
        let node = try runningNode()
        let search = try HistorySearch(chat, account, known: node.read { $0.memberships })
        let limit = min(max(1, limit), Self.historyLimitMax)
        var found: [StoredMessage] = []
        var key: Int64
        let isForward: Bool
        switch place {
        case .newest: (key, isForward) = (.max, false)
        case .before(let before): (key, isForward) = (before, false)
        case .after(let after): (key, isForward) = (after, true)
        }
        while true {
            let slice = try await Self.slice(of: search.queue, from: key, isForward: isForward, node)
            for message in slice.messages where search.includes(message) {
                guard found.count < limit else {
                    return HistoryPage(messages: isForward ? found : found.reversed(), hasMore: true)
                }
                found.append(message)
            }
            key = slice.end
            guard slice.hasMore else {
                return HistoryPage(messages: isForward ? found : found.reversed(), hasMore: false)
            }
        }
    }

    /// The last messages of a room, oldest first; a room is open to everybody.
    ///
    /// - Throws: ``ServerError`` with `notRunning`.
    public func roomHistory(
        of room: RoomID, before: Int64? = nil, limit: Int
    ) throws -> [RoomHistoryEntry] {
        let node = try runningNode()
        let now = clock()
        return node.read {
            $0.roomHistory(of: room, before: before, limit: min(max(1, limit), Self.historyLimitMax), at: now)
        }
    }

    private static func slice(
        of queue: QueueID, from key: Int64, isForward: Bool, _ node: Node
    ) async throws -> QueueSlice {
        try await withCheckedThrowingContinuation { continuation in
            let query = LogTask.query { log in
                continuation.resume(
                    with: Result {
                        isForward
                            ? try log.messages(in: queue, after: key, limit: PageLimit(countMax: 500))
                            : try log.messages(in: queue, before: key, countMax: 500)
                    }.mapError {
                        ServerError(.databaseUnusable, "the message log cannot be read", underlying: $0)
                    })
            }
            if !node.logThread.post(query) { continuation.resume(throwing: notRunning) }
        }
    }
}

/// Where the messages of a chat stand, and which they are.
private struct HistorySearch {
    let queue: QueueID
    private let chat: HistoryChat
    private let account: Account
    private var joined: Int32 = .min

    init(_ chat: HistoryChat, _ account: Account, known: Memberships) throws {
        self.chat = chat
        self.account = account
        guard case .group(let id) = chat else {
            queue = .user(account)
            return
        }
        guard let group = known.group(id), group.app == account.app, let member = group.member(account.user)
        else { throw ServerError(.notAMember, "the user is not a member of group \(id.rawValue)") }
        queue = group.isSuper ? .group(id) : .user(account)
        if group.isSuper { joined = member.joined.timestamp }
    }

    func includes(_ message: StoredMessage) -> Bool {
        switch chat {
        case .peer(let user):
            return message.command == .im && isBetween(message, Account(app: account.app, user: user))
        case .customer(let app, let user):
            return message.command == .customerV2 && isBetween(message, Account(app: app, user: user))
        case .group(let id):
            return (message.command == .groupIM || message.command == .groupNotification)
                && message.receiver == id.rawValue && message.timestamp >= joined
        }
    }

    private func isBetween(_ message: StoredMessage, _ other: Account) -> Bool {
        let receiver = Account(app: message.receiverApp, user: UserID(message.receiver))
        return (message.author == account && receiver == other)
            || (message.author == other && receiver == account)
    }
}
