/// How a component looks, as values that every drawing engine can follow.
public struct ComponentStyle: Hashable, Sendable {
    /// The role of a colour; the drawing engine turns it into one of the theme's.
    public struct ColorRole: RawRepresentable, Hashable, Sendable {
        /// The stable name.
        public let rawValue: String

        /// Makes the role with this name.
        public init(rawValue: String) {
            self.rawValue = rawValue
        }

        /// No colour: what lies behind shows.
        public static let clear = ColorRole(rawValue: "clear")
        /// Text on the window.
        public static let text = ColorRole(rawValue: "text")
        /// Quiet text on the window.
        public static let dimText = ColorRole(rawValue: "dim-text")
        /// The bubble of somebody else.
        public static let incomingBubble = ColorRole(rawValue: "incoming-bubble")
        /// One's own bubble.
        public static let outgoingBubble = ColorRole(rawValue: "outgoing-bubble")
        /// Text in one's own bubble.
        public static let outgoingText = ColorRole(rawValue: "outgoing-text")
        /// A colour out of the palette, chosen by a hash of the author's id.
        public static let identity = ColorRole(rawValue: "identity")
    }

    /// The space between the component's edge and what is in it.
    public var padding: LayoutInsets
    /// The radius of the corners.
    public var cornerRadius: Double
    /// The radius of the corner where a run of one sender begins.
    public var runCornerRadius: Double
    /// The size of the type before the reader's text size is applied.
    public var fontSize: Double
    /// The height of a line before the reader's text size is applied.
    public var lineHeight: Double
    /// Whether the type is bold.
    public var isBold: Bool
    /// The colour of what is in it when somebody else wrote the message.
    public var incomingForeground: ColorRole
    /// The colour behind it when somebody else wrote the message.
    public var incomingBackground: ColorRole
    /// The colour of what is in it when the reader wrote the message.
    public var outgoingForeground: ColorRole
    /// The colour behind it when the reader wrote the message.
    public var outgoingBackground: ColorRole

    /// Makes a style.
    public init(
        padding: LayoutInsets = .zero, cornerRadius: Double = 0, runCornerRadius: Double = 0,
        fontSize: Double = 14, lineHeight: Double = 20, isBold: Bool = false,
        incomingForeground: ColorRole = .text, incomingBackground: ColorRole = .clear,
        outgoingForeground: ColorRole = .text, outgoingBackground: ColorRole = .clear
    ) {
        self.padding = padding
        self.cornerRadius = cornerRadius
        self.runCornerRadius = runCornerRadius
        self.fontSize = fontSize
        self.lineHeight = lineHeight
        self.isBold = isBold
        self.incomingForeground = incomingForeground
        self.incomingBackground = incomingBackground
        self.outgoingForeground = outgoingForeground
        self.outgoingBackground = outgoingBackground
    }
}

/// When a component is shown.
public struct ComponentVisibility: Hashable, Sendable {
    /// Whether it is shown beside messages of others.
    public var showsIncoming: Bool
    /// Whether it is shown beside the reader's own messages.
    public var showsOutgoing: Bool
    /// Whether only the first row of a sender's run shows it.
    public var onlyAtRunStart: Bool
    /// Whether only the last row of a sender's run shows it.
    public var onlyAtRunEnd: Bool
    /// Whether its width stays reserved in rows of a run that do not show it, so that bubbles of a run align.
    public var keepsColumn: Bool

    /// Makes a visibility.
    public init(
        showsIncoming: Bool = true, showsOutgoing: Bool = true, onlyAtRunStart: Bool = false,
        onlyAtRunEnd: Bool = false, keepsColumn: Bool = false
    ) {
        self.showsIncoming = showsIncoming
        self.showsOutgoing = showsOutgoing
        self.onlyAtRunStart = onlyAtRunStart
        self.onlyAtRunEnd = onlyAtRunEnd
        self.keepsColumn = keepsColumn
    }

    /// Shown in every row.
    public static let always = ComponentVisibility()
    /// Shown in no row.
    public static let never = ComponentVisibility(showsIncoming: false, showsOutgoing: false)

    /// Whether a row of this direction and place in its run shows the component.
    public func isShown(isOutgoing: Bool, isRunStart: Bool, isRunEnd: Bool) -> Bool {
        guard isOutgoing ? showsOutgoing : showsIncoming else { return false }
        if onlyAtRunStart, !isRunStart { return false }
        if onlyAtRunEnd, !isRunEnd { return false }
        return true
    }

    /// Whether a row that does not show the component leaves room for it all the same.
    public func reservesColumn(isOutgoing: Bool) -> Bool {
        keepsColumn && (isOutgoing ? showsOutgoing : showsIncoming)
    }
}

/// Where a component stands and how large it may be.
public struct ComponentLayout: Hashable, Sendable {
    /// Where the component stands across the flow.
    public enum Alignment: Hashable, Sendable {
        /// On the author's side: the leading edge for others, the trailing edge for the reader.
        case side
        /// In the middle of the flow, as a notice.
        case center
        /// Over the whole width.
        case fill
    }

    /// The least size.
    public var minimumSize: LayoutSize
    /// The greatest width in points.
    public var maximumWidth: Double
    /// The greatest width as a part of the flow's width, padding of the flow included.
    public var maximumWidthFraction: Double
    /// The greatest height in points.
    public var maximumHeight: Double
    /// The space between this component and the one that it is attached to.
    public var spacing: Double
    /// Where it stands across the flow.
    public var alignment: Alignment
    /// Whether its sizes are kept as layout snapshots.
    public var usesSnapshots: Bool

    /// Makes a layout.
    public init(
        minimumSize: LayoutSize = .zero, maximumWidth: Double = .greatestFiniteMagnitude,
        maximumWidthFraction: Double = 1, maximumHeight: Double = .greatestFiniteMagnitude,
        spacing: Double = 0, alignment: Alignment = .side, usesSnapshots: Bool = false
    ) {
        self.minimumSize = minimumSize
        self.maximumWidth = maximumWidth
        self.maximumWidthFraction = maximumWidthFraction
        self.maximumHeight = maximumHeight
        self.spacing = spacing
        self.alignment = alignment
        self.usesSnapshots = usesSnapshots
    }

    /// The size brought between the least and the greatest; a greatest one below the least wins.
    public func clamp(_ size: LayoutSize, toWidth width: Double) -> LayoutSize {
        let size = size.sanitized
        return LayoutSize(
            width: min(max(size.width, minimumSize.width), maximumWidth, max(0, width)),
            height: min(max(size.height, minimumSize.height), maximumHeight))
    }
}

/// Everything that configures one component of one message.
public struct ComponentAppearance: Hashable, Sendable {
    /// How it looks.
    public var style: ComponentStyle
    /// When it is shown.
    public var visibility: ComponentVisibility
    /// Where it stands and how large it may be.
    public var layout: ComponentLayout

    /// Makes an appearance.
    public init(
        style: ComponentStyle = ComponentStyle(), visibility: ComponentVisibility = .always,
        layout: ComponentLayout = ComponentLayout()
    ) {
        self.style = style
        self.visibility = visibility
        self.layout = layout
    }
}
