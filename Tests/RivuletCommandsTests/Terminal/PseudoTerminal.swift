import CEditLine
import Foundation
import Synchronization

#if canImport(Glibc)
    import Glibc
#endif

/// A pseudo-terminal whose screen a test can watch.
final class PseudoTerminal: Sendable {
    /// The end for the program.
    let slave: Int32
    private let master: Int32
    private let state: Mutex<State>

    private struct State {
        var model: TerminalModel
        var raw: [UInt8] = []
        var isOver = false
        var waiters:
            [(condition: @Sendable ([String]) -> Bool, continuation: CheckedContinuation<[String], Never>)] =
                []
    }

    init(columns: Int = 80, rows: Int = 24) throws {
        var ends: (Int32, Int32) = (-1, -1)
        var size = winsize(ws_row: UInt16(rows), ws_col: UInt16(columns), ws_xpixel: 0, ws_ypixel: 0)
        guard openpty(&ends.0, &ends.1, nil, nil, &size) == 0 else { throw POSIXError(.EIO) }
        (master, slave) = ends
        state = Mutex(State(model: TerminalModel(columns: columns)))
        Thread.detachNewThread { [self, master] in
            var buffer = [UInt8](repeating: 0, count: 4096)
            while true {
                let count = read(master, &buffer, buffer.count)
                if count == -1, errno == EINTR { continue }
                guard count > 0 else { return }
                received(Array(buffer[..<count]))
            }
        }
    }

    /// The terminal's modes, such as whether it echoes and gathers lines itself.
    var modes: [UInt32] {
        var modes = termios()
        tcgetattr(slave, &modes)
        return [modes.c_iflag, modes.c_oflag, modes.c_lflag].map { UInt32(truncatingIfNeeded: $0) }
    }

    /// Closes the program's end, after which it reads the end of its input.
    func hangUp() {
        close(slave)
    }

    /// Presses keys.
    func type(_ text: String) {
        typeBytes(Array(text.utf8))
    }

    /// Sends bytes as if keys made them.
    func typeBytes(_ bytes: [UInt8]) {
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { write(master, $0.baseAddress, $0.count) }
            guard count > 0 else { return }
            rest = rest.dropFirst(count)
        }
    }

    /// What is on the screen.
    var screen: [String] { state.withLock { $0.model.screen } }
    /// Where the cursor is.
    var cursor: (row: Int, column: Int) { state.withLock { ($0.model.row, $0.model.column) } }
    /// What the terminal model did not understand.
    var unknown: [String] { state.withLock { $0.model.unknown } }
    /// Every byte that the program wrote.
    var output: String { state.withLock { String(decoding: $0.raw, as: UTF8.self) } }

    /// Returns the screen as soon as the condition holds.
    ///
    /// When the test's time is over, it returns what there is and presses Ctrl-U and Ctrl-D, so that the program ends too.
    @discardableResult
    func wait(until condition: @escaping @Sendable ([String]) -> Bool) async -> [String] {
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let screen: [String]? = state.withLock { state in
                    if state.isOver || condition(state.model.screen) { return state.model.screen }
                    state.waiters.append((condition, continuation))
                    return nil
                }
                if let screen { continuation.resume(returning: screen) }
            }
        } onCancel: {
            let (waiters, screen) = state.withLock { state in
                state.isOver = true
                defer { state.waiters = [] }
                return (state.waiters, state.model.screen)
            }
            for waiter in waiters { waiter.continuation.resume(returning: screen) }
            type("\u{15}\u{4}")
        }
    }

    private func received(_ bytes: [UInt8]) {
        let ready = state.withLock { state in
            state.raw += bytes
            state.model.feed(bytes)
            let screen = state.model.screen
            let ready = state.waiters.filter { $0.condition(screen) }.map { ($0.continuation, screen) }
            state.waiters.removeAll { $0.condition(screen) }
            return ready
        }
        for (continuation, screen) in ready { continuation.resume(returning: screen) }
    }
}

/// Runs a blocking body on a thread of its own.
func onThread<Result: Sendable>(_ body: @escaping @Sendable () -> Result) async -> Result {
    await withCheckedContinuation { continuation in
        Thread.detachNewThread { continuation.resume(returning: body()) }
    }
}
