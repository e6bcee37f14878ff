public import RivuletModel

extension DataManager {
    /// The entries of a message's menu, as the session's configuration builds them.
    ///
    /// - Parameters:
    ///   - message: The message.
    ///   - component: The component that was pressed.
    ///   - componentPerforms: Whether the component answers menu actions.
    /// - Returns: The entries, in the order of the menu.
    public func menuItems(
        for message: Message, component: MessageComponent = .content, componentPerforms: Bool = true
    ) -> [MessageMenuItem] {
        configuration.menu.items(
            for: ledger[message.id]?.message ?? message, component: component,
            componentPerforms: componentPerforms, strings: configuration.strings)
    }

    /// Does what a standard entry of the menu says: sends again, withdraws, removes, begins a reply.
    ///
    /// - Parameters:
    ///   - item: The entry.
    ///   - message: The message.
    /// - Returns: False for what is left to the host: copying, choosing where to forward, and entries of its own.
    /// - Throws: What the call throws; the delegate hears of it, too.
    @discardableResult
    public func perform(_ item: MessageMenuItem.ID, on message: Message) async throws -> Bool {
        switch item {
        case .resend: try await resend(message: message)
        case .revoke: try await revoke(message: message)
        case .delete: try await delete(message: message)
        case .reply: return beginReply(to: message)
        default: return false
        }
        return true
    }
}
