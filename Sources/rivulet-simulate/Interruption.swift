import Foundation
import Synchronization

/// Whether the user asked the program to end; a second time ends it at once.
final class Interruption {
    private let flag = Flag()
    private let source: any DispatchSourceSignal

    init() {
        // The default effect would end the process before the source is told.
        signal(SIGINT, SIG_IGN)
        source = DispatchSource.makeSignalSource(
            signal: SIGINT, queue: DispatchQueue(label: "rivulet-simulate.signals"))
        source.setEventHandler { [flag] in
            if flag.raise() { _exit(130) }
        }
        source.resume()
    }

    /// Asks whether it has come, from any thread.
    var check: @Sendable () -> Bool { { [flag] in flag.isRaised } }

    private final class Flag: Sendable {
        private let value = Mutex(false)

        var isRaised: Bool { value.withLock { $0 } }

        /// Answers whether it was raised before.
        func raise() -> Bool {
            value.withLock { value in
                defer { value = true }
                return value
            }
        }
    }
}
