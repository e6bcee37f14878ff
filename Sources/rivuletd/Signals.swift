import Foundation
import Synchronization

/// The signals that ask the program to end: the first one is waited for, the second one ends it at once.
final class StopSignals {
    private let arrivals: AsyncStream<Void>
    private let sources: [any DispatchSourceSignal]

    init() {
        let (arrivals, continuation) = AsyncStream<Void>.makeStream()
        self.arrivals = arrivals
        let queue = DispatchQueue(label: "rivuletd.signals")
        let counter = Counter()
        sources = [SIGTERM, SIGINT].map { number in
            // The default effect would end the process before the source is told.
            signal(number, SIG_IGN)
            let source = DispatchSource.makeSignalSource(signal: number, queue: queue)
            source.setEventHandler {
                if counter.next() > 1 { _exit(1) }
                continuation.yield()
            }
            source.resume()
            return source
        }
    }

    /// Returns at the first signal.
    func first() async {
        for await _ in arrivals { return }
    }

    /// Counts on the signals' queue, which is serial.
    private final class Counter: Sendable {
        private let count = Mutex(0)

        func next() -> Int {
            count.withLock { count in
                count += 1
                return count
            }
        }
    }
}
