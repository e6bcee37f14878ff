/// Where messages with permanent identities are, by hash, as long as that is not in the table.
///
/// Nearly every hash has one place; the few that share one cost an array. The hashes are divided among buckets by
/// their first bits, so that a bucket can be put in order between two commits: all of them at once would hold up every
/// message for tens of milliseconds, and so would a single dictionary that grows.
struct IdentityIndex {
    /// A hash and one place where a message with it may be.
    typealias Element = (hash: Int64, location: RecordLocation)

    static let bucketCount = 64
    private var first = [[Int64: RecordLocation]](repeating: [:], count: IdentityIndex.bucketCount)
    private var more: [Int64: [RecordLocation]] = [:]

    private static func bucket(_ hash: Int64) -> Int {
        Int(UInt64(bitPattern: hash) >> 58)
    }

    mutating func add(_ hash: Int64, _ location: RecordLocation) {
        let bucket = Self.bucket(hash)
        if first[bucket][hash] == nil {
            first[bucket][hash] = location
        } else {
            more[hash, default: []].append(location)
        }
    }

    /// The places where a message with this hash may be, the oldest first.
    func locations(of hash: Int64) -> [RecordLocation] {
        guard let location = first[Self.bucket(hash)][hash] else { return [] }
        return [location] + (more[hash] ?? [])
    }

    /// Forgets one place.
    mutating func remove(_ hash: Int64, _ location: RecordLocation) {
        let bucket = Self.bucket(hash)
        if first[bucket][hash] == location {
            first[bucket][hash] = more[hash]?.first
            if more[hash]?.isEmpty == false { more[hash]?.removeFirst() }
        } else {
            more[hash]?.removeAll { $0 == location }
        }
        if more[hash]?.isEmpty == true { more[hash] = nil }
    }

    /// The places of one bucket up to a row, by rising hash.
    func elements(inBucket bucket: Int, upTo row: Int64) -> [Element] {
        var elements: [Element] = []
        for (hash, location) in first[bucket] {
            if location.row <= row { elements.append((hash, location)) }
            for other in more[hash] ?? [] where other.row <= row { elements.append((hash, other)) }
        }
        return elements.sorted { $0.hash < $1.hash }
    }

    /// Whether it knows of nothing.
    var isEmpty: Bool {
        first.allSatisfy(\.isEmpty)
    }
}
