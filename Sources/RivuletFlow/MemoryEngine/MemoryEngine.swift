public import RivuletModel
import Synchronization

/// An engine that keeps everything in memory: for samples, previews and tests, with faults by script.
///
/// It plays the server and the other users, too: ``receive(_:from:in:)->_`` has somebody write, ``flood(_:in:from:)`` has
/// somebody write a lot. The script decides how long each call takes and which fail.
///
/// ```swift
/// let memory = MemoryEngine(user: UserID(7), now: systemTime)
/// memory.setScript { operation in
///     operation.kind == .send && operation.number == 1 ? .failing(with: InteractionError(.refused)) : .normal
/// }
/// let manager = DataManager(session: .peer(UserID(8)), engine: memory.engine, now: systemTime, makeUUID: systemUUID)
/// ```
public final class MemoryEngine: Sendable {
    /// One call, as the script sees it.
    public struct Operation: Hashable, Sendable {
        /// What is asked for.
        public enum Kind: Hashable, Sendable {
            /// A page of messages.
            case page
            /// One of the six calls.
            case call(MessageServiceCall)
            /// A change of a message.
            case control

            /// A message is sent.
            public static let send = Kind.call(.send)
            /// A message is sent again.
            public static let resend = Kind.call(.resend)
        }

        /// What is asked for.
        public var kind: Kind
        /// In which session.
        public var session: Session
        /// The how many-th call of its kind it is, in all sessions; the first is 1.
        public var number: Int
    }

    /// How a call goes.
    public struct Behaviour: Sendable {
        /// How long it takes.
        public var delay: Duration
        /// Why it fails; nil when it does not.
        public var error: (any Error)?
        /// Whether it does what it should although it fails, as when only the answer is lost.
        public var losesAnswer: Bool

        /// Makes a behaviour.
        public init(delay: Duration = .zero, error: (any Error)? = nil, losesAnswer: Bool = false) {
            self.delay = delay
            self.error = error
            self.losesAnswer = losesAnswer
        }

        /// At once and without a fault.
        public static let normal = Behaviour()

        /// After a while.
        public static func delayed(by delay: Duration) -> Behaviour {
            Behaviour(delay: delay)
        }

        /// Not at all.
        public static func failing(with error: any Error, after delay: Duration = .zero) -> Behaviour {
            Behaviour(delay: delay, error: error)
        }
    }

    /// Decides how each call goes.
    public typealias Script = @Sendable (Operation) -> Behaviour

    struct Thread {
        var messages: [Message] = []
        var lastPosition: Int64 = 0
        var draft: Draft?
        var readPosition: MessagePosition?

        /// Puts a message at the end and returns it with its place.
        mutating func append(_ message: Message) -> Message {
            lastPosition += 1
            var message = message
            message.position = MessagePosition(lastPosition)
            message.serverKey = lastPosition
            messages.append(message)
            return message
        }
    }

    struct State {
        var threads: [Session: Thread] = [:]
        var lastID: Int64 = 0
        var counts: [Operation.Kind: Int] = [:]
        var script: Script = { _ in .normal }
    }

    /// The user.
    public let user: UserID
    /// Tells the events.
    public let hub = SessionEventHub()
    let state = Mutex(State())
    private let clock: any Clock<Duration>
    let now: @Sendable () -> Int64

    /// Makes an engine without messages.
    ///
    /// - Parameters:
    ///   - user: The user.
    ///   - clock: By which the delays are measured.
    ///   - now: The time in milliseconds since 1970.
    public init(
        user: UserID, clock: any Clock<Duration> = ContinuousClock(), now: @escaping @Sendable () -> Int64
    ) {
        self.user = user
        self.clock = clock
        self.now = now
    }

    /// The engine for a ``DataManager``.
    public var engine: Engine {
        Engine(user: user, provider: self, service: self, events: hub, controls: self, drafts: self)
    }

    /// Decides how calls go from now on.
    public func setScript(_ script: @escaping Script) {
        state.withLock { $0.script = script }
    }

    /// How often something was asked for.
    public func count(of kind: Operation.Kind) -> Int {
        state.withLock { $0.counts[kind] ?? 0 }
    }

    /// The messages of a session as the server has them, the oldest first.
    public func messages(in session: Session) -> [Message] {
        state.withLock { $0.threads[session]?.messages ?? [] }
    }

    // MARK: the other side

    /// Puts messages into the past of a session, without an event; ids and places are given here.
    ///
    /// - Returns: The messages as they are kept.
    @discardableResult
    public func add(_ messages: [Message]) -> [Message] {
        messages.map { keep($0) }
    }

    /// Has a user write into a session.
    @discardableResult
    public func receive(_ content: MessageContent, from sender: UserID, in session: Session) -> Message {
        let message = keep(blank(content, from: sender, in: session))
        hub.publish(.arrived([message]), in: session)
        return message
    }

    /// Has a user write many messages, each an event of its own.
    public func flood(_ count: Int, in session: Session, from sender: UserID) {
        for number in 0..<max(0, count) {
            receive(.text("message \(number + 1) of \(count)"), from: sender, in: session)
        }
    }

    /// Has a user change a message, with the rules of the protocol: an edit of somebody else's message is ignored.
    public func receive(_ control: ControlContent, from user: UserID, in session: Session) {
        let time = now()
        if let uuid = control.target {
            state.withLock { state in
                guard let index = state.threads[session]?.messages.firstIndex(where: { $0.uuid == uuid }),
                    let message = state.threads[session]?.messages[index]
                else { return }
                var entry = MessageLedger.Entry(
                    message: message, engineID: message.id, sourceRevision: message.revision)
                let named = NamedControl(
                    uuid: uuid, change: .control(control), author: user, milliseconds: time)
                guard named.apply(to: &entry, user: self.user, shell: .erased) else { return }
                entry.message.revision = message.revision + 1
                state.threads[session]?.messages[index] = entry.message
            }
        }
        hub.publish(.control(control, by: user, milliseconds: time), in: session)
    }

    /// Notes up to where the user has read a session.
    public func setReadPosition(_ position: MessagePosition?, in session: Session) {
        state.withLock { $0.threads[session, default: Thread()].readPosition = position }
    }

    // MARK: inside

    func blank(_ content: MessageContent, from sender: UserID, in session: Session) -> Message {
        Message(
            id: MessageID(0), session: session, sender: sender, isOutgoing: sender == user,
            position: MessagePosition(0), timeMilliseconds: now(), content: content,
            state: sender == user ? .accepted : .received)
    }

    /// Keeps a message at the end of its session; one whose uuid is there already is that one.
    @discardableResult
    func keep(_ message: Message) -> Message {
        state.withLock { state in
            if let uuid = message.uuid,
                let known = state.threads[message.session]?.messages.first(where: { $0.uuid == uuid })
            {
                return known
            }
            state.lastID += 1
            var message = message
            message.id = MessageID(state.lastID)
            message.uuid = message.uuid ?? "memory-\(state.lastID)"
            // In place: a copy for each message would make a flood quadratic.
            return state.threads[message.session, default: Thread()].append(message)
        }
    }

    /// Lets the script decide, then does the work.
    func perform<Value: Sendable>(
        _ kind: Operation.Kind, in session: Session, _ work: () throws -> Value
    ) async throws -> Value {
        let behaviour = state.withLock { state in
            state.counts[kind, default: 0] += 1
            let operation = Operation(kind: kind, session: session, number: state.counts[kind] ?? 1)
            return (state.script, operation)
        }
        let chosen = behaviour.0(behaviour.1)
        if chosen.delay > .zero { try await clock.sleep(for: chosen.delay) }
        if let error = chosen.error {
            if chosen.losesAnswer { _ = try work() }
            throw error
        }
        return try work()
    }
}
