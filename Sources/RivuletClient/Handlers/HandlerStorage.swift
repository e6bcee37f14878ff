internal import RivuletClientCore
internal import RivuletWire
internal import Synchronization

/// What a commit throws when a handler answered *not stored*.
struct NotStoredByHandler: Error {}

/// A storage with the app's handlers in front of it.
///
/// A batch first goes to the handlers, change by change, then to the storage as a whole. When a handler refuses or the
/// storage fails, the batch counts as not committed; what handlers kept of it comes again.
final class HandlerStorage: ClientStorage {
    private let base: any ClientStorage
    private let source: HandlerBox
    private let context: @Sendable () -> ServiceContext
    /// Told of the key of the user's own queue, whenever it is stored.
    private let keyStored: @Sendable (Int64) -> Void
    /// The messages on their way, since an answer names nothing but the send.
    private let entries = Mutex<[SendID: OutboxEntry]>([:])

    init(
        base: any ClientStorage, handlers: HandlerBox,
        context: @escaping @Sendable () -> ServiceContext = { ServiceContext() },
        keyStored: @escaping @Sendable (Int64) -> Void = { _ in }
    ) {
        self.base = base
        source = handlers
        self.context = context
        self.keyStored = keyStored
    }

    func restore() async throws -> RestoredState {
        let restored = try await base.restore()
        entries.withLock { entries in
            for entry in restored.outbox { entries[entry.id] = entry }
        }
        if let key = restored.peerKey { keyStored(key) }
        return restored
    }

    func commit(_ batch: StorageBatch) async throws -> CommitOutcome {
        for change in batch.changes {
            switch change {
            case .queued(let entry), .uploaded(let entry): entries.withLock { $0[entry.id] = entry }
            default: break
            }
        }
        let calls = HandlerCalls(handlers: source.handlers, context: context()) { [self] id in
            entries.withLock { $0[id] }
        }
        guard calls.areStored(batch.changes) else { throw NotStoredByHandler() }
        let outcome = try await base.commit(batch)
        entries.withLock { entries in
            for change in batch.changes {
                if let id = change.endedSend { entries[id] = nil }
            }
        }
        for case .peerKey(let key) in batch.changes { keyStored(key) }
        return outcome
    }
}

extension StorageChange {
    /// The send whose fate this change decides.
    var endedSend: SendID? {
        switch self {
        case .acknowledged(let id, _), .refused(let id, _), .failed(let id, _), .cancelled(let id): id
        case .received, .queued, .uploaded, .peerKey, .groupKey, .groupRemoved: nil
        }
    }
}
