/// A content kind of an app's own: the public door through which new message types come.
///
/// In the JSON of a message, the value stands under `key` beside `uuid`. Builds that do not know the kind show the
/// fallback text.
///
/// ```swift
/// struct Dice: CustomContent {
///     static let kind = MessageKind(rawValue: "dice")
///     var eyes: Int
///     var summary: String { "Dice: \(eyes)" }
/// }
/// var registry = ContentRegistry()
/// try registry.register(Dice.self)      // reads {"uuid":"…","dice":{"eyes":6}}
/// ```
public protocol CustomContent: Codable, Hashable, Sendable {
    /// The stable name of the kind.
    static var kind: MessageKind { get }
    /// The key by which the kind is recognised; the name of the kind by default.
    static var key: String { get }
    /// What becomes of such a message; a message that is shown and counted by default.
    static var behavior: ContentBehavior { get }
    /// One line for lists and notifications.
    var summary: String { get }
    /// What a search finds; empty, the default, for nothing.
    var searchText: String { get }
    /// What it does to another message; nil, the default, for nothing.
    ///
    /// Only for a kind whose behaviour is `control`.
    var effect: ContentEffect? { get }
}

extension CustomContent {
    /// The name of the kind.
    public static var key: String { kind.rawValue }
    /// A message that is shown and counted.
    public static var behavior: ContentBehavior { .message }
    /// Nothing.
    public var searchText: String { "" }
    /// Nothing.
    public var effect: ContentEffect? { nil }
}

/// What a control of a registered kind does to another message, which it names by its uuid.
///
/// The store does it when the control arrives or is sent, or when its target comes later.
public enum ContentEffect: Hashable, Sendable {
    /// Everything that the message says goes: text, search entry, reactions, unsent copies; an empty shell stays.
    ///
    /// Allowed to the author, and for a message that burns after reading to those who may read it: in a
    /// conversation of two both sides erase it, in a group each reader for the own devices alone.
    case erase(target: String)

    /// The message that is changed.
    public var target: String {
        switch self {
        case .erase(let target): target
        }
    }
}

/// What becomes of a message of a kind.
public struct ContentBehavior: OptionSet, Hashable, Sendable {
    /// The bits.
    public let rawValue: Int

    /// Makes a behaviour of bits.
    public init(rawValue: Int) {
        self.rawValue = rawValue
    }

    /// It becomes a row of the conversation.
    public static let isShown = ContentBehavior(rawValue: 1)
    /// It counts as unread until the user has seen it.
    public static let countsAsUnread = ContentBehavior(rawValue: 2)

    /// A message that is shown and counted.
    public static let message: ContentBehavior = [.isShown, .countsAsUnread]
    /// A line that is shown and not counted.
    public static let notice: ContentBehavior = [.isShown]
    /// Something that only has an effect: no row, no count; the app hears of it.
    public static let control: ContentBehavior = []
}

/// A value of a registered kind, with its type erased.
public struct CustomContentBox: Hashable, Sendable {
    /// The value.
    public let value: any CustomContent

    /// Boxes a value.
    public init(_ value: some CustomContent) {
        self.value = value
    }

    /// The name of its kind.
    public var kind: MessageKind {
        type(of: value).kind
    }

    /// The value as this type; nil when it is of another.
    public func cast<Content: CustomContent>(to type: Content.Type) -> Content? {
        value as? Content
    }

    /// Whether both hold equal values of one type.
    public static func == (left: CustomContentBox, right: CustomContentBox) -> Bool {
        left.value.isEqual(to: right.value)
    }

    /// Feeds the value to a hasher.
    public func hash(into hasher: inout Hasher) {
        value.feed(&hasher)
    }
}

extension CustomContent {
    fileprivate func isEqual(to other: any CustomContent) -> Bool {
        (other as? Self) == self
    }

    fileprivate func feed(_ hasher: inout Hasher) {
        hasher.combine(self)
    }
}
