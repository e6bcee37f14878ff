#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// Reads and writes the JSON of messages.
///
/// The kind of a content is chosen by the first key of a fixed list that is present (docs/protocol.md, section 16.2),
/// then by the keys of docs/extensions.md, then by those of the registry. What is no JSON object, has no known key,
/// or has a known key with a value of the wrong form, is `MessageContent.unknown` with its raw text: reading never
/// fails.
public struct ContentCodec: Sendable {
    /// The kinds that the app added.
    public let registry: ContentRegistry
    private let decoder: JSONDecoder
    private let encoder: JSONEncoder

    /// Makes a codec that knows Rivulet's kinds and those of the registry.
    public init(registry: ContentRegistry = ContentRegistry()) {
        self.registry = registry
        decoder = JSONDecoder()
        if let key = ContentReading.registryKey { decoder.userInfo[key] = registry }
        encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    }

    /// Understands the content of a message.
    public func decode(_ raw: String) -> DecodedContent {
        FlatText.read(raw) ?? decodeThoroughly(raw)
    }

    /// Understands any content.
    func decodeThoroughly(_ raw: String) -> DecodedContent {
        // The cheap look at the first byte spares an exception for plain text of foreign clients.
        guard let first = raw.utf8.first(where: { !Self.isSpace($0) }), first == UInt8(ascii: "{") else {
            return Self.unknown(raw)
        }
        do {
            let reading = try decoder.decode(ContentReading.self, from: Data(raw.utf8))
            return DecodedContent(
                envelope: reading.envelope,
                body: reading.body ?? .message(.unknown(raw: raw, fallback: reading.envelope.fallback)))
        } catch {
            // Not JSON: there is nothing to know about it beyond the text itself.
            return Self.unknown(raw)
        }
    }

    /// Understands the JSON of a group notification, command 7 (docs/protocol.md, section 16.3).
    public func decodeGroupNotification(_ raw: String) -> GroupNotification {
        do {
            return try decoder.decode(GroupNotificationReading.self, from: Data(raw.utf8)).notification
        } catch {
            return GroupNotification(groupID: 0, time: 0, change: .unknown(""))
        }
    }

    /// The JSON of a message.
    ///
    /// - Throws: `ContentEncodingError` for contents that have no JSON: notices and withdrawn messages.
    public func encode(_ content: MessageContent, envelope: ContentEnvelope) throws -> String {
        try encode(ContentWriting(envelope: envelope, body: .message(content)))
    }

    /// The JSON of a change of other messages.
    ///
    /// - Throws: `ContentEncodingError` when a registered kind cannot be encoded.
    public func encode(_ control: ControlContent, envelope: ContentEnvelope = ContentEnvelope()) throws
        -> String
    {
        try encode(ContentWriting(envelope: envelope, body: .control(control)))
    }

    /// The JSON of a group notification, as a server sends it.
    ///
    /// - Throws: `ContentEncodingError` for a change without a known key.
    public func encode(_ notification: GroupNotification) throws -> String {
        do {
            return String(decoding: try encoder.encode(GroupNotificationWriting(notification)), as: UTF8.self)
        } catch {
            throw ContentEncodingError(kind: .groupNotification, message: "\(error)")
        }
    }

    private func encode(_ writing: ContentWriting) throws -> String {
        if case .message(.unknown(let raw, _)) = writing.body {
            // A message that is sent on has a name of its own; nothing else of it changes.
            guard writing.envelope != ContentEnvelope(), decode(raw).envelope != writing.envelope else {
                return raw
            }
            return rewrap(raw, in: writing.envelope) ?? raw
        }
        do {
            return String(decoding: try encoder.encode(writing), as: UTF8.self)
        } catch let error as ContentEncodingError {
            throw error
        } catch {
            throw ContentEncodingError(kind: writing.kind, message: "\(type(of: error))")
        }
    }

    /// The keys of an envelope as an object of their own.
    func envelopeText(_ envelope: ContentEnvelope) throws -> String {
        String(decoding: try encoder.encode(EnvelopeWriting(envelope: envelope)), as: UTF8.self)
    }

    /// Whether a text is one JSON object, and sound.
    func isObject(_ raw: String) -> Bool {
        struct AnyObject: Decodable {
            init(from decoder: any Decoder) throws {
                _ = try decoder.container(keyedBy: JSONKey.self)
            }
        }
        do {
            _ = try decoder.decode(AnyObject.self, from: Data(raw.utf8))
            return true
        } catch {
            return false
        }
    }

    private static func unknown(_ raw: String) -> DecodedContent {
        DecodedContent(envelope: ContentEnvelope(), body: .message(.unknown(raw: raw, fallback: nil)))
    }

    private static func isSpace(_ byte: UInt8) -> Bool {
        byte == 0x20 || (0x09...0x0D).contains(byte)
    }
}

/// Why a content has no JSON.
public struct ContentEncodingError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The kind of the content.
    public let kind: MessageKind
    /// What is wrong, without the content itself.
    public let message: String

    /// One line for logs.
    public var description: String { "content of kind \(kind.rawValue): \(message)" }
}
