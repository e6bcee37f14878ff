internal import CGtk
package import Foundation

/// Lines and parts of circles on a square of sixteen by sixteen points.
package nonisolated struct LineDrawing: Hashable, Sendable {
    /// A part of a circle; angles in radians, clockwise from the right.
    package struct Circle: Hashable, Sendable {
        package var x, y, radius, start, end: Double

        package init(x: Double, y: Double, radius: Double, start: Double, end: Double) {
            self.x = x
            self.y = y
            self.radius = radius
            self.start = start
            self.end = end
        }
    }

    /// The side of the square.
    static let side = 16.0

    package var strokes: [[CGPoint]]
    package var circles: [Circle]
    /// Whether what the lines enclose is filled.
    package var fills: Bool

    package init(strokes: [[CGPoint]], circles: [Circle], fills: Bool) {
        self.strokes = strokes
        self.circles = circles
        self.fills = fills
    }
}

/// The pictures of drawings, made once for each size and colour.
///
/// A picture costs less in each frame than lines that are drawn anew, and Broadway, which shows windows in a browser,
/// puts lines in wrong places.
enum LineDrawingCache {
    private struct Key: Hashable {
        var drawing: LineDrawing
        var side: Double
        var color: RGBA
        var width: Double
    }

    /// How far lines may reach over the square, in points.
    static let margin = 2.0
    /// The pixels a point has, enough for dense screens; on others the edges become smooth by it.
    private static let density = 2.0
    private static let countMax = 256

    private static var textures: [Key: Texture] = [:]

    static func texture(of drawing: LineDrawing, side: Double, _ color: RGBA, width: Double) -> Texture? {
        let key = Key(drawing: drawing, side: side, color: color, width: width)
        if let known = textures[key] { return known }
        guard side > 0, side <= 512, let made = make(key) else { return nil }
        if textures.count >= countMax { textures = [:] }
        textures[key] = made
        return made
    }

    private static func make(_ key: Key) -> Texture? {
        let extent = Int32(((key.side + 2 * margin) * density).rounded(.up))
        guard let surface = cairo_image_surface_create(CAIRO_FORMAT_ARGB32, extent, extent) else {
            return nil
        }
        defer { cairo_surface_destroy(surface) }
        guard let cairo = cairo_create(surface) else { return nil }
        cairo_scale(cairo, density, density)
        cairo_translate(cairo, margin, margin)
        draw(key, on: cairo)
        cairo_destroy(cairo)
        cairo_surface_flush(surface)
        guard let data = cairo_image_surface_get_data(surface) else { return nil }
        let stride = Int(cairo_image_surface_get_stride(surface))
        // Cairo's pixels are words of 32 bits, which lie this way round on machines of this byte order.
        return Texture(
            premultipliedBGRA: UnsafeRawBufferPointer(start: data, count: stride * Int(extent)),
            width: Int(extent), height: Int(extent), stride: stride)
    }

    private static func draw(_ key: Key, on cairo: OpaquePointer) {
        let (drawing, color) = (key.drawing, key.color)
        let scale = key.side / LineDrawing.side
        cairo_set_source_rgba(cairo, color.red, color.green, color.blue, color.alpha)
        cairo_set_line_cap(cairo, CAIRO_LINE_CAP_ROUND)
        cairo_set_line_join(cairo, CAIRO_LINE_JOIN_ROUND)
        for circle in drawing.circles {
            cairo_set_line_width(cairo, drawing.fills ? circle.radius * scale : key.width)
            cairo_new_path(cairo)
            cairo_arc(
                cairo, circle.x * scale, circle.y * scale, circle.radius * scale, circle.start, circle.end)
            cairo_stroke(cairo)
        }
        cairo_set_line_width(cairo, key.width)
        for points in drawing.strokes {
            guard let first = points.first else { continue }
            cairo_move_to(cairo, first.x * scale, first.y * scale)
            for point in points.dropFirst() { cairo_line_to(cairo, point.x * scale, point.y * scale) }
        }
        if drawing.fills { cairo_fill(cairo) } else { cairo_stroke(cairo) }
    }
}
