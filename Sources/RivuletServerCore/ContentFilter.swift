import RivuletModel
public import RivuletWire

/// Looks at every message before it is taken: a filter for words, for example.
///
/// It runs inside the node, once for each message of IM, GROUP_IM, CUSTOMER_V2 and ROOM_IM, and must be quick: all
/// messages wait for it. The same message must get the same verdict, since it may be resent.
public typealias ContentFilter = @Sendable (FilteredMessage) -> FilterVerdict

/// What a filter is shown.
public struct FilteredMessage: Sendable {
    /// Who sends.
    public var author: Account
    /// IM, GROUP_IM, CUSTOMER_V2 or ROOM_IM.
    public var command: Command
    /// A user, a group or a room, as the command says.
    public var receiver: Int64
    /// The content as it came.
    public var content: String
}

/// What becomes of a filtered message.
public enum FilterVerdict: Sendable, Equatable {
    /// It is taken as it is.
    case keep
    /// It is taken with another content.
    case replace(String)
    /// It is not taken; the author gets an ACK with this status, which must not be 0.
    case refuse(ACKStatus)
}

/// A filter that replaces words in the `text` of a content with asterisks, one for each character.
///
/// ```swift
/// configuration.contentFilter = WordFilter(["darn"]).filter
/// ```
///
/// Case does not count, nor does the way in which a character is written in JSON. Only the value of `text` is looked
/// at; everything else stays as it came, byte for byte.
public struct WordFilter: Sendable {
    private let words: [[Character]]

    /// Makes a filter of these words; empty ones are left out.
    public init(_ words: some Sequence<String>) {
        self.words = words.map { Array($0.lowercased()) }.filter { !$0.isEmpty }.sorted {
            $0.count > $1.count
        }
    }

    /// The filter to hand to a server.
    public var filter: ContentFilter {
        { message in
            let replaced = replacing(in: message.content)
            return replaced == message.content ? .keep : .replace(replaced)
        }
    }

    /// The content with the words in its text replaced.
    public func replacing(in content: String) -> String {
        guard let range = ContentScanner.rangeOfString(at: [Array("text".utf8)], in: content) else {
            return content
        }
        let utf8 = content.utf8
        let start = utf8.index(utf8.startIndex, offsetBy: range.lowerBound)
        let end = utf8.index(start, offsetBy: range.count)
        let raw = content[start..<end]
        let replaced: String
        if raw.utf8.contains(UInt8(ascii: "\\")) {
            let bytes = ContentScanner.string(at: [Array("text".utf8)], in: content) ?? []
            let plain = String(decoding: bytes, as: UTF8.self)
            let result = replacing(inText: plain)
            guard result != plain else { return content }
            replaced = String(GroupNotice.quoted(result).dropFirst().dropLast())
        } else {
            replaced = replacing(inText: String(raw))
        }
        return String(content[..<start]) + replaced + String(content[end...])
    }

    private func replacing(inText plain: String) -> String {
        var text = Array(plain)
        // A character whose lower case is two characters never matches, which keeps the two in step.
        let lowered = text.map { character in
            let lower = character.lowercased()
            return lower.count == 1 ? Character(lower) : character
        }
        var index = 0
        while index < text.count {
            let word = words.first { lowered[index...].starts(with: $0) }
            guard let word else {
                index += 1
                continue
            }
            for offset in index..<(index + word.count) { text[offset] = "*" }
            index += word.count
        }
        return String(text)
    }
}
