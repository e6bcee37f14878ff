import Foundation
import Synchronization

/// What asks the program for something while it runs: signals, and the end of its input.
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
    private let continuation: AsyncStream<Wish>.Continuation
    private let sources: [any DispatchSourceSignal]

    init() {
        let (wishes, continuation) = AsyncStream<Wish>.makeStream()
        self.wishes = wishes
        self.continuation = continuation
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

    /// Lets the end of standard input ask for the end, as a signal does.
    ///
    /// The program that started this one holds the other end of a pipe: when it ends, however it ends, so does this.
    func stopAtEndOfInput() {
        let continuation = continuation
        let reader = Thread {
            var buffer = [UInt8](repeating: 0, count: 512)
            while true {
                let count = read(STDIN_FILENO, &buffer, buffer.count)
                if count > 0 || (count < 0 && errno == EINTR) { continue }
                continuation.yield(.stop)
                return
            }
        }
        reader.name = "rivulet-input"
        reader.start()
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
