/// A list of counts from 0 to 3, one byte each, that is summed eight at a time.
///
/// At 100,000 counts a sum takes some microseconds. A tree would take less and cost more to keep.
struct SmallCounts: Sendable, Equatable {
    private var bytes: [UInt8] = []

    var count: Int { bytes.count }

    subscript(index: Int) -> UInt8 { bytes[index] }

    mutating func append(_ count: UInt8) {
        assert(count <= 3, "a byte lane holds 80 counts of at most 3")
        bytes.append(count)
    }

    mutating func removeAll(reserving capacity: Int) {
        bytes.removeAll(keepingCapacity: true)
        bytes.reserveCapacity(capacity)
    }

    mutating func replaceSubrange(_ range: Range<Int>, with other: SmallCounts) {
        bytes.replaceSubrange(range, with: other.bytes)
    }

    /// The sum of a stretch.
    func sum(of range: Range<Int>) -> Int {
        bytes[range].withUnsafeBytes { bytes in
            var (sum, place) = (0, 0)
            while place + 8 <= bytes.count {
                // Each byte of `lanes` sums up to 80 counts: at most 240.
                var lanes: UInt64 = 0
                let end = min(bytes.count - 7, place + 8 * 80)
                while place < end {
                    lanes &+= bytes.loadUnaligned(fromByteOffset: place, as: UInt64.self)
                    place += 8
                }
                sum += Self.sumOfBytes(lanes)
            }
            for byte in bytes[place...] { sum += Int(byte) }
            return sum
        }
    }

    /// The index at which `index + 1` plus the counts up to it first exceed a number, which must be in reach.
    func index(exceeding number: Int) -> Int {
        bytes.withUnsafeBytes { bytes in
            var (index, total) = (0, 0)
            while index + 8 <= bytes.count {
                let word = bytes.loadUnaligned(fromByteOffset: index, as: UInt64.self)
                let next = total + 8 + Self.sumOfBytes(word)
                guard next <= number else { break }
                total = next
                index += 8
            }
            while index < bytes.count {
                total += 1 + Int(bytes[index])
                if total > number { break }
                index += 1
            }
            return index
        }
    }

    private static func sumOfBytes(_ word: UInt64) -> Int {
        let pairs = (word & 0x00FF_00FF_00FF_00FF) &+ ((word >> 8) & 0x00FF_00FF_00FF_00FF)
        return Int((pairs &* 0x0001_0001_0001_0001) >> 48)
    }
}
