public import RivuletClientCore
public import RivuletWire

/// Sees the state of the connection.
@MainActor
public protocol ConnectionObserver: AnyObject, Sendable {
    /// The state changed.
    func onConnectState(_ state: ConnectionState)
}

/// Sees messages between users; every method is optional.
///
/// All observers are called on the main actor, in the order of events, after the storage has the message. They are
/// held weakly; adding one twice is adding it once; removing one inside a callback holds at once.
@MainActor
public protocol PeerMessageObserver: AnyObject, Sendable {
    /// A message came, from another user or from another device of this user.
    func onPeerMessage(_ message: IMMessage)
    /// The server accepted a message of this user to `uid`.
    func onPeerMessageACK(_ msgLocalID: Int32, uid: Int64)
    /// A message of this user to `uid` was refused or given up.
    func onPeerMessageFailure(_ msgLocalID: Int32, uid: Int64)
    /// The user `uid` is typing (seed profile).
    func onPeerInputing(_ uid: Int64)
}

extension PeerMessageObserver {
    /// Does nothing.
    public func onPeerMessage(_ message: IMMessage) {}
    /// Does nothing.
    public func onPeerMessageACK(_ msgLocalID: Int32, uid: Int64) {}
    /// Does nothing.
    public func onPeerMessageFailure(_ msgLocalID: Int32, uid: Int64) {}
    /// Does nothing.
    public func onPeerInputing(_ uid: Int64) {}
}

/// Sees messages of groups; every method is optional.
@MainActor
public protocol GroupMessageObserver: AnyObject, Sendable {
    /// A message came.
    func onGroupMessage(_ message: IMMessage)
    /// The server accepted a message of this user to the group `gid`.
    func onGroupMessageACK(_ msgLocalID: Int32, gid: Int64)
    /// A message of this user to the group `gid` was refused or given up.
    func onGroupMessageFailure(_ msgLocalID: Int32, gid: Int64)
    /// A group changed: its name, its members, its end; the text is JSON (docs/protocol.md, section 16.3).
    func onGroupNotification(_ text: String)
}

extension GroupMessageObserver {
    /// Does nothing.
    public func onGroupMessage(_ message: IMMessage) {}
    /// Does nothing.
    public func onGroupMessageACK(_ msgLocalID: Int32, gid: Int64) {}
    /// Does nothing.
    public func onGroupMessageFailure(_ msgLocalID: Int32, gid: Int64) {}
    /// Does nothing.
    public func onGroupNotification(_ text: String) {}
}

/// Sees messages of the chat room; every method is optional.
@MainActor
public protocol RoomMessageObserver: AnyObject, Sendable {
    /// A message came.
    func onRoomMessage(_ message: RoomMessage)
    /// The server accepted a message of this user.
    func onRoomMessageACK(_ message: RoomMessage)
    /// A message of this user was refused, or the connection ended before the answer.
    func onRoomMessageFailure(_ message: RoomMessage)
}

extension RoomMessageObserver {
    /// Does nothing.
    public func onRoomMessage(_ message: RoomMessage) {}
    /// Does nothing.
    public func onRoomMessageACK(_ message: RoomMessage) {}
    /// Does nothing.
    public func onRoomMessageFailure(_ message: RoomMessage) {}
}

/// Sees live messages, which are never stored.
@MainActor
public protocol RTMessageObserver: AnyObject, Sendable {
    /// A live message came.
    func onRTMessage(_ message: RTMessage)
}

/// Sees messages of the operator.
@MainActor
public protocol SystemMessageObserver: AnyObject, Sendable {
    /// A stored message of the operator came.
    func onSystemMessage(_ text: String)
}

/// Sees live messages of the operator (current profile).
@MainActor
public protocol NotificationObserver: AnyObject, Sendable {
    /// A live message of the operator came; it is not stored.
    func onNotification(_ text: String)
}
