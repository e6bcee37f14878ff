public import RivuletWire

/// Keeps messages between users: the described way for an app to bring a database of its own.
///
/// Every answer tells whether the fact is stored. False means *not stored*: the server is told nothing, observers
/// learn nothing, and the client asks again later, so the same message comes another time; a handler must recognise
/// messages that it has. Handlers are called one at a time, in the order of events, away from the main thread and from
/// the network, and are held weakly.
public protocol IMPeerMessageHandler: AnyObject, Sendable {
    /// Keeps a message; `uid` is the other side, whoever wrote it.
    func handleMessage(_ message: IMMessage, uid: Int64) -> Bool
    /// Keeps that the server accepted the user's message to `uid`.
    func handleMessageACK(_ msgLocalID: Int32, uid: Int64) -> Bool
    /// Keeps that the user's message to `uid` was refused or given up.
    func handleMessageFailure(_ msgLocalID: Int32, uid: Int64) -> Bool
}

/// Keeps messages of groups; the rules are those of ``IMPeerMessageHandler``.
public protocol IMGroupMessageHandler: AnyObject, Sendable {
    /// Keeps a message.
    func handleMessage(_ message: IMMessage) -> Bool
    /// Keeps that the server accepted the user's message to the group `gid`.
    func handleMessageACK(_ msgLocalID: Int32, gid: Int64) -> Bool
    /// Keeps that the user's message to the group `gid` was refused or given up.
    func handleMessageFailure(_ msgLocalID: Int32, gid: Int64) -> Bool
    /// Keeps a change of a group: its name, its members, its end; the text is JSON (docs/protocol.md, section 16.3).
    func handleGroupNotification(_ text: String) -> Bool
}

/// Keeps how far the client has synced; the rules are those of ``IMPeerMessageHandler``.
public protocol IMSyncKeyHandler: AnyObject, Sendable {
    /// Keeps the key of the user's own queue.
    func saveSyncKey(_ key: Int64) -> Bool
    /// Keeps the key of a super group's queue.
    func saveGroupSyncKey(_ key: Int64, gid: Int64) -> Bool
}
