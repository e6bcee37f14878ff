import Foundation
import Synchronization

/// The signals that ask the program for something: to end, or to read its certificate again.
///
/// The second signal to end is not waited for: it ends the program at once.
final class Signals {
    /// What a signal asks for.
    enum Wish: Sendable {
        case stop
        case reload
    }

    /// The wishes as they come.
    let wishes: AsyncStream<Wish>
    private let sources: [any DispatchSourceSignal]

    init() {
        let (wishes, continuation) = AsyncStream<Wish>.makeStream()
        self.wishes = wishes
        let queue = DispatchQueue(label: "rivuletd.signals")
        let counter = Counter()
        sources = [(SIGTERM, Wish.stop), (SIGINT, .stop), (SIGHUP, .reload)].map { number, wish in
            // The default effect would end the process before the source is told.
            signal(number, SIG_IGN)
            let source = DispatchSource.makeSignalSource(signal: number, queue: queue)
            source.setEventHandler {
                if wish == .stop, counter.next() > 1 { _exit(1) }
                continuation.yield(wish)
            }
            source.resume()
            return source
        }
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
