import RivuletWire

/// Which server and address is tried, and what look-ups found.
struct Route: Sendable {
    struct Lookup: Sendable {
        var addresses: [String]
        var goodUntil: ClientInstant
    }

    var lookups: [ClientEndpoint: Lookup] = [:]
    var endpointIndex = 0
    var addressIndex = 0
    /// How many endpoints failed since the last wait.
    var failedEndpointCount = 0
}

/// Making a connection, losing it, and waiting for the next attempt.
extension ClientCore {
    private var endpoint: ClientEndpoint {
        configuration.endpoints[route.endpointIndex % max(1, configuration.endpoints.count)]
    }

    /// Starts the attempt that the route names.
    mutating func connect() {
        guard wantsConnection else { return }
        report(.connecting)
        if let lookup = route.lookups[endpoint], now < lookup.goodUntil,
            route.addressIndex < lookup.addresses.count
        {
            open(lookup.addresses[route.addressIndex])
        } else {
            route.addressIndex = 0
            link = .resolving(until: now + configuration.connectTimeout)
            actions.append(.resolve(endpoint))
        }
    }

    private mutating func open(_ address: String) {
        epoch = ConnectionEpoch(rawValue: epoch.rawValue + 1)
        link = .opening(until: now + configuration.connectTimeout)
        actions.append(.open(epoch, endpoint, address: address))
    }

    mutating func applyNetworkEvent(_ event: ClientEvent) {
        switch event {
        case .resolved(let endpoint, let addresses):
            applyAddresses(addresses, of: endpoint)
        case .resolveFailed(let endpoint):
            applyAddresses([], of: endpoint)
        case .opened(let epoch):
            guard epoch == self.epoch, case .opening = link else { return }
            logIn()
        case .received(let epoch, let bytes):
            guard epoch == self.epoch else { return }
            receive(bytes)
        case .closed(let epoch, let reason):
            guard epoch == self.epoch, link.holdsConnection else { return }
            connectionEnded(because: reason)
        default:
            break
        }
    }

    private mutating func applyAddresses(_ addresses: [String], of endpoint: ClientEndpoint) {
        if !addresses.isEmpty {
            let goodUntil = now + configuration.addressLifetime
            route.lookups[endpoint] = Route.Lookup(addresses: addresses, goodUntil: goodUntil)
        }
        guard case .resolving = link, endpoint == self.endpoint else { return }
        // An address that is past its time is better than none while the resolver is away.
        if let address = route.lookups[endpoint]?.addresses.first {
            open(address)
        } else {
            report(ClientDiagnostic(.resolveFailed))
            tryNextEndpoint()
        }
    }

    private mutating func logIn() {
        link = .loggingIn(until: now + configuration.loginTimeout)
        route.failedEndpointCount = 0
        decoder.reset()
        report(.connected)
        guard let identity else { return }
        let login = AuthenticationToken(
            token: identity.token, platformID: identity.platformID, deviceID: identity.deviceID)
        if write(.authToken, .authToken(login)) == nil {
            report(ClientDiagnostic(.loginNotEncodable))
            loginRefused()
        }
    }

    private mutating func connectionEnded(because reason: CloseReason) {
        if case .opening = link {
            attemptFailed(ClientDiagnostic(.connectFailed, closeReason: reason))
        } else {
            connectionLost(ClientDiagnostic(.connectionLost, closeReason: reason), isOpen: false)
        }
    }

    /// The connection could not be made: the next address, the next endpoint, or a wait.
    mutating func attemptFailed(_ diagnostic: ClientDiagnostic) {
        report(diagnostic)
        route.addressIndex += 1
        if let lookup = route.lookups[endpoint], route.addressIndex < lookup.addresses.count {
            open(lookup.addresses[route.addressIndex])
        } else {
            tryNextEndpoint()
        }
    }

    mutating func tryNextEndpoint() {
        advanceEndpoint()
        route.failedEndpointCount += 1
        guard route.failedEndpointCount >= configuration.endpoints.count else { return connect() }
        route.failedEndpointCount = 0
        report(.connectFail)
        waitBeforeRetry()
    }

    private mutating func advanceEndpoint() {
        route.addressIndex = 0
        route.endpointIndex = (route.endpointIndex + 1) % max(1, configuration.endpoints.count)
    }

    /// Gives up a connection that stood, and waits before the next attempt.
    mutating func connectionLost(_ diagnostic: ClientDiagnostic, isOpen: Bool = true) {
        report(diagnostic)
        // A server that accepts and drops is no better than one that does not answer.
        if case .loggingIn = link { advanceEndpoint() }
        tearDown(isOpen: isOpen)
        report(.unconnected)
        waitBeforeRetry()
    }

    /// Forgets everything that belongs to the connection; the caller sets the next ``link``.
    mutating func tearDown(isOpen: Bool = true) {
        if link.holdsConnection {
            if isOpen { actions.append(.close(epoch)) }
        }
        _ = encoder.takeBytes()
        decoder.reset()
        metadata = nil
        heartbeat = Heartbeat()
        isReadingPaused = false
        link = .down
        abandonRounds()
        for id in outbox.connectionEnded() { finish(id, as: .failed(.connectionLost)) }
    }

    private mutating func waitBeforeRetry() {
        failures = min(failures + 1, 30)
        link = .waiting(until: now + drawDelay(failures: failures))
    }

    /// Draws a delay with full jitter.
    mutating func drawDelay(failures: Int) -> Duration {
        let shortest = configuration.backoffMin
        let longest = min(configuration.backoffMax, shortest * (1 << min(failures, 20)))
        guard longest > shortest else { return shortest }
        return shortest + (longest - shortest) * Double.random(in: 0..<1, using: &random)
    }

    // MARK: The answer to the login

    mutating func loginSucceeded() {
        link = .online
        refusals = 0
        status.failure = nil
        // A message that breaks each connection anew must not be hurried along by its logins.
        if outbox.attemptsOfFirst < 3 { failures = 0 }
        heartbeat.nextPing = now + pingInterval
        report(.authenticated)
        if let room { write(.enterRoom, .roomID(room)) }
        if let unreadCount, unreadCount > 0 { write(.unreadCount, .unreadCount(unreadCount)) }
        guard configuration.profile == .current else { return }
        startRound(.peer)
        for queue in queues.keys.sorted(by: MessageQueue.isOrdered) where queue != .peer {
            requestRound(queue)
        }
    }

    /// Closes, asks for a token once, and waits longer with each refusal in a row.
    mutating func loginRefused() {
        report(ClientDiagnostic(.loginRefused))
        tearDown()
        report(.authenticationFail)
        refusals = min(refusals + 1, 30)
        link = .waiting(until: now + drawDelay(failures: refusals))
        guard configuration.hasTokenSource, !isTokenAsked else { return }
        isTokenAsked = true
        actions.append(.askToken(refusals: refusals))
    }

    mutating func kicked() {
        report(ClientDiagnostic(.kicked))
        isKicked = true
        followWishes()
    }
}
