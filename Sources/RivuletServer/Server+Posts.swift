public import RivuletServerCore

// What the server itself says, and what it counts.
extension Server {
    /// Says something to users or a group.
    ///
    /// When this returns, a stored post is committed and its receivers were notified, and a live one was sent.
    ///
    /// - Throws: ``ServerError``: `badConfiguration` for a text above `ServerPost/textBytesMax`,
    ///   `noSuchGroup`, `databaseUnusable` when the log could not store it, or `notRunning`.
    public func post(_ post: ServerPost) async throws {
        guard post.text.utf8.count <= ServerPost.textBytesMax else {
            throw ServerError(
                .badConfiguration, "a post may have \(ServerPost.textBytesMax) bytes and no more")
        }
        let node = try runningNode()
        let outcome = await withCheckedContinuation { continuation in
            node.post(post) { continuation.resume(returning: $0) }
        }
        switch outcome {
        case .done: return
        case .failed: throw ServerError(.databaseUnusable, "the post could not be stored")
        case .noSuchGroup: throw ServerError(.noSuchGroup, "the group does not exist")
        }
    }

    /// What the server counts, for those who watch it.
    ///
    /// - Throws: ``ServerError`` with `notRunning`.
    public func statistics() throws -> ServerStatistics {
        let node = try runningNode()
        var statistics = node.read { core in
            ServerStatistics(
                connections: core.connectionCount, onlineUsers: core.onlineUserCount,
                rooms: core.roomCount, groups: core.memberships.groups.count, counts: core.counts)
        }
        statistics.waitingMessages = node.logThread.waitingMessageCount
        return statistics
    }
}

/// How a server is doing.
public struct ServerStatistics: Sendable, Hashable {
    /// Open connections, logged in or not.
    public var connections: Int
    /// Users with at least one connection.
    public var onlineUsers: Int
    /// Rooms with somebody in them.
    public var rooms: Int
    /// Groups that exist.
    public var groups: Int
    /// Messages taken that are not committed yet.
    public var waitingMessages = 0
    /// What happened since the start.
    public var counts: NodeCounts
}
