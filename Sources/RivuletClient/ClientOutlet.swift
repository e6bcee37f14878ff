internal import RivuletClientCore
internal import RivuletWire
internal import Synchronization

/// Where a client's notifications go: streams, observers, counts, and the answers to questions from any thread.
final class ClientOutlet: Sendable {
    /// What names a message that is being sent in the described questions.
    struct SendingKey: Hashable {
        var command: Command
        var receiver: Int64
        var msgLocalID: Int32

        init?(_ command: Command, _ body: PacketBody) {
            guard case .im(let message) = body else { return nil }
            self.init(command, receiver: message.receiver, msgLocalID: message.msgLocalID)
        }

        init(_ command: Command, receiver: Int64, msgLocalID: Int32) {
            self.command = command
            self.receiver = receiver
            self.msgLocalID = msgLocalID
        }
    }

    private struct State {
        var connectionState = ConnectionState.unconnected
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
    private let state = Mutex(State())

    private var logger: ClientLogger { state.withLock { $0.logger } }
    private var metrics: ClientMetrics { state.withLock { $0.metrics } }

    func configure(logger: ClientLogger, metrics: ClientMetrics) {
        state.withLock { state in
            state.logger = logger
            state.metrics = metrics
        }
    }

    var connectionState: ConnectionState { state.withLock { $0.connectionState } }

    var sendingCount: Int { state.withLock { $0.sendingCount } }

    func isSending(_ key: SendingKey) -> Bool {
        state.withLock { $0.sending[key] != nil }
    }

    func makeStateStream() -> AsyncStream<ConnectionState> {
        states.makeStream(beginningWith: connectionState)
    }

    // MARK: Sends

    func began(_ request: SendRequest) {
        let key = SendingKey(request.command, request.body)
        state.withLock { state in
            state.sendingCount += 1
            if let key { state.sending[key, default: 0] += 1 }
        }
    }

    /// A request came to nothing before the core saw it.
    func ended(_ request: SendRequest) {
        ended(request.command, request.body)
    }

    func restored(_ entries: [OutboxEntry]) {
        state.withLock { state in
            state.sendingCount += entries.count
            for case let key? in entries.map({ SendingKey($0.command, $0.body) }) {
                state.sending[key, default: 0] += 1
            }
        }
    }

    private func ended(_ command: Command, _ body: PacketBody) {
        let key = SendingKey(command, body)
        state.withLock { state in
            state.sendingCount -= 1
            guard let key, let count = state.sending[key] else { return }
            state.sending[key] = count > 1 ? count - 1 : nil
        }
    }

    // MARK: Notifications

    func tell(_ notifications: [ClientNotification]) {
        for notification in notifications {
            note(notification)
            everything.yield(notification)
        }
        pump.push(notifications)
    }

    private func note(_ notification: ClientNotification) {
        switch notification {
        case .stateChanged(let newState):
            state.withLock { $0.connectionState = newState }
            if newState == .authenticated { metrics.add("logins") }
            logger.log(.info, "The connection's state changed", ["state": newState.description])
            states.yield(newState)
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
        ended(report.entry.command, report.entry.body)
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
    }
}
