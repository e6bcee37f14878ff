public import RivuletWire

/// Keeps messages between users: the described way for an app to bring a database of its own.
///
/// Every answer tells whether the fact is stored. False means *not stored*: the server is told nothing, observers
/// learn nothing, and the client asks again later, so the same message comes another time; a handler must recognise
/// messages that it has. Handlers are called one at a time, in the order of events, away from the main thread and from
/// the network, and are held weakly. Every method is optional and answers true when it is left out.
public protocol IMPeerMessageHandler: AnyObject, Sendable {
    /// Keeps a message; `uid` is the other side, whoever wrote it.
    func handleMessage(_ message: IMMessage, uid: Int64) -> Bool
    /// Keeps that the server accepted the user's message to `uid`.
    func handleMessageACK(_ msgLocalID: Int32, uid: Int64) -> Bool
    /// Keeps that the user's message to `uid` was refused or given up.
    func handleMessageFailure(_ msgLocalID: Int32, uid: Int64) -> Bool
    /// Keeps the server's answer to the user's message: accepted, or refused with this status.
    ///
    /// The later form; left out, it calls ``handleMessageACK(_:uid:)`` or ``handleMessageFailure(_:uid:)-(Int32,_)``.
    func handleMessageACK(_ message: IMMessage, error: ACKStatus, uid: Int64) -> Bool
    /// Keeps that the user's message was given up.
    ///
    /// The later form; left out, it calls ``handleMessageFailure(_:uid:)-(Int32,_)``.
    func handleMessageFailure(_ message: IMMessage, uid: Int64) -> Bool
}

extension IMPeerMessageHandler {
    /// Answers true.
    public func handleMessage(_ message: IMMessage, uid: Int64) -> Bool { true }
    /// Answers true.
    public func handleMessageACK(_ msgLocalID: Int32, uid: Int64) -> Bool { true }
    /// Answers true.
    public func handleMessageFailure(_ msgLocalID: Int32, uid: Int64) -> Bool { true }
    /// Calls the described form.
    public func handleMessageACK(_ message: IMMessage, error: ACKStatus, uid: Int64) -> Bool {
        error == .success
            ? handleMessageACK(message.msgLocalID, uid: uid)
            : handleMessageFailure(message.msgLocalID, uid: uid)
    }
    /// Calls the described form.
    public func handleMessageFailure(_ message: IMMessage, uid: Int64) -> Bool {
        handleMessageFailure(message.msgLocalID, uid: uid)
    }
}

/// Keeps messages of groups; the rules are those of ``IMPeerMessageHandler``.
public protocol IMGroupMessageHandler: AnyObject, Sendable {
    /// Keeps a message.
    func handleMessage(_ message: IMMessage) -> Bool
    /// Keeps messages that came one behind the other, such as those of a sync round.
    ///
    /// The later form; left out, it calls ``handleMessage(_:)`` for each until one is refused.
    func handleMessages(_ messages: [IMMessage]) -> Bool
    /// Keeps that the server accepted the user's message to the group `gid`.
    func handleMessageACK(_ msgLocalID: Int32, gid: Int64) -> Bool
    /// Keeps that the user's message to the group `gid` was refused or given up.
    func handleMessageFailure(_ msgLocalID: Int32, gid: Int64) -> Bool
    /// Keeps the server's answer to the user's message: accepted, or refused with this status.
    ///
    /// The later form; left out, it calls ``handleMessageACK(_:gid:)`` or ``handleMessageFailure(_:gid:)-(Int32,_)``.
    func handleMessageACK(_ message: IMMessage, error: ACKStatus, gid: Int64) -> Bool
    /// Keeps that the user's message was given up.
    ///
    /// The later form; left out, it calls ``handleMessageFailure(_:gid:)-(Int32,_)``.
    func handleMessageFailure(_ message: IMMessage, gid: Int64) -> Bool
    /// Keeps a change of a group: its name, its members, its end; the text is JSON (docs/protocol.md, section 16.3).
    func handleGroupNotification(_ text: String) -> Bool
}

extension IMGroupMessageHandler {
    /// Answers true.
    public func handleMessage(_ message: IMMessage) -> Bool { true }
    /// Calls the described form.
    public func handleMessages(_ messages: [IMMessage]) -> Bool { messages.allSatisfy { handleMessage($0) } }
    /// Answers true.
    public func handleMessageACK(_ msgLocalID: Int32, gid: Int64) -> Bool { true }
    /// Answers true.
    public func handleMessageFailure(_ msgLocalID: Int32, gid: Int64) -> Bool { true }
    /// Calls the described form.
    public func handleMessageACK(_ message: IMMessage, error: ACKStatus, gid: Int64) -> Bool {
        error == .success
            ? handleMessageACK(message.msgLocalID, gid: gid)
            : handleMessageFailure(message.msgLocalID, gid: gid)
    }
    /// Calls the described form.
    public func handleMessageFailure(_ message: IMMessage, gid: Int64) -> Bool {
        handleMessageFailure(message.msgLocalID, gid: gid)
    }
    /// Answers true.
    public func handleGroupNotification(_ text: String) -> Bool { true }
}

/// Keeps messages of customer service, in either profile; the rules are those of ``IMPeerMessageHandler``.
public protocol IMCustomerMessageHandler: AnyObject, Sendable {
    /// Keeps a message of the staff to a customer.
    func handleCustomerSupportMessage(_ message: CustomerMessage) -> Bool
    /// Keeps a message of a customer to the staff.
    func handleMessage(_ message: CustomerMessage) -> Bool
    /// Keeps that the server accepted the user's message.
    func handleMessageACK(_ message: CustomerMessage) -> Bool
    /// Keeps that the user's message was refused or given up.
    func handleMessageFailure(_ message: CustomerMessage) -> Bool
}

extension IMCustomerMessageHandler {
    /// Answers true.
    public func handleCustomerSupportMessage(_ message: CustomerMessage) -> Bool { true }
    /// Answers true.
    public func handleMessage(_ message: CustomerMessage) -> Bool { true }
    /// Answers true.
    public func handleMessageACK(_ message: CustomerMessage) -> Bool { true }
    /// Answers true.
    public func handleMessageFailure(_ message: CustomerMessage) -> Bool { true }
}

/// Keeps stored texts of the operator; the rules are those of ``IMPeerMessageHandler``.
public protocol IMSystemMessageHandler: AnyObject, Sendable {
    /// Keeps a text.
    func handleSystemMessage(_ text: String) -> Bool
}

/// Keeps how far the client has synced; the rules are those of ``IMPeerMessageHandler``.
public protocol IMSyncKeyHandler: AnyObject, Sendable {
    /// Keeps the key of the user's own queue.
    func saveSyncKey(_ key: Int64) -> Bool
    /// Keeps the key of a super group's queue.
    func saveGroupSyncKey(_ key: Int64, gid: Int64) -> Bool
}

extension IMSyncKeyHandler {
    /// Answers true.
    public func saveSyncKey(_ key: Int64) -> Bool { true }
    /// Answers true.
    public func saveGroupSyncKey(_ key: Int64, gid: Int64) -> Bool { true }
}
