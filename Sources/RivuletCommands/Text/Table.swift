internal import EditLineKit

/// Rows of text in columns.
enum Table {
    /// Each row as a line, columns two blanks apart and as wide as their widest cell.
    static func lines(_ rows: [[String]]) -> [String] {
        let count = rows.map(\.count).max() ?? 0
        let widths = (0..<count).map { column in
            rows.map { column < $0.count ? displayWidth(of: $0[column]) : 0 }.max() ?? 0
        }
        return rows.map { row in
            var line = ""
            for (cell, width) in zip(row, widths) {
                line += cell + String(repeating: " ", count: width - displayWidth(of: cell) + 2)
            }
            while line.hasSuffix(" ") { line.removeLast() }
            return line
        }
    }
}
