/// The app's handlers, each held weakly; they stand in front of the storage.
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

    /// Keeps the keys of the sync.
    public var syncKeyHandler: (any IMSyncKeyHandler)? {
        get { handlers.handlers.syncKey }
        set { handlers.set(syncKey: newValue) }
    }
}
