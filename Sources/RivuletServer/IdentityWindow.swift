import RivuletServerCore

/// The messages without a uuid of the last two minutes, by the hash of their identity.
struct IdentityWindow {
    /// When more are remembered, the oldest are forgotten early.
    static let countMax = 200_000

    private struct Remembered {
        var places: [QueuePlace]
        var expires: WallTime
    }

    private var known: [Int64: Remembered] = [:]
    /// In the order of arrival, from `first` on.
    private var order: [(hash: Int64, expires: WallTime)] = []
    private var first = 0

    mutating func add(_ hash: Int64, _ places: [QueuePlace], at now: WallTime) {
        prune(at: now)
        let expires = now.afterIdentityWindow
        known[hash] = Remembered(places: places, expires: expires)
        order.append((hash, expires))
    }

    func places(of hash: Int64, at now: WallTime) -> [QueuePlace]? {
        guard let remembered = known[hash], remembered.expires > now else { return nil }
        return remembered.places
    }

    mutating func remove(_ hash: Int64) {
        known[hash] = nil
    }

    private mutating func prune(at now: WallTime) {
        while first < order.count, order[first].expires <= now || order.count - first >= Self.countMax {
            let oldest = order[first]
            // A later message with the same identity has its own place in the order.
            if known[oldest.hash]?.expires == oldest.expires { known[oldest.hash] = nil }
            first += 1
        }
        if first > 4096, first > order.count / 2 {
            order.removeFirst(first)
            first = 0
        }
    }
}
