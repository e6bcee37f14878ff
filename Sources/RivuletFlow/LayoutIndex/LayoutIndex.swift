/// The heights of all rows, from which offsets are found and rows by offset, in O(log n).
///
/// Heights are kept in whole units of 1/256 point, so that sums are exact: after any number of changes an offset is
/// the same as if it were added up anew. A height is rounded to the nearest unit; negative ones and NaN count as 0,
/// and one row is at most `heightMax` points high.
///
/// It is a value: a copy shares its memory until one of the two changes. A copy that is kept over a change costs
/// O(n) once.
///
/// ```swift
/// var index = LayoutIndex(heights: [40, 60.5, 20])
/// index.offset(ofRow: 2)               // 100.5
/// index.row(atOffset: 40)              // 1
/// index.visibleRows(in: 40..<100.5)    // 1..<2
/// index.resize(row: 0, to: 44)
/// ```
public struct LayoutIndex: Sendable {
    /// How many units one point has.
    public static let unitsPerPoint = 256
    /// The largest height of one row, in points.
    public static let heightMax = 4_194_304.0

    var tree: SumTree

    /// Makes an index without rows.
    public init() {
        tree = SumTree()
    }

    /// Makes an index of these heights, in points; O(n).
    public init(heights: some Sequence<Double>) {
        tree = SumTree(Self.units(of: heights))
    }

    /// Makes an index of rows that are all of one height, in points; O(n).
    public init(count: Int, height: Double) {
        tree = SumTree([Int32](repeating: Self.units(height), count: max(0, count)))
    }

    /// How many rows there are.
    public var count: Int {
        tree.count
    }

    /// Whether there are no rows.
    public var isEmpty: Bool {
        tree.count == 0
    }

    /// The sum of all heights, in points.
    public var totalHeight: Double {
        Self.points(tree.total)
    }

    /// The height of a row, in points.
    public func height(ofRow row: Int) -> Double {
        precondition(row >= 0 && row < count, "no row \(row)")
        return Self.points(Int64(tree.locate(row: row).height))
    }

    /// Where a row begins: the sum of the heights before it, in points.
    ///
    /// - Parameter row: A row, or `count` for the end of the last one.
    /// - Returns: The offset, in points.
    public func offset(ofRow row: Int) -> Double {
        precondition(row >= 0 && row <= count, "no row \(row)")
        return Self.points(row == count ? tree.total : tree.locate(row: row).offset)
    }

    /// The row that covers an offset: it begins there or before and ends after.
    ///
    /// A row without height covers nothing.
    ///
    /// - Returns: The row; nil before the first and after the last.
    public func row(atOffset offset: Double) -> Int? {
        guard offset >= 0, offset < totalHeight else { return nil }
        return tree.rowCount(endingAtOrBefore: Self.unitsRoundedDown(offset))
    }

    /// The rows of which a part lies within a stretch of offsets.
    ///
    /// Touching is not overlapping: a row that ends where the stretch begins, or begins where it ends, is not in it.
    /// A row without height is in it when it lies strictly inside.
    public func visibleRows(in offsets: Range<Double>) -> Range<Int> {
        guard !offsets.isEmpty, !offsets.lowerBound.isNaN, !offsets.upperBound.isNaN else { return 0..<0 }
        let first = tree.rowCount(endingAtOrBefore: Self.unitsRoundedDown(offsets.lowerBound))
        let end = tree.rowCount(beginningBefore: Self.unitsRoundedUp(offsets.upperBound))
        return first..<max(first, end)
    }

    /// Changes the height of a row.
    ///
    /// - Returns: By how many points the rows below move down.
    @discardableResult
    public mutating func resize(row: Int, to height: Double) -> Double {
        precondition(row >= 0 && row < count, "no row \(row)")
        return Self.points(tree.set(row: row, to: Self.units(height)))
    }

    /// Adds rows before the given one, or at the end.
    public mutating func insert(_ heights: some Sequence<Double>, at row: Int) {
        precondition(row >= 0 && row <= count, "no row \(row) to insert at")
        tree.insert(Self.units(of: heights), at: row)
    }

    /// Adds rows of one height before the given one, or at the end.
    public mutating func insert(count: Int, height: Double, at row: Int) {
        insert(repeatElement(height, count: max(0, count)), at: row)
    }

    /// Takes rows out.
    public mutating func remove(_ rows: Range<Int>) {
        precondition(rows.lowerBound >= 0 && rows.upperBound <= count, "no rows \(rows)")
        tree.remove(rows)
    }

    /// Moves one row.
    ///
    /// - Parameters:
    ///   - from: The row.
    ///   - to: Its index afterwards.
    public mutating func move(from: Int, to: Int) {
        precondition(from >= 0 && from < count && to >= 0 && to < count, "no row \(from) or \(to)")
        let height = tree.locate(row: from).height
        tree.remove(from..<from + 1)
        tree.insert([height], at: to)
    }

    /// The heights of some rows, in points and in order.
    public func heights(of rows: Range<Int>) -> [Double] {
        precondition(rows.lowerBound >= 0 && rows.upperBound <= count, "no rows \(rows)")
        return tree.values(of: rows).map { Self.points(Int64($0)) }
    }
}

extension LayoutIndex: Equatable {
    /// Whether both have the same heights in the same order; O(n).
    public static func == (left: LayoutIndex, right: LayoutIndex) -> Bool {
        left.count == right.count
            && left.tree.values(of: 0..<left.count) == right.tree.values(of: 0..<right.count)
    }
}

extension LayoutIndex {
    /// The height to which a height given in points is rounded, in points.
    public static func rounded(_ height: Double) -> Double {
        points(Int64(units(height)))
    }

    static func units(_ points: Double) -> Int32 {
        guard points > 0 else { return 0 }
        return Int32(min(points, heightMax) * Double(unitsPerPoint) + 0.5)
    }

    /// Over an array, since iterating over the caller's type is slow when it is not known here.
    private static func units(of heights: some Sequence<Double>) -> [Int32] {
        Array(heights).map(units)
    }

    static func points(_ units: Int64) -> Double {
        Double(units) / Double(unitsPerPoint)
    }

    // Conversion to an integer cuts the fraction off; `rounded` would need the C mathematics library.

    private static func unitsRoundedDown(_ points: Double) -> Int64 {
        let exact = points * Double(unitsPerPoint)
        let cut = Int64(bounded: exact)
        return Double(cut) > exact ? cut - 1 : cut
    }

    private static func unitsRoundedUp(_ points: Double) -> Int64 {
        let exact = points * Double(unitsPerPoint)
        let cut = Int64(bounded: exact)
        return Double(cut) < exact ? cut + 1 : cut
    }
}

extension Int64 {
    /// The number without its fraction, within ±2⁶².
    fileprivate init(bounded value: Double) {
        let limit = 4_611_686_018_427_387_904.0
        self = Int64(Swift.min(Swift.max(value, -limit), limit))
    }
}
