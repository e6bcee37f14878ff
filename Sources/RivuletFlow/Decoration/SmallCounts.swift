/// A list of counts from 0 to 3, one byte each, with the sum of any beginning of it.
///
/// The sum before each block of 512 is kept; within a block eight counts are added at a time. So a sum takes some
/// ten nanoseconds, and a change in the middle costs what moving the bytes costs.
struct SmallCounts: Sendable {
    private static let blockCount = 512

    private var bytes: [UInt8] = []
    /// The sums before each block, and one more when the last block is full.
    private var sums: [Int] = [0]

    var count: Int { bytes.count }

    subscript(index: Int) -> UInt8 { bytes[index] }

    mutating func append(_ count: UInt8) {
        assert(count <= 3, "a byte lane holds 64 counts of at most 3")
        bytes.append(count)
        if bytes.count.isMultiple(of: Self.blockCount) { extendSums() }
    }

    mutating func removeAll(reserving capacity: Int) {
        bytes.removeAll(keepingCapacity: true)
        bytes.reserveCapacity(capacity)
        sums = [0]
    }

    mutating func replaceSubrange(_ range: Range<Int>, with other: SmallCounts) {
        bytes.replaceSubrange(range, with: other.bytes)
        sums.removeSubrange((range.lowerBound / Self.blockCount + 1)...)
        extendSums()
    }

    /// The sum of the first counts.
    func sum(ofFirst end: Int) -> Int {
        let block = min(end / Self.blockCount, sums.count - 1)
        return sums[block] + sum(of: block * Self.blockCount..<end)
    }

    /// The index at which `index + 1` plus the counts up to it first exceed a number, which must be in reach.
    func index(exceeding number: Int) -> Int {
        var (low, high) = (0, sums.count)
        while high - low > 1 {
            let middle = (low + high) / 2
            if middle * Self.blockCount + sums[middle] <= number { low = middle } else { high = middle }
        }
        var index = low * Self.blockCount
        var total = index + sums[low]
        while index < bytes.count {
            total += 1 + Int(bytes[index])
            if total > number { break }
            index += 1
        }
        return index
    }

    private mutating func extendSums() {
        while sums.count * Self.blockCount <= bytes.count {
            let block = sums.count - 1
            let start = block * Self.blockCount
            sums.append(sums[block] + sum(of: start..<start + Self.blockCount))
        }
    }

    /// The sum of a stretch of at most one block.
    private func sum(of range: Range<Int>) -> Int {
        bytes.withUnsafeBytes { bytes in
            // Each byte of `lanes` sums up to 64 counts: at most 192.
            var (lanes, place) = (UInt64(0), range.lowerBound)
            while place + 8 <= range.upperBound {
                lanes &+= bytes.loadUnaligned(fromByteOffset: place, as: UInt64.self)
                place += 8
            }
            let pairs = (lanes & 0x00FF_00FF_00FF_00FF) &+ ((lanes >> 8) & 0x00FF_00FF_00FF_00FF)
            var sum = Int((pairs &* 0x0001_0001_0001_0001) >> 48)
            while place < range.upperBound {
                sum += Int(bytes[place])
                place += 1
            }
            return sum
        }
    }
}
