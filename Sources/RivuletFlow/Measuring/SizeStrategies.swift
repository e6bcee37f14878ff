public import RivuletModel

/// Sizes a component from values alone, on any thread.
///
/// Strategies that need widgets are not of this kind; see ``ComponentSizing/view``.
public protocol ComponentSizeStrategy: Sendable {
    /// The size of the component, not larger than the fitting size of the request.
    nonisolated func size(for request: MeasureRequest) -> LayoutSize
}

/// Measures text with the engine that will draw it.
public protocol TextMeasurer: Sendable {
    /// The size of the text, broken into lines no wider than the width.
    ///
    /// The style's font size and line height are already multiplied by the reader's text size.
    nonisolated func size(of text: String, style: ComponentStyle, width: Double) -> LayoutSize
}

/// The same size for every message, multiplied by the reader's text size if so wished.
public struct FixedSizeStrategy: ComponentSizeStrategy {
    /// The size.
    public var size: LayoutSize
    /// Whether the height grows with the reader's text size.
    public var scalesWithText: Bool

    /// Makes the strategy.
    public init(size: LayoutSize, scalesWithText: Bool = false) {
        self.size = size
        self.scalesWithText = scalesWithText
    }

    /// The fixed size.
    public nonisolated func size(for request: MeasureRequest) -> LayoutSize {
        LayoutSize(
            width: min(size.width, request.fittingSize.width),
            height: scalesWithText ? size.height * request.key.textScale : size.height)
    }
}

/// A size that the business computes.
public struct CustomSizeStrategy: ComponentSizeStrategy {
    private let compute: @Sendable (MeasureRequest) -> LayoutSize

    /// Makes the strategy from the computation.
    public init(_ compute: @escaping @Sendable (MeasureRequest) -> LayoutSize) {
        self.compute = compute
    }

    /// The computed size.
    public nonisolated func size(for request: MeasureRequest) -> LayoutSize {
        compute(request)
    }
}

/// The size of a text inside its padding.
public struct TextSizeStrategy: ComponentSizeStrategy {
    private let measurer: any TextMeasurer
    private let text: (@Sendable (Message) -> String)?

    /// Makes the strategy from an engine; the text is the readable part of the content, or what
    /// the interface says in its place, unless another is given.
    public init(
        measurer: any TextMeasurer,
        text: (@Sendable (Message) -> String)? = nil
    ) {
        self.measurer = measurer
        self.text = text
    }

    /// The measured size, padding included.
    public nonisolated func size(for request: MeasureRequest) -> LayoutSize {
        var style = request.appearance.style
        style.fontSize *= request.key.textScale
        style.lineHeight *= request.key.textScale
        let padding = style.padding
        let room = max(0, request.fittingSize.width - padding.horizontal)
        let size = measurer.size(
            of: text?(request.message) ?? request.strings.text(of: request.message), style: style, width: room
        ).sanitized
        return LayoutSize(
            width: min(size.width, room) + padding.horizontal,
            height: max(size.height, style.lineHeight) + padding.vertical)
    }

    /// The text of a message's content, or its summary where the content is no text.
    public static let readableText: @Sendable (Message) -> String = { message in
        message.content.text ?? message.content.summary
    }
}

/// The size of a picture: its aspect kept, shrunk to the fitting size, never enlarged.
public struct ImageSizeStrategy: ComponentSizeStrategy {
    /// The size while the picture's own is unknown.
    public var placeholder: LayoutSize

    /// Makes the strategy.
    public init(placeholder: LayoutSize = LayoutSize(width: 200, height: 150)) {
        self.placeholder = placeholder
    }

    /// The size of the picture as shown.
    public nonisolated func size(for request: MeasureRequest) -> LayoutSize {
        var natural = placeholder
        let pixels: (width: Int, height: Int) =
            switch request.message.content {
            case .image(let image): (image.width, image.height)
            case .video(let film): (film.width, film.height)
            default: (0, 0)
            }
        if pixels.width > 0, pixels.height > 0 {
            natural = LayoutSize(width: Double(pixels.width), height: Double(pixels.height))
        }
        let scale = min(
            1, request.fittingSize.width / natural.width, request.fittingSize.height / natural.height)
        return LayoutSize(width: natural.width * scale, height: natural.height * scale)
    }
}
