public import Foundation
import Glibc
import Synchronization

/// One of the project's programs, run as a process of its own, with its output collected.
///
/// ```swift
/// let server = try Program("rivuletd", ["--listen", "127.0.0.1:0", "--data", folder.path])
/// let line = try await server.waitForLine(containing: "listening on")
/// server.signal(SIGKILL)
/// ```
///
/// The process is killed when the value is released, so a failing test leaves nothing behind.
public final class Program: Sendable {
    /// Why waiting ended.
    public struct Failure: Error, CustomStringConvertible {
        /// What was waited for and what the program had printed by then.
        public let description: String

        /// Makes a failure.
        public init(description: String) {
            self.description = description
        }
    }

    private struct State {
        var output = ""
        var isFinished = false
    }

    private let name: String
    private let state = Mutex(State())
    private let process: ChildProcess
    private let input: FileHandle

    /// Starts the program.
    ///
    /// - Parameters:
    ///   - name: The product's name, found beside the test bundle, or the path of any other program.
    ///   - arguments: What follows the name.
    ///   - environment: Variables set over those of the test.
    ///   - terminal: Whether the program talks to a pseudo-terminal of 80 × 24 instead of pipes.
    /// - Throws: A Foundation error when the program cannot be started, ``Failure`` without a terminal.
    public init(
        _ name: String, _ arguments: [String], environment: [String: String] = [:], terminal: Bool = false
    ) throws {
        let path = name.hasPrefix("/") ? name : Program.folder.appending(path: name).path
        let environment = ProcessInfo.processInfo.environment.merging(environment) { _, new in new }

        let outputs: [FileHandle]
        if terminal {
            let (leader, follower) = try Program.makeTerminal()
            let descriptor = follower.fileDescriptor
            input = leader
            outputs = [leader]
            process = try ChildProcess(
                path, arguments, environment: environment, descriptors: (descriptor, descriptor, descriptor))
            try follower.close()
        } else {
            let (standardInput, output, error) = (Pipe(), Pipe(), Pipe())
            input = standardInput.fileHandleForWriting
            outputs = [output.fileHandleForReading, error.fileHandleForReading]
            let (ours, theirs) = (
                standardInput.fileHandleForReading, [output, error].map(\.fileHandleForWriting)
            )
            process = try ChildProcess(
                path, arguments, environment: environment,
                descriptors: (ours.fileDescriptor, theirs[0].fileDescriptor, theirs[1].fileDescriptor))
            // Only the program keeps its ends, so that its output ends with it.
            for handle in [ours] + theirs { try handle.close() }
        }
        self.name = name

        let finished = Counter(outputs.count)
        let box = Box()
        let readers = outputs.map { handle in
            Thread {
                while case let bytes = handle.availableBytes, !bytes.isEmpty {
                    box.program?.append(bytes)
                }
                if finished.countDown() { box.program?.finish() }
            }
        }
        box.program = self
        for reader in readers { reader.start() }
    }

    /// The process's id.
    public var processIdentifier: Int32 {
        process.processIdentifier
    }

    /// Everything that the program has printed so far.
    public var output: String {
        state.withLock { $0.output }
    }

    /// The lines that the program has printed so far, without the unfinished last one.
    public var lines: [String] {
        Array(output.split(separator: "\n", omittingEmptySubsequences: false).dropLast().map(String.init))
    }

    /// Writes text to the program's input.
    public func type(_ text: String) throws {
        try input.write(contentsOf: Data(text.utf8))
    }

    /// Ends the program's input.
    public func closeInput() throws {
        try input.close()
    }

    /// Sends a signal to the process.
    public func signal(_ number: Int32) {
        process.signal(number)
    }

    /// Waits until the program has printed this text, and returns the line that holds it.
    @discardableResult
    public func waitForLine(containing text: String, within limit: Duration = .seconds(30)) async throws
        -> String
    {
        try await wait("to print \"\(text)\"", within: limit) { $0.contains(text) }
        return output.split(separator: "\n").map(String.init).first { $0.contains(text) } ?? ""
    }

    /// Waits until what the program has printed satisfies the condition.
    public func wait(
        _ what: String, within limit: Duration = .seconds(30), until isSatisfied: (String) -> Bool
    ) async throws {
        let deadline = ContinuousClock.now + limit
        while true {
            let (output, isFinished) = state.withLock { ($0.output, $0.isFinished) }
            if isSatisfied(output) { return }
            guard !isFinished, ContinuousClock.now < deadline else {
                let end = isFinished ? "it ended" : "\(limit) passed"
                throw Failure(description: "\(name) was \(what), but \(end). It printed:\n\(output)")
            }
            try await Task.sleep(for: .milliseconds(5))
        }
    }

    /// Waits for the end of the process and returns its exit status; a signal's number counts from 128.
    @discardableResult
    public func waitForExit(within limit: Duration = .seconds(30)) async throws -> Int32 {
        let deadline = ContinuousClock.now + limit
        while true {
            if let status = process.exitStatus, state.withLock({ $0.isFinished }) { return status }
            guard ContinuousClock.now < deadline else {
                throw Failure(description: "\(name) did not end in \(limit). It printed:\n\(output)")
            }
            try await Task.sleep(for: .milliseconds(5))
        }
    }

    private func append(_ bytes: Data) {
        state.withLock { $0.output += String(decoding: bytes, as: UTF8.self) }
    }

    private func finish() {
        state.withLock { $0.isFinished = true }
    }

    /// Where the products of this build are: beside the test bundle.
    public static var folder: URL {
        let bundle = CommandLine.arguments.first { $0.hasSuffix(".xctest") } ?? CommandLine.arguments[0]
        return URL(filePath: bundle).deletingLastPathComponent()
    }

    /// TIOCSPTLCK and TIOCGPTN of Linux, which Swift does not import since they are computed by macros.
    private static let (setTerminalLock, getTerminalNumber): (UInt, UInt) = (0x4004_5431, 0x8004_5430)

    private static func makeTerminal() throws -> (leader: FileHandle, follower: FileHandle) {
        let leader = open("/dev/ptmx", O_RDWR | O_NOCTTY)
        var (unlocked, number): (Int32, Int32) = (0, 0)
        guard leader >= 0, ioctl(leader, setTerminalLock, &unlocked) == 0,
            ioctl(leader, getTerminalNumber, &number) == 0
        else {
            throw Failure(description: "no pseudo-terminal: \(String(cString: strerror(errno)))")
        }
        let follower = open("/dev/pts/\(number)", O_RDWR | O_NOCTTY)
        guard follower >= 0 else {
            throw Failure(description: "no pseudo-terminal: \(String(cString: strerror(errno)))")
        }
        var size = winsize(ws_row: 24, ws_col: 80, ws_xpixel: 0, ws_ypixel: 0)
        _ = ioctl(follower, UInt(TIOCSWINSZ), &size)
        return (
            FileHandle(fileDescriptor: leader, closeOnDealloc: true),
            FileHandle(fileDescriptor: follower, closeOnDealloc: true)
        )
    }

    /// Counts the readers that are still at work.
    private final class Counter: Sendable {
        private let left: Mutex<Int>

        init(_ count: Int) {
            left = Mutex(count)
        }

        /// Counts one down; true for the last.
        func countDown() -> Bool {
            left.withLock { left in
                left -= 1
                return left == 0
            }
        }
    }

    /// Lets the reading threads reach a program that may be gone.
    private final class Box: Sendable {
        private struct Reference: Sendable {
            weak var program: Program?
        }

        private let reference = Mutex(Reference())

        var program: Program? {
            get { reference.withLock { $0.program } }
            set { reference.withLock { $0.program = newValue } }
        }
    }
}

extension FileHandle {
    /// The next bytes, or none at the end; a pseudo-terminal whose other side is gone counts as ended.
    fileprivate var availableBytes: Data {
        var buffer = [UInt8](repeating: 0, count: 65_536)
        while true {
            let count = Glibc.read(fileDescriptor, &buffer, buffer.count)
            if count > 0 { return Data(buffer[..<count]) }
            if count < 0, errno == EINTR { continue }
            return Data()
        }
    }
}

/// Runs a program to its end, without input; its output and its exit status.
public func runToEnd(_ path: String, _ arguments: [String]) throws -> (output: String, status: Int32) {
    let output = Pipe()
    let null = open("/dev/null", O_RDONLY | O_CLOEXEC)
    defer { close(null) }
    let end = output.fileHandleForWriting
    let process = try ChildProcess(
        path, arguments, descriptors: (null, end.fileDescriptor, end.fileDescriptor))
    try end.close()
    let printed = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
    while true {
        // Its output has ended, so it is about to.
        if let status = process.exitStatus { return (printed, status) }
        usleep(1_000)
    }
}
