public import RivuletModel

/// What somebody did to a component.
public enum MessageGesture: Hashable, Sendable {
    /// Which way a row was swiped, by reading direction.
    public enum SwipeDirection: Hashable, Sendable {
        /// Towards the edge where a line begins.
        case towardsLeading
        /// Towards the edge where a line ends.
        case towardsTrailing
    }

    /// One tap or click.
    case tap
    /// Two in quick succession.
    case doubleTap
    /// A press that lasted.
    case longPress
    /// A click with the second button, or the menu key.
    case secondaryClick
    /// A tap on a link in the text.
    case link(String)
    /// A swipe over the row.
    case swipe(SwipeDirection)
}

/// A gesture on one component of one message.
public struct MessageEvent: Hashable, Sendable {
    /// What was done.
    public var gesture: MessageGesture
    /// To which component.
    public var component: MessageComponent
    /// Of which message.
    public var message: Message
    /// Where, measured from the component's left top corner; nil when done by keyboard or by assistive technology.
    public var location: LayoutPoint?

    /// Makes an event.
    public init(
        gesture: MessageGesture, component: MessageComponent, message: Message, location: LayoutPoint? = nil
    ) {
        self.gesture = gesture
        self.component = component
        self.message = message
        self.location = location
    }
}

/// Sees every event of a session before the standard reaction and may consume it.
@MainActor
public protocol MessageEventDelegate: AnyObject {
    /// Handles the event.
    ///
    /// - Returns: Whether the event is dealt with, so that the standard reaction does not happen.
    func consume(_ event: MessageEvent) -> Bool
}

/// What a flow does by itself after an event that nobody consumed.
public enum MessageReaction: Hashable, Sendable {
    /// Show the menu of the component.
    case openMenu
    /// Show the picture, file, place, card or record, or play the sound.
    case openContent
    /// Open the link.
    case openLink(String)
    /// Send the failed message again.
    case resend
    /// Begin a reply that quotes the message.
    case reply
    /// Show the author.
    case showSender
}

extension MessageEvent {
    /// The reaction that is standard for this event; nil when there is none.
    public var standardReaction: MessageReaction? {
        switch (gesture, component) {
        case (.longPress, _), (.secondaryClick, _): .openMenu
        case (.link(let address), _): .openLink(address)
        case (.swipe(.towardsTrailing), _): message.content == .revoked ? nil : .reply
        case (.tap, .avatar): .showSender
        case (.tap, .accessory): message.state.isFailed ? .resend : nil
        case (.tap, .content):
            Self.reaction(toTapOn: message.content)
        default: nil
        }
    }

    /// Contents that stand for something else are opened; a page on the web by its address.
    private static func reaction(toTapOn content: MessageContent) -> MessageReaction? {
        switch content {
        case .image, .video, .audio, .file, .location, .card, .merged: return .openContent
        case .link(let page):
            let scheme = page.url.prefix { $0 != ":" }.lowercased()
            return scheme == "https" || scheme == "http" ? .openLink(page.url) : nil
        default: return nil
        }
    }

    /// Asks the delegate first and returns the standard reaction if it did not consume the event.
    @MainActor
    public func reaction(after delegate: (any MessageEventDelegate)?) -> MessageReaction? {
        if let delegate, delegate.consume(self) { return nil }
        return standardReaction
    }
}
