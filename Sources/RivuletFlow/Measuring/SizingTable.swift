public import RivuletModel

/// How a component is sized.
public enum ComponentSizing: Sendable {
    /// From values, off the main thread.
    case value(any ComponentSizeStrategy)
    /// By widgets, on the main thread, within a time budget; the row carries an estimate until then.
    case view

    /// Whether widgets do it.
    public var isView: Bool {
        if case .view = self { true } else { false }
    }
}

/// Which component of which kind is sized how.
///
/// An entry for a kind wins over an entry for all kinds, which wins over the standard: pictures and films by their
/// aspect, every other content by its readable text, the other components by one line of their style or the side of
/// the avatar.
public struct SizingTable: Sendable {
    private struct Slot: Hashable {
        var component: MessageComponent
        var kind: MessageKind?
    }

    private let text: TextSizeStrategy
    private let image = ImageSizeStrategy()
    private let line = CustomSizeStrategy { request in
        let style = request.appearance.style
        let height = style.lineHeight * request.key.textScale + style.padding.vertical
        return LayoutSize(
            width: max(request.appearance.layout.minimumSize.width, 0), height: height)
    }
    private let least = CustomSizeStrategy { $0.appearance.layout.minimumSize }
    private var entries: [Slot: ComponentSizing] = [:]

    /// Makes the standard table over a text engine.
    public init(text measurer: any TextMeasurer) {
        text = TextSizeStrategy(measurer: measurer)
    }

    /// Decides how a component is sized, for one kind or for all.
    public mutating func set(
        _ sizing: ComponentSizing, of component: MessageComponent, for kind: MessageKind? = nil
    ) {
        entries[Slot(component: component, kind: kind)] = sizing
    }

    /// How this component of this kind is sized.
    public func sizing(of component: MessageComponent, kind: MessageKind) -> ComponentSizing {
        if let entry = entries[Slot(component: component, kind: kind)] { return entry }
        if let entry = entries[Slot(component: component, kind: nil)] { return entry }
        switch component {
        case .content: return kind == .image || kind == .video ? .value(image) : .value(text)
        case .avatar: return .value(least)
        case .header, .accessory, .footer: return .value(line)
        }
    }

    /// The answer to a request for a value strategy; nil when widgets size the component.
    public func measure(_ request: MeasureRequest) -> Measurement? {
        let sizing = sizing(of: request.key.component, kind: request.message.content.kind)
        guard case .value(let strategy) = sizing else { return nil }
        return Measurement(to: request, size: strategy.size(for: request).sanitized)
    }
}
