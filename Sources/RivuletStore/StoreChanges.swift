public import RivuletModel
import Synchronization

/// What one transaction changed.
public struct StoreChanges: Hashable, Sendable {
    /// Grows by one with every element; a gap says that elements were lost and that the reader must read anew.
    public var number: UInt64
    /// New messages, in the order in which they were stored.
    public var inserted: [Message]
    /// Messages that changed, each once, as they are now; their position may have changed, too.
    public var updated: [Message]
    /// Messages that are gone.
    public var deleted: [MessageID]
    /// The conversations whose line in the list changed.
    public var sessions: Set<Session>
    /// Conversations of which every message is gone.
    public var cleared: Set<Session>
    /// Registered contents without a row that came, in their order, after they took effect.
    public var controls: [StoredControl]
    /// The groups whose data or members changed.
    public var groups: Set<Int64>
    /// The contacts that changed.
    public var contacts: Set<UserID>

    /// Makes a set of changes.
    public init(number: UInt64 = 0) {
        self.number = number
        inserted = []
        updated = []
        deleted = []
        sessions = []
        cleared = []
        controls = []
        groups = []
        contacts = []
    }

    /// Whether nothing changed that a reader could see.
    public var isEmpty: Bool {
        inserted.isEmpty && updated.isEmpty && deleted.isEmpty && sessions.isEmpty && cleared.isEmpty
            && controls.isEmpty && groups.isEmpty && contacts.isEmpty
    }
}

/// A content of a registered kind whose behaviour is `control`: it came and left no row.
public struct StoredControl: Hashable, Sendable {
    /// The conversation.
    public var session: Session
    /// The author.
    public var sender: UserID
    /// Whether the author is the user of this account, on another device.
    public var isOutgoing: Bool
    /// When the server says that it was sent, in milliseconds since 1970.
    public var timeMilliseconds: Int64
    /// The content.
    public var content: CustomContentBox
}

/// Hands each change to every stream.
final class ChangePublisher: Sendable {
    /// How many elements a slow reader may be behind before it loses the oldest.
    static let backlogMax = 256

    private struct State {
        var number: UInt64 = 0
        var nextID = 0
        var streams: [Int: AsyncStream<StoreChanges>.Continuation] = [:]
        var isFinished = false
    }

    private let state = Mutex(State())

    func stream() -> AsyncStream<StoreChanges> {
        let (stream, continuation) = AsyncStream.makeStream(
            of: StoreChanges.self, bufferingPolicy: .bufferingNewest(Self.backlogMax))
        let id: Int? = state.withLock { state in
            guard !state.isFinished else { return nil }
            state.nextID += 1
            state.streams[state.nextID] = continuation
            return state.nextID
        }
        guard let id else {
            continuation.finish()
            return stream
        }
        continuation.onTermination = { [weak self] _ in
            self?.state.withLock { $0.streams[id] = nil }
        }
        return stream
    }

    /// Publishes a transaction; must be called after its commit, in the order of the commits.
    ///
    /// The changes are made only when somebody listens. Who begins to listen after that look reads the committed state
    /// anyway.
    func publish(_ make: () throws -> StoreChanges) rethrows {
        guard state.withLock({ !$0.streams.isEmpty }) else { return }
        var changes = try make()
        guard !changes.isEmpty else { return }
        let streams = state.withLock { state in
            state.number += 1
            changes.number = state.number
            return Array(state.streams.values)
        }
        for stream in streams {
            stream.yield(changes)
        }
    }

    func finish() {
        let streams = state.withLock { state in
            state.isFinished = true
            defer { state.streams = [:] }
            return Array(state.streams.values)
        }
        for stream in streams {
            stream.finish()
        }
    }
}
