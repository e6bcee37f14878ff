public import Foundation
internal import GTKKit

/// A colour with its opacity, from 0 to 1.
public nonisolated struct PlatformColor: Hashable, Sendable {
    /// How much red.
    public var red: Double
    /// How much green.
    public var green: Double
    /// How much blue.
    public var blue: Double
    /// How opaque.
    public var alpha: Double

    /// Makes a colour of parts from 0 to 1.
    public init(red: Double, green: Double, blue: Double, alpha: Double = 1) {
        self.red = red
        self.green = green
        self.blue = blue
        self.alpha = alpha
    }

    /// Makes a colour of a number such as 0x1A64D2.
    public init(_ hex: UInt32, alpha: Double = 1) {
        self.init(
            red: Double(hex >> 16 & 255) / 255, green: Double(hex >> 8 & 255) / 255,
            blue: Double(hex & 255) / 255,
            alpha: alpha)
    }

    /// The same colour with another opacity.
    public func opacity(_ alpha: Double) -> PlatformColor {
        PlatformColor(red: red, green: green, blue: blue, alpha: self.alpha * alpha)
    }

    var value: RGBA { RGBA(red: red, green: green, blue: blue, alpha: alpha) }
}

/// The radii of a rectangle's corners.
public nonisolated struct PlatformCorners: Hashable, Sendable {
    /// The corner at the left top.
    public var topLeft: Double
    /// The corner at the right top.
    public var topRight: Double
    /// The corner at the right bottom.
    public var bottomRight: Double
    /// The corner at the left bottom.
    public var bottomLeft: Double

    /// Makes corners of one radius.
    public init(_ radius: Double) {
        topLeft = radius
        topRight = radius
        bottomRight = radius
        bottomLeft = radius
    }

    var value: CornerRadii {
        CornerRadii(topLeft: topLeft, topRight: topRight, bottomRight: bottomRight, bottomLeft: bottomLeft)
    }
}

/// What a view draws on; good only while it draws.
public struct PlatformCanvas {
    private let painter: Painter

    init(_ painter: Painter) {
        self.painter = painter
    }

    /// Fills a rectangle.
    public func fill(_ rect: CGRect, _ color: PlatformColor) { painter.fill(rect, color.value) }

    /// Fills a rectangle with round corners.
    public func fill(_ rect: CGRect, corners: PlatformCorners, _ color: PlatformColor) {
        painter.fill(rect, corners.value, color.value)
    }

    /// Draws a border inside a rectangle with round corners.
    public func stroke(_ rect: CGRect, corners: PlatformCorners, width: Double = 1, _ color: PlatformColor) {
        painter.stroke(rect, corners.value, width: width, color.value)
    }

    /// Draws a soft shadow around a rectangle with round corners.
    public func shadow(
        _ rect: CGRect, corners: PlatformCorners, _ color: PlatformColor, dy: Double = 1, blur: Double = 4
    ) {
        painter.shadow(rect, corners.value, color.value, dy: dy, blur: blur)
    }

    /// Draws a text with its left top corner at a point.
    public func draw(_ text: PlatformText, at point: CGPoint, _ color: PlatformColor) {
        painter.draw(text.layout, at: point, color.value)
    }

    /// Draws a picture over a rectangle with round corners.
    public func draw(_ image: PlatformImage, in rect: CGRect, corners: PlatformCorners = PlatformCorners(0)) {
        painter.draw(image.texture, in: rect, corners.value)
    }

    /// Cuts what is drawn inside at a rectangle with round corners.
    public func clip(to rect: CGRect, corners: PlatformCorners = PlatformCorners(0), _ body: () -> Void) {
        painter.clip(to: rect, corners.value, body)
    }

    /// Draws an icon in a square.
    public func draw(_ icon: PlatformIcon, in rect: CGRect, _ color: PlatformColor, width: Double = 1.6) {
        let scale = rect.width / 16
        func place(_ point: CGPoint) -> CGPoint {
            CGPoint(x: rect.minX + point.x * scale, y: rect.minY + point.y * scale)
        }
        for circle in icon.circles {
            painter.arc(
                center: place(CGPoint(x: circle.x, y: circle.y)), radius: circle.radius * scale,
                from: circle.start,
                to: circle.end, width: icon.fills ? circle.radius * scale : width, color.value)
        }
        if !icon.strokes.isEmpty {
            painter.lines(
                icon.strokes.map { $0.map(place) }, width: width, color.value,
                in: rect.insetBy(dx: -2, dy: -2),
                fills: icon.fills)
        }
    }

    /// Draws a part of a circle; angles are in turns from the right, clockwise.
    public func arc(
        center: CGPoint, radius: Double, from start: Double, to end: Double, width: Double,
        _ color: PlatformColor
    ) {
        painter.arc(
            center: center, radius: radius, from: start * 2 * .pi, to: end * 2 * .pi, width: width,
            color.value)
    }
}

/// A picture in memory; immutable, and made on any thread.
public nonisolated struct PlatformImage: Sendable {
    let texture: Texture

    /// The extent in pixels.
    public var size: CGSize { CGSize(width: Double(texture.width), height: Double(texture.height)) }

    /// Decodes the bytes of a PNG, JPEG or TIFF file; nil when they are none.
    ///
    /// It takes its time and is not for the main thread.
    public init?(encoded data: Data) {
        guard let texture = Texture(encoded: data) else { return nil }
        self.texture = texture
    }

    /// A picture made small enough to travel, as the bytes of a JPEG.
    public struct Small: Sendable {
        /// The bytes.
        public var data: Data
        /// The width in pixels.
        public var width: Int
        /// The height in pixels.
        public var height: Int
    }

    /// Makes the picture in a file's bytes small: the first of these sides at which it fits into so many bytes.
    ///
    /// Nothing but the pixels is kept. It takes its time and is not for the main thread.
    ///
    /// - Parameters:
    ///   - data: The bytes of a file of any kind that the desktop reads.
    ///   - sides: The greatest extents to try, in pixels, the largest first.
    ///   - byteCountMax: How large it may be.
    /// - Returns: The picture; nil when it is none, or does not fit.
    public static func shrink(_ data: Data, sides: [Int], byteCountMax: Int) -> Small? {
        Texture.shrink(data, sides: sides, byteCountMax: byteCountMax)
            .map { Small(data: $0.data, width: $0.width, height: $0.height) }
    }

    /// Makes a picture of pixels: red, green, blue and opacity, a byte each, row by row.
    public init?(pixels: [UInt8], width: Int, height: Int) {
        guard let texture = Texture(pixels: pixels, width: width, height: height) else { return nil }
        self.texture = texture
    }
}
