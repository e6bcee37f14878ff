public import RivuletWire

/// Observers: called on the main actor, in the order of events; held weakly; added twice is once.
extension IMService {
    /// Adds an observer of the connection's state.
    public func addConnectionObserver(_ observer: any ConnectionObserver) {
        outlet.pump.connections.add(ObjectIdentifier(observer)) { [weak observer] in observer }
    }

    /// Removes an observer of the connection's state.
    public func removeConnectionObserver(_ observer: any ConnectionObserver) {
        outlet.pump.connections.remove(ObjectIdentifier(observer))
    }

    /// Adds an observer of messages between users.
    public func addPeerMessageObserver(_ observer: any PeerMessageObserver) {
        outlet.pump.peers.add(ObjectIdentifier(observer)) { [weak observer] in observer }
    }

    /// Removes an observer of messages between users.
    public func removePeerMessageObserver(_ observer: any PeerMessageObserver) {
        outlet.pump.peers.remove(ObjectIdentifier(observer))
    }

    /// Adds an observer of group messages.
    public func addGroupMessageObserver(_ observer: any GroupMessageObserver) {
        outlet.pump.groups.add(ObjectIdentifier(observer)) { [weak observer] in observer }
    }

    /// Removes an observer of group messages.
    public func removeGroupMessageObserver(_ observer: any GroupMessageObserver) {
        outlet.pump.groups.remove(ObjectIdentifier(observer))
    }

    /// Adds an observer of customer service.
    public func addCustomerMessageObserver(_ observer: any CustomerMessageObserver) {
        outlet.pump.customers.add(ObjectIdentifier(observer)) { [weak observer] in observer }
    }

    /// Removes an observer of customer service.
    public func removeCustomerMessageObserver(_ observer: any CustomerMessageObserver) {
        outlet.pump.customers.remove(ObjectIdentifier(observer))
    }

    /// Adds an observer of the chat room.
    public func addRoomMessageObserver(_ observer: any RoomMessageObserver) {
        outlet.pump.rooms.add(ObjectIdentifier(observer)) { [weak observer] in observer }
    }

    /// Removes an observer of the chat room.
    public func removeRoomMessageObserver(_ observer: any RoomMessageObserver) {
        outlet.pump.rooms.remove(ObjectIdentifier(observer))
    }

    /// Adds an observer of live messages.
    public func addRTMessageObserver(_ observer: any RTMessageObserver) {
        outlet.pump.live.add(ObjectIdentifier(observer)) { [weak observer] in observer }
    }

    /// Removes an observer of live messages.
    public func removeRTMessageObserver(_ observer: any RTMessageObserver) {
        outlet.pump.live.remove(ObjectIdentifier(observer))
    }

    /// Adds an observer of the operator's messages.
    public func addSystemMessageObserver(_ observer: any SystemMessageObserver) {
        outlet.pump.systems.add(ObjectIdentifier(observer)) { [weak observer] in observer }
    }

    /// Removes an observer of the operator's messages.
    public func removeSystemMessageObserver(_ observer: any SystemMessageObserver) {
        outlet.pump.systems.remove(ObjectIdentifier(observer))
    }

    /// Adds an observer of the operator's live messages.
    public func addNotificationObserver(_ observer: any NotificationObserver) {
        outlet.pump.notifications.add(ObjectIdentifier(observer)) { [weak observer] in observer }
    }

    /// Removes an observer of the operator's live messages.
    public func removeNotificationObserver(_ observer: any NotificationObserver) {
        outlet.pump.notifications.remove(ObjectIdentifier(observer))
    }

    /// Adds an observer of this account's other logins.
    public func addLoginPointObserver(_ observer: any LoginPointObserver) {
        outlet.pump.loginPoints.add(ObjectIdentifier(observer)) { [weak observer] in observer }
    }

    /// Removes an observer of this account's other logins.
    public func removeLoginPointObserver(_ observer: any LoginPointObserver) {
        outlet.pump.loginPoints.remove(ObjectIdentifier(observer))
    }

    /// Adds an observer of who comes and goes.
    public func addOnlineStateObserver(_ observer: any OnlineStateObserver) {
        outlet.pump.onlineStates.add(ObjectIdentifier(observer)) { [weak observer] in observer }
    }

    /// Removes an observer of who comes and goes.
    public func removeOnlineStateObserver(_ observer: any OnlineStateObserver) {
        outlet.pump.onlineStates.remove(ObjectIdentifier(observer))
    }

    /// Puts an observer of calls on top; only the top one is told.
    public func pushVOIPObserver(_ observer: any VOIPObserver) {
        outlet.pump.calls.push(ObjectIdentifier(observer)) { [weak observer] in observer }
    }

    /// Takes the top observer of calls away, so that the one below is told again; any other one stays.
    public func popVOIPObserver(_ observer: any VOIPObserver) {
        outlet.pump.calls.pop(ObjectIdentifier(observer))
    }

    /// Adds an observer of one of the app's own commands, held weakly; added twice is once.
    ///
    /// The app names the method, so its observer can be of any kind:
    ///
    /// ```swift
    /// service.addObserver(screen, of: .nudge, as: Nudge.self) { screen, nudge in screen.onNudge(nudge) }
    /// ```
    ///
    /// - Parameters:
    ///   - observer: The object.
    ///   - command: A number that the configuration's registry has under this type.
    ///   - type: The body.
    ///   - call: Calls the observer, on the main actor.
    public func addObserver<Observer: AnyObject & Sendable, Body: CustomBody>(
        _ observer: Observer, of command: Command, as type: Body.Type,
        _ call: @escaping @MainActor @Sendable (Observer, Body) -> Void
    ) {
        let registry = configuration.registry
        outlet.pump.customs.add(ObjectIdentifier(observer), for: command) { [weak observer] packet in
            guard let observer else { return false }
            if let body = registry.typedBody(of: packet, as: type) { call(observer, body) }
            return true
        }
    }

    /// Removes an observer of one of the app's own commands.
    public func removeObserver(_ observer: AnyObject, of command: Command) {
        outlet.pump.customs.remove(ObjectIdentifier(observer), for: command)
    }
}
