internal import GTKKit

/// A pressed key.
public struct PlatformKey: Hashable, Sendable {
    /// The keys that the interface knows.
    public enum Name: Hashable, Sendable {
        /// The arrows.
        case up, down, left, right
        /// The keys that travel.
        case home, end, pageUp, pageDown
        /// The keys that act.
        case enter, escape, menu, space, tab, delete
        /// A key that types.
        case letter(Character)
        /// Any other.
        case other
    }

    /// The key.
    public var name: Name
    /// Whether Shift is held.
    public var isShift: Bool
    /// Whether Control is held.
    public var isControl: Bool

    init(_ press: KeyPress) {
        isShift = press.isShift
        isControl = press.isControl
        name =
            switch press.name {
            case .up: .up
            case .down: .down
            case .left: .left
            case .right: .right
            case .home: .home
            case .end: .end
            case .pageUp: .pageUp
            case .pageDown: .pageDown
            case .enter: .enter
            case .escape: .escape
            case .menu: .menu
            case .f10: press.isShift ? .menu : .other
            case .space: .space
            case .tab: .tab
            case .delete: .delete
            case .letter(let letter): .letter(letter)
            case .other: .other
            }
    }
}
