internal import Dispatch
internal import Synchronization

#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Darwin)
    internal import Darwin
#endif

/// Lets Ctrl-C and the request to end cancel a command, so that it closes what it opened.
enum Interruptible {
    /// Runs a body; a signal cancels it, and decides the exit status then: 128 and the signal's number.
    ///
    /// A second signal ends the process at once.
    static func run(_ body: @escaping @Sendable () async throws -> Int32) async throws -> Int32 {
        let caught = Mutex<Int32?>(nil)
        let task = Task { try await body() }
        let sources = [SIGINT, SIGTERM].map { number in
            signal(number, SIG_IGN)
            let source = DispatchSource.makeSignalSource(signal: number, queue: .global())
            source.setEventHandler {
                caught.withLock { $0 = number }
                signal(number, SIG_DFL)
                task.cancel()
            }
            source.resume()
            return source
        }
        defer {
            for source in sources { source.cancel() }
            signal(SIGINT, SIG_DFL)
            signal(SIGTERM, SIG_DFL)
        }
        let result = await withTaskCancellationHandler {
            await task.result
        } onCancel: {
            task.cancel()
        }
        if let number = caught.withLock({ $0 }) { return 128 + number }
        return try result.get()
    }
}
