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
    /// The width in which everything is mirrored; nil for drawing it as it is given.
    private let mirrorWidth: Double?

    init(_ painter: Painter, mirroredIn width: Double? = nil) {
        self.painter = painter
        mirrorWidth = width
    }

    /// The same canvas, on which sides are exchanged; letters and pictures stay as they are.
    func mirrored(in width: Double) -> PlatformCanvas { PlatformCanvas(painter, mirroredIn: width) }

    private func placed(_ rect: CGRect) -> CGRect { mirrorWidth.map { rect.mirrored(in: $0) } ?? rect }

    private func placed(_ corners: PlatformCorners) -> CornerRadii {
        guard mirrorWidth != nil else { return corners.value }
        return CornerRadii(
            topLeft: corners.topRight, topRight: corners.topLeft, bottomRight: corners.bottomLeft,
            bottomLeft: corners.bottomRight)
    }

    /// Fills a rectangle.
    public func fill(_ rect: CGRect, _ color: PlatformColor) { painter.fill(placed(rect), color.value) }

    /// Fills a rectangle with round corners.
    public func fill(_ rect: CGRect, corners: PlatformCorners, _ color: PlatformColor) {
        painter.fill(placed(rect), placed(corners), color.value)
    }

    /// Draws a border inside a rectangle with round corners.
    public func stroke(_ rect: CGRect, corners: PlatformCorners, width: Double = 1, _ color: PlatformColor) {
        painter.stroke(placed(rect), placed(corners), width: width, color.value)
    }

    /// Draws a soft shadow around a rectangle with round corners.
    public func shadow(
        _ rect: CGRect, corners: PlatformCorners, _ color: PlatformColor, dy: Double = 1, blur: Double = 4
    ) {
        painter.shadow(placed(rect), placed(corners), color.value, dy: dy, blur: blur)
    }

    /// Draws a text with its left top corner at a point.
    public func draw(_ text: PlatformText, at point: CGPoint, _ color: PlatformColor) {
        guard let mirrorWidth else { return painter.draw(text.layout, at: point, color.value) }
        let x = mirrorWidth - point.x - text.size.width - text.layout.left
        painter.draw(text.layout, at: CGPoint(x: x, y: point.y), color.value)
    }

    /// Draws a picture over a rectangle with round corners.
    public func draw(_ image: PlatformImage, in rect: CGRect, corners: PlatformCorners = PlatformCorners(0)) {
        painter.draw(image.texture, in: placed(rect), placed(corners))
    }

    /// Cuts what is drawn inside at a rectangle with round corners.
    public func clip(to rect: CGRect, corners: PlatformCorners = PlatformCorners(0), _ body: () -> Void) {
        painter.clip(to: placed(rect), placed(corners), body)
    }

    /// Draws an icon in a square.
    public func draw(_ icon: PlatformIcon, in rect: CGRect, _ color: PlatformColor, width: Double = 1.6) {
        let turns = icon.isDirectional && PlatformApplication.isRightToLeft
        painter.draw((turns ? icon.mirrored : icon).drawing, in: placed(rect), color.value, width: width)
    }
}

extension PlatformIcon {
    var drawing: LineDrawing {
        LineDrawing(
            strokes: strokes,
            circles: circles.map {
                LineDrawing.Circle(x: $0.x, y: $0.y, radius: $0.radius, start: $0.start, end: $0.end)
            }, fills: fills)
    }
}

/// A picture in memory; immutable, and made on any thread.
public nonisolated struct PlatformImage: Sendable {
    let texture: Texture

    /// The extent in pixels.
    public var size: CGSize { CGSize(width: Double(texture.width), height: Double(texture.height)) }

    /// The most pixels that a file may claim to have; one that claims more is not decoded.
    public static let pixelCountMax = 64_000_000

    /// Decodes the bytes of a picture's file, such as PNG or JPEG; nil when they are none.
    ///
    /// It takes its time and is not for the main thread.
    ///
    /// - Parameters:
    ///   - data: The bytes.
    ///   - sideMax: The greatest extent in pixels; a larger picture is made to fit.
    public init?(encoded data: Data, sideMax: Int = 4_096) {
        guard let texture = Texture(encoded: data, sideMax: sideMax, pixelCountMax: Self.pixelCountMax) else {
            return nil
        }
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
