#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Darwin)
    internal import Darwin
#endif

/// Where a command prints: standard output and error, or a test's ears.
public struct Console: Sendable {
    /// Whether somebody watches standard output on a terminal.
    public let isTerminal: Bool
    /// Whether colours are wanted: on a terminal, without `NO_COLOR` in the environment.
    public let usesColour: Bool
    private let write: @Sendable (_ text: String, _ isError: Bool) -> Bool

    /// Makes a console; `write` returns false when the output is closed.
    public init(
        isTerminal: Bool = false, usesColour: Bool = false,
        write: @escaping @Sendable (_ text: String, _ isError: Bool) -> Bool
    ) {
        self.isTerminal = isTerminal
        self.usesColour = usesColour
        self.write = write
    }

    /// The process's own output.
    public static func standard(environment: [String: String]) -> Console {
        let isTerminal = isatty(1) == 1
        // no-color.org: any value that is not empty.
        let wantsColour = (environment["NO_COLOR"] ?? "").isEmpty && environment["TERM"] != "dumb"
        return Console(isTerminal: isTerminal, usesColour: isTerminal && wantsColour) { text, isError in
            writeAll(Array(text.utf8), to: isError ? 2 : 1)
        }
    }

    /// Prints a line to standard output, at once.
    ///
    /// - Throws: ``OutputClosed`` when nobody reads any more.
    public func line(_ text: String) throws {
        guard write(text + "\n", false) else { throw OutputClosed() }
    }

    /// Prints a line to standard error.
    public func error(_ text: String) {
        // With nobody to read errors there is nobody to tell.
        _ = write(text + "\n", true)
    }
}

/// Standard output was closed, as by `| head`; the command ends without a word.
public struct OutputClosed: Error {}

/// Why a command failed, in the words for a person: what happened, where, what to do.
public struct CommandError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The message.
    public let description: String

    /// Makes an error.
    public init(_ description: String) {
        self.description = description
    }
}

/// The exit statuses of all commands.
enum ExitStatus {
    static let success: Int32 = 0
    static let failure: Int32 = 1
    static let usage: Int32 = 2
    static let interrupted: Int32 = 130
    static let outputClosed: Int32 = 141
}

/// Writes everything; false when the descriptor is closed or broken.
private func writeAll(_ bytes: [UInt8], to descriptor: Int32) -> Bool {
    var rest = bytes[...]
    while !rest.isEmpty {
        let count = rest.withUnsafeBytes { write(descriptor, $0.baseAddress, $0.count) }
        if count < 0 {
            if errno == EINTR { continue }
            guard errno == EAGAIN else { return false }
            var ready = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
            _ = poll(&ready, 1, -1)
            continue
        }
        rest = rest.dropFirst(count)
    }
    return true
}
