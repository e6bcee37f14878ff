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
    private let packets: PacketMapping
    private let profile: Profile

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
        self.profile = profile
        packets = PacketMapping(
            account: store.account, profile: profile, codec: codec, commands: commands, now: now)
    }

    /// Reads what the last run left.
    ///
    /// A kept message that can no longer be read, which only a fault can cause, is marked as failed.
    public func restore() async throws -> RestoredState {
        let state = try await store.clientState()
        var entries: [OutboxEntry] = []
        var unreadable: [StoreOperation] = []
        for send in state.outbox {
            if let entry = packets.entry(of: send) {
                entries.append(entry)
            } else {
                unreadable.append(.fail(send: send.number, reason: "the message cannot be read"))
            }
        }
        if !unreadable.isEmpty { _ = try await store.apply(unreadable) }
        return RestoredState(
            peerKey: state.peerKey, groupKeys: state.groupKeys, outbox: entries,
            lastSendID: SendID(rawValue: state.lastSendNumber))
    }

    /// Applies all changes of a batch, in order, or none of them.
    @concurrent public func commit(_ batch: StorageBatch) async throws -> CommitOutcome {
        var operations: [StoreOperation] = []
        operations.reserveCapacity(batch.changes.count)
        /// For each received message its operation; nil for one that is not for the store.
        var received: [Int?] = []
        for change in batch.changes {
            if case .received(let message) = change {
                guard let incoming = packets.incoming(message) else {
                    received.append(nil)
                    continue
                }
                received.append(operations.count)
                operations.append(.receive(incoming))
            } else if let operation = operation(for: change) {
                operations.append(operation)
            }
        }
        guard !operations.isEmpty else { return CommitOutcome(isNew: received.map { _ in true }) }
        let outcomes = try await store.apply(operations)
        return CommitOutcome(
            isNew: received.map { index in
                guard let index, case .duplicate = outcomes[index] else { return true }
                return false
            })
    }

    private func operation(for change: StorageChange) -> StoreOperation? {
        switch change {
        case .received: nil
        case .queued(let entry): packets.queued(entry).map { .send($0) }
        case .uploaded(let entry): packets.queued(entry).map { .replaceSend($0) }
        case .acknowledged(let id, let place):
            // In the seed era a message never comes back to the device that sent it: its place is here.
            .acknowledge(
                send: id.rawValue, serverKey: place?.key, isPlaced: place != nil || profile == .seed)
        case .refused(let id, let status): .fail(send: id.rawValue, reason: status.reason)
        case .failed(let id, let failure): .fail(send: id.rawValue, reason: failure.reason)
        case .cancelled(let id): .cancel(send: id.rawValue)
        case .peerKey(let key): .setKey(group: nil, key: key)
        case .groupKey(let group, let key): .setKey(group: group, key: key)
        case .groupRemoved(let group): .removeKey(group: group)
        }
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
