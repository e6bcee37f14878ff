/// Values that were used not long ago.
///
/// Two generations stand for an order of use: a value that is looked up moves to the young one, and when that is full
/// the old one is forgotten.
nonisolated struct RecentValues<Key: Hashable, Value> {
    private let generationCountMax: Int
    private var young: [Key: Value] = [:]
    private var old: [Key: Value] = [:]

    /// Makes an empty store for at most so many values, two at least.
    init(countMax: Int) {
        generationCountMax = max(1, countMax / 2)
    }

    /// How many values are kept.
    var count: Int { young.count + old.count }

    /// The value under a key, made when it is not there.
    mutating func value(for key: Key, make: () -> Value) -> Value {
        if let known = young[key] { return known }
        let value = old.removeValue(forKey: key) ?? make()
        if young.count >= generationCountMax {
            old = young
            young = [:]
        }
        young[key] = value
        return value
    }
}
