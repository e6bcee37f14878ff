internal import RivuletClientCore
public import RivuletWire

/// Sends and questions as described; each send has an `async` form in ``send(_:)-(OutgoingMessage)`` or
/// ``send(_:)-(LiveMessage)``.
///
/// True means that the message was taken into the outbox, or, when it is one that nobody keeps, that it was handed to
/// the connection. False means that the service is stopped, the message too long, the outbox full, the profile without
/// a way to carry it (``IMFeature``), or, for what nobody keeps, that there is no connection.
extension IMService {
    /// Whether the profile of this service carries a feature.
    public func supports(_ feature: IMFeature) -> Bool {
        feature.command(in: configuration.core.profile) != nil
    }

    // MARK: Acknowledged by the server

    /// Sends a message to a user.
    @discardableResult
    public func sendPeerMessage(_ message: IMMessage) -> Bool {
        isEnqueued(.peer(message))
    }

    /// Sends a message to a group.
    @discardableResult
    public func sendGroupMessage(_ message: IMMessage) -> Bool {
        isEnqueued(.group(message))
    }

    /// Sends a message to a chat room; without a connection it fails.
    @discardableResult
    public func sendRoomMessage(_ message: RoomMessage) -> Bool {
        connectionState == .authenticated && isEnqueued(.room(message))
    }

    /// Sends a message of a customer to the staff of a shop.
    @discardableResult
    public func sendCustomerMessage(_ message: CustomerMessage) -> Bool {
        isEnqueued(.customer(message))
    }

    /// Sends a message of the staff of a shop to a customer.
    @discardableResult
    public func sendCustomerSupportMessage(_ message: CustomerMessage) -> Bool {
        isEnqueued(.customerSupport(message))
    }

    // MARK: Kept by nobody

    /// Sends a live message, which is lost when the other side is away.
    @discardableResult
    public func sendRTMessage(_ message: RTMessage) -> Bool {
        sendLive(.rt(message))
    }

    /// Sends a signal of a call.
    @discardableResult
    public func sendVOIPControl(_ control: VOIPControl) -> Bool {
        sendLive(.call(control))
    }

    /// Tells the receiver that this user is typing.
    @discardableResult
    public func sendInputing(_ inputing: MessageInputing) -> Bool {
        sendLive(.typing(inputing))
    }

    /// Asks to be told when these users come and go.
    @discardableResult
    public func subscribeOnlineState(_ users: [Int64]) -> Bool {
        sendLive(.onlineState(of: users))
    }

    /// Reports how many messages are unread in all, for the badge; reported again after each login.
    ///
    /// - Returns: Whether the service is started; without a connection the number is reported after the next login.
    @discardableResult
    public func sendUnreadCount(_ count: Int32) -> Bool {
        startedRuntime?.post(.livePacketRequested(Packet(.unreadCount, .unreadCount(count)))) ?? false
    }

    /// Sends any packet that is not acknowledged, such as one of the app's own commands.
    @discardableResult
    public func sendLive(_ packet: Packet) -> Bool {
        sendLive(.packet(packet))
    }

    private func sendLive(_ message: LiveMessage) -> Bool {
        guard connectionState == .authenticated, let runtime = startedRuntime else { return false }
        do {
            guard let packet = try livePacket(message) else { return true }
            return runtime.post(.livePacketRequested(packet))
        } catch {
            return false
        }
    }

    /// Sends one of the app's own commands.
    ///
    /// - Parameters:
    ///   - body: The body.
    ///   - command: A number that the configuration's registry has under this type.
    /// - Returns: Whether the service is logged in, and the number is registered for the type and for servers.
    @discardableResult
    public func send<Body: CustomBody>(_ body: Body, for command: Command) -> Bool {
        do {
            let configuration = configuration
            return sendLive(
                try configuration.registry.packet(
                    body, for: command, version: configuration.core.profile.version))
        } catch {
            return false
        }
    }

    // MARK: Rooms

    /// Enters a chat room, and again after each reconnect; one room at a time, and 0 is none.
    public func enterRoom(_ roomID: Int64) {
        guard roomID != 0 else { return }
        setRoom(roomID)?.post(.roomEntered(roomID))
    }

    /// Leaves a chat room; any other than the current one is ignored.
    public func leaveRoom(_ roomID: Int64) {
        setRoom(nil, when: roomID)?.post(.roomLeft(roomID))
    }

    /// Enters a chat room, and returns when the server was told.
    ///
    /// - Throws: ``IMServiceError``: not started; not connected, and then the room is entered after the next login.
    public func enter(room roomID: Int64) async throws {
        enterRoom(roomID)
        try await startedOnline()
    }

    /// Leaves a chat room, and returns when the server was told.
    ///
    /// - Throws: ``IMServiceError``: not started; not connected, which leaves every room by itself.
    public func leave(room roomID: Int64) async throws {
        leaveRoom(roomID)
        try await startedOnline()
    }

    private func startedOnline() async throws {
        guard let runtime = startedRuntime else { throw IMServiceError(.notStarted) }
        guard await runtime.isOnline() else { throw IMServiceError(.notConnected) }
    }

    // MARK: Super groups

    /// Follows the queue of a super group from this key on (current profile); 0 for everything the server gives.
    ///
    /// - Returns: Whether the service is started and its profile knows super groups.
    @discardableResult
    public func addSuperGroupSyncKey(_ key: Int64, gid: Int64) -> Bool {
        guard supports(.superGroups), let runtime = startedRuntime else { return false }
        return runtime.post(.superGroupAdded(gid, key: key))
    }

    /// Follows the queue of a super group no longer, until the server names it again; the stored key is forgotten.
    ///
    /// - Returns: Whether the service is started and its profile knows super groups.
    @discardableResult
    public func removeSuperGroupSyncKey(_ gid: Int64) -> Bool {
        guard supports(.superGroups), let runtime = startedRuntime else { return false }
        return runtime.post(.superGroupRemoved(gid))
    }

    /// Follows no super group any longer, until the server names one again; the stored keys are forgotten.
    ///
    /// - Returns: Whether the service is started and its profile knows super groups.
    @discardableResult
    public func clearSuperGroupSyncKey() -> Bool {
        guard supports(.superGroups), let runtime = startedRuntime else { return false }
        return runtime.post(.superGroupsRemoved)
    }

    // MARK: Questions

    /// Whether a message of this user to `peer` waits to be acknowledged.
    public func isPeerMessageSending(_ peer: Int64, id msgLocalID: Int32) -> Bool {
        outlet.isSending(.peer(peer, msgLocalID))
    }

    /// Whether a message of this user to the group waits to be acknowledged.
    public func isGroupMessageSending(_ groupID: Int64, id msgLocalID: Int32) -> Bool {
        outlet.isSending(.group(groupID, msgLocalID))
    }

    /// Whether a message of this customer to the shop waits to be acknowledged.
    public func isCustomerMessageSending(_ msgLocalID: Int32, storeID: Int64) -> Bool {
        outlet.isSending(.customer(storeID: storeID, msgLocalID))
    }

    /// Whether a message of this member of staff to the customer waits to be acknowledged.
    public func isCustomerSupportMessageSending(
        _ msgLocalID: Int32, customerID: Int64, customerAppID: Int64
    ) -> Bool {
        outlet.isSending(
            .customerSupport(customerID: customerID, customerAppID: customerAppID, msgLocalID))
    }
}
