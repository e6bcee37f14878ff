import Foundation

/// A display of the tests' own, which nobody sees; it ends with the value.
public final class VirtualDisplay: Sendable {
    /// What programs need to draw on it.
    public let environment: [String: String]
    private let server: Program

    /// Starts Xvfb on the first number that is free.
    ///
    /// - Throws: What ``Program`` throws when there is no Xvfb, or it does not come up.
    public init() async throws {
        let server = try Program(
            "/usr/bin/Xvfb", ["-displayfd", "1", "-screen", "0", "1400x1000x24", "-nolisten", "tcp"])
        // Xvfb also complains of the numbers that were taken; its answer is the line that is a number.
        try await server.wait("to print its number") { Self.number(in: $0) != nil }
        let number = Self.number(in: server.output) ?? 0
        self.server = server
        environment = [
            "DISPLAY": ":\(number)", "GDK_BACKEND": "x11", "GSK_RENDERER": "cairo", "GTK_A11Y": "none",
            "WAYLAND_DISPLAY": "", "GTK_THEME": "", "LC_ALL": "C.UTF-8",
        ]
    }

    private static func number(in output: String) -> Int? {
        output.split(separator: "\n", omittingEmptySubsequences: false).dropLast().lazy.compactMap { Int($0) }
            .first
    }

    /// Runs `xdotool`, which presses keys and finds windows; returns what it printed.
    @discardableResult
    public func xdotool(_ arguments: String...) async throws -> String {
        let program = try Program("/usr/bin/xdotool", arguments, environment: environment)
        try await program.waitForExit()
        return program.output
    }
}
