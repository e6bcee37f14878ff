/// How the connection stands: its state, the time until the next try, and what ended the last one.
///
/// A program says with it "offline, retrying in 4 s". Two are equal when nothing that a reader could see differs.
public struct ConnectionStatus: Sendable, Hashable {
    /// The state.
    public var state: ConnectionState
    /// How long after this was told the next try begins; nil when none is scheduled.
    public var retryDelay: Duration?
    /// What ended the last connection or attempt; nil while logged in, and before the first failure.
    ///
    /// In the state ``ConnectionState/kicked``, which only a stop and a start leave, it says that another login took
    /// over.
    public var reason: ClientDiagnostic.Code?
    /// How the network named the end, when it did.
    public var closeReason: CloseReason?

    /// Makes a status.
    public init(
        state: ConnectionState, retryDelay: Duration? = nil, reason: ClientDiagnostic.Code? = nil,
        closeReason: CloseReason? = nil
    ) {
        self.state = state
        self.retryDelay = retryDelay
        self.reason = reason
        self.closeReason = closeReason
    }
}

/// The last thing that went wrong, and what was told of it.
struct StatusBook: Sendable {
    /// What was told last; the moment of the try instead of the delay, which shrinks by itself.
    struct Told: Sendable, Equatable {
        var state = ConnectionState.unconnected
        var retryAt: ClientInstant?
        var reason: ClientDiagnostic.Code?
        var closeReason: CloseReason?
    }

    var told = Told()
    var failure: ClientDiagnostic?
}

extension ClientDiagnostic.Code {
    /// Whether it says why there is no connection.
    var endsConnection: Bool {
        switch self {
        case .resolveFailed, .connectFailed, .connectionLost, .loginTimedOut, .loginRefused, .kicked,
            .pingTimedOut, .acknowledgementTimedOut, .malformedFrame, .restoreFailed, .commitFailed,
            .loginNotEncodable:
            true
        default: false
        }
    }
}

extension ClientCore {
    /// Tells the status if it is another one than was told last.
    mutating func announceStatus() {
        let now = StatusBook.Told(
            state: state, retryAt: retryAt, reason: status.failure?.code,
            closeReason: status.failure?.closeReason)
        guard now != status.told else { return }
        status.told = now
        notifications.append(
            .statusChanged(
                ConnectionStatus(
                    state: state, retryDelay: now.retryAt.map { max(.zero, self.now.duration(to: $0)) },
                    reason: now.reason, closeReason: now.closeReason)))
    }

    /// When the next try begins.
    private var retryAt: ClientInstant? {
        if case .waiting(let until) = link { return until }
        if case .retryAt(let until) = restoration, isStarted { return until }
        return nil
    }
}
