#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Darwin)
    internal import Darwin
#endif

/// Reads text from a descriptor, line by line, blocking; what is no UTF-8 becomes U+FFFD.
final class LineReader {
    private let descriptor: Int32
    private var bytes: [UInt8] = []
    private var searched = 0
    private var isAtEnd = false

    /// A longer line is cut here: nothing so long can be sent.
    static let lineByteCountMax = 1 << 20

    init(descriptor: Int32) {
        self.descriptor = descriptor
    }

    /// The next line without its end; nil when there is none.
    func next() -> String? {
        while true {
            if let end = bytes[searched...].firstIndex(of: UInt8(ascii: "\n")) {
                return take(end, dropping: 1)
            }
            searched = bytes.count
            if bytes.count >= LineReader.lineByteCountMax { return take(bytes.count, dropping: 0) }
            if isAtEnd { return bytes.isEmpty ? nil : take(bytes.count, dropping: 0) }
            fill()
        }
    }

    /// Everything that is left.
    func rest() -> String {
        while !isAtEnd, bytes.count < LineReader.lineByteCountMax { fill() }
        return take(bytes.count, dropping: 0)
    }

    private func take(_ count: Int, dropping extra: Int) -> String {
        var line = bytes[..<count]
        if line.last == UInt8(ascii: "\r") { line.removeLast() }
        let text = String(decoding: line, as: UTF8.self)
        bytes.removeFirst(count + extra)
        searched = 0
        return text
    }

    private func fill() {
        var buffer = [UInt8](repeating: 0, count: 65_536)
        let count = buffer.withUnsafeMutableBytes { read(descriptor, $0.baseAddress, $0.count) }
        if count > 0 {
            bytes += buffer[..<count]
        } else if count == 0 || errno != EINTR {
            isAtEnd = true
        }
    }
}
