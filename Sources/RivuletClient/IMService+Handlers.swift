public import RivuletWire

/// The app's handlers, each held weakly; those of stored messages stand in front of the storage.
extension IMService {
    /// Keeps messages between users.
    public var peerMessageHandler: (any IMPeerMessageHandler)? {
        get { handlers.handlers.peer }
        set { handlers.set(peer: newValue) }
    }

    /// Keeps messages of groups.
    public var groupMessageHandler: (any IMGroupMessageHandler)? {
        get { handlers.handlers.group }
        set { handlers.set(group: newValue) }
    }

    /// Keeps messages of customer service.
    public var customerMessageHandler: (any IMCustomerMessageHandler)? {
        get { handlers.handlers.customer }
        set { handlers.set(customer: newValue) }
    }

    /// Keeps stored texts of the operator.
    public var systemMessageHandler: (any IMSystemMessageHandler)? {
        get { handlers.handlers.system }
        set { handlers.set(system: newValue) }
    }

    /// Keeps the keys of the sync.
    public var syncKeyHandler: (any IMSyncKeyHandler)? {
        get { handlers.handlers.syncKey }
        set { handlers.set(syncKey: newValue) }
    }

    /// Sees live messages first.
    public var rtMessageHandler: (any IMRTMessageHandler)? {
        get { handlers.handlers.rt }
        set { handlers.set(rt: newValue) }
    }

    /// Sees messages of the chat room first.
    public var roomMessageHandler: (any IMRoomMessageHandler)? {
        get { handlers.handlers.room }
        set { handlers.set(room: newValue) }
    }

    /// Sees live texts of the operator first.
    public var notificationHandler: (any IMNotificationHandler)? {
        get { handlers.handlers.notification }
        set { handlers.set(notification: newValue) }
    }

    /// Sees logins of this account elsewhere first.
    public var loginPointHandler: (any IMLoginPointHandler)? {
        get { handlers.handlers.loginPoint }
        set { handlers.set(loginPoint: newValue) }
    }

    /// Sees who comes and goes first.
    public var onlineStateHandler: (any IMOnlineStateHandler)? {
        get { handlers.handlers.onlineState }
        set { handlers.set(onlineState: newValue) }
    }

    /// Sees signals of calls first.
    public var voipHandler: (any IMVOIPHandler)? {
        get { handlers.handlers.call }
        set { handlers.set(call: newValue) }
    }

    /// Gives one of the app's own commands a handler, held weakly; a new one replaces the old.
    ///
    /// The app names the method, so its handler can be of any kind:
    ///
    /// ```swift
    /// service.setHandler(album, for: .nudge, as: Nudge.self) { album, nudge in album.handleNudge(nudge) }
    /// ```
    ///
    /// - Parameters:
    ///   - handler: The object; false of its method means *not for the screen*, as for every live handler.
    ///   - command: A number that the configuration's registry has under this type.
    ///   - type: The body.
    ///   - call: Calls the handler; on the service's own context, where it must return soon.
    public func setHandler<Handler: AnyObject & Sendable, Body: CustomBody>(
        _ handler: Handler, for command: Command, as type: Body.Type,
        _ call: @escaping @Sendable (Handler, Body) -> Bool
    ) {
        handlers.set(
            custom: { [weak handler, registry = configuration.registry] packet in
                guard let handler else { return nil }
                guard let body = registry.typedBody(of: packet, as: type) else { return false }
                return call(handler, body)
            }, for: command)
    }

    /// Takes the handler of one of the app's own commands away.
    public func removeHandler(for command: Command) {
        handlers.set(custom: nil, for: command)
    }
}

extension CommandRegistry {
    /// The typed body of a packet; nil when the command is not registered for the type.
    func typedBody<Body: CustomBody>(of packet: Packet, as type: Body.Type) -> Body? {
        do {
            return try body(of: packet, as: type)
        } catch {
            return nil
        }
    }
}
