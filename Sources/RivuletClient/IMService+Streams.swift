public import RivuletClientCore
public import RivuletWire

/// The same events as those of the observers, as streams for tasks.
///
/// A stream gives everything from the moment it was made. It holds at most 8,192 elements (64 connection states) that
/// its reader has not yet taken; beyond that it loses the oldest. What is in the storage is not lost.
extension IMService {
    /// The state of the connection: now, and every change.
    public func connectionStates() -> AsyncStream<ConnectionState> {
        outlet.makeStateStream()
    }

    /// The state of the connection with the time until the next try: now, and every change.
    public func connectionStatuses() -> AsyncStream<ConnectionStatus> {
        outlet.makeStatusStream()
    }

    /// Every new stored message.
    public func messages() -> AsyncStream<ReceivedMessage> {
        outlet.messages.makeStream()
    }

    /// Every step of every send.
    public func sendReports() -> AsyncStream<SendReport> {
        outlet.reports.makeStream()
    }

    /// Everything that the client tells, live packets and diagnostics included.
    public func notifications() -> AsyncStream<ClientNotification> {
        outlet.everything.makeStream()
    }

    /// Every new message between users.
    public func peerMessages() -> AsyncStream<IMMessage> {
        outlet.events.makeStream { event in
            guard case .message(let message) = event, message.command == .im,
                case .im(let body) = message.body
            else { return nil }
            return body
        }
    }

    /// Every new message of a group.
    public func groupMessages() -> AsyncStream<IMMessage> {
        outlet.events.makeStream { event in
            guard case .message(let message) = event, message.command == .groupIM,
                case .im(let body) = message.body
            else { return nil }
            return body
        }
    }

    /// Every change of a group, as JSON text (docs/protocol.md, section 16.3).
    public func groupNotifications() -> AsyncStream<String> {
        outlet.events.makeStream { $0.text(of: .groupNotification) }
    }

    /// Every stored text of the operator.
    public func systemMessages() -> AsyncStream<String> {
        outlet.events.makeStream { $0.text(of: .system) }
    }

    /// Every new message of a customer to the staff.
    public func customerMessages() -> AsyncStream<CustomerMessage> {
        outlet.events.makeStream { [outlet] in $0.customerMessage(isSupport: false, outlet.pump.context) }
    }

    /// Every new message of the staff to a customer.
    public func customerSupportMessages() -> AsyncStream<CustomerMessage> {
        outlet.events.makeStream { [outlet] in $0.customerMessage(isSupport: true, outlet.pump.context) }
    }

    /// Every message of the chat room.
    public func roomMessages() -> AsyncStream<RoomMessage> {
        live { if case .room(let message) = $0 { message } else { nil } }
    }

    /// Every live message.
    public func rtMessages() -> AsyncStream<RTMessage> {
        live { if case .rt(let message) = $0 { message } else { nil } }
    }

    /// Every live text of the operator.
    public func operatorNotifications() -> AsyncStream<String> {
        live { if case .notification(let text) = $0 { text } else { nil } }
    }

    /// Who is typing, and who stopped.
    public func typings() -> AsyncStream<PeerTyping> {
        live { if case .typing(let typing) = $0 { typing } else { nil } }
    }

    /// Which messages of this user arrived at the other side.
    public func deliveries() -> AsyncStream<PeerDelivery> {
        live { if case .delivered(let delivery) = $0 { delivery } else { nil } }
    }

    /// Every login of this account elsewhere.
    public func loginPoints() -> AsyncStream<LoginPoint> {
        live { if case .loginPoint(let point) = $0 { point } else { nil } }
    }

    /// Who comes and goes, of those that were asked for.
    public func onlineStates() -> AsyncStream<OnlineState> {
        live { if case .onlineState(let state) = $0 { state } else { nil } }
    }

    /// The same with the time since when somebody is away.
    public func presences() -> AsyncStream<PeerPresence> {
        live { if case .presence(let presence) = $0 { presence } else { nil } }
    }

    /// Every signal of a call; unlike with observers, every stream has them all.
    public func voipControls() -> AsyncStream<VOIPControl> {
        live { if case .call(let control) = $0 { control } else { nil } }
    }

    /// Every packet of one of the app's own commands.
    ///
    /// - Parameters:
    ///   - command: A number that the configuration's registry has under this type.
    ///   - type: The body.
    /// - Returns: The bodies from now on.
    public func bodies<Body: CustomBody>(of command: Command, as type: Body.Type) -> AsyncStream<Body> {
        let registry = configuration.registry
        return live { event in
            guard case .custom(let packet) = event, packet.command == command else { return nil }
            return registry.typedBody(of: packet, as: type)
        }
    }

    private func live<Output: Sendable>(
        _ transform: @escaping @Sendable (LiveEvent) -> Output?
    ) -> AsyncStream<Output> {
        outlet.events.makeStream { event in
            guard case .live(let event) = event else { return nil }
            return transform(event)
        }
    }
}

extension ObservedEvent {
    func text(of command: Command) -> String? {
        guard case .message(let message) = self, message.command == command,
            case .text(let text) = message.body
        else { return nil }
        return text
    }

    func customerMessage(isSupport: Bool, _ context: ServiceContext) -> CustomerMessage? {
        guard case .message(let message) = self,
            let customer = context.customerMessage(message.command, message.body, isOwn: message.isOwn),
            customer.isSupport == isSupport
        else { return nil }
        return customer.message
    }
}
