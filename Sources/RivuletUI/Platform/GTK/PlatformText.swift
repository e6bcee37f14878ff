public import Foundation
internal import GTKKit

/// How a text is set.
public nonisolated struct PlatformTextStyle: Hashable, Sendable {
    /// The size of the type.
    public var size: Double
    /// The height of a line.
    public var lineHeight: Double
    /// Whether it is bold.
    public var isBold: Bool
    /// The number of lines after which an ellipsis ends the text; nil to wrap without end.
    public var lineCountMax: Int?
    /// Whether lines are centred.
    public var isCentered: Bool

    /// Makes a style.
    public init(
        size: Double = 14, lineHeight: Double = 20, isBold: Bool = false, lineCountMax: Int? = nil,
        isCentered: Bool = false
    ) {
        self.size = size
        self.lineHeight = lineHeight
        self.isBold = isBold
        self.lineCountMax = lineCountMax
        self.isCentered = isCentered
    }

    var value: TextStyle {
        TextStyle(
            size: size, lineHeight: lineHeight, isBold: isBold,
            overflow: lineCountMax.map { .ellipsis(lines: $0) } ?? .wrap,
            alignment: isCentered ? .center : .natural)
    }
}

/// A stretch of a text that looks different, in bytes of its UTF-8.
public nonisolated struct PlatformTextSpan: Hashable, Sendable {
    /// How.
    public enum Look: Hashable, Sendable {
        /// An address, underlined, in this colour or that of the text.
        case link(PlatformColor?)
        /// Bold.
        case bold
        /// In another colour.
        case colored(PlatformColor)
    }

    /// The stretch.
    public var range: Range<Int>
    /// How it looks.
    public var look: Look

    /// Makes a span.
    public init(_ range: Range<Int>, _ look: Look) {
        self.range = range
        self.look = look
    }

    var value: TextSpan {
        switch look {
        case .link(let color): TextSpan(range, .link(color?.value))
        case .bold: TextSpan(range, .bold)
        case .colored(let color): TextSpan(range, .colored(color.value))
        }
    }
}

/// A text laid out for drawing.
public final class PlatformText {
    let layout: TextLayout

    /// The extent in whole points.
    public var size: CGSize { layout.size }
    /// The text.
    public var text: String { layout.text }

    /// Lays a text out, no wider than the width; nil for one line as long as it takes.
    public init(
        _ text: String, style: PlatformTextStyle, width: Double? = nil, spans: [PlatformTextSpan] = []
    ) {
        layout = TextLayout(text, style: style.value, width: width, spans: spans.map(\.value))
    }

    /// Words of the interface that row after row repeats (initials, times, states), laid out once and then kept.
    static func kept(_ words: String, style: PlatformTextStyle) -> PlatformText {
        recent.value(for: KeptWords(words: words, style: style)) { PlatformText(words, style: style) }
    }

    private struct KeptWords: Hashable {
        var words: String
        var style: PlatformTextStyle
    }

    private static var recent = RecentValues<KeptWords, PlatformText>(countMax: 256)

    /// The byte under a point; nil outside of the text.
    public func index(at point: CGPoint) -> Int? { layout.index(at: point) }
    /// The byte nearest to a point.
    public func nearestIndex(to point: CGPoint) -> Int { layout.index(at: point, isStrict: false) ?? 0 }
    /// The rectangles that a stretch of bytes covers.
    public func rects(of range: Range<Int>) -> [CGRect] { layout.rects(of: range) }
}

/// Measures texts on any thread as ``PlatformText`` draws them.
public nonisolated final class PlatformTextMeasurer: Sendable {
    private let engine: TextEngine

    /// Makes a measurer with the desktop's font.
    @MainActor
    public init() {
        engine = TextEngine(family: TextLayout.systemFamily)
    }

    /// The size of the text in whole points, broken into lines no wider than the width.
    public func size(of text: String, style: PlatformTextStyle, width: Double) -> CGSize {
        engine.size(of: text, style: style.value, width: width)
    }
}
