internal import RivuletClientCore
internal import RivuletWire
internal import Synchronization

/// Where a client's notifications go: streams, observers, counts, and the answers to questions from any thread.
final class ClientOutlet: Sendable {
    /// What names a message that is being sent in the described questions.
    enum SendingKey: Hashable {
        case peer(Int64, Int32)
        case group(Int64, Int32)
        case customer(storeID: Int64, Int32)
        case customerSupport(customerID: Int64, customerAppID: Int64, Int32)

        init?(_ command: Command, _ body: PacketBody, _ msgLocalID: Int32, _ context: ServiceContext) {
            switch (command, body) {
            case (.im, .im(let message)): self = .peer(message.receiver, message.msgLocalID)
            case (.groupIM, .im(let message)): self = .group(message.receiver, message.msgLocalID)
            default:
                guard
                    let (message, isSupport) = context.customerMessage(
                        command, body, isOwn: true, msgLocalID: msgLocalID)
                else { return nil }
                self =
                    isSupport
                    ? .customerSupport(
                        customerID: message.customerID, customerAppID: message.customerAppID,
                        message.msgLocalID)
                    : .customer(storeID: message.storeID, message.msgLocalID)
            }
        }
    }

    private struct State {
        var connectionState = ConnectionState.unconnected
        var connectionStatus = ConnectionStatus(state: .unconnected)
        var syncKey: Int64 = 0
        var sending: [SendingKey: Int] = [:]
        var sendingCount = 0
        var logger = ClientLogger.silent
        var metrics = ClientMetrics.none
    }

    let pump = ObserverPump()
    let states = Broadcast<ConnectionState>(limit: 64)
    let messages = Broadcast<ReceivedMessage>(limit: 8192)
    let reports = Broadcast<SendReport>(limit: 8192)
    let everything = Broadcast<ClientNotification>(limit: 8192)
    let statuses = Broadcast<ConnectionStatus>(limit: 64)
    let events = Broadcast<ObservedEvent>(limit: 8192)
    let handlers = HandlerBox()
    private let state = Mutex(State())

    private var logger: ClientLogger { state.withLock { $0.logger } }
    private var metrics: ClientMetrics { state.withLock { $0.metrics } }

    func configure(_ configuration: IMServiceConfiguration) {
        let (logger, metrics) = (configuration.logger, configuration.metrics)
        state.withLock { state in
            state.logger = logger
            state.metrics = metrics
        }
        pump.configure(ServiceContext(configuration)) { count in
            metrics.add("events_dropped", count)
            logger.log(.warning, "Observers are too slow", ["dropped": "\(count)"])
        }
    }

    var connectionState: ConnectionState { state.withLock { $0.connectionState } }

    var connectionStatus: ConnectionStatus { state.withLock { $0.connectionStatus } }

    var syncKey: Int64 {
        get { state.withLock { $0.syncKey } }
        set { state.withLock { $0.syncKey = newValue } }
    }

    var sendingCount: Int { state.withLock { $0.sendingCount } }

    func isSending(_ key: SendingKey) -> Bool {
        state.withLock { $0.sending[key] != nil }
    }

    func makeStateStream() -> AsyncStream<ConnectionState> {
        states.makeStream(beginningWith: connectionState)
    }

    func makeStatusStream() -> AsyncStream<ConnectionStatus> {
        statuses.makeStream(beginningWith: connectionStatus)
    }

    // MARK: Sends

    func began(_ request: SendRequest) {
        let key = SendingKey(request.command, request.body, request.msgLocalID, pump.context)
        state.withLock { state in
            state.sendingCount += 1
            if let key { state.sending[key, default: 0] += 1 }
        }
    }

    /// A request came to nothing before the core saw it.
    func ended(_ request: SendRequest) {
        ended(SendingKey(request.command, request.body, request.msgLocalID, pump.context))
    }

    func restored(_ entries: [OutboxEntry]) {
        let context = pump.context
        state.withLock { state in
            state.sendingCount += entries.count
            for case let key? in entries.map({ SendingKey($0.command, $0.body, $0.msgLocalID, context) }) {
                state.sending[key, default: 0] += 1
            }
        }
    }

    private func ended(_ key: SendingKey?) {
        state.withLock { state in
            state.sendingCount -= 1
            guard let key, let count = state.sending[key] else { return }
            state.sending[key] = count > 1 ? count - 1 : nil
        }
    }

    // MARK: Notifications

    func tell(_ notifications: [ClientNotification]) {
        let (context, handlers) = (pump.context, handlers.handlers)
        var events: [ObservedEvent] = []
        for notification in notifications {
            let meaning = self.events(notification, context, handlers)
            // A live packet that a handler keeps back is for nobody.
            if meaning.isKeptBack { continue }
            note(notification)
            everything.yield(notification)
            for event in meaning.events { self.events.yield(event) }
            events += meaning.events
        }
        pump.push(events)
    }

    /// What observers are told of a notification, and whether a handler keeps all of it back.
    private func events(
        _ notification: ClientNotification, _ context: ServiceContext, _ handlers: HandlerBox.Handlers
    ) -> (events: [ObservedEvent], isKeptBack: Bool) {
        switch notification {
        case .stateChanged(let state): return ([.state(state)], false)
        case .statusChanged(let status): return ([.status(status)], false)
        case .message(let message): return ([.message(context.addressed(message))], false)
        case .sendChanged(let report): return ([.report(report)], false)
        case .livePacket(let packet):
            let live = LiveEvent.events(packet, context)
            let accepted = live.filter { handlers.accept($0) }
            return (accepted.map { .live($0) }, accepted.isEmpty && !live.isEmpty)
        case .roundFinished, .diagnostic: return ([], false)
        }
    }

    private func note(_ notification: ClientNotification) {
        switch notification {
        case .stateChanged(let newState):
            state.withLock { $0.connectionState = newState }
            if newState == .authenticated { metrics.add("logins") }
            logger.log(.info, "The connection's state changed", ["state": newState.description])
            states.yield(newState)
        case .statusChanged(let status):
            state.withLock { $0.connectionStatus = status }
            statuses.yield(status)
        case .message(let message):
            metrics.add("messages_received")
            messages.yield(message)
        case .sendChanged(let report):
            note(report)
            reports.yield(report)
        case .diagnostic(let diagnostic): note(diagnostic)
        case .livePacket, .roundFinished: break
        }
    }

    private func note(_ report: SendReport) {
        switch report.step {
        case .queued: return
        case .acknowledged: metrics.add("messages_acknowledged")
        case .refused: metrics.add("messages_refused")
        case .failed: metrics.add("messages_failed")
        case .cancelled: break
        }
        let entry = report.entry
        ended(SendingKey(entry.command, entry.body, entry.msgLocalID, pump.context))
    }

    private func note(_ diagnostic: ClientDiagnostic) {
        metrics.add("diagnostic." + diagnostic.code.rawValue)
        logger.log(.warning, "The client noticed something", Self.fields(of: diagnostic))
    }

    private static func fields(of diagnostic: ClientDiagnostic) -> [String: String] {
        var fields = ["code": diagnostic.code.rawValue]
        fields["wire_error"] = diagnostic.wireError?.description
        fields["close_reason"] = diagnostic.closeReason?.rawValue
        return fields
    }

    func finish() {
        states.finish()
        messages.finish()
        reports.finish()
        everything.finish()
        statuses.finish()
        events.finish()
    }
}
