public import RivuletModel

/// One entry of the menu of a component.
public struct MessageMenuItem: Hashable, Sendable, Identifiable {
    /// The name of what an entry does; an open set.
    public struct ID: RawRepresentable, Hashable, Sendable {
        /// The stable name.
        public let rawValue: String

        /// Makes the name.
        public init(rawValue: String) {
            self.rawValue = rawValue
        }

        /// Copies the text.
        public static let copy = ID(rawValue: "copy")
        /// Begins a reply that quotes the message.
        public static let reply = ID(rawValue: "reply")
        /// Sends the message to another session.
        public static let forward = ID(rawValue: "forward")
        /// Sends a failed message again.
        public static let resend = ID(rawValue: "resend")
        /// Plays a voice message, or stops it.
        public static let play = ID(rawValue: "play")
        /// Withdraws one's own message for everybody.
        public static let revoke = ID(rawValue: "revoke")
        /// Removes the message from this device.
        public static let delete = ID(rawValue: "delete")
    }

    /// What the entry does.
    public var id: ID
    /// What it is called, for people.
    public var title: String
    /// Whether it destroys something and is shown so.
    public var isDestructive: Bool

    /// Makes an entry.
    public init(id: ID, title: String, isDestructive: Bool = false) {
        self.id = id
        self.title = title
        self.isDestructive = isDestructive
    }
}

/// Builds the entries for a component of a message, before the host edits them.
public protocol MessageMenuProvider: Sendable {
    /// The entries, in the order of the menu.
    func items(for message: Message, component: MessageComponent) -> [MessageMenuItem]
    /// The entries with their titles in the words of the interface; the entries as they are by default.
    func items(for message: Message, component: MessageComponent, strings: InterfaceStrings)
        -> [MessageMenuItem]
}

extension MessageMenuProvider {
    /// The entries as they are.
    public func items(for message: Message, component: MessageComponent, strings: InterfaceStrings)
        -> [MessageMenuItem]
    { items(for: message, component: component) }
}

/// The standard entries: what can be done with the message as it is.
public struct StandardMenuProvider: MessageMenuProvider {
    private let title: (@Sendable (MessageMenuItem.ID) -> String)?

    /// Makes the provider; titles are those of the session's language unless others are given.
    public init(title: (@Sendable (MessageMenuItem.ID) -> String)? = nil) {
        self.title = title
    }

    /// The standard entries; notices and withdrawn messages can only be deleted, what burns is neither copied nor sent on.
    public func items(for message: Message, component: MessageComponent) -> [MessageMenuItem] {
        items(for: message, component: component, strings: .english)
    }

    /// The standard entries in the words of the interface.
    public func items(for message: Message, component: MessageComponent, strings: InterfaceStrings)
        -> [MessageMenuItem]
    {
        var ids: [MessageMenuItem.ID] = []
        switch message.content {
        case .notice, .revoked, .groupNotification, .refusal, .timeBase: break
        default:
            let isText = message.content.text != nil
            if message.state.isFailed { ids.append(.resend) }
            if isText, message.burnSeconds == nil { ids.append(.copy) }
            if !message.state.isFailed { ids.append(.reply) }
            if !message.state.isFailed, message.burnSeconds == nil { ids.append(.forward) }
            if message.isOutgoing, !message.state.isFailed, !message.state.isPending { ids.append(.revoke) }
        }
        ids.append(.delete)
        return ids.map {
            MessageMenuItem(
                id: $0, title: title?($0) ?? strings.title(of: $0),
                isDestructive: $0 == .revoke || $0 == .delete)
        }
    }

    /// The English titles; the name itself for entries of the app's own.
    public static let englishTitle: @Sendable (MessageMenuItem.ID) -> String = {
        InterfaceStrings.english.title(of: $0)
    }
}

/// The menu of a session: a provider's entries, edited by the host, filtered by what the component can perform.
///
/// The same list is the row's list of accessibility actions.
public struct MessageMenu: Sendable {
    /// Changes the provider's entries.
    public typealias Edit = @Sendable (inout [MessageMenuItem], Message, MessageComponent) -> Void
    /// Says whether an entry may be performed on a component now.
    public typealias Filter = @Sendable (MessageMenuItem.ID, Message, MessageComponent) -> Bool

    /// Builds the entries.
    public var provider: any MessageMenuProvider
    /// The host's change; nil to leave the entries as they are.
    public var edit: Edit?
    /// Which entries stay; nil to let all stay.
    public var canPerformMenuAction: Filter?

    /// Makes a menu.
    public init(
        provider: any MessageMenuProvider = StandardMenuProvider(), edit: Edit? = nil,
        canPerformMenuAction: Filter? = nil
    ) {
        self.provider = provider
        self.edit = edit
        self.canPerformMenuAction = canPerformMenuAction
    }

    /// The entries to show.
    ///
    /// An entry that the host added twice appears once.
    ///
    /// - Parameters:
    ///   - message: The message.
    ///   - component: The component that was pressed.
    ///   - componentPerforms: The component's own `canPerformMenuAction`; a component that answers no menu actions
    ///     has no menu.
    ///   - strings: The words of the interface.
    /// - Returns: The entries, in the order of the menu.
    public func items(
        for message: Message, component: MessageComponent, componentPerforms: Bool = true,
        strings: InterfaceStrings = .english
    ) -> [MessageMenuItem] {
        guard componentPerforms else { return [] }
        var items = provider.items(for: message, component: component, strings: strings)
        edit?(&items, message, component)
        var seen: Set<MessageMenuItem.ID> = []
        return items.filter { item in
            guard seen.insert(item.id).inserted else { return false }
            return canPerformMenuAction?(item.id, message, component) ?? true
        }
    }

    /// The actions that assistive technology offers for the row: those of its content, by the same list.
    public func accessibilityActions(for message: Message, componentPerforms: Bool = true)
        -> [MessageMenuItem]
    {
        items(for: message, component: .content, componentPerforms: componentPerforms)
    }
}
