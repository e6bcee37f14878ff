internal import CGtk
package import Foundation
internal import Synchronization

/// How a text is set.
package nonisolated struct TextStyle: Hashable, Sendable {
    /// What happens to a text that does not fit.
    package enum Overflow: Hashable, Sendable {
        /// It goes on in the next line.
        case wrap
        /// It ends with an ellipsis on this line.
        case ellipsis(lines: Int)
    }

    /// Where lines stand.
    package enum Alignment: Hashable, Sendable {
        case natural, center
    }

    /// The family; nil for the system's.
    package var family: String?
    /// The size of the type in points of the screen.
    package var size: Double
    /// The height of a line.
    package var lineHeight: Double
    package var isBold: Bool
    package var overflow: Overflow
    package var alignment: Alignment

    package init(
        family: String? = nil, size: Double, lineHeight: Double, isBold: Bool = false,
        overflow: Overflow = .wrap, alignment: Alignment = .natural
    ) {
        self.family = family
        self.size = size
        self.lineHeight = lineHeight
        self.isBold = isBold
        self.overflow = overflow
        self.alignment = alignment
    }
}

/// A stretch of a text that looks different, in bytes of its UTF-8.
package nonisolated struct TextSpan: Hashable, Sendable {
    /// How.
    package enum Look: Hashable, Sendable {
        case link(RGBA?), bold, colored(RGBA)
    }

    package var range: Range<Int>
    package var look: Look

    package init(_ range: Range<Int>, _ look: Look) {
        self.range = range
        self.look = look
    }
}

/// Measures texts on any thread, with the same settings with which `TextLayout` draws them.
///
/// Each engine has a font map of its own, since Pango's objects must not be used by two threads at once.
package nonisolated final class TextEngine: Sendable {
    private let state: Mutex<TextContext>

    /// Makes an engine.
    package init(family: String) {
        state = Mutex(TextContext(family: family))
    }

    /// The size of the text in whole points, broken into lines no wider than the width.
    package func size(of text: String, style: TextStyle, width: Double) -> CGSize {
        state.withLock { context in
            let layout = context.makeLayout(text, style: style, width: width, spans: [])
            defer { g_object_unref(UnsafeMutableRawPointer(layout)) }
            return TextContext.size(of: layout)
        }
    }
}

/// A Pango context with the settings that measuring and drawing share.
nonisolated final class TextContext {
    private let fontMap: UnsafeMutablePointer<PangoFontMap>?
    private let context: OpaquePointer?
    private let family: String

    init(family: String) {
        self.family = family
        fontMap = pango_cairo_font_map_new()
        context = pango_font_map_create_context(fontMap)
        pango_cairo_context_set_resolution(context, 96)
        pango_context_set_round_glyph_positions(context, 1)
        let options = cairo_font_options_create()
        cairo_font_options_set_hint_metrics(options, CAIRO_HINT_METRICS_OFF)
        cairo_font_options_set_hint_style(options, CAIRO_HINT_STYLE_SLIGHT)
        cairo_font_options_set_antialias(options, CAIRO_ANTIALIAS_GRAY)
        pango_cairo_context_set_font_options(context, options)
        cairo_font_options_destroy(options)
    }

    deinit {
        g_object_unref(UnsafeMutableRawPointer(context))
        g_object_unref(fontMap)
    }

    /// Lays a text out; the caller releases the layout.
    func makeLayout(_ text: String, style: TextStyle, width: Double?, spans: [TextSpan]) -> OpaquePointer {
        guard let layout = pango_layout_new(context) else {
            preconditionFailure("Pango made no layout")
        }
        let limits = TextLimits(text)
        pango_layout_set_text(layout, text, Int32(clamping: limits.byteCount))
        let font = pango_font_description_new()
        pango_font_description_set_family(font, style.family ?? family)
        pango_font_description_set_absolute_size(font, Double(Self.units(style.size)))
        pango_font_description_set_weight(font, style.isBold ? PANGO_WEIGHT_BOLD : PANGO_WEIGHT_NORMAL)
        pango_layout_set_font_description(layout, font)
        pango_font_description_free(font)
        if let width {
            pango_layout_set_width(layout, Int32(points: max(1, width) * Double(PANGO_SCALE), max: 2e9))
        }
        pango_layout_set_wrap(layout, PANGO_WRAP_WORD_CHAR)
        if case .ellipsis(let lines) = style.overflow {
            pango_layout_set_ellipsize(layout, PANGO_ELLIPSIZE_END)
            pango_layout_set_height(layout, -Int32(clamping: max(1, lines)))
        }
        if style.alignment == .center { pango_layout_set_alignment(layout, PANGO_ALIGN_CENTER) }
        apply(spans, style: style, cuts: limits.cuts, to: layout)
        return layout
    }

    /// The most points that the height of type can have; Pango counts in 1,024ths of a point.
    private static let sizeMax = 2_000.0

    private static func units(_ points: Double) -> Int32 {
        Int32(points: max(0, min(sizeMax, points)) * Double(PANGO_SCALE), max: 2e9)
    }

    private func apply(_ spans: [TextSpan], style: TextStyle, cuts: [Int], to layout: OpaquePointer) {
        let attributes = pango_attr_list_new()
        pango_attr_list_insert(
            attributes, pango_attr_line_height_new_absolute(Self.units(style.lineHeight)))
        func add(_ attribute: UnsafeMutablePointer<PangoAttribute>?, _ range: Range<Int>) {
            attribute?.pointee.start_index = guint(clamping: range.lowerBound)
            attribute?.pointee.end_index = guint(clamping: range.upperBound)
            pango_attr_list_insert(attributes, attribute)
        }
        func color(_ color: RGBA, _ range: Range<Int>) {
            func part(_ value: Double) -> guint16 { guint16(max(0, min(1, value)) * 65_535) }
            add(pango_attr_foreground_new(part(color.red), part(color.green), part(color.blue)), range)
        }
        // An attribute that says what holds anyway: where it begins and ends, Pango begins another piece.
        for (start, end) in zip([0] + cuts, cuts) { add(pango_attr_fallback_new(1), start..<end) }
        for span in spans {
            switch span.look {
            case .bold: add(pango_attr_weight_new(PANGO_WEIGHT_BOLD), span.range)
            case .colored(let rgba): color(rgba, span.range)
            case .link(let rgba):
                add(pango_attr_underline_new(PANGO_UNDERLINE_SINGLE), span.range)
                if let rgba { color(rgba, span.range) }
            }
        }
        pango_layout_set_attributes(layout, attributes)
        pango_attr_list_unref(attributes)
    }

    /// The logical size, rounded up.
    static func size(of layout: OpaquePointer) -> CGSize { extents(of: layout).size }

    /// The logical extents: where the text begins in a layout that is wider, and its size, rounded up.
    static func extents(of layout: OpaquePointer) -> CGRect {
        var logical = PangoRectangle()
        pango_layout_get_extents(layout, nil, &logical)
        let scale = Double(PANGO_SCALE)
        return CGRect(
            x: Double(logical.x) / scale, y: 0, width: (Double(logical.width) / scale).rounded(.up),
            height: (Double(logical.height) / scale).rounded(.up))
    }
}

/// A text laid out for drawing.
package final class TextLayout {
    private static var context = TextContext(family: TextLayout.systemFamily)

    let pointer: OpaquePointer
    /// The extent in whole points.
    package let size: CGSize
    /// Where the text begins in a layout that is wider.
    package let left: Double
    /// The text.
    package let text: String

    /// Lays a text out, no wider than the width; nil for one line as long as it takes.
    package init(_ text: String, style: TextStyle, width: Double? = nil, spans: [TextSpan] = []) {
        self.text = text
        pointer = Self.context.makeLayout(text, style: style, width: width, spans: spans)
        if case .ellipsis = style.overflow, style.alignment == .natural, width != nil {
            Self.alignToInterface(pointer)
        }
        let extents = TextContext.extents(of: pointer)
        size = extents.size
        left = extents.minX
    }

    /// A line of the interface begins where the interface begins to read, in whatever script it is written.
    private static func alignToInterface(_ layout: OpaquePointer) {
        let isTextRightToLeft = pango_layout_get_direction(layout, 0) == PANGO_DIRECTION_RTL
        // Pango's left is where the paragraph begins, which for Arabic is on the right.
        pango_layout_set_alignment(
            layout, isTextRightToLeft == Desktop.isRightToLeft ? PANGO_ALIGN_LEFT : PANGO_ALIGN_RIGHT)
    }

    isolated deinit {
        g_object_unref(UnsafeMutableRawPointer(pointer))
    }

    /// The family of the desktop's font.
    package static var systemFamily: String {
        guard let settings = gtk_settings_get_default(),
            let name = rivulet_get_string(UnsafeMutableRawPointer(settings), "gtk-font-name")
        else { return "Sans" }
        defer { g_free(name) }
        let font = pango_font_description_from_string(name)
        defer { pango_font_description_free(font) }
        guard let family = pango_font_description_get_family(font) else { return "Sans" }
        let found = String(cString: family)
        // A bare "Sans" is the answer of a system without a desktop's settings; GNOME's own font reads better.
        return found == "Sans" ? "Cantarell, Sans" : found
    }

    /// The byte of the text under a point; nil when the point is outside of it.
    package func index(at point: CGPoint, isStrict: Bool = true) -> Int? {
        var index: Int32 = 0
        var trailing: Int32 = 0
        let isInside = pango_layout_xy_to_index(
            pointer, Int32(points: point.x * Double(PANGO_SCALE), max: 2e9),
            Int32(points: point.y * Double(PANGO_SCALE), max: 2e9), &index, &trailing)
        guard isInside != 0 || !isStrict else { return nil }
        guard !isStrict, trailing > 0 else { return Int(index) }
        var next = text.utf8.index(text.utf8.startIndex, offsetBy: min(Int(index), text.utf8.count))
        for _ in 0..<trailing where next < text.endIndex { next = text.unicodeScalars.index(after: next) }
        return text.utf8.distance(from: text.utf8.startIndex, to: next)
    }

    /// The rectangles that a stretch of bytes covers, one or more a line.
    package func rects(of range: Range<Int>) -> [CGRect] {
        var found: [CGRect] = []
        let scale = Double(PANGO_SCALE)
        guard let iterator = pango_layout_get_iter(pointer) else { return [] }
        defer { pango_layout_iter_free(iterator) }
        repeat {
            guard let line = pango_layout_iter_get_line_readonly(iterator) else { continue }
            let start = Int(line.pointee.start_index)
            let end = start + Int(line.pointee.length)
            guard range.lowerBound <= end, range.upperBound > start else { continue }
            var logical = PangoRectangle()
            pango_layout_iter_get_line_extents(iterator, nil, &logical)
            var ranges: UnsafeMutablePointer<Int32>?
            var count: Int32 = 0
            pango_layout_line_get_x_ranges(
                line, Int32(clamping: max(start, range.lowerBound)),
                Int32(clamping: min(end, range.upperBound)),
                &ranges, &count)
            for piece in 0..<Int(count) {
                guard let ranges else { continue }
                let left = Double(ranges[2 * piece]) / scale
                let right = Double(ranges[2 * piece + 1]) / scale
                found.append(
                    CGRect(
                        x: left, y: Double(logical.y) / scale, width: right - left,
                        height: Double(logical.height) / scale))
            }
            g_free(ranges)
        } while pango_layout_iter_next_line(iterator) != 0
        return found
    }
}
