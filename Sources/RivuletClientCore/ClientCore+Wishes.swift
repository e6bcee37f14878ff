import RivuletWire

/// What the app and the device want.
extension ClientCore {
    /// Whether there should be a connection.
    var wantsConnection: Bool {
        isStarted && restoration == .done && isReachable && !isInBackground && !isKicked
            && !configuration.endpoints.isEmpty
    }

    mutating func applyWish(_ event: ClientEvent) {
        switch event {
        case .started(let identity): start(as: identity)
        case .stopped: stop()
        case .enteredForeground: isInBackground = false
        case .enteredBackground: enterBackground()
        case .reachabilityChanged(let isReachable): changeReachability(to: isReachable)
        case .tokenProvided(let token): acceptToken(token)
        default: break
        }
        followWishes()
    }

    /// Connects or gives the connection up, as the wishes say.
    mutating func followWishes() {
        if wantsConnection {
            if link == .down { connect() }
        } else if link != .down {
            tearDown()
            link = .down
            report(isKicked ? .kicked : .unconnected)
        }
    }

    private mutating func start(as identity: ClientIdentity) {
        guard !isStarted else { return }
        self.identity = identity
        isStarted = true
        isKicked = false
        status.failure = nil
        isTokenAsked = false
        failures = 0
        refusals = 0
        commits.retryAt = nil
        if state == .kicked { report(.unconnected) }
        if restoration == .needed { beginRestoration() }
    }

    mutating func beginRestoration() {
        restoration = .underway
        actions.append(.restore)
    }

    private mutating func stop() {
        guard isStarted else { return }
        isStarted = false
        followWishes()
        report(.unconnected)
        for request in requestsBeforeRestoration { reject(request, as: .cancelled) }
        requestsBeforeRestoration = []
        groupsBeforeRestoration = [:]
        areGroupsRemovedBeforeRestoration = false
        uploads = []
        // What the storage has not even been given cannot survive; the app is told now, since nothing follows.
        for id in commits.dropUngivenSends() { endSend(id, as: .cancelled) }
        if case .retryAt = restoration { restoration = .needed }
    }

    private mutating func enterBackground() {
        guard !isInBackground else { return }
        if link.isOnline, let unreadCount { write(.unreadCount, .unreadCount(unreadCount)) }
        flushBytes()
        isInBackground = true
    }

    private mutating func changeReachability(to isReachable: Bool) {
        guard isReachable != self.isReachable else { return }
        self.isReachable = isReachable
        guard isReachable else { return }
        failures = 0
        pace.reset()
        // Another network may know the servers under other addresses; the old ones are for want of better.
        for endpoint in route.lookups.keys { route.lookups[endpoint]?.goodUntil = now }
    }

    private mutating func acceptToken(_ token: String?) {
        isTokenAsked = false
        if let token { identity?.token = token }
        if case .awaitingToken = link { connect() }
    }
}
