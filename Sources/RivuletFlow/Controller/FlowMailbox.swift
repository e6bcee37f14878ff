import Synchronization

/// Takes events from any thread and hands them over in batches; each producer's events keep their order.
///
/// It is bounded. Beyond the bound, events about messages are refused and one `reloadRequested` takes their place,
/// so that a storm ends in one read of the provider instead of in endless memory. Other events, which come from one
/// reader and one provider, are always taken.
public final class FlowMailbox: Sendable {
    private struct State {
        var events: [FlowEvent] = []
        var trafficCount = 0
        var hasRefused = false
    }

    /// The number of events about messages up to which they are taken.
    public let trafficCountMax: Int
    private let state = Mutex(State())
    private let wake: @Sendable () -> Void

    /// Makes an empty mailbox.
    ///
    /// - Parameters:
    ///   - trafficCountMax: The number of events about messages up to which they are taken.
    ///   - wake: Called on the producer's thread, under no lock, when there is something to take after there was not.
    public init(trafficCountMax: Int = 16_384, wake: @escaping @Sendable () -> Void) {
        self.trafficCountMax = max(1, trafficCountMax)
        self.wake = wake
    }

    /// Puts an event in.
    ///
    /// - Returns: Whether it was taken; if not, a reload will bring what it said.
    @discardableResult
    public func submit(_ event: FlowEvent) -> Bool { submit(event, wakes: true) }

    /// Puts an event in; one that takes everything out itself need not be woken.
    @discardableResult
    func submit(_ event: FlowEvent, wakes: Bool) -> Bool {
        let (isTaken, wasEmpty) = state.withLock { state -> (Bool, Bool) in
            let wasEmpty = state.events.isEmpty && !state.hasRefused
            guard event.isTraffic else {
                state.events.append(event)
                return (true, wasEmpty)
            }
            guard state.trafficCount < trafficCountMax else {
                state.hasRefused = true
                return (false, false)
            }
            state.events.append(event)
            state.trafficCount += 1
            return (true, wasEmpty)
        }
        if wasEmpty, wakes { wake() }
        return isTaken
    }

    /// Whether there is nothing to take.
    public var isEmpty: Bool {
        state.withLock { $0.events.isEmpty && !$0.hasRefused }
    }

    /// Takes everything out, the oldest first.
    public func takeAll() -> [FlowEvent] {
        state.withLock { state in
            var events = state.events
            if state.hasRefused { events.append(.reloadRequested) }
            state = State()
            return events
        }
    }
}
