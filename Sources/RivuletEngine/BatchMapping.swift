package import RivuletClientCore
package import RivuletModel
package import RivuletStore
package import RivuletWire

/// What a batch of the client means to the store, and the way back: pure translation.
package struct BatchMapping: Sendable {
    private let packets: PacketMapping
    private let profile: Profile

    /// Makes the translation for one account; the parameters are those of ``AccountStorage``.
    package init(
        account: UserID, profile: Profile, codec: ContentCodec, commands: CommandRegistry = CommandRegistry(),
        now: @escaping @Sendable () -> Int64 = { 0 }
    ) {
        self.profile = profile
        packets = PacketMapping(
            account: account, profile: profile, codec: codec, commands: commands, now: now)
    }

    /// The operations of a batch, and for each received message the index of its own; nil for one that is not for the
    /// store.
    package func operations(of batch: StorageBatch) -> (operations: [StoreOperation], received: [Int?]) {
        var operations: [StoreOperation] = []
        operations.reserveCapacity(batch.changes.count)
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
        return (operations, received)
    }

    /// What the client is told of a batch whose operations came out so.
    package func outcome(_ received: [Int?], _ outcomes: [StoreOutcome]) -> CommitOutcome {
        CommitOutcome(
            isNew: received.map { index in
                guard let index, index < outcomes.count, case .duplicate = outcomes[index] else {
                    return true
                }
                return false
            })
    }

    /// What the client goes on with, and the numbers of kept messages that can no longer be read.
    package func restored(_ state: StoredClientState) -> (state: RestoredState, unreadable: [Int64]) {
        var entries: [OutboxEntry] = []
        var unreadable: [Int64] = []
        for send in state.outbox {
            if let entry = packets.entry(of: send) {
                entries.append(entry)
            } else {
                unreadable.append(send.number)
            }
        }
        let restored = RestoredState(
            peerKey: state.peerKey, groupKeys: state.groupKeys, outbox: entries,
            lastSendID: SendID(rawValue: state.lastSendNumber))
        return (restored, unreadable)
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
