/// Finds numbers, none negative, that miss a set of linear wishes as little as possible.
///
/// Each wish is an equation or inequality with a price for every unit by which it is missed on either side; the sum of
/// the prices is made as small as it can be. Since every wish may be missed, there always is an answer. It is the
/// simplex method on a dense table, made for the dozen of variables that a view's constraints have.
nonisolated struct LinearProgram {
    /// How the two sides of a wish compare.
    enum Relation {
        case equal, atLeast, atMost
    }

    /// A factor of a variable.
    struct Term {
        var variable: Int
        var factor: Double
    }

    private struct Row {
        var terms: [Term]
        var constant: Double
        /// The price of a unit by which the sum of the terms is above the constant, and below it.
        var over: Double
        var under: Double
    }

    /// The most steps that are taken; far more than any set of constraints needs.
    private static let stepCountMax = 2_000
    private static let tolerance = 1e-9

    private let variableCount: Int
    private var rows: [Row] = []

    /// Makes a program of variables numbered from 0.
    init(variableCount: Int) {
        self.variableCount = variableCount
    }

    /// Adds a wish; missing it costs `price` a unit.
    mutating func add(_ terms: [Term], _ relation: Relation, _ constant: Double, price: Double) {
        add(
            terms, constant, over: relation == .atLeast ? 0 : price, under: relation == .atMost ? 0 : price)
    }

    /// Adds a wish for the sum to be the constant, with different prices above and below it.
    mutating func add(_ terms: [Term], _ constant: Double, over: Double, under: Double) {
        rows.append(Row(terms: terms, constant: constant, over: over, under: under))
    }

    /// The numbers that cost least.
    func solve() -> [Double] {
        var table = Table(variableCount: variableCount, rowCount: rows.count)
        for (number, row) in rows.enumerated() {
            table.set(
                number, terms: row.terms, constant: row.constant, over: row.over, under: row.under)
        }
        table.priceOut()
        for step in 0..<Self.stepCountMax {
            // The steepest column is fastest; the first one cannot go round in circles.
            guard let column = table.entering(isFirst: step > 200, tolerance: Self.tolerance) else { break }
            guard let row = table.leaving(column, tolerance: Self.tolerance) else { break }
            table.pivot(row, column)
        }
        return table.values
    }

    /// The simplex table: the variables, then two for each row that say how much it is missed above and below.
    private struct Table {
        let variableCount: Int
        let rowCount: Int
        let width: Int
        /// Row after row; the last column is the right side, the last row the prices.
        var cells: [Double]
        var basis: [Int]
        var prices: [Double]

        init(variableCount: Int, rowCount: Int) {
            self.variableCount = variableCount
            self.rowCount = rowCount
            width = variableCount + 2 * rowCount + 1
            cells = [Double](repeating: 0, count: width * (rowCount + 1))
            basis = [Int](repeating: 0, count: rowCount)
            prices = [Double](repeating: 0, count: width)
        }

        mutating func set(_ row: Int, terms: [Term], constant: Double, over: Double, under: Double) {
            // sum − over + under = constant, with the right side made positive.
            let sign = constant < 0 ? -1.0 : 1.0
            let start = row * width
            for term in terms where (0..<variableCount).contains(term.variable) {
                cells[start + term.variable] += sign * term.factor
            }
            let overColumn = variableCount + 2 * row
            cells[start + overColumn] = -sign
            cells[start + overColumn + 1] = sign
            cells[start + width - 1] = sign * constant
            prices[overColumn] = over
            prices[overColumn + 1] = under
            basis[row] = sign < 0 ? overColumn : overColumn + 1
        }

        /// Brings the row of prices into terms of what is not in the basis.
        mutating func priceOut() {
            let last = rowCount * width
            for column in 0..<width { cells[last + column] = prices[column] }
            for row in 0..<rowCount {
                let price = prices[basis[row]]
                guard price != 0 else { continue }
                for column in 0..<width { cells[last + column] -= price * cells[row * width + column] }
            }
        }

        func entering(isFirst: Bool, tolerance: Double) -> Int? {
            let last = rowCount * width
            var best: Int?
            for column in 0..<(width - 1) where cells[last + column] < -tolerance {
                if isFirst { return column }
                if best.map({ cells[last + column] < cells[last + $0] }) ?? true { best = column }
            }
            return best
        }

        func leaving(_ column: Int, tolerance: Double) -> Int? {
            var best: (row: Int, ratio: Double)?
            for row in 0..<rowCount {
                let cell = cells[row * width + column]
                guard cell > tolerance else { continue }
                let ratio = cells[row * width + width - 1] / cell
                guard let known = best else {
                    best = (row, ratio)
                    continue
                }
                let isTie = abs(ratio - known.ratio) <= tolerance
                if isTie ? basis[row] < basis[known.row] : ratio < known.ratio { best = (row, ratio) }
            }
            return best?.row
        }

        mutating func pivot(_ row: Int, _ column: Int) {
            let (width, rowCount) = (width, rowCount)
            cells.withUnsafeMutableBufferPointer { cells in
                let start = row * width
                let pivot = cells[start + column]
                for index in start..<(start + width) { cells[index] /= pivot }
                for other in 0...rowCount where other != row {
                    let factor = cells[other * width + column]
                    guard factor != 0 else { continue }
                    for index in 0..<width { cells[other * width + index] -= factor * cells[start + index] }
                }
            }
            basis[row] = column
        }

        var values: [Double] {
            var values = [Double](repeating: 0, count: variableCount)
            for row in 0..<rowCount where basis[row] < variableCount {
                values[basis[row]] = max(0, cells[row * width + width - 1])
            }
            return values
        }
    }
}
