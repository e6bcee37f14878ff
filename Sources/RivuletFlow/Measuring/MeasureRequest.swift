public import RivuletModel

/// Everything on which the size of a component depends.
///
/// Two equal keys have equal sizes, so a key names a layout snapshot.
public struct MeasureKey: Hashable, Sendable {
    /// The message.
    public var message: MessageID
    /// The component.
    public var component: MessageComponent
    /// The content revision of the message.
    public var revision: Int
    /// The greatest width that the component may take.
    public var width: Double
    /// The reader's text size; 1 is the designed one.
    public var textScale: Double
    /// The number of changes of style so far.
    public var styleEpoch: Int

    /// Makes a key.
    public init(
        message: MessageID, component: MessageComponent, revision: Int, width: Double, textScale: Double,
        styleEpoch: Int
    ) {
        self.message = message
        self.component = component
        self.revision = revision
        self.width = width
        self.textScale = textScale
        self.styleEpoch = styleEpoch
    }
}

/// The wish to know the size of one component of one message.
public struct MeasureRequest: Sendable {
    /// The number of the request, by which a late answer to an outdated one is told from the right one.
    public var ticket: Int
    /// On what the size depends.
    public var key: MeasureKey
    /// The message, as it was when the wish arose.
    public var message: Message
    /// The greatest size that the component may take.
    public var fittingSize: LayoutSize
    /// How the component looks.
    public var appearance: ComponentAppearance
    /// The words of the interface.
    public var strings: InterfaceStrings

    /// Makes a request.
    public init(
        ticket: Int = 0, key: MeasureKey, message: Message, fittingSize: LayoutSize,
        appearance: ComponentAppearance, strings: InterfaceStrings = .english
    ) {
        self.ticket = ticket
        self.key = key
        self.message = message
        self.fittingSize = fittingSize
        self.appearance = appearance
        self.strings = strings
    }
}

/// The answer to a ``MeasureRequest``.
public struct Measurement: Hashable, Sendable {
    /// The number of the request.
    public var ticket: Int
    /// The key of the request.
    public var key: MeasureKey
    /// The size of the component; nil when it could not be found, so that the estimate stays.
    public var size: LayoutSize?

    /// Makes an answer.
    public init(ticket: Int, key: MeasureKey, size: LayoutSize?) {
        self.ticket = ticket
        self.key = key
        self.size = size
    }

    /// Makes the answer to a request.
    public init(to request: MeasureRequest, size: LayoutSize?) {
        self.init(ticket: request.ticket, key: request.key, size: size)
    }
}
