internal import Foundation
public import RivuletFlow
public import RivuletModel

/// Which view shows which component of which kind.
///
/// It is a value: each flow has its own copy, and what one session changes no other sees.
public struct MessageViewRegistry {
    private struct Slot: Hashable {
        var component: MessageComponent
        var kind: MessageKind?
    }

    private var types: [Slot: MessageView.Type] = [:]

    /// Makes the standard views.
    public init() {
        register(AvatarMessageView.self, for: .avatar)
        register(HeaderMessageView.self, for: .header)
        register(TextMessageView.self, for: .content)
        register(StateMessageView.self, for: .accessory)
        register(ReactionsMessageView.self, for: .footer)
        register(ImageMessageView.self, for: .content, kind: .image)
        register(ImageMessageView.self, for: .content, kind: .video)
        register(AudioMessageView.self, for: .content, kind: .audio)
        for kind in [MessageKind.file, .location, .link, .card, .merged, .call, .groupCall] {
            register(CardMessageView.self, for: .content, kind: kind)
        }
        for kind in [MessageKind.notice, .revoked, .erased, .groupNotification, .refusal] {
            register(NoticeMessageView.self, for: .content, kind: kind)
        }
    }

    /// Shows a component of one kind, or of all kinds without an own one, by views of a type.
    public mutating func register(
        _ type: MessageView.Type, for component: MessageComponent, kind: MessageKind? = nil
    ) {
        types[Slot(component: component, kind: kind)] = type
    }

    /// The type of the views that show this component of this kind.
    public func type(for component: MessageComponent, kind: MessageKind) -> MessageView.Type {
        types[Slot(component: component, kind: kind)] ?? types[Slot(component: component, kind: nil)]
            ?? MessageView.self
    }

    /// How every component is sized: by values where its view offers that, by the view otherwise.
    public func sizing(measurer: PlatformTextMeasurer) -> SizingTable {
        var table = SizingTable(text: PangoTextMeasurer(measurer: measurer))
        for (slot, type) in types {
            let sizing = type.valueSizing(measurer: measurer).map { ComponentSizing.value($0) } ?? .view
            table.set(sizing, of: slot.component, for: slot.kind)
        }
        return table
    }
}

/// Measures the texts of a flow with the engine that draws them.
public nonisolated struct PangoTextMeasurer: TextMeasurer {
    private let measurer: PlatformTextMeasurer

    /// Makes it over a measurer.
    public init(measurer: PlatformTextMeasurer) {
        self.measurer = measurer
    }

    /// The size of the text.
    public func size(of text: String, style: ComponentStyle, width: Double) -> LayoutSize {
        let style = PlatformTextStyle(
            size: style.fontSize, lineHeight: style.lineHeight, isBold: style.isBold)
        let size = measurer.size(of: text, style: style, width: width)
        return LayoutSize(width: size.width, height: size.height)
    }
}
