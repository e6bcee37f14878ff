public import RivuletClientCore

/// Observers and streams.
///
/// A stream gives everything from the moment it was made. It holds at most 8,192 elements (64 connection states) that
/// its reader has not yet taken; beyond that it loses the oldest. What is in the storage is not lost.
extension IMService {
    /// The state of the connection: now, and every change.
    public func connectionStates() -> AsyncStream<ConnectionState> {
        outlet.makeStateStream()
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
}
