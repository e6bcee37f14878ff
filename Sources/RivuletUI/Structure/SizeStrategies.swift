public import Foundation
internal import RivuletFlow
public import RivuletModel

/// Finds the size of a component's view for a message.
///
/// A strategy is chosen by ``MessageView/createSizeStrategy(message:fittingSize:)``. One that needs views is asked on
/// the main actor; one that works on values may be asked anywhere.
public protocol MessageLayoutSizeStrategy {
    /// The size, not larger than the fitting size.
    func calculateSize(_ sizeViewType: MessageView.Type, message: Message, fittingSize: CGSize) -> CGSize
}

/// The size that a view's constraints give it.
///
/// One view of each type is kept in a hidden window for measuring; it is refreshed with the message, its wrapping
/// children are told how wide a line may be, and it is laid out in two passes.
public struct MessageAutoLayoutSizeStrategy: MessageLayoutSizeStrategy {
    private let context: MessageViewContext?

    /// Makes the strategy.
    ///
    /// - Parameter context: What the view is told besides its message; nil for what the flow that asks tells it.
    public init(context: MessageViewContext? = nil) {
        self.context = context
    }

    /// The size by constraints.
    public func calculateSize(
        _ sizeViewType: MessageView.Type, message: Message, fittingSize: CGSize
    ) -> CGSize {
        let view = SizingViews.shared.view(of: sizeViewType)
        view.prepare(context ?? .sized ?? MessageViewContext(), message: message)
        view.refresh(with: message)
        return view.systemLayoutSizeFitting(fittingSize)
    }
}

/// The size that a view says to want.
public struct MessageSizeThatFitsStrategy: MessageLayoutSizeStrategy {
    private let context: MessageViewContext?

    /// Makes the strategy.
    ///
    /// - Parameter context: What the view is told besides its message; nil for what the flow that asks tells it.
    public init(context: MessageViewContext? = nil) {
        self.context = context
    }

    /// The answer of `sizeThatFits`.
    public func calculateSize(
        _ sizeViewType: MessageView.Type, message: Message, fittingSize: CGSize
    ) -> CGSize {
        let view = SizingViews.shared.view(of: sizeViewType)
        view.prepare(context ?? .sized ?? MessageViewContext(), message: message)
        view.refresh(with: message)
        let size = view.sizeThatFits(fittingSize)
        return CGSize(width: min(size.width, fittingSize.width), height: min(size.height, fittingSize.height))
    }
}

/// A size that the business computes.
public struct MessageCustomSizeStrategy: MessageLayoutSizeStrategy {
    private let compute: (Message, CGSize) -> CGSize

    /// Makes the strategy from the computation.
    public init(_ compute: @escaping (Message, CGSize) -> CGSize) {
        self.compute = compute
    }

    /// The computed size.
    public func calculateSize(
        _ sizeViewType: MessageView.Type, message: Message, fittingSize: CGSize
    ) -> CGSize {
        compute(message, fittingSize)
    }
}

/// The size of the message's text, measured with the engine that draws it.
///
/// Its work needs no view, so a flow performs it off the main thread; see ``MessageView/valueSizing(measurer:)``.
public struct MessageTextSizeStrategy: MessageLayoutSizeStrategy {
    private let context: MessageViewContext?
    private let measurer: PlatformTextMeasurer

    /// Makes the strategy.
    ///
    /// - Parameters:
    ///   - context: What the view is told besides its message; nil for what the flow that asks tells it.
    ///   - measurer: Measures the text.
    public init(context: MessageViewContext? = nil, measurer: PlatformTextMeasurer) {
        self.context = context
        self.measurer = measurer
    }

    /// The size of the text with the padding of the style.
    public func calculateSize(
        _ sizeViewType: MessageView.Type, message: Message, fittingSize: CGSize
    ) -> CGSize {
        let context = context ?? .sized ?? MessageViewContext()
        let size = Self.size(
            of: MessageText.text(of: message, context.strings), message, style: context.appearance.style,
            scale: context.textScale, width: fittingSize.width, measurer: measurer)
        return CGSize(width: size.width, height: min(size.height, fittingSize.height))
    }

    nonisolated static func size(
        of text: String, _ message: Message, style: ComponentStyle, scale: Double, width: Double,
        measurer: PlatformTextMeasurer
    ) -> LayoutSize {
        let set = MessageText.style(of: message, style, scale: scale)
        let room = max(1, width - style.padding.horizontal)
        let size = measurer.size(of: text, style: set, width: room)
        let quoteHeight = QuoteMeasures.height(in: message, scale: scale)
        let width = quoteHeight > 0 ? max(size.width, QuoteMeasures.widthMin) : size.width
        return LayoutSize(
            width: min(width, room) + style.padding.horizontal,
            height: max(size.height, set.lineHeight) + style.padding.vertical + quoteHeight)
    }
}

/// The views that are only measured, one of each type, in a window that is never shown.
final class SizingViews {
    static let shared = SizingViews()

    private var views: [ObjectIdentifier: MessageView] = [:]
    private let host = PlatformView()
    private var window: PlatformWindow?

    func view(of type: MessageView.Type) -> MessageView {
        if let view = views[ObjectIdentifier(type)] { return view }
        if window == nil { window = PlatformWindow.makeHidden(host) }
        let view = type.init()
        host.addSubview(view)
        views[ObjectIdentifier(type)] = view
        return view
    }

    /// Forgets the views, as after a change of theme.
    func reset() {
        for view in views.values { view.removeFromSuperview() }
        views = [:]
    }
}
