/// One of the five parts of a message row.
///
/// Each has a style, a visibility and a layout of its own, configured per message kind and per session; see
/// ``AppearanceSheet``.
public enum MessageComponent: Int, CaseIterable, Hashable, Sendable {
    /// The author's picture.
    case avatar
    /// The line above the bubble: name and role.
    case header
    /// The bubble.
    case content
    /// What stands beside the bubble: send state, receipts, retry.
    case accessory
    /// What stands under the bubble: reactions, quote, translation, tip.
    case footer
}

/// A value for each of the five components: a small dictionary without its cost.
public struct ComponentValues<Value: Sendable>: Sendable {
    private var avatar: Value
    private var header: Value
    private var content: Value
    private var accessory: Value
    private var footer: Value

    /// Makes the values by asking for each component's.
    public init(_ value: (MessageComponent) -> Value) {
        avatar = value(.avatar)
        header = value(.header)
        content = value(.content)
        accessory = value(.accessory)
        footer = value(.footer)
    }

    /// The value of one component.
    public subscript(component: MessageComponent) -> Value {
        get {
            switch component {
            case .avatar: avatar
            case .header: header
            case .content: content
            case .accessory: accessory
            case .footer: footer
            }
        }
        set {
            switch component {
            case .avatar: avatar = newValue
            case .header: header = newValue
            case .content: content = newValue
            case .accessory: accessory = newValue
            case .footer: footer = newValue
            }
        }
    }
}

extension ComponentValues: Equatable where Value: Equatable {}
extension ComponentValues: Hashable where Value: Hashable {}
