public import RivuletModel

/// Hears what becomes of the calls of a session; all methods have a default that does nothing.
@MainActor
public protocol DataManagerDelegate: AnyObject {
    /// A precheck did not let a call pass; the reason is for people, and nil when there is none to show.
    func dataManager(
        _ manager: DataManager, didVeto call: MessageServiceCall, of message: Message, reason: String?)
    /// A call failed; a message that was to be sent stays with its reason and can be sent again.
    func dataManager(
        _ manager: DataManager, didFail call: MessageServiceCall, of message: Message, with error: any Error)
    /// Something came that changes no row by itself: pinned, tagged, read elsewhere, or of an app's own kind.
    func dataManager(_ manager: DataManager, didReceive control: ControlContent, by user: UserID)
    /// The selected messages are others now.
    func dataManager(_ manager: DataManager, didChange selection: MessageSelection)
    /// The draft is another now.
    func dataManager(_ manager: DataManager, didChange draft: Draft)
}

extension DataManagerDelegate {
    /// Nothing.
    public func dataManager(
        _ manager: DataManager, didVeto call: MessageServiceCall, of message: Message, reason: String?
    ) {}
    /// Nothing.
    public func dataManager(
        _ manager: DataManager, didFail call: MessageServiceCall, of message: Message, with error: any Error
    ) {}
    /// Nothing.
    public func dataManager(_ manager: DataManager, didReceive control: ControlContent, by user: UserID) {}
    /// Nothing.
    public func dataManager(_ manager: DataManager, didChange selection: MessageSelection) {}
    /// Nothing.
    public func dataManager(_ manager: DataManager, didChange draft: Draft) {}
}
