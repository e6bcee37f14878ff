#if canImport(Glibc)
    import Glibc
#elseif canImport(Darwin)
    import Darwin
#endif

/// The last key that was given, in a file of its own: that of the message log, or that of rooms.
///
/// A log that knows fewer keys than the mark, or that has no mark at all, was put back from a copy: keys above its own
/// are with clients already, and giving them to other messages would lose those. The log then begins a new epoch.
/// So a backup leaves this file out (docs/files.md).
///
/// It is written after each commit and not waited for: after the loss of power it may be behind, which does no harm.
final class KeyMark {
    private let descriptor: Int32
    /// The key in the file; nil when there was none, or none that could be read.
    let found: Int64?
    private var saved: Int64

    /// Opens or makes the file; a file that cannot be opened is like one that is missing.
    init(path: String) {
        descriptor = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
        found = Self.read(descriptor)
        saved = -1
    }

    /// The key in the file of a log that nobody has open; nil when there is none that could be read.
    static func lastKey(at path: String) -> Int64? {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return nil }
        defer { close(descriptor) }
        return read(descriptor)
    }

    private static func read(_ descriptor: Int32) -> Int64? {
        var bytes = [UInt8](repeating: 0, count: 32)
        let count = descriptor < 0 ? 0 : pread(descriptor, &bytes, bytes.count, 0)
        let text = String(decoding: bytes.prefix(max(0, count)), as: UTF8.self)
        guard text.hasSuffix("\n"), let key = Int64(text.drop { $0 == " " }.dropLast()) else { return nil }
        // No log gives keys outside these bounds.
        return (0...SQLiteMessageLog.keyMax).contains(key) ? key : nil
    }

    deinit {
        if descriptor >= 0 { close(descriptor) }
    }

    /// Whether keys were given that a log with this last key knows nothing of.
    func isAhead(of lastKey: Int64) -> Bool {
        guard let found else { return lastKey > 0 }
        return found > lastKey
    }

    /// Keeps the last key given.
    func save(_ lastKey: Int64) {
        guard descriptor >= 0, lastKey != saved else { return }
        saved = lastKey
        let digits = String(lastKey)
        let line = Array((String(repeating: " ", count: max(0, 20 - digits.count)) + digits + "\n").utf8)
        // A mark that could not be written is behind, as after the loss of power.
        _ = pwrite(descriptor, line, line.count, 0)
    }
}
