import RivuletModel

/// Who watches whom, and when users were last there.
struct PresenceBook: Sendable {
    private var watchersOf: [Account: Set<ConnectionID>] = [:]
    private var watchedBy: [ConnectionID: [Account]] = [:]
    private var lastSeenOf: [Account: WallTime] = [:]

    /// Of more users the last times are not kept.
    static let lastSeenMax = 100_000

    /// Replaces what a connection watches.
    mutating func watch(_ accounts: [Account], on connection: ConnectionID) {
        forget(connection)
        guard !accounts.isEmpty else { return }
        watchedBy[connection] = accounts
        for account in accounts { watchersOf[account, default: []].insert(connection) }
    }

    /// Ends what a connection watches.
    mutating func forget(_ connection: ConnectionID) {
        for account in watchedBy.removeValue(forKey: connection) ?? [] {
            watchersOf[account]?.remove(connection)
            if watchersOf[account]?.isEmpty == true { watchersOf[account] = nil }
        }
    }

    /// The connections that watch a user, in the order of their numbers.
    func watchers(of account: Account) -> [ConnectionID] {
        (watchersOf[account] ?? []).sorted { $0.rawValue < $1.rawValue }
    }

    /// Remembers that a user's last connection ended.
    mutating func left(_ account: Account, at now: WallTime) {
        if lastSeenOf.count >= Self.lastSeenMax, lastSeenOf[account] == nil { lastSeenOf.removeAll() }
        lastSeenOf[account] = now
    }

    /// When a user's last connection ended; nil when that is not known.
    func lastSeen(_ account: Account) -> WallTime? {
        lastSeenOf[account]
    }
}

/// What a watcher is told of a user.
struct PresenceState: Sendable {
    var user: UserID
    var isOnline: Bool
    var lastSeen: WallTime?

    var json: String {
        let last = lastSeen.map { ",\"last_ms\":\($0.milliseconds)" } ?? ""
        return "{\"uid\":\(user.rawValue),\"online\":\(isOnline ? 1 : 0)\(last)}"
    }
}

/// Who had which group on the screen in the last minute, as far as the server can tell: who wrote, typed or read there.
struct GroupViews: Sendable {
    private static let milliseconds: Int64 = 60_000
    private var lastOf: [GroupID: [Account: WallTime]] = [:]
    private var noteCount = 0

    mutating func note(_ account: Account, in group: GroupID, at now: WallTime) {
        lastOf[group, default: [:]][account] = now
        noteCount += 1
        guard noteCount >= 4096 else { return }
        noteCount = 0
        lastOf = lastOf.compactMapValues { viewers in
            let current = viewers.filter { Self.isCurrent($0.value, now) }
            return current.isEmpty ? nil : current
        }
    }

    /// The viewers of a group, by number.
    func viewers(of group: GroupID, at now: WallTime) -> [Account] {
        (lastOf[group] ?? [:]).filter { Self.isCurrent($0.value, now) }.keys
            .sorted { $0.user < $1.user }
    }

    private static func isCurrent(_ time: WallTime, _ now: WallTime) -> Bool {
        now.milliseconds - time.milliseconds <= milliseconds
    }
}
