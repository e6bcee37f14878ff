/// The content kinds that an app adds to Rivulet's own.
///
/// A registry is a value: fill it at start and hand it to `ContentCodec`.
public struct ContentRegistry: Sendable {
    /// Why a kind cannot be registered.
    public struct RegistrationError: Error, Hashable, Sendable, CustomStringConvertible {
        /// The key in question.
        public let key: String
        /// What is wrong with it.
        public let message: String

        /// One line for logs.
        public var description: String { "content key “\(key)”: \(message)" }
    }

    /// The registered types, in the order in which their keys are looked for.
    private(set) var types: [any CustomContent.Type] = []

    /// Makes an empty registry.
    public init() {}

    /// Adds a kind; its key is looked for after all keys of Rivulet's own kinds.
    ///
    /// - Throws: `RegistrationError` when the key or the kind is empty or taken.
    public mutating func register<Content: CustomContent>(_ type: Content.Type) throws {
        let key = type.key
        guard !key.isEmpty, !type.kind.rawValue.isEmpty else {
            throw RegistrationError(key: key, message: "a kind needs a name and a key")
        }
        guard !ContentKeys.reserved.contains(key) else {
            throw RegistrationError(key: key, message: "the key has a meaning already")
        }
        guard !types.contains(where: { $0.key == key || $0.kind == type.kind }) else {
            throw RegistrationError(key: key, message: "the key or kind is registered already")
        }
        types.append(type)
    }
}

/// The keys that have a meaning of their own.
enum ContentKeys {
    static let envelope: [String] = [
        "uuid", "reference", "group_id", "store_id", "store_name", "session_id", "name", "app_name",
        "fallback", "burn", "format", "stream", "at", "at_name",
    ]
    static let kinds: [String] = [
        "text", "image2", "image", "audio", "location", "video", "file", "link", "notification", "voip",
        "group_voip", "secret", "revoke", "readed", "tag", "ack", "classroom", "conference", "p2p_session",
        "headline", "attachment", "timestamp", "timebase", "edit", "reaction", "read_mark", "merged", "card",
        "sticker", "poll", "vote", "join_request", "pin",
    ]
    static let reserved = Set(envelope + kinds)
}
