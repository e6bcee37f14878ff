public import RivuletModel

/// The looks of all components, resolved for each message out of five layers.
///
/// The layers are applied in this order, each seeing what the ones before it made, so a later one wins:
///
/// 1. the defaults of the component for the message's kind, made from ``FlowTokens``;
/// 2. the session: every kind in this session;
/// 3. the kind: this kind in every session that shares the sheet;
/// 4. the kind in the session: this kind in this session only;
/// 5. the closure that sees the message itself.
///
/// A sheet is a value: configure the kinds once, hand a copy to each session, and let each session add its own.
///
/// ```swift
/// var sheet = AppearanceSheet()
/// sheet.configure(.content, for: .kind(.image)) { $0.style.padding = .zero }
/// sheet.configure(.avatar, for: .session) { $0.visibility = .never }
/// ```
public struct AppearanceSheet: Sendable {
    /// Changes an appearance that earlier layers made.
    public typealias Edit = @Sendable (inout ComponentAppearance) -> Void
    /// Changes an appearance with the message in view.
    public typealias MessageEdit = @Sendable (Message, MessageComponent, inout ComponentAppearance) -> Void

    /// Whom a change concerns.
    public enum Layer: Hashable, Sendable {
        /// Every kind in this session.
        case session
        /// This kind in every session that shares the sheet.
        case kind(MessageKind)
        /// This kind in this session only.
        case kindInSession(MessageKind)
    }

    private struct Slot: Hashable {
        var layer: Layer
        var component: MessageComponent
    }

    /// The measures from which the defaults are made.
    public var tokens: FlowTokens
    /// The last layer; nil when the looks do not depend on the single message.
    public var messageEdit: MessageEdit?

    private var edits: [Slot: [Edit]] = [:]

    /// Makes the standard looks.
    public init(tokens: FlowTokens = .standard) {
        self.tokens = tokens
    }

    /// Adds a change to a layer; changes of one layer are applied in the order in which they were added.
    public mutating func configure(
        _ component: MessageComponent, for layer: Layer, _ edit: @escaping Edit
    ) {
        edits[Slot(layer: layer, component: component), default: []].append(edit)
    }

    /// Forgets the changes of one layer to one component.
    public mutating func reset(_ component: MessageComponent, for layer: Layer) {
        edits[Slot(layer: layer, component: component)] = nil
    }

    /// The appearance of a component of this message.
    public func appearance(of component: MessageComponent, for message: Message) -> ComponentAppearance {
        let kind = message.content.kind
        var appearance = Self.defaults(
            of: component, kind: kind, sessionKind: message.session.kind, tokens: tokens)
        for layer in [Layer.session, .kind(kind), .kindInSession(kind)] {
            for edit in edits[Slot(layer: layer, component: component)] ?? [] { edit(&appearance) }
        }
        messageEdit?(message, component, &appearance)
        return appearance
    }

    /// The appearances of all components of this message.
    public func appearances(for message: Message) -> ComponentValues<ComponentAppearance> {
        ComponentValues { appearance(of: $0, for: message) }
    }
}

extension AppearanceSheet {
    /// The first layer: what a component looks like when nobody configured anything.
    public static func defaults(
        of component: MessageComponent, kind: MessageKind, sessionKind: Session.Kind,
        tokens: FlowTokens = .standard
    ) -> ComponentAppearance {
        let isNotice = notices.contains(kind)
        switch component {
        case .content:
            return isNotice ? noticeContent(tokens) : bubbleContent(tokens, kind: kind)
        case .avatar:
            let side = LayoutSize(width: tokens.avatarSide, height: tokens.avatarSide)
            return ComponentAppearance(
                style: ComponentStyle(cornerRadius: tokens.avatarSide / 2, incomingBackground: .identity),
                visibility: isNotice
                    ? .never
                    : ComponentVisibility(showsOutgoing: false, onlyAtRunStart: true, keepsColumn: true),
                layout: ComponentLayout(
                    minimumSize: side, maximumWidth: side.width, maximumHeight: side.height,
                    spacing: tokens.avatarGap))
        case .header:
            return ComponentAppearance(
                style: metaStyle(tokens),
                visibility: isNotice || sessionKind == .peer
                    ? .never : ComponentVisibility(showsOutgoing: false, onlyAtRunStart: true),
                layout: ComponentLayout(spacing: tokens.smallGap))
        case .accessory:
            return ComponentAppearance(
                style: metaStyle(tokens),
                visibility: isNotice ? .never : ComponentVisibility(showsIncoming: false),
                layout: ComponentLayout(
                    minimumSize: LayoutSize(width: 24, height: tokens.metaLineHeight),
                    spacing: tokens.smallGap))
        case .footer:
            return ComponentAppearance(
                style: metaStyle(tokens), visibility: .never,
                layout: ComponentLayout(spacing: tokens.smallGap))
        }
    }

    /// The kinds that stand in the middle of the flow and belong to nobody.
    private static let notices: Set<MessageKind> = [
        .notice, .revoked, .erased, .groupNotification, .refusal, .timeBase,
    ]

    private static func metaStyle(_ tokens: FlowTokens) -> ComponentStyle {
        ComponentStyle(
            fontSize: tokens.metaFontSize, lineHeight: tokens.metaLineHeight,
            incomingForeground: .dimText, outgoingForeground: .dimText)
    }

    private static func bubbleContent(_ tokens: FlowTokens, kind: MessageKind) -> ComponentAppearance {
        let isImage = kind == .image || kind == .video
        return ComponentAppearance(
            style: ComponentStyle(
                padding: isImage ? .zero : tokens.bubblePadding, cornerRadius: tokens.bubbleRadius,
                runCornerRadius: tokens.runCornerRadius, fontSize: tokens.bodyFontSize,
                lineHeight: tokens.bodyLineHeight, incomingBackground: .incomingBubble,
                outgoingForeground: .outgoingText, outgoingBackground: .outgoingBubble),
            layout: ComponentLayout(
                maximumWidth: isImage
                    ? min(tokens.imageSizeMax.width, tokens.bubbleWidthMax) : tokens.bubbleWidthMax,
                maximumWidthFraction: tokens.bubbleWidthFraction,
                maximumHeight: isImage ? tokens.imageSizeMax.height : .greatestFiniteMagnitude,
                usesSnapshots: true))
    }

    private static func noticeContent(_ tokens: FlowTokens) -> ComponentAppearance {
        ComponentAppearance(
            style: metaStyle(tokens), layout: ComponentLayout(alignment: .center, usesSnapshots: true))
    }
}
