#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// The members of a JSON object, each as the text that it had: what is not understood goes on unchanged, numbers of any
/// length included.
struct JSONMembers {
    struct Member {
        var key: String
        /// The key and its value, as they were written.
        var text: String
    }

    var members: [Member] = []

    /// Cuts the text of an object; nil for anything else.
    ///
    /// Whether the values are sound is for the decoder to say; this only finds their ends.
    init?(_ raw: String) {
        var raw = raw
        let found = raw.withUTF8 { bytes in
            var cutter = Cutter(bytes: bytes)
            return cutter.members()
        }
        guard let found else { return nil }
        members = found
    }

    /// Makes an object of members.
    init(_ members: [Member]) {
        self.members = members
    }

    /// The object's text.
    var text: String {
        "{" + members.map(\.text).joined(separator: ",") + "}"
    }

    var keys: Set<String> {
        Set(members.map(\.key))
    }
}

private struct Cutter {
    let bytes: UnsafeBufferPointer<UInt8>
    private var index = 0

    init(bytes: UnsafeBufferPointer<UInt8>) {
        self.bytes = bytes
    }

    mutating func members() -> [JSONMembers.Member]? {
        var members: [JSONMembers.Member] = []
        skipSpace()
        guard take(UInt8(ascii: "{")) else { return nil }
        skipSpace()
        if !take(UInt8(ascii: "}")) {
            repeat {
                guard let member = member() else { return nil }
                members.append(member)
            } while take(UInt8(ascii: ","))
            guard take(UInt8(ascii: "}")) else { return nil }
        }
        skipSpace()
        return index == bytes.count ? members : nil
    }

    private mutating func member() -> JSONMembers.Member? {
        skipSpace()
        let start = index
        guard skipString() else { return nil }
        let key = index
        skipSpace()
        guard take(UInt8(ascii: ":")) else { return nil }
        skipSpace()
        guard skipValue() else { return nil }
        let end = index
        skipSpace()
        guard let name = Self.name(bytes[start..<key]) else { return nil }
        return JSONMembers.Member(key: name, text: String(decoding: bytes[start..<end], as: UTF8.self))
    }

    /// The key without its quotes and escapes.
    private static func name(_ quoted: Slice<UnsafeBufferPointer<UInt8>>) -> String? {
        guard quoted.contains(UInt8(ascii: "\\")) else {
            return String(decoding: quoted.dropFirst().dropLast(), as: UTF8.self)
        }
        return try? JSONDecoder().decode(String.self, from: Data(quoted))
    }

    private mutating func take(_ byte: UInt8) -> Bool {
        guard index < bytes.count, bytes[index] == byte else { return false }
        index += 1
        return true
    }

    private mutating func skipSpace() {
        while index < bytes.count {
            switch bytes[index] {
            case 0x20, 0x09, 0x0A, 0x0D: index += 1
            default: return
            }
        }
    }

    private mutating func skipString() -> Bool {
        guard take(UInt8(ascii: "\"")) else { return false }
        while index < bytes.count {
            switch bytes[index] {
            case UInt8(ascii: "\""):
                index += 1
                return true
            case UInt8(ascii: "\\"): index += 2
            default: index += 1
            }
        }
        return false
    }

    /// Goes behind a value: to the comma or bracket that ends it, outside of strings and inner brackets.
    private mutating func skipValue() -> Bool {
        let start = index
        var depth = 0
        while index < bytes.count {
            switch bytes[index] {
            case UInt8(ascii: "\""):
                guard skipString() else { return false }
                continue
            case UInt8(ascii: "{"), UInt8(ascii: "["): depth += 1
            case UInt8(ascii: "}"), UInt8(ascii: "]"):
                guard depth > 0 else { return index > start }
                depth -= 1
            case UInt8(ascii: ",") where depth == 0: return index > start
            case 0x20, 0x09, 0x0A, 0x0D:
                // A number or a word ends at a space; an object or a list goes on.
                if depth == 0 { return index > start }
            default: break
            }
            index += 1
        }
        return false
    }
}
