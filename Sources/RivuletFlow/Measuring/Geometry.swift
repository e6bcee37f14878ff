/// A width and a height in points.
public struct LayoutSize: Hashable, Sendable {
    /// The extent along the line of text.
    public var width: Double
    /// The extent down the flow.
    public var height: Double

    /// Makes a size.
    public init(width: Double, height: Double) {
        self.width = width
        self.height = height
    }

    /// No extent at all.
    public static let zero = LayoutSize(width: 0, height: 0)

    /// The same size with negative and unusable numbers replaced by zero.
    ///
    /// Sizes come from text engines and from the business; one that is not a number must not spread into the offsets
    /// of every row below.
    public var sanitized: LayoutSize {
        LayoutSize(
            width: width.isFinite ? max(0, width) : 0, height: height.isFinite ? max(0, height) : 0)
    }
}

/// A place in points, measured from the left and from the top.
public struct LayoutPoint: Hashable, Sendable {
    /// The distance from the left.
    public var x: Double
    /// The distance from the top.
    public var y: Double

    /// Makes a place.
    public init(x: Double, y: Double) {
        self.x = x
        self.y = y
    }
}

/// A rectangle in points, measured from the left and from the top.
public struct LayoutRect: Hashable, Sendable {
    /// The left top corner.
    public var origin: LayoutPoint
    /// The extent.
    public var size: LayoutSize

    /// Makes a rectangle.
    public init(x: Double, y: Double, width: Double, height: Double) {
        origin = LayoutPoint(x: x, y: y)
        size = LayoutSize(width: width, height: height)
    }

    /// The left edge.
    public var minX: Double { origin.x }
    /// The right edge.
    public var maxX: Double { origin.x + size.width }
    /// The top edge.
    public var minY: Double { origin.y }
    /// The bottom edge.
    public var maxY: Double { origin.y + size.height }

    /// Whether the two share an area; touching is not overlapping.
    public func overlaps(_ other: LayoutRect) -> Bool {
        minX < other.maxX && other.minX < maxX && minY < other.maxY && other.minY < maxY
    }

    /// The rectangle seen in a mirror that is this wide.
    public func mirrored(inWidth width: Double) -> LayoutRect {
        LayoutRect(x: width - maxX, y: minY, width: size.width, height: size.height)
    }
}

/// Distances from the four edges, named by reading direction so that a mirrored row needs no other value.
public struct LayoutInsets: Hashable, Sendable {
    /// The distance from the top.
    public var top: Double
    /// The distance from the edge where a line begins.
    public var leading: Double
    /// The distance from the bottom.
    public var bottom: Double
    /// The distance from the edge where a line ends.
    public var trailing: Double

    /// Makes insets.
    public init(top: Double = 0, leading: Double = 0, bottom: Double = 0, trailing: Double = 0) {
        self.top = top
        self.leading = leading
        self.bottom = bottom
        self.trailing = trailing
    }

    /// Makes insets that are equal on opposite edges.
    public init(vertical: Double, horizontal: Double) {
        self.init(top: vertical, leading: horizontal, bottom: vertical, trailing: horizontal)
    }

    /// No distance at all.
    public static let zero = LayoutInsets()

    /// What they take from a width.
    public var horizontal: Double { leading + trailing }
    /// What they take from a height.
    public var vertical: Double { top + bottom }
}

/// The direction in which the interface reads.
public enum ReadingDirection: Hashable, Sendable {
    /// As in English or Chinese.
    case leftToRight
    /// As in Arabic or Hebrew.
    case rightToLeft
}
