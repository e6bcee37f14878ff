internal import RivuletWire

#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

/// The few keys of a content that the service itself looks at (docs/protocol.md, section 16.1).
struct ContentPeek: Decodable, Sendable {
    var uuid: String?
    var groupID: Int64?
    var storeID: Int64?
    var isSecret = false

    private enum Key: String, CodingKey {
        case uuid, secret
        case groupID = "group_id"
        case storeID = "store_id"
    }

    /// Reads a content; nil when it is no JSON object.
    init?(_ content: String) {
        guard let peek = JSONText.decode(ContentPeek.self, from: content) else { return nil }
        self = peek
    }

    init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: Key.self)
        uuid = container.lenient(String.self, .uuid)
        groupID = container.lenient(Int64.self, .groupID)
        storeID = container.lenient(Int64.self, .storeID)
        isSecret = container.contains(.secret)
    }

    /// The group that a message between users belongs to (docs/protocol.md, section 11.7); nil for none.
    ///
    /// Most contents have no such key, which a search tells faster than a parser.
    static func groupID(in content: String) -> Int64? {
        guard content.utf8.contains("\"group_id\"".utf8), let group = ContentPeek(content)?.groupID, group > 0
        else { return nil }
        return group
    }

    /// Whether the content is encrypted from user to user.
    static func isSecret(_ content: String) -> Bool {
        content.utf8.contains("\"secret\"".utf8) && ContentPeek(content)?.isSecret == true
    }
}

/// Reading and writing small JSON texts.
enum JSONText {
    /// Reads a JSON object; nil when the text is something else.
    static func decode<Value: Decodable>(_ type: Value.Type, from text: String) -> Value? {
        guard text.utf8.first(where: { !isSpace($0) }) == UInt8(ascii: "{") else { return nil }
        do {
            return try JSONDecoder().decode(type, from: Data(text.utf8))
        } catch {
            // Contents come from peers: what cannot be read says nothing.
            return nil
        }
    }

    /// Writes a value with its keys in order; nil when it holds what JSON cannot say.
    static func encode(_ value: some Encodable) -> String? {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        do {
            return String(decoding: try encoder.encode(value), as: UTF8.self)
        } catch {
            return nil
        }
    }

    /// Puts a number into an object that has no such key, and leaves every other byte as it is.
    static func inserting(_ key: String, _ value: Int64, into text: String) -> String {
        guard let start = text.utf8.firstIndex(where: { !isSpace($0) }), text.utf8[start] == UInt8(ascii: "{")
        else { return text }
        let rest = text[text.utf8.index(after: start)...]
        let isEmpty = rest.utf8.first { !isSpace($0) } == UInt8(ascii: "}")
        return "{\"\(key)\":\(value)" + (isEmpty ? "" : ",") + rest
    }

    static func isSpace(_ byte: UInt8) -> Bool {
        byte == 0x20 || byte == 0x09 || byte == 0x0A || byte == 0x0D
    }
}

extension KeyedDecodingContainer {
    /// A value, or nil when the key is missing or holds something else.
    func lenient<Value: Decodable>(_ type: Value.Type, _ key: Key) -> Value? {
        do {
            return try decodeIfPresent(type, forKey: key)
        } catch {
            return nil
        }
    }
}

extension String.UTF8View {
    /// Whether these bytes occur somewhere.
    func contains(_ needle: String.UTF8View) -> Bool {
        guard let first = needle.first else { return true }
        var rest = self[...]
        while let place = rest.firstIndex(of: first) {
            let tail = rest[place...]
            if tail.starts(with: needle) { return true }
            rest = rest[rest.index(after: place)...]
        }
        return false
    }
}
