import RivuletServerCore

/// Where the messages without a uuid of the last two minutes are, by the hash of their identity.
struct IdentityWindow {
    /// When more are remembered, the oldest are forgotten early.
    static let countMax = 200_000

    private struct Remembered {
        var location: RecordLocation
        var expires: WallTime
    }

    private var known: [Int64: [Remembered]] = [:]
    /// In the order of arrival, from `first` on.
    private var order: [(hash: Int64, expires: WallTime)] = []
    private var first = 0

    mutating func add(_ hash: Int64, _ location: RecordLocation, at now: WallTime) {
        prune(at: now)
        let expires = now.afterIdentityWindow
        known[hash, default: []].append(Remembered(location: location, expires: expires))
        order.append((hash, expires))
    }

    /// The places where a message with this hash may be, the newest last.
    func locations(of hash: Int64, at now: WallTime) -> [RecordLocation] {
        (known[hash] ?? []).filter { $0.expires > now }.map(\.location)
    }

    /// Forgets what was added of rows behind this one.
    mutating func remove(_ hash: Int64, after row: Int64) {
        known[hash]?.removeAll { $0.location.row > row }
        if known[hash]?.isEmpty == true { known[hash] = nil }
    }

    private mutating func prune(at now: WallTime) {
        while first < order.count, order[first].expires <= now || order.count - first >= Self.countMax {
            let oldest = order[first]
            // Those with the same hash stand in the order of arrival, too.
            if known[oldest.hash]?.first?.expires == oldest.expires { known[oldest.hash]?.removeFirst() }
            if known[oldest.hash]?.isEmpty == true { known[oldest.hash] = nil }
            first += 1
        }
        if first > 4096, first > order.count / 2 {
            order.removeFirst(first)
            first = 0
        }
    }
}
