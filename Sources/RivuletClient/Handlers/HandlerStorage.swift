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
    /// The messages on their way, since an answer names nothing but the send.
    private let entries = Mutex<[SendID: OutboxEntry]>([:])

    init(base: any ClientStorage, handlers: HandlerBox) {
        self.base = base
        source = handlers
    }

    func restore() async throws -> RestoredState {
        let restored = try await base.restore()
        entries.withLock { entries in
            for entry in restored.outbox { entries[entry.id] = entry }
        }
        return restored
    }

    func commit(_ batch: StorageBatch) async throws -> CommitOutcome {
        for case .queued(let entry) in batch.changes {
            entries.withLock { $0[entry.id] = entry }
        }
        let handlers = source.handlers
        for change in batch.changes {
            guard isStored(change, by: handlers) else { throw NotStoredByHandler() }
        }
        let outcome = try await base.commit(batch)
        entries.withLock { entries in
            for change in batch.changes {
                if let id = change.endedSend { entries[id] = nil }
            }
        }
        return outcome
    }

    private func isStored(_ change: StorageChange, by handlers: HandlerBox.Handlers) -> Bool {
        switch change {
        case .received(let message): isStored(message, by: handlers)
        case .acknowledged(let id, _): isStored(id, isAccepted: true, by: handlers)
        case .refused(let id, _), .failed(let id, _): isStored(id, isAccepted: false, by: handlers)
        case .peerKey(let key): handlers.syncKey?.saveSyncKey(key) ?? true
        case .groupKey(let group, let key): handlers.syncKey?.saveGroupSyncKey(key, gid: group) ?? true
        case .queued, .cancelled: true
        }
    }

    private func isStored(_ message: ReceivedMessage, by handlers: HandlerBox.Handlers) -> Bool {
        switch (message.command, message.body) {
        case (.im, .im(let body)):
            handlers.peer?.handleMessage(body, uid: message.isOwn ? body.receiver : body.sender) ?? true
        case (.groupIM, .im(let body)): handlers.group?.handleMessage(body) ?? true
        case (.groupNotification, .text(let text)): handlers.group?.handleGroupNotification(text) ?? true
        default: true
        }
    }

    private func isStored(_ id: SendID, isAccepted: Bool, by handlers: HandlerBox.Handlers) -> Bool {
        guard let entry = entries.withLock({ $0[id] }), case .im(let body) = entry.body else { return true }
        let (localID, receiver) = (body.msgLocalID, body.receiver)
        switch (entry.command, isAccepted) {
        case (.im, true): return handlers.peer?.handleMessageACK(localID, uid: receiver) ?? true
        case (.im, false): return handlers.peer?.handleMessageFailure(localID, uid: receiver) ?? true
        case (.groupIM, true): return handlers.group?.handleMessageACK(localID, gid: receiver) ?? true
        case (.groupIM, false): return handlers.group?.handleMessageFailure(localID, gid: receiver) ?? true
        default: return true
        }
    }
}

/// The app's handlers, held weakly, to be set on any thread.
final class HandlerBox: Sendable {
    /// The handlers of one batch, held while it is worked on.
    struct Handlers: Sendable {
        var peer: (any IMPeerMessageHandler)?
        var group: (any IMGroupMessageHandler)?
        var syncKey: (any IMSyncKeyHandler)?
    }

    private struct State {
        weak var peer: (any IMPeerMessageHandler)?
        weak var group: (any IMGroupMessageHandler)?
        weak var syncKey: (any IMSyncKeyHandler)?
    }

    private let state = Mutex(State())

    var handlers: Handlers {
        state.withLock { Handlers(peer: $0.peer, group: $0.group, syncKey: $0.syncKey) }
    }

    func set(peer: (any IMPeerMessageHandler)?) { state.withLock { $0.peer = peer } }
    func set(group: (any IMGroupMessageHandler)?) { state.withLock { $0.group = group } }
    func set(syncKey: (any IMSyncKeyHandler)?) { state.withLock { $0.syncKey = syncKey } }
}

extension StorageChange {
    /// The send whose fate this change decides.
    var endedSend: SendID? {
        switch self {
        case .acknowledged(let id, _), .refused(let id, _), .failed(let id, _), .cancelled(let id): id
        case .received, .queued, .peerKey, .groupKey: nil
        }
    }
}
