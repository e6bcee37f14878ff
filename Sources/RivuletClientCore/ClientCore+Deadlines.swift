import RivuletWire

/// Signs of life on a connection.
struct Heartbeat: Sendable {
    /// When the next PING of a quiet connection is due.
    var nextPing: ClientInstant?
    /// When a byte must have come; set while a PING is without an answer.
    var replyDeadline: ClientInstant?
    var lastReceivedAt = ClientInstant.start
    /// Whether the PING without an answer was sent because the connection was quiet.
    var isQuietPing = false
}

/// Everything that happens because time has passed.
extension ClientCore {
    /// The earliest moment at which something is due.
    var nearestDeadline: ClientInstant? {
        var nearest = link.deadline
        func consider(_ deadline: ClientInstant?) {
            guard let deadline else { return }
            nearest = nearest.map { min($0, deadline) } ?? deadline
        }
        consider(commits.retryAt)
        if case .retryAt(let retryAt) = restoration { consider(retryAt) }
        guard link.isOnline, !isReadingPaused else { return nearest }
        consider(heartbeat.nextPing)
        consider(heartbeat.replyDeadline)
        consider(acknowledgementDeadline)
        for queue in runningRounds { consider(queues[queue]?.guardAt) }
        return nearest
    }

    mutating func applyDeadline() {
        guard isStarted else { return }
        if let retryAt = commits.retryAt, retryAt <= now { commits.retryAt = nil }
        if case .retryAt(let retryAt) = restoration, retryAt <= now { beginRestoration() }
        if let deadline = link.deadline, deadline <= now { linkDeadlineReached() }
        guard link.isOnline, !isReadingPaused else { return }
        if let deadline = heartbeat.replyDeadline, deadline <= now {
            if heartbeat.isQuietPing, let rule = configuration.adaptiveHeartbeat { pace.failed(rule) }
            return connectionLost(ClientDiagnostic(.pingTimedOut))
        }
        while link.isOnline, let deadline = acknowledgementDeadline, deadline <= now {
            acknowledgementTimedOut()
        }
        guard link.isOnline else { return }
        for queue in runningRounds {
            guard let guardAt = queues[queue]?.guardAt, guardAt <= now else { continue }
            roundTimedOut(queue)
        }
        if let nextPing = heartbeat.nextPing, nextPing <= now { ping(isQuiet: true) }
    }

    private mutating func linkDeadlineReached() {
        switch link {
        case .down, .online: break
        case .waiting:
            if isTokenAsked {
                link = .awaitingToken(until: now + configuration.backoffMax)
            } else {
                connect()
            }
        case .awaitingToken:
            isTokenAsked = false
            connect()
        case .resolving:
            report(ClientDiagnostic(.resolveFailed))
            tryNextEndpoint()
        case .opening:
            actions.append(.close(epoch))
            attemptFailed(ClientDiagnostic(.connectFailed))
        case .loggingIn:
            connectionLost(ClientDiagnostic(.loginTimedOut))
        }
    }

    /// The time between two PINGs on a quiet connection.
    var pingInterval: Duration {
        configuration.adaptiveHeartbeat.map { pace.interval($0) } ?? configuration.pingInterval
    }

    /// Takes note of a sign of life.
    mutating func noteLife() {
        if heartbeat.replyDeadline != nil, heartbeat.isQuietPing, let rule = configuration.adaptiveHeartbeat {
            let before = pace.interval(rule)
            pace.succeeded(rule)
            if pace.interval(rule) != before { heartbeat.nextPing = now + pingInterval }
        }
        heartbeat.isQuietPing = false
        heartbeat.replyDeadline = nil
        heartbeat.lastReceivedAt = now
    }

    /// Writes a PING unless one is without an answer; only a written PING starts the wait for a sign of life.
    mutating func ping(isQuiet: Bool = false) {
        guard link.isOnline else { return }
        heartbeat.nextPing = now + pingInterval
        guard heartbeat.replyDeadline == nil, write(.ping, .empty) != nil else { return }
        heartbeat.isQuietPing = isQuiet
        heartbeat.replyDeadline = now + configuration.pingReplyTimeout + transferAllowance
    }
}
