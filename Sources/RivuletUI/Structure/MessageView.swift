public import Foundation
public import RivuletFlow
public import RivuletModel

/// Who is who, for views that show names.
public protocol MessageDirectory: AnyObject {
    /// The name of a user as the reader knows it.
    func name(of user: UserID, in session: Session) -> String
    /// What the user is in the session, such as its organiser; nil for nothing special.
    func role(of user: UserID, in session: Session) -> String?
    /// The message with this uuid, for quotes; nil when it is not at hand.
    func message(uuid: String, in session: Session) -> Message?
    /// The user who looks at the screen; nil, the default, when that is of no interest.
    var reader: UserID? { get }
}

extension MessageDirectory {
    /// Nobody in particular.
    public var reader: UserID? { nil }
}

/// Fetches and decodes pictures, off the main thread.
public protocol MessageImageLoader: AnyObject {
    /// The picture at an address, no larger than wanted; nil when it cannot be had.
    func image(at address: String, fitting size: CGSize) async -> PlatformImage?
    /// The picture when it is at hand at once.
    func cachedImage(at address: String) -> PlatformImage?
}

/// What a component's view is told besides its message.
public struct MessageViewContext {
    /// How the component looks.
    public var appearance = ComponentAppearance()
    /// Whether the row is the first of a sender's run.
    public var isRunStart = true
    /// Whether the row is the last of a sender's run.
    public var isRunEnd = true
    /// The reader's text size.
    public var textScale = 1.0
    /// The direction in which the interface reads.
    public var direction = ReadingDirection.leftToRight
    /// The words of the interface.
    public var strings = InterfaceStrings.english
    /// Who is who.
    public weak var directory: (any MessageDirectory)?
    /// Where pictures come from.
    public weak var images: (any MessageImageLoader)?
    /// Plays voice messages; nil where nothing is played.
    public weak var player: SoundPlayer?

    /// Makes the context of a lone message in the standard look.
    public init() {}

    /// The context of the component that a flow is sizing now, by which a strategy without one of its own goes.
    static var sized: MessageViewContext?
}

/// What all five components of a message have in common: the component, the message and its surroundings.
open class MessageAbstractView: PlatformView {
    /// The message that is shown; nil between two.
    public private(set) var message: Message?
    /// What was told besides.
    public private(set) var context = MessageViewContext()

    /// Makes a view that shows nothing yet.
    public required init() {
        super.init(role: .decoration)
    }

    /// Tells the message and its surroundings before the view is refreshed.
    public func prepare(_ context: MessageViewContext, message: Message) {
        self.context = context
        self.message = message
    }

    /// The colour of what is in the component.
    public var foreground: PlatformColor {
        let style = context.appearance.style
        let isOutgoing = message?.isOutgoing ?? false
        return Theme.current.color(isOutgoing ? style.outgoingForeground : style.incomingForeground)
    }

    /// The colour behind it.
    public var background: PlatformColor {
        let style = context.appearance.style
        let isOutgoing = message?.isOutgoing ?? false
        return Theme.current.color(
            isOutgoing ? style.outgoingBackground : style.incomingBackground,
            identity: message?.sender.rawValue ?? 0)
    }

    /// The corners, smaller where a run begins.
    public var corners: PlatformCorners {
        let style = context.appearance.style
        var corners = PlatformCorners(style.cornerRadius)
        guard context.isRunStart, style.runCornerRadius > 0 else { return corners }
        if (message?.isOutgoing ?? false) != (context.direction == .rightToLeft) {
            corners.topRight = style.runCornerRadius
        } else {
            corners.topLeft = style.runCornerRadius
        }
        return corners
    }
}

/// The base of the five components of a message.
///
/// A business makes a subclass, registers it for a component and a kind with ``MessageViewRegistry``, and says how it
/// is sized:
///
/// ```swift
/// final class DiceView: MessageView {
///     override func refresh(with message: Message) { eyes = message.content.dice?.eyes ?? 1 }
///     override class func createSizeStrategy(
///         message: Message, fittingSize: CGSize
///     ) -> (any MessageLayoutSizeStrategy)? {
///         MessageCustomSizeStrategy { _, _ in CGSize(width: 64, height: 64) }
///     }
/// }
/// ```
open class MessageView: MessageAbstractView {
    /// Whether the component answers menu actions.
    public var canPerformMenuAction = false

    /// Makes a view that shows nothing yet.
    public required init() {
        super.init()
    }

    /// Shows this message.
    open func refresh(with message: Message) {}

    /// Called before the view is used for another message.
    open func prepareForReuse() {}

    /// How the component is sized for this message; nil leaves it at the least size of its layout.
    open class func createSizeStrategy(
        message: Message, fittingSize: CGSize
    ) -> (any MessageLayoutSizeStrategy)? {
        nil
    }

    /// How the component is sized without views, off the main thread; nil, the default, when views are needed.
    open class func valueSizing(measurer: PlatformTextMeasurer) -> (any ComponentSizeStrategy)? {
        nil
    }

    /// The text that is selected in the component; empty for none.
    open var selectedText: String { "" }
    /// Selects nothing.
    open func clearSelection() {}
    /// What a drag that begins at a point takes along; nil, the default, for nothing.
    open func dragContent(at point: CGPoint) -> PlatformDragContent? { nil }
    /// The address under a point; nil when there is none.
    open func link(at point: CGPoint) -> String? { nil }
}
