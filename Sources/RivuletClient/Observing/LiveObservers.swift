public import RivuletWire

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
    /// A live message came; also one that another observer gets in other terms, such as typing.
    func onRTMessage(_ message: RTMessage)
}

extension RTMessageObserver {
    /// Does nothing.
    public func onRTMessage(_ message: RTMessage) {}
}

/// Sees messages of the operator.
@MainActor
public protocol SystemMessageObserver: AnyObject, Sendable {
    /// A stored message of the operator came.
    func onSystemMessage(_ text: String)
}

extension SystemMessageObserver {
    /// Does nothing.
    public func onSystemMessage(_ text: String) {}
}

/// Sees live messages of the operator (current profile).
@MainActor
public protocol NotificationObserver: AnyObject, Sendable {
    /// A live message of the operator came; it is not stored.
    func onNotification(_ text: String)
}

extension NotificationObserver {
    /// Does nothing.
    public func onNotification(_ text: String) {}
}

/// Sees that this account also logged in elsewhere.
@MainActor
public protocol LoginPointObserver: AnyObject, Sendable {
    /// Another device logged in.
    func onLoginPoint(_ point: LoginPoint)
}

extension LoginPointObserver {
    /// Does nothing.
    public func onLoginPoint(_ point: LoginPoint) {}
}

/// Sees who comes and goes, of those that were asked for.
@MainActor
public protocol OnlineStateObserver: AnyObject, Sendable {
    /// A user came or went.
    func onOnlineState(_ state: OnlineState)
}

extension OnlineStateObserver {
    /// Does nothing.
    public func onOnlineState(_ state: OnlineState) {}
}

/// Sees signals of calls; only the one that was pushed last, since one screen leads a call.
@MainActor
public protocol VOIPObserver: AnyObject, Sendable {
    /// A signal came; in the current profile its content is the JSON text of the live message.
    func onVOIPControl(_ control: VOIPControl)
}

extension VOIPObserver {
    /// Does nothing.
    public func onVOIPControl(_ control: VOIPControl) {}
}
