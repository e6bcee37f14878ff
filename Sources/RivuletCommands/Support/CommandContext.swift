internal import Foundation

/// What every command may use of the world around it.
struct CommandContext: Sendable {
    var console: Console
    var environment: [String: String]
    var time: LocalTime
    /// The clock, in milliseconds since 1970.
    var now: @Sendable () -> Int64
    /// The descriptors of standard input and output.
    var input: Int32 = 0
    var output: Int32 = 1

    static func standard() -> CommandContext {
        let environment = ProcessInfo.processInfo.environment
        return CommandContext(
            console: .standard(environment: environment), environment: environment, time: LocalTime(),
            now: { Int64(Date().timeIntervalSince1970 * 1000) })
    }
}
