import UVKit

/// Connects to whichever of several addresses answers first (RFC 8305, "Happy Eyeballs").
///
/// The families alternate. An attempt that has neither succeeded nor failed after a while gets company by the next one; a
/// failure starts the next one at once. The first open connection wins and the others are given up.
final class AddressRace {
    private let loop: EventLoop
    private let delay: Duration
    private var waiting: [SocketAddress]
    private var running: [ObjectIdentifier: TCPStream] = [:]
    private var timer: Timer?
    private var lastError: UVError?
    private var completion: ((Result<TCPStream, UVError>) -> Void)?

    /// Begins; must be called on the loop.
    ///
    /// `completion` is called once, in a later turn, or never after ``cancel()``.
    init(
        _ addresses: [SocketAddress], delay: Duration, on loop: EventLoop,
        completion: @escaping (Result<TCPStream, UVError>) -> Void
    ) {
        self.loop = loop
        self.delay = delay
        self.completion = completion
        waiting = Self.alternating(addresses)
        // The closures of streams and timer hold this object until the race is over.
        loop.atEndOfTurn { self.startNext() }
    }

    /// Gives up every attempt; nothing is reported.
    func cancel() {
        completion = nil
        tidy(except: nil)
    }

    /// The same addresses, the families by turns, beginning with the first one's.
    static func alternating(_ addresses: [SocketAddress]) -> [SocketAddress] {
        guard let first = addresses.first else { return [] }
        var own = addresses.filter { $0.isIPv6 == first.isIPv6 }[...]
        var other = addresses.filter { $0.isIPv6 != first.isIPv6 }[...]
        var mixed: [SocketAddress] = []
        while !own.isEmpty || !other.isEmpty {
            if let next = own.popFirst() { mixed.append(next) }
            if let next = other.popFirst() { mixed.append(next) }
        }
        return mixed
    }

    private func startNext() {
        guard completion != nil else { return }
        guard !waiting.isEmpty else {
            if running.isEmpty { finish(.failure(lastError ?? Self.noAddress)) }
            return
        }
        let address = waiting.removeFirst()
        do throws(UVError) {
            let stream = try TCPStream.connect(to: address, on: loop)
            let id = ObjectIdentifier(stream)
            running[id] = stream
            stream.onOpened = {
                self.running[id] = nil
                stream.onOpened = nil
                stream.onClosed = nil
                self.finish(.success(stream))
            }
            stream.onClosed = { reason in
                self.running[id] = nil
                if case .failed(let error) = reason { self.lastError = error }
                // Nothing can be opened on a loop that ends.
                if reason == .loopStopped { self.waiting = [] }
                self.startNext()
            }
        } catch {
            lastError = error
            return startNext()
        }
        armTimer()
    }

    private func armTimer() {
        guard !waiting.isEmpty else { return }
        do throws(UVError) {
            if timer == nil { timer = try Timer(on: loop) { self.startNext() } }
            timer?.arm(after: delay)
        } catch {
            // Without a timer the attempts come one after the other.
        }
    }

    private func finish(_ result: Result<TCPStream, UVError>) {
        guard let completion else { return }
        self.completion = nil
        if case .success(let winner) = result { tidy(except: winner) } else { tidy(except: nil) }
        completion(result)
    }

    private func tidy(except winner: TCPStream?) {
        timer?.close()
        timer = nil
        waiting = []
        for stream in running.values where stream !== winner {
            stream.onOpened = nil
            stream.onClosed = nil
            stream.close()
        }
        running = [:]
    }

    private static let noAddress = UVError(
        code: .unknownHost, message: "the host has no address", operation: "connect")
}
