public import RivuletModel

/// The messages of one session: reads them from a provider, brings them together by identity, feeds the flow, and
/// carries out what the user does with them, hooks first.
///
/// It depends on the protocols of the interaction layer alone, so any ``Engine`` will do. One object serves one session;
/// two of them share nothing.
///
/// ```swift
/// let manager = DataManager(session: .peer(ben), engine: engine, now: systemTime, makeUUID: systemUUID)
/// manager.controller.addObserver(view)
/// let running = Task { await manager.run() }   // for as long as the session is on screen
/// manager.open()
/// try await manager.send(.text("Shall we meet at the north gate?"))
/// ```
///
/// A session that is left is closed. Its running calls go on and complete once, with their real outcome; pages that come
/// late are dropped. It may be opened again, and shows what was not sent meanwhile.
@MainActor
public final class DataManager {
    enum Life {
        case new
        case open
        case closed
    }

    /// The session.
    public nonisolated let session: Session
    /// What lies beneath.
    public nonisolated let engine: Engine
    /// Shows the messages; submit what the reader does to it, and add the view as an observer.
    public let controller: FlowController
    /// Hears what becomes of calls.
    public weak var delegate: (any DataManagerDelegate)?
    /// What the host decided; a change takes effect at once.
    public var configuration: SessionConfiguration {
        didSet {
            ledger.burnedShell = configuration.burnedShell
            source.configure(configuration, engine: engine)
            controller.submit(.configurationChanged(flowConfiguration))
        }
    }
    /// The messages that the user has selected.
    public internal(set) var selection = MessageSelection()
    /// What the user began to write.
    public internal(set) var draft = Draft()

    var ledger: MessageLedger
    var life = Life.new
    /// Grows with every opening; what belongs to an earlier one is dropped.
    var generation = 0
    var hasRun = false
    /// What was unread when the session was opened.
    var unread: UnreadStretch?
    var knowsUnread = false
    /// Up to where the user has seen the messages, as far as was told.
    var seenPosition: MessagePosition?
    var seenMessages: Set<MessageID> = []
    /// Up to where the user had read when the session was opened, as far as the engine knows: their authors know it.
    var readBefore: MessagePosition?
    /// The newest message seen of which the engine was not told yet, and those whose authors were not.
    var unsentMark: Message?
    var unsentReceipts: [String] = []
    var isSendingReceipts = false
    /// The messages on their way, so that none is sent twice and each can be cancelled.
    var deliveries: [MessageID: Task<Message, any Error>] = [:]
    /// The messages that are being deleted.
    var deletions: Set<MessageID> = []
    var draftTask: Task<Void, Never>?
    /// The polls whose votes the engine is to be asked for.
    var pollsToCount: Set<MessageID> = []
    var isCountingVotes = false
    /// How many jumps were asked for.
    var jumpCount = 0
    /// When the pages under way were asked for.
    var pageTicks: [FlowTicket: Int] = [:]
    let now: @Sendable () -> Int64
    let makeUUID: @Sendable () -> String
    let codec: ContentCodec
    let source: PageSource

    /// Makes the object of a session; nothing happens before ``open(_:)`` and ``run()``.
    ///
    /// - Parameters:
    ///   - session: The session.
    ///   - engine: What lies beneath.
    ///   - configuration: What the host decides.
    ///   - codec: Writes contents into merged records.
    ///   - clock: By which the flow waits for the next day.
    ///   - now: The time in milliseconds since 1970.
    ///   - makeUUID: Gives every message its name.
    public init(
        session: Session, engine: Engine, configuration: SessionConfiguration = SessionConfiguration(),
        codec: ContentCodec = ContentCodec(), clock: any Clock<Duration> = ContinuousClock(),
        now: @escaping @Sendable () -> Int64, makeUUID: @escaping @Sendable () -> String
    ) {
        self.session = session
        self.engine = engine
        self.configuration = configuration
        self.codec = codec
        self.now = now
        self.makeUUID = makeUUID
        ledger = MessageLedger(session: session, user: engine.user, burnedShell: configuration.burnedShell)
        let source = PageSource(session: session, configuration: configuration, engine: engine)
        self.source = source
        controller = FlowController(
            session: session, configuration: configuration.flow, clock: clock, now: now,
            load: { try await source.page(for: $0) })
        source.attach(self)
    }

    // MARK: what is known

    /// How often messages came that were there already.
    public var counters: MergeCounters { ledger.counters }

    /// The message of a row as it is now; nil when it is not known any more.
    public func message(_ id: MessageID) -> Message? {
        ledger[id]?.message
    }

    /// The message with this uuid; nil when it is not known.
    public func message(uuid: String) -> Message? {
        ledger.row(uuid: uuid).flatMap { ledger[$0]?.message }
    }

    /// Where the reader is, in the engine's words: to be saved, and restored by ``open(_:)`` in a later run.
    public var position: FlowPosition {
        var position = controller.position
        if let anchor = position.anchor, let id = ledger[anchor.message]?.engineID {
            position.anchor?.message = id
        }
        return position
    }

    // MARK: life

    /// Drives the session until the task is cancelled: the flow, its pages, and the engine's events.
    ///
    /// Run it once at a time; it may be run again after it ended.
    public func run() async {
        let events = engine.events?.events(in: session)
        if hasRun, life == .open { controller.submit(.reloadRequested) }
        hasRun = true
        await withDiscardingTaskGroup { group in
            group.addTask { [controller] in await controller.run() }
            if let events {
                group.addTask { [weak self] in
                    for await event in events { await self?.take(event) }
                }
            }
            await loadDraft()
        }
    }

    /// Shows the session; a session that is open is opened anew.
    public func open(_ opening: FlowOpening = .latest) {
        generation += 1
        life = .open
        if unread != nil {
            unread = nil
            controller.submit(.configurationChanged(flowConfiguration))
        }
        knowsUnread = false
        seenMessages = []
        readBefore = nil
        pageTicks = [:]
        source.begin(generation: generation)
        controller.submit(.opened(opening.inRows(of: ledger)))
        showLocalMessages()
    }

    /// Leaves the session: pages under way are dropped, calls under way go on.
    public func close() {
        guard life == .open else { return }
        life = .closed
        generation += 1
        source.begin(generation: generation)
        controller.submit(.closed)
        endSelection()
    }

    /// Reads what is shown anew, keeping the reader's place.
    public func reload() {
        controller.submit(.reloadRequested)
    }

    private func showLocalMessages() {
        let local = ledger.localMessages
        if !local.isEmpty { controller.submit(.arrived(local)) }
    }

    var flowConfiguration: FlowConfiguration {
        var flow = configuration.flow
        if configuration.showsUnreadMark { flow.unread = flow.unread ?? unread } else { flow.unread = nil }
        return flow
    }

    // MARK: feeding the flow

    /// Shows what a merge did.
    func show(_ outcome: MessageLedger.Outcome, as make: ([Message]) -> FlowEvent) {
        if !outcome.absorbed.isEmpty { controller.submit(.deleted(outcome.absorbed)) }
        guard !outcome.messages.isEmpty else { return }
        controller.submit(make(outcome.messages))
        askForVotes(on: outcome.messages)
    }

    /// Changes a row and shows it.
    func change(_ id: MessageID, _ change: (inout MessageLedger.Entry) -> Void) {
        guard let message = ledger.change(id, change) else { return }
        controller.submit(.updated([message]))
    }

    func trimLedger() {
        // Asked for every event, so the cheap look comes first.
        guard ledger.needsTrim(to: configuration.ledgerCountMax) else { return }
        let kept = Set(controller.snapshot.messages.map(\.id)).union(selection.ids).union(deliveries.keys)
        for id in ledger.trim(to: max(configuration.ledgerCountMax, kept.count), keeping: kept) {
            // Should it come back, it counts its revisions from the engine's again.
            controller.submit(.snapshotsCleared(.message(id)))
        }
    }
}

extension FlowOpening {
    /// The opening with the rows that stand for the engine's messages.
    func inRows(of ledger: MessageLedger) -> FlowOpening {
        switch self {
        case .latest: return self
        case .message(let id, let alignment): return .message(ledger.row(engineID: id) ?? id, alignment)
        case .position(var position):
            if let anchor = position.anchor, let id = ledger.row(engineID: anchor.message) {
                position.anchor?.message = id
            }
            return .position(position)
        }
    }
}
