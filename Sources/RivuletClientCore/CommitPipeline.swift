import RivuletWire

/// What waits for the storage, and what is to happen once it has answered.
///
/// At most one batch is with the storage. Everything that comes meanwhile gathers in ``next``.
struct CommitPipeline: Sendable {
    /// Something that happens only after the changes before it are committed.
    enum Effect: Sendable {
        case acknowledge(sequence: Int32, ConnectionEpoch)
        case reportKey(QueuePlace, ConnectionEpoch)
        case announce(ReceivedMessage)
        case tell(ClientNotification)
        case release(SendID)
        case releaseUploaded(SendID)
        case end(SendID, SendReport.Step)
    }

    /// Changes of one batch and their effects, in the order in which they arose.
    struct Stage: Sendable {
        var changes: [StorageChange] = []
        var effects: [Effect] = []
        var receivedCount = 0
        /// About how many bytes of packets it holds.
        var byteCount = 0
    }

    var lastID: UInt64 = 0
    var inFlight: (id: UInt64, stage: Stage)?
    var next = Stage()
    /// When the storage is asked again after a failure; until then nothing is given to it.
    var retryAt: ClientInstant?
    var failures = 0

    /// How many received messages are not yet committed.
    var uncommittedCount: Int {
        (inFlight?.stage.receivedCount ?? 0) + next.receivedCount
    }

    /// About how many bytes of packets wait for the storage.
    var uncommittedByteCount: Int {
        (inFlight?.stage.byteCount ?? 0) + next.byteCount
    }

    /// Takes the next batch, if there is one and the storage may have it.
    mutating func takeBatch() -> StorageBatch? {
        guard inFlight == nil, retryAt == nil, !next.changes.isEmpty else { return nil }
        lastID += 1
        let batch = StorageBatch(id: lastID, changes: next.changes)
        inFlight = (lastID, next)
        next = Stage()
        return batch
    }

    /// Takes effects that wait for no change.
    mutating func takeFreeEffects() -> [Effect] {
        guard inFlight == nil, next.changes.isEmpty, !next.effects.isEmpty else { return [] }
        defer { next = Stage() }
        return next.effects
    }

    /// Takes back a failed batch: facts about sends are kept for the next one, what the server still has is dropped.
    mutating func takeBackFailedBatch() {
        guard let failed = inFlight?.stage else { return }
        inFlight = nil
        let changes = (failed.changes + next.changes).compactMap(Self.keptAfterFailure)
        let effects = (failed.effects + next.effects).filter(Self.isKeptAfterFailure)
        next = Stage(changes: changes, effects: effects)
    }

    private static func keptAfterFailure(_ change: StorageChange) -> StorageChange? {
        switch change {
        case .received, .peerKey, .groupKey: nil
        // The messages before this place come again, so the place says nothing for now.
        case .acknowledged(let id, _): .acknowledged(id, place: nil)
        case .queued, .uploaded, .refused, .failed, .cancelled, .groupRemoved: change
        }
    }

    private static func isKeptAfterFailure(_ effect: Effect) -> Bool {
        switch effect {
        case .acknowledge, .reportKey, .announce, .tell(.roundFinished): false
        case .tell, .release, .releaseUploaded, .end: true
        }
    }

    /// Forgets the sends that the storage was never given, and names them.
    mutating func dropUngivenSends() -> [SendID] {
        var dropped: Set<SendID> = []
        var ids: [SendID] = []
        for case .queued(let entry) in next.changes {
            dropped.insert(entry.id)
            ids.append(entry.id)
        }
        guard !ids.isEmpty else { return [] }
        next.changes.removeAll { change in
            switch change {
            case .queued(let entry): dropped.contains(entry.id)
            case .cancelled(let id): dropped.contains(id)
            default: false
            }
        }
        next.effects.removeAll { effect in
            switch effect {
            case .release(let id), .end(let id, _): dropped.contains(id)
            default: false
            }
        }
        return ids
    }
}
