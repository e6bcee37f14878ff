public import RivuletServerCore

// Groups, bans and friends of a running server.
extension Server {
    /// What the server knows of groups, bans and friends.
    ///
    /// - Throws: ``ServerError`` with `notRunning` before ``start()`` and after ``stop()``.
    public func memberships() async throws -> Memberships {
        try await onMembershipThread { directory, _, done in done(.success(directory.memberships)) }
    }

    /// Changes groups, bans and friends, all or nothing.
    ///
    /// When this returns, the changes are on disk and the next message is judged by them.
    ///
    /// - Returns: Those that made a difference.
    /// - Throws: `MembershipError` for a change that cannot be made; ``ServerError`` when the file cannot be
    ///   written, or with `notRunning`.
    @discardableResult
    public func apply(_ changes: [MembershipChange]) async throws -> [MembershipChange] {
        let now = clock()
        // Everything stored until now is from before the change.
        let key = changes.contains(where: \.letsIn) ? try await onLog { $0.lastKey } : nil
        return try await onMembershipThread { directory, node, done in
            do {
                let made = try directory.apply(changes, at: now, after: key)
                // Told from this thread, the node hears of changes in the order in which they were made.
                node.deliver([.membershipsChanged(made, at: now, after: key)], to: 0) { done(.success(made)) }
            } catch {
                done(.failure(error))
            }
        }
    }

    private func onMembershipThread<Value: Sendable>(
        _ body:
            @escaping @Sendable (
                any MembershipDirectory, Node, @escaping @Sendable (Result<Value, any Error>) -> Void
            ) -> Void
    ) async throws -> Value {
        let node = try runningNode()
        return try await withCheckedThrowingContinuation { continuation in
            let isTaken = node.membershipThread.post { directory in
                body(directory, node) { continuation.resume(with: $0) }
            }
            if !isTaken { continuation.resume(throwing: Server.notRunning) }
        }
    }
}

extension MembershipChange {
    /// Whether it makes users members.
    fileprivate var letsIn: Bool {
        switch self {
        case .createGroup, .addMember: true
        default: false
        }
    }
}
