/// Finds one value by its keys from the outermost JSON object inwards, in the bytes as they came.
///
/// One pass, no recursion, no allocation before the value is found. It is exact for well-formed JSON: the first
/// member with the key wins, escapes in key and value are undone. For anything that is not JSON it answers
/// nil or a value from the well-formed start, which is as good: the content is opaque to the server.
struct ContentScanner {
    private let bytes: UnsafeBufferPointer<UInt8>
    private var index = 0

    private init(_ bytes: UnsafeBufferPointer<UInt8>) {
        self.bytes = bytes
    }

    /// The value of the top-level key `uuid`, as UTF-8; nil when it is missing, empty or not a string.
    static func uuid(in content: String) -> [UInt8]? {
        string(at: uuidPath, in: content)
    }

    /// The uuid in `{"burned":{"msgid":…}}` of a command that is kept per user.
    static func burnedUUID(in content: String) -> [UInt8]? {
        string(at: burnedPath, in: content)
    }

    /// Whether the content says `{"burn":{"seconds":…}}`: its author wants it to go once it was read.
    static func isToBeBurned(_ content: String) -> Bool {
        integer(at: burnSecondsPath, in: content) != nil
    }

    /// Follows keys from the outermost object inwards; the string at their end as UTF-8.
    ///
    /// - Returns: nil when a key is missing or its value of another kind, or the string is empty.
    static func string(at path: [[UInt8]], in content: String) -> [UInt8]? {
        var content = content
        return content.withUTF8 { bytes in
            var scanner = ContentScanner(bytes)
            guard scanner.descend(path), let value = scanner.string() else { return nil }
            let text = scanner.unescaped(value)
            return text.isEmpty ? nil : text
        }
    }

    /// Follows keys from the outermost object inwards; the integer at their end.
    static func integer(at path: [[UInt8]], in content: String) -> Int64? {
        var content = content
        return content.withUTF8 { bytes in
            var scanner = ContentScanner(bytes)
            guard scanner.descend(path) else { return nil }
            return scanner.integer()
        }
    }

    /// Follows keys from the outermost object inwards; the integers of the array at their end, at most so many.
    static func integers(at path: [[UInt8]], in content: String, countMax: Int) -> [Int64]? {
        var content = content
        return content.withUTF8 { bytes in
            var scanner = ContentScanner(bytes)
            guard scanner.descend(path), scanner.take(UInt8(ascii: "[")) else { return nil }
            var numbers: [Int64] = []
            scanner.skipSpace()
            while numbers.count < countMax, let number = scanner.integer() {
                numbers.append(number)
                scanner.skipSpace()
                guard scanner.take(UInt8(ascii: ",")) else { break }
                scanner.skipSpace()
            }
            return numbers
        }
    }

    /// Where the string after this path stands in the UTF-8 of the content, without its quotes.
    static func rangeOfString(at path: [[UInt8]], in content: String) -> Range<Int>? {
        var content = content
        return content.withUTF8 { bytes in
            var scanner = ContentScanner(bytes)
            guard scanner.descend(path) else { return nil }
            return scanner.string()
        }
    }

    static let uuidPath = [Array("uuid".utf8)]
    private static let burnSecondsPath = [Array("burn".utf8), Array("seconds".utf8)]
    private static let burnedPath = [Array("burned".utf8), Array("msgid".utf8)]

    private mutating func descend(_ path: [[UInt8]]) -> Bool {
        path.allSatisfy { enter($0) }
    }

    /// Walks the members of the object that begins here, up to the value of a key.
    private mutating func enter(_ key: [UInt8]) -> Bool {
        skipSpace()
        guard take(UInt8(ascii: "{")) else { return false }
        skipSpace()
        while index < bytes.count {
            guard let name = string() else { return false }
            skipSpace()
            guard take(UInt8(ascii: ":")) else { return false }
            skipSpace()
            if matches(name, key) { return true }
            guard skipValue() else { return false }
            skipSpace()
            guard take(UInt8(ascii: ",")) else { return false }
            skipSpace()
        }
        return false
    }

    /// Reads a whole number; nil for another value, a fraction, an exponent or one out of range.
    private mutating func integer() -> Int64? {
        let isNegative = take(UInt8(ascii: "-"))
        var value: Int64 = 0
        var digits = 0
        while index < bytes.count, bytes[index] >= 0x30, bytes[index] <= 0x39 {
            let (product, overflows) = value.multipliedReportingOverflow(by: 10)
            let (sum, overflowsToo) = product.subtractingReportingOverflow(Int64(bytes[index] - 0x30))
            guard !overflows, !overflowsToo else { return nil }
            value = sum
            digits += 1
            index += 1
        }
        guard digits > 0 else { return nil }
        if index < bytes.count, [0x2E, 0x65, 0x45].contains(bytes[index]) { return nil }
        // Built below zero, where there is one number more.
        guard isNegative || value != .min else { return nil }
        return isNegative ? value : -value
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

    /// Steps over a string and answers the range between its quotes.
    private mutating func string() -> Range<Int>? {
        guard take(UInt8(ascii: "\"")) else { return nil }
        let start = index
        while index < bytes.count {
            switch bytes[index] {
            case UInt8(ascii: "\""):
                index += 1
                return start..<(index - 1)
            case UInt8(ascii: "\\"):
                index += 2
            default:
                index += 1
            }
        }
        return nil
    }

    /// Steps over any value; nesting is counted, not followed.
    private mutating func skipValue() -> Bool {
        var depth = 0
        while index < bytes.count {
            switch bytes[index] {
            case UInt8(ascii: "\""):
                guard string() != nil else { return false }
            case UInt8(ascii: "{"), UInt8(ascii: "["):
                depth += 1
                index += 1
            case UInt8(ascii: "}"), UInt8(ascii: "]"):
                guard depth > 0 else { return true }
                depth -= 1
                index += 1
            case UInt8(ascii: ",") where depth == 0:
                return true
            default:
                index += 1
            }
        }
        return false
    }

    private func matches(_ range: Range<Int>, _ key: [UInt8]) -> Bool {
        if range.count == key.count {
            return zip(range, key).allSatisfy { bytes[$0] == $1 }
        }
        // Only an escaped spelling can be longer than the key itself, by six bytes for each one at most.
        guard range.count > key.count, range.count <= key.count * 6 else { return false }
        return unescaped(range) == key
    }

    /// The bytes of a string literal with its escapes undone; a broken escape stays as it is.
    private func unescaped(_ range: Range<Int>) -> [UInt8] {
        let raw = bytes[range]
        guard raw.contains(UInt8(ascii: "\\")) else { return Array(raw) }
        var text: [UInt8] = []
        text.reserveCapacity(raw.count)
        var position = range.lowerBound
        while position < range.upperBound {
            guard bytes[position] == UInt8(ascii: "\\"), position + 1 < range.upperBound else {
                text.append(bytes[position])
                position += 1
                continue
            }
            position += 1
            switch bytes[position] {
            case UInt8(ascii: "b"): text.append(0x08)
            case UInt8(ascii: "f"): text.append(0x0C)
            case UInt8(ascii: "n"): text.append(0x0A)
            case UInt8(ascii: "r"): text.append(0x0D)
            case UInt8(ascii: "t"): text.append(0x09)
            case UInt8(ascii: "u"):
                position = appendScalar(at: position, in: range, to: &text)
                continue
            default: text.append(bytes[position])
            }
            position += 1
        }
        return text
    }

    /// Undoes `\uXXXX`, joining surrogate pairs; answers the position after it.
    private func appendScalar(at position: Int, in range: Range<Int>, to text: inout [UInt8]) -> Int {
        guard let first = hexUnit(at: position + 1, in: range) else {
            text.append(UInt8(ascii: "u"))
            return position + 1
        }
        var next = position + 5
        var value = UInt32(first)
        if (0xD800..<0xDC00).contains(value), next + 1 < range.upperBound,
            bytes[next] == UInt8(ascii: "\\"), bytes[next + 1] == UInt8(ascii: "u"),
            let second = hexUnit(at: next + 2, in: range), (0xDC00..<0xE000).contains(UInt32(second))
        {
            value = 0x10000 + ((value - 0xD800) << 10) + (UInt32(second) - 0xDC00)
            next += 6
        }
        let scalar = Unicode.Scalar(value) ?? "\u{FFFD}"
        text.append(contentsOf: String(Character(scalar)).utf8)
        return next
    }

    private func hexUnit(at position: Int, in range: Range<Int>) -> UInt16? {
        guard position + 4 <= range.upperBound else { return nil }
        var value: UInt16 = 0
        for offset in 0..<4 {
            let byte = bytes[position + offset]
            let digit: UInt8
            switch byte {
            case UInt8(ascii: "0")...UInt8(ascii: "9"): digit = byte - UInt8(ascii: "0")
            case UInt8(ascii: "a")...UInt8(ascii: "f"): digit = byte - UInt8(ascii: "a") + 10
            case UInt8(ascii: "A")...UInt8(ascii: "F"): digit = byte - UInt8(ascii: "A") + 10
            default: return nil
            }
            value = value << 4 | UInt16(digit)
        }
        return value
    }
}
