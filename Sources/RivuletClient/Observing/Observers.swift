public import RivuletClientCore
public import RivuletWire

/// Sees the state of the connection; every method is optional.
@MainActor
public protocol ConnectionObserver: AnyObject, Sendable {
    /// The state changed.
    func onConnectState(_ state: ConnectionState)
    /// The state, the time until the next try, or the reason of the last failure changed.
    func onConnectionStatus(_ status: ConnectionStatus)
    /// The main actor was busy for so long that this many events were dropped, the oldest ones.
    ///
    /// What is stored is in the storage: read it anew.
    func onEventsLost(_ count: Int)
}

extension ConnectionObserver {
    /// Does nothing.
    public func onConnectState(_ state: ConnectionState) {}
    /// Does nothing.
    public func onConnectionStatus(_ status: ConnectionStatus) {}
    /// Does nothing.
    public func onEventsLost(_ count: Int) {}
}

/// Sees messages between users; every method is optional.
///
/// All observers are called on the main actor, in the order of events, after the storage has the message. They are
/// held weakly; adding one twice is adding it once; removing one inside a callback holds at once.
@MainActor
public protocol PeerMessageObserver: AnyObject, Sendable {
    /// A message came, from another user or from another device of this user.
    func onPeerMessage(_ message: IMMessage)
    /// A message came that is encrypted from user to user; left out, ``onPeerMessage(_:)`` is called.
    func onPeerSecretMessage(_ message: IMMessage)
    /// The server accepted a message of this user to `uid`.
    func onPeerMessageACK(_ msgLocalID: Int32, uid: Int64)
    /// A message of this user to `uid` was refused or given up.
    func onPeerMessageFailure(_ msgLocalID: Int32, uid: Int64)
    /// The server accepted a message of this user or refused it with this status.
    ///
    /// The later form; left out, it calls ``onPeerMessageACK(_:uid:)`` or ``onPeerMessageFailure(_:uid:)``.
    func onPeerMessageACK(_ message: IMMessage, error: ACKStatus)
    /// A message of this user was given up.
    ///
    /// The later form; left out, it calls ``onPeerMessageFailure(_:uid:)``.
    func onPeerMessageFailure(_ message: IMMessage)
    /// Messages of this user arrived on a device of the other side.
    func onPeerMessagesDelivered(_ delivery: PeerDelivery)
    /// The user `uid` is typing.
    func onPeerInputing(_ uid: Int64)
    /// Someone is typing or stopped; left out, ``onPeerInputing(_:)`` is called when it began in a chat between two.
    func onPeerTyping(_ typing: PeerTyping)
}

extension PeerMessageObserver {
    /// Does nothing.
    public func onPeerMessage(_ message: IMMessage) {}
    /// Calls ``onPeerMessage(_:)``.
    public func onPeerSecretMessage(_ message: IMMessage) { onPeerMessage(message) }
    /// Does nothing.
    public func onPeerMessageACK(_ msgLocalID: Int32, uid: Int64) {}
    /// Does nothing.
    public func onPeerMessageFailure(_ msgLocalID: Int32, uid: Int64) {}
    /// Calls the described form.
    public func onPeerMessageACK(_ message: IMMessage, error: ACKStatus) {
        if error == .success {
            onPeerMessageACK(message.msgLocalID, uid: message.receiver)
        } else {
            onPeerMessageFailure(message.msgLocalID, uid: message.receiver)
        }
    }
    /// Calls the described form.
    public func onPeerMessageFailure(_ message: IMMessage) {
        onPeerMessageFailure(message.msgLocalID, uid: message.receiver)
    }
    /// Does nothing.
    public func onPeerMessagesDelivered(_ delivery: PeerDelivery) {}
    /// Does nothing.
    public func onPeerInputing(_ uid: Int64) {}
    /// Calls the described form.
    public func onPeerTyping(_ typing: PeerTyping) {
        if typing.isOn, typing.groupID == nil { onPeerInputing(typing.uid) }
    }
}

/// Sees messages of groups; every method is optional.
@MainActor
public protocol GroupMessageObserver: AnyObject, Sendable {
    /// A message came.
    func onGroupMessage(_ message: IMMessage)
    /// Messages came one behind the other, such as those of a sync round.
    ///
    /// The later form; left out, it calls ``onGroupMessage(_:)`` for each.
    func onGroupMessages(_ messages: [IMMessage])
    /// The server accepted a message of this user to the group `gid`.
    func onGroupMessageACK(_ msgLocalID: Int32, gid: Int64)
    /// A message of this user to the group `gid` was refused or given up.
    func onGroupMessageFailure(_ msgLocalID: Int32, gid: Int64)
    /// The server accepted a message of this user or refused it with this status.
    ///
    /// The later form; left out, it calls ``onGroupMessageACK(_:gid:)`` or ``onGroupMessageFailure(_:gid:)``.
    func onGroupMessageACK(_ message: IMMessage, error: ACKStatus)
    /// A message of this user was given up.
    ///
    /// The later form; left out, it calls ``onGroupMessageFailure(_:gid:)``.
    func onGroupMessageFailure(_ message: IMMessage)
    /// A group changed: its name, its members, its end; the text is JSON (docs/protocol.md, section 16.3).
    func onGroupNotification(_ text: String)
}

extension GroupMessageObserver {
    /// Does nothing.
    public func onGroupMessage(_ message: IMMessage) {}
    /// Calls the described form.
    public func onGroupMessages(_ messages: [IMMessage]) {
        for message in messages { onGroupMessage(message) }
    }
    /// Does nothing.
    public func onGroupMessageACK(_ msgLocalID: Int32, gid: Int64) {}
    /// Does nothing.
    public func onGroupMessageFailure(_ msgLocalID: Int32, gid: Int64) {}
    /// Calls the described form.
    public func onGroupMessageACK(_ message: IMMessage, error: ACKStatus) {
        if error == .success {
            onGroupMessageACK(message.msgLocalID, gid: message.receiver)
        } else {
            onGroupMessageFailure(message.msgLocalID, gid: message.receiver)
        }
    }
    /// Calls the described form.
    public func onGroupMessageFailure(_ message: IMMessage) {
        onGroupMessageFailure(message.msgLocalID, gid: message.receiver)
    }
    /// Does nothing.
    public func onGroupNotification(_ text: String) {}
}

/// Sees messages of customer service, in either profile; every method is optional.
@MainActor
public protocol CustomerMessageObserver: AnyObject, Sendable {
    /// A message of a customer to the staff came, or one that another device of this customer sent.
    func onCustomerMessage(_ message: CustomerMessage)
    /// A message of the staff to a customer came, or one that another device of this member of staff sent.
    func onCustomerSupportMessage(_ message: CustomerMessage)
    /// The server accepted a message of this user.
    func onCustomerMessageACK(_ message: CustomerMessage)
    /// A message of this user was refused or given up.
    func onCustomerMessageFailure(_ message: CustomerMessage)
}

extension CustomerMessageObserver {
    /// Does nothing.
    public func onCustomerMessage(_ message: CustomerMessage) {}
    /// Does nothing.
    public func onCustomerSupportMessage(_ message: CustomerMessage) {}
    /// Does nothing.
    public func onCustomerMessageACK(_ message: CustomerMessage) {}
    /// Does nothing.
    public func onCustomerMessageFailure(_ message: CustomerMessage) {}
}
