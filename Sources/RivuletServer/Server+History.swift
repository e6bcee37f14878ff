public import RivuletModel
public import RivuletServerCore
import RivuletWire

/// Some messages of a chat, oldest first.
public struct HistoryPage: Sendable, Equatable {
    /// The messages; their keys are those of the queue in which they stand.
    public var messages: [StoredMessage]
    /// Whether the chat may have more in the direction asked for.
    public var hasMore: Bool
    /// The key with which the search goes on, whether or not the page holds a message; nil at the end.
    public var next: Int64?
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
    /// The queue is searched in steps, between which other work of the server goes on. A chat that is silent among
    /// many others may give a short page, or an empty one, and a place to go on from.
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
        let search = try HistorySearch(chat, account, known: try runningNode().read { $0.memberships })
        let limit = min(max(1, limit), Self.historyLimitMax)
        var found: [StoredMessage] = []
        var key: Int64
        let isForward: Bool
        switch place {
        case .newest: (key, isForward) = (.max, false)
        case .before(let before): (key, isForward) = (before, false)
        case .after(let after): (key, isForward) = (max(after, search.joinedKey), true)
        }
        var next: Int64?
        search: for _ in 0..<Self.historySlicesMax {
            let from = key
            let slice = try await onLog { log in
                isForward
                    ? try log.messages(
                        in: search.queue, after: from, limit: PageLimit(countMax: Self.historySliceCount))
                    : try log.messages(in: search.queue, before: from, countMax: Self.historySliceCount)
            }
            for message in slice.messages where search.includes(message) {
                guard found.count < limit else {
                    next = found.last?.key
                    break search
                }
                found.append(message)
            }
            key = slice.end
            // Nothing from before the joining is for the caller.
            next = slice.hasMore && (isForward || key > search.joinedKey) ? key : nil
            if next == nil { break }
        }
        return HistoryPage(
            messages: isForward ? found : found.reversed(), hasMore: next != nil, next: next)
    }

    /// How many places of a queue are looked at in one step.
    private static let historySliceCount = 500
    /// How many steps one call makes at most.
    private static let historySlicesMax = 20

    /// Some messages of a room, oldest first: the newest, the last before a key, or the first after one.
    ///
    /// A room is open to everybody.
    ///
    /// - Throws: ``ServerError`` with `notRunning`.
    public func roomHistory(
        of room: RoomID, before: Int64? = nil, after: Int64? = nil, limit: Int
    ) throws -> [RoomHistoryEntry] {
        let node = try runningNode()
        let now = clock()
        // One more than a page holds tells whether there is more.
        let limit = min(max(1, limit), Self.historyLimitMax + 1)
        return node.read {
            $0.roomHistory(of: room, before: before, after: after, limit: limit, at: now)
        }
    }

    /// The number of unread messages that a user's client reported since the user's last login: what a badge shows.
    ///
    /// - Throws: ``ServerError`` with `notRunning`, or `databaseUnusable` when the log cannot be read.
    public func unreadCount(of account: Account) async throws -> Int32 {
        try await onLog { try $0.unreadCount(of: account) }
    }

    /// Asks the message log something, on its thread, after everything that was posted before.
    func onLog<Value: Sendable>(
        _ body: @escaping @Sendable (any MessageLog) throws -> Value
    ) async throws -> Value {
        let node = try runningNode()
        return try await withCheckedThrowingContinuation { continuation in
            let query = LogTask.query { log in
                continuation.resume(
                    with: Result { try body(log) }.mapError {
                        ServerError(.databaseUnusable, "the message log cannot be read", underlying: $0)
                    })
            }
            if !node.logThread.post(query) { continuation.resume(throwing: Self.notRunning) }
        }
    }
}

/// Where the messages of a chat stand, and which they are.
private struct HistorySearch: Sendable {
    let queue: QueueID
    private let chat: HistoryChat
    private let account: Account
    private var joined: Int32 = .min
    private(set) var joinedKey: Int64 = 0

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
        guard group.isSuper else { return }
        if let key = member.joinedKey { joinedKey = key } else { joined = member.joined.timestamp }
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
                && message.key > joinedKey
        }
    }

    private func isBetween(_ message: StoredMessage, _ other: Account) -> Bool {
        let receiver = Account(app: message.receiverApp, user: UserID(message.receiver))
        return (message.author == account && receiver == other)
            || (message.author == other && receiver == account)
    }
}
