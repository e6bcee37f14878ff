/// Where messages with permanent identities are, by hash, as long as that is not in the table.
///
/// Nearly every hash has one place; the few that share one cost an array.
struct IdentityIndex {
    private var first: [Int64: RecordLocation] = [:]
    private var more: [Int64: [RecordLocation]] = [:]

    mutating func add(_ hash: Int64, _ location: RecordLocation) {
        if first[hash] == nil { first[hash] = location } else { more[hash, default: []].append(location) }
    }

    /// The places where a message with this hash may be, the oldest first.
    func locations(of hash: Int64) -> [RecordLocation] {
        guard let location = first[hash] else { return [] }
        return [location] + (more[hash] ?? [])
    }

    /// Forgets one place.
    mutating func remove(_ hash: Int64, _ location: RecordLocation) {
        if first[hash] == location {
            first[hash] = more[hash]?.first
            if more[hash]?.isEmpty == false { more[hash]?.removeFirst() }
        } else {
            more[hash]?.removeAll { $0 == location }
        }
        if more[hash]?.isEmpty == true { more[hash] = nil }
    }

    /// All places, by rising hash.
    var all: [(hash: Int64, location: RecordLocation)] {
        var all = first.map { (hash: $0, location: $1) }
        for (hash, locations) in more { all += locations.map { (hash: hash, location: $0) } }
        return all.sorted { $0.hash < $1.hash }
    }
}
