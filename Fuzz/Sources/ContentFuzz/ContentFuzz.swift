import RivuletModel

/// What libFuzzer calls with each input: the JSON of a message.
///
/// Four things must hold: nothing traps, reading twice gives the same, what was read and can be written comes back as
/// it was, and the lines for lists and searches can be made.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzOneInput(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let raw = String(decoding: UnsafeBufferPointer(start: start, count: count), as: UTF8.self)
    let decoded = codec.decode(raw)
    precondition(codec.decode(raw) == decoded, "read differently the second time")
    switch decoded.body {
    case .message(let content):
        _ = content.summary
        _ = content.searchText
        check(content, decoded.envelope)
    case .control(let control):
        _ = control.target
        guard let json = try? codec.encode(control, envelope: decoded.envelope) else { return 0 }
        let again = codec.decode(json)
        precondition(again == decoded, "\(decoded) came back as \(again)")
    }
    let notification = codec.decodeGroupNotification(raw)
    _ = notification.summary
    if let json = try? codec.encode(notification) {
        precondition(codec.decodeGroupNotification(json) == notification, "\(notification) came back changed")
    }
    return 0
}

private func check(_ content: MessageContent, _ envelope: ContentEnvelope) {
    if case .unknown(let raw, _) = content {
        precondition((try? codec.encode(content, envelope: envelope)) == raw, "the raw text was not kept")
        return
    }
    // Some have no JSON of their own, such as a change of a group without a known key.
    guard let json = try? codec.encode(content, envelope: envelope) else { return }
    let again = codec.decode(json)
    precondition(again.message == content, "\(content) came back as \(String(describing: again.message))")
    precondition(again.envelope == envelope, "\(envelope) came back as \(again.envelope)")
}

/// A codec with two kinds of an app: one that is shown and one that only has an effect.
private let codec: ContentCodec = {
    var registry = ContentRegistry()
    try? registry.register(Dice.self)
    try? registry.register(Burned.self)
    return ContentCodec(registry: registry)
}()

private struct Dice: CustomContent {
    static let kind = MessageKind(rawValue: "dice")
    var eyes: Int
    var note: String?
    var summary: String { "\(eyes)" }
}

private struct Burned: CustomContent {
    static let kind = MessageKind(rawValue: "burned")
    static let behavior = ContentBehavior.control
    var msgid: String
    var summary: String { "" }
    var effect: ContentEffect? { .erase(target: msgid) }
}
