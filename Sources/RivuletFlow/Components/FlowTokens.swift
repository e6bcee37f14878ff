/// The measures of the standard look, in points on a grid of four.
public struct FlowTokens: Hashable, Sendable {
    /// The space between the flow's edges and its rows.
    public var flowMargin: Double
    /// The space between two rows of one sender's run.
    public var runGap: Double
    /// The space between two runs.
    public var groupGap: Double
    /// The space between a bubble's edge and its text.
    public var bubblePadding: LayoutInsets
    /// The radius of a bubble's corners.
    public var bubbleRadius: Double
    /// The radius of the corner where a run begins.
    public var runCornerRadius: Double
    /// The greatest width of a bubble.
    public var bubbleWidthMax: Double
    /// The greatest width of a bubble as a part of the flow's width.
    public var bubbleWidthFraction: Double
    /// The greatest size of a picture.
    public var imageSizeMax: LayoutSize
    /// The side of an avatar.
    public var avatarSide: Double
    /// The space between an avatar and the bubble.
    public var avatarGap: Double
    /// The size of the type of a message.
    public var bodyFontSize: Double
    /// The height of a line of a message.
    public var bodyLineHeight: Double
    /// The size of the type of names, times and states.
    public var metaFontSize: Double
    /// The height of a line of names, times and states.
    public var metaLineHeight: Double
    /// The space between a bubble and what stands beside, above or under it.
    public var smallGap: Double

    /// The standard look.
    public static let standard = FlowTokens()

    private init() {
        flowMargin = 20
        runGap = 2
        groupGap = 12
        bubblePadding = LayoutInsets(vertical: 8, horizontal: 12)
        bubbleRadius = 16
        runCornerRadius = 6
        bubbleWidthMax = 460
        bubbleWidthFraction = 0.72
        imageSizeMax = LayoutSize(width: 280, height: 360)
        avatarSide = 36
        avatarGap = 8
        bodyFontSize = 14
        bodyLineHeight = 20
        metaFontSize = 12
        metaLineHeight = 16
        smallGap = 4
    }
}
