import RivuletModel

/// The reader's word that a message has burned: `{"uuid":…,"burned":{"msgid":"…"}}`.
///
/// The message itself is of any kind, with `"burn":{"seconds":5}` beside it, which Rivulet knows already.
struct Burned: CustomContent {
    static let kind = MessageKind(rawValue: "burned")
    // No row and no count: it only has an effect.
    static let behavior = ContentBehavior.control

    /// The uuid of the message.
    var msgid: String

    var summary: String { "" }

    /// The store erases the message, when sender and target allow it.
    var effect: ContentEffect? { .erase(target: msgid) }
}
