internal import CGtk
package import Foundation

/// A colour with its opacity, from 0 to 1.
package nonisolated struct RGBA: Hashable, Sendable {
    package var red: Double
    package var green: Double
    package var blue: Double
    package var alpha: Double

    package init(red: Double, green: Double, blue: Double, alpha: Double = 1) {
        self.red = red
        self.green = green
        self.blue = blue
        self.alpha = alpha
    }

    var gdk: GdkRGBA {
        GdkRGBA(red: Float(red), green: Float(green), blue: Float(blue), alpha: Float(alpha))
    }
}

/// The radii of the four corners of a rectangle.
package nonisolated struct CornerRadii: Hashable, Sendable {
    package var topLeft: Double
    package var topRight: Double
    package var bottomRight: Double
    package var bottomLeft: Double

    package init(topLeft: Double, topRight: Double, bottomRight: Double, bottomLeft: Double) {
        self.topLeft = topLeft
        self.topRight = topRight
        self.bottomRight = bottomRight
        self.bottomLeft = bottomLeft
    }
}

/// Records what a widget draws; good only during the drawing for which it was made.
package struct Painter {
    let snapshot: OpaquePointer

    init(_ snapshot: OpaquePointer) {
        self.snapshot = snapshot
    }

    /// Fills a rectangle.
    package func fill(_ rect: CGRect, _ color: RGBA) {
        var color = color.gdk
        var bounds = Self.rect(rect)
        gtk_snapshot_append_color(snapshot, &color, &bounds)
    }

    /// Fills a rectangle with round corners.
    package func fill(_ rect: CGRect, _ radii: CornerRadii, _ color: RGBA) {
        var outline = Self.outline(rect, radii)
        gtk_snapshot_push_rounded_clip(snapshot, &outline)
        fill(rect, color)
        gtk_snapshot_pop(snapshot)
    }

    /// Draws a border inside a rectangle with round corners.
    package func stroke(_ rect: CGRect, _ radii: CornerRadii, width: Double, _ color: RGBA) {
        var outline = Self.outline(rect, radii)
        let widths = [Float](repeating: Float(width), count: 4)
        let colors = [GdkRGBA](repeating: color.gdk, count: 4)
        gtk_snapshot_append_border(snapshot, &outline, widths, colors)
    }

    /// Draws a soft shadow around a rectangle with round corners.
    package func shadow(_ rect: CGRect, _ radii: CornerRadii, _ color: RGBA, dy: Double, blur: Double) {
        var outline = Self.outline(rect, radii)
        var color = color.gdk
        gtk_snapshot_append_outset_shadow(snapshot, &outline, &color, 0, Float(dy), 0, Float(blur))
    }

    /// Fills a rectangle with round corners from one colour at its left top to another at its right bottom.
    package func gradient(_ rect: CGRect, _ radii: CornerRadii, from first: RGBA, to last: RGBA) {
        var outline = Self.outline(rect, radii)
        var bounds = Self.rect(rect)
        var start = graphene_point_t(x: Float(rect.minX), y: Float(rect.minY))
        var end = graphene_point_t(x: Float(rect.maxX), y: Float(rect.maxY))
        let stops = [
            GskColorStop(offset: 0, color: first.gdk), GskColorStop(offset: 1, color: last.gdk),
        ]
        gtk_snapshot_push_rounded_clip(snapshot, &outline)
        gtk_snapshot_append_linear_gradient(snapshot, &bounds, &start, &end, stops, gsize(stops.count))
        gtk_snapshot_pop(snapshot)
    }

    /// Draws a text with its left top corner at a point.
    package func draw(_ text: TextLayout, at point: CGPoint, _ color: RGBA) {
        var color = color.gdk
        gtk_snapshot_save(snapshot)
        var offset = graphene_point_t(x: Float(point.x), y: Float(point.y))
        gtk_snapshot_translate(snapshot, &offset)
        gtk_snapshot_append_layout(snapshot, text.pointer, &color)
        gtk_snapshot_restore(snapshot)
    }

    /// Draws a picture over a rectangle with round corners.
    package func draw(_ texture: Texture, in rect: CGRect, _ radii: CornerRadii) {
        var outline = Self.outline(rect, radii)
        var bounds = Self.rect(rect)
        gtk_snapshot_push_rounded_clip(snapshot, &outline)
        gtk_snapshot_append_texture(snapshot, texture.pointer, &bounds)
        gtk_snapshot_pop(snapshot)
    }

    /// Cuts everything that is drawn inside at a rectangle.
    package func clip(to rect: CGRect, _ radii: CornerRadii, _ body: () -> Void) {
        var outline = Self.outline(rect, radii)
        gtk_snapshot_push_rounded_clip(snapshot, &outline)
        body()
        gtk_snapshot_pop(snapshot)
    }

    /// Draws lines and circles in a square.
    package func draw(_ drawing: LineDrawing, in rect: CGRect, _ color: RGBA, width: Double) {
        guard let texture = LineDrawingCache.texture(of: drawing, side: rect.width, color, width: width)
        else { return }
        let margin = LineDrawingCache.margin
        var bounds = Self.rect(rect.insetBy(dx: -margin, dy: -margin))
        gtk_snapshot_append_texture(snapshot, texture.pointer, &bounds)
    }

    private static func rect(_ rect: CGRect) -> graphene_rect_t {
        let rect = rect.somewhere
        return graphene_rect_t(
            origin: graphene_point_t(x: Float(rect.minX), y: Float(rect.minY)),
            size: graphene_size_t(width: Float(rect.width), height: Float(rect.height)))
    }

    private static func outline(_ rect: CGRect, _ radii: CornerRadii) -> GskRoundedRect {
        let limit = min(rect.width, rect.height) / 2
        func corner(_ radius: Double) -> graphene_size_t {
            let radius = Float(max(0, min(radius, limit)))
            return graphene_size_t(width: radius, height: radius)
        }
        return GskRoundedRect(
            bounds: Self.rect(rect),
            corner: (
                corner(radii.topLeft), corner(radii.topRight), corner(radii.bottomRight),
                corner(radii.bottomLeft)
            ))
    }
}
