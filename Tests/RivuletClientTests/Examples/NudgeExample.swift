import RivuletClient
import RivuletWire

// The worked example of the article "New kinds of messages": everything an app writes to add one.

/// One user shakes another one's window.
struct Nudge: CustomBody, Equatable {
    var sender: Int64
    var receiver: Int64

    init(sender: Int64, receiver: Int64) {
        self.sender = sender
        self.receiver = receiver
    }

    init(bodyBytes: [UInt8]) throws(WireError) {
        guard bodyBytes.count >= 16 else { throw WireError(.shortBody) }
        func number(at start: Int) -> Int64 {
            bodyBytes[start..<start + 8].reduce(0) { $0 << 8 | Int64($1) }
        }
        self.init(sender: number(at: 0), receiver: number(at: 8))
    }

    func bodyBytes() throws(WireError) -> [UInt8] {
        [sender, receiver].flatMap { number in
            (0..<8).map { UInt8(truncatingIfNeeded: number >> (56 - 8 * $0)) }
        }
    }
}

extension Command {
    static let nudge = Command(rawValue: 100)
}

protocol NudgeHandler: AnyObject, Sendable {
    func handleNudge(_ nudge: Nudge) -> Bool
}

@MainActor
protocol NudgeObserver: AnyObject, Sendable {
    func onNudge(_ nudge: Nudge)
}

extension IMService {
    func setNudgeHandler(_ handler: some NudgeHandler) {
        setHandler(handler, for: .nudge, as: Nudge.self) { $0.handleNudge($1) }
    }

    func addNudgeObserver(_ observer: some NudgeObserver) {
        addObserver(observer, of: .nudge, as: Nudge.self) { $0.onNudge($1) }
    }

    func removeNudgeObserver(_ observer: some NudgeObserver) {
        removeObserver(observer, of: .nudge)
    }

    @discardableResult
    func sendNudge(to receiver: Int64) -> Bool {
        send(Nudge(sender: uid, receiver: receiver), for: .nudge)
    }

    func nudges() -> AsyncStream<Nudge> {
        bodies(of: .nudge, as: Nudge.self)
    }
}
