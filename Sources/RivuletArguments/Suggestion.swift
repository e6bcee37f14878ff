/// "; did you mean --port?" when a known word is close, else nothing.
func suggestion(for word: String, among known: [String]) -> String {
    // A letter wrong in a short word makes it another word; so the tolerance grows with the length. Longer input is no
    // slip of the finger, and is not compared, since the comparison is quadratic.
    guard word.count <= 40 else { return "" }
    let tolerance = word.filter { $0 != "-" }.count < 4 ? 1 : 2
    let best = known.filter { $0.count > 2 }.map { ($0, distance(word, $0)) }.min { $0.1 < $1.1 }
    guard let (name, steps) = best, steps <= tolerance else { return "" }
    return "; did you mean \(name)?"
}

/// How many letters must be inserted, removed, replaced or swapped with their neighbour to turn one word into another.
private func distance(_ left: String, _ right: String) -> Int {
    let left = Array(left)
    let right = Array(right)
    var rows = [Array(0...right.count)]
    for (row, letter) in left.enumerated() {
        var next = [row + 1]
        for (column, other) in right.enumerated() {
            let replaced = rows[row][column] + (letter == other ? 0 : 1)
            var best = min(replaced, next[column] + 1, rows[row][column + 1] + 1)
            if row > 0, column > 0, letter == right[column - 1], left[row - 1] == other {
                best = min(best, rows[row - 1][column - 1] + 1)
            }
            next.append(best)
        }
        rows.append(next)
    }
    return rows[left.count][right.count]
}
