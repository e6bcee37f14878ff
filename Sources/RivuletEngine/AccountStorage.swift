public import RivuletClientCore
public import RivuletModel
public import RivuletStore
public import RivuletWire

/// Joins the client to an account's store: one batch of the client is one transaction of the store.
///
/// What the client received becomes messages of conversations, what it sends becomes a message and an entry of the
/// outbox at once, and every answer of the server finds its message again.
public final class AccountStorage: ClientStorage {
    /// Where everything is kept.
    public let store: any AccountStore
    private let mapping: BatchMapping

    /// Makes the join.
    ///
    /// - Parameters:
    ///   - store: The account.
    ///   - profile: The era that the client speaks.
    ///   - codec: Reads the contents; the same as the store's.
    ///   - commands: The command numbers that the app added.
    ///   - now: The time in milliseconds since 1970, for messages that carry none.
    public init(
        store: any AccountStore, profile: Profile = .current, codec: ContentCodec = ContentCodec(),
        commands: CommandRegistry = CommandRegistry(), now: @escaping @Sendable () -> Int64 = { 0 }
    ) {
        self.store = store
        mapping = BatchMapping(
            account: store.account, profile: profile, codec: codec, commands: commands, now: now)
    }

    /// Reads what the last run left.
    ///
    /// A kept message that can no longer be read, which only a fault can cause, is marked as failed.
    public func restore() async throws -> RestoredState {
        let (restored, unreadable) = mapping.restored(try await store.clientState())
        if !unreadable.isEmpty {
            _ = try await store.apply(
                unreadable.map { .fail(send: $0, reason: "the message cannot be read") })
        }
        return restored
    }

    /// Applies all changes of a batch, in order, or none of them.
    @concurrent public func commit(_ batch: StorageBatch) async throws -> CommitOutcome {
        let (operations, received) = mapping.operations(of: batch)
        guard !operations.isEmpty else { return mapping.outcome(received, []) }
        return mapping.outcome(received, try await store.apply(operations))
    }
}

extension ACKStatus {
    /// The reason in words, for the message that was refused.
    var reason: String {
        switch self {
        case .receiverNotFriend: "the receiver is not a contact of yours"
        case .senderNotFriend: "you are not a contact of the receiver"
        case .senderBlocked: "the receiver has blocked you"
        case .notGroupMember: "you are not a member of the group"
        case .noSuchGroup: "there is no such group"
        case .groupMuted: "nobody may write in the group now"
        case .memberMuted: "you may not write in the group now"
        default: "the server refused it (status \(rawValue))"
        }
    }
}

extension SendFailure {
    /// The reason in words, for the message that was given up.
    var reason: String {
        switch self {
        case .notEncodable: "the message is too long or cannot be sent"
        case .unanswered: "the server did not answer"
        case .connectionLost: "the connection was lost"
        default: "it could not be sent (\(rawValue))"
        }
    }
}
