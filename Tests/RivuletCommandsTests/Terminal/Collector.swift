import Synchronization

@testable import RivuletCommands

/// Keeps what a command prints.
final class Collector: Sendable {
    private let state = Mutex<(output: String, errors: String)>(("", ""))

    var console: Console {
        Console { [self] text, isError in
            state.withLock { state in
                if isError { state.errors += text } else { state.output += text }
            }
            return true
        }
    }

    var output: String { state.withLock { $0.output } }
    var lines: [String] { output.split(separator: "\n").map(String.init) }
    var errors: [String] { state.withLock { $0.errors }.split(separator: "\n").map(String.init) }
}
