public import RivuletClientCore
internal import RivuletWire
internal import Synchronization

/// A storage that keeps everything in memory: for tests, and for apps that want to start anew each time.
///
/// It knows messages by the uuid that its `uuid` closure finds in them; without one every message is new. Failures can
/// be asked for, so that tests see how a client takes them.
public final class MemoryClientStorage: ClientStorage {
    /// What a failed commit throws.
    public struct CommitFailure: Error, Hashable {}

    private struct State {
        var restored: RestoredState
        var received: [ReceivedMessage] = []
        var knownUUIDs: Set<String> = []
        /// The known uuids in the order of their arrival, so that the oldest can be forgotten.
        var uuidOrder: [String] = []
        var failuresLeft = 0
        var commitCount = 0
    }

    private let state: Mutex<State>
    private let receivedCountMax: Int
    private let uuid: @Sendable (ReceivedMessage) -> String?
    private static let uuidCountMin = 10_000

    /// Makes a storage.
    ///
    /// - Parameters:
    ///   - restored: What an earlier run would have left.
    ///   - receivedCountMax: How many of the newest messages to keep; as many uuids are known, at least 10,000.
    ///   - uuid: Finds the identity of a message in its content.
    public init(
        restored: RestoredState = RestoredState(), receivedCountMax: Int = 1_000_000,
        uuid: @escaping @Sendable (ReceivedMessage) -> String? = { _ in nil }
    ) {
        state = Mutex(State(restored: restored))
        self.receivedCountMax = max(0, receivedCountMax)
        self.uuid = uuid
    }

    /// Every stored message, in the order of arrival.
    public var received: [ReceivedMessage] {
        state.withLock { $0.received }
    }

    /// What a client that starts now would find.
    public var restored: RestoredState {
        state.withLock { $0.restored }
    }

    /// How many batches were applied.
    public var commitCount: Int {
        state.withLock { $0.commitCount }
    }

    /// Lets the next commits fail.
    public func failNextCommits(_ count: Int) {
        state.withLock { $0.failuresLeft = count }
    }

    /// Gives what was kept.
    public func restore() async throws -> RestoredState {
        restored
    }

    /// Applies a batch.
    ///
    /// - Throws: ``CommitFailure`` when ``failNextCommits(_:)`` asked for it.
    public func commit(_ batch: StorageBatch) async throws -> CommitOutcome {
        try state.withLock { state in
            guard state.failuresLeft == 0 else {
                state.failuresLeft -= 1
                throw CommitFailure()
            }
            state.commitCount += 1
            return CommitOutcome(isNew: batch.changes.compactMap { apply($0, to: &state) })
        }
    }

    /// Applies a change; for a received message, tells whether it is new.
    private func apply(_ change: StorageChange, to state: inout State) -> Bool? {
        switch change {
        case .received(let message):
            guard remember(uuid(message), in: &state) else { return false }
            state.received.append(message)
            // A whole share at a time, so that dropping costs little per message.
            if state.received.count > receivedCountMax + receivedCountMax / 4 {
                state.received.removeFirst(state.received.count - receivedCountMax)
            }
            return true
        case .queued(let entry):
            _ = remember(entry.uuid, in: &state)
            state.restored.outbox.append(entry)
            state.restored.lastSendID = max(state.restored.lastSendID, entry.id)
        case .uploaded(let entry):
            if let index = state.restored.outbox.firstIndex(where: { $0.id == entry.id }) {
                state.restored.outbox[index] = entry
            }
        case .acknowledged(let id, _), .refused(let id, _), .failed(let id, _), .cancelled(let id):
            // The first entry in nearly every case, since answers come in the order of the sends.
            if let index = state.restored.outbox.firstIndex(where: { $0.id == id }) {
                state.restored.outbox.remove(at: index)
            }
        case .peerKey(let key): state.restored.peerKey = key
        case .groupKey(let group, let key): state.restored.groupKeys[group] = key
        case .groupRemoved(let group): state.restored.groupKeys[group] = nil
        }
        return nil
    }

    /// Tells whether a uuid is new, and knows it from now on; no uuid is always new.
    private func remember(_ uuid: String?, in state: inout State) -> Bool {
        guard let uuid else { return true }
        guard state.knownUUIDs.insert(uuid).inserted else { return false }
        state.uuidOrder.append(uuid)
        let limit = max(receivedCountMax, Self.uuidCountMin)
        guard state.uuidOrder.count > limit + limit / 4 else { return true }
        for forgotten in state.uuidOrder.prefix(state.uuidOrder.count - limit) {
            state.knownUUIDs.remove(forgotten)
        }
        state.uuidOrder.removeFirst(state.uuidOrder.count - limit)
        return true
    }
}
