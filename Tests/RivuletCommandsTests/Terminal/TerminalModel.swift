import EditLineKit

/// A terminal as small as the tests need: it takes the bytes of a program and shows what a person would see.
struct TerminalModel {
    let columns: Int
    private(set) var lines: [[Character]] = [[]]
    private(set) var row = 0
    private(set) var column = 0
    /// Sequences that the model does not know; a test expects none.
    private(set) var unknown: [String] = []
    private var pending: [UInt8] = []
    /// The right half of a wide character.
    private static let continuation: Character = "\0"

    init(columns: Int) {
        self.columns = columns
    }

    /// The visible lines without trailing blanks; empty lines at the end are left out.
    var screen: [String] {
        var result = lines.map { line in
            var text = String(line.filter { $0 != TerminalModel.continuation })
            while text.hasSuffix(" ") { text.removeLast() }
            return text
        }
        while result.count > 1, result.last == "", result.count - 1 > row { result.removeLast() }
        return result
    }

    mutating func feed(_ bytes: [UInt8]) {
        pending += bytes
        while let (used, action) = next() {
            pending.removeFirst(used)
            action(&self)
        }
    }

    private func next() -> (Int, (inout TerminalModel) -> Void)? {
        guard let first = pending.first else { return nil }
        switch first {
        case 0x1B: return sequence()
        case 0x0D: return (1, { $0.column = 0 })
        case 0x0A: return (1, { $0.lineFeed() })
        case 0x08: return (1, { $0.column = max(0, $0.column - 1) })
        case 0x07, 0x00: return (1, { _ in })
        default: break
        }
        let count = first < 0x80 ? 1 : first < 0xE0 ? 2 : first < 0xF0 ? 3 : 4
        guard pending.count >= count else { return nil }
        let text = String(decoding: pending.prefix(count), as: UTF8.self)
        return (count, { $0.put(text) })
    }

    private func sequence() -> (Int, (inout TerminalModel) -> Void)? {
        guard pending.count >= 2 else { return nil }
        if pending[1] == UInt8(ascii: "(") { return pending.count >= 3 ? (3, { _ in }) : nil }
        guard pending[1] == UInt8(ascii: "[") else { return (2, { _ in }) }
        guard let end = pending.dropFirst(2).firstIndex(where: { (0x40...0x7E).contains($0) }) else {
            return nil
        }
        let parameters = String(decoding: pending[2..<end], as: UTF8.self)
        let final = Character(Unicode.Scalar(pending[end]))
        return (end + 1, { $0.perform(final, parameters) })
    }

    private mutating func perform(_ final: Character, _ parameters: String) {
        let count = max(1, Int(parameters) ?? 1)
        switch final {
        case "A": row = max(0, row - count)
        case "B": for _ in 0..<count { lineFeed() }
        case "C": column = min(columns - 1, column + count)
        case "D": column = max(0, column - count)
        case "G": column = min(columns - 1, count - 1)
        case "K" where parameters.isEmpty || parameters == "0": truncate(row)
        case "J" where parameters.isEmpty || parameters == "0":
            truncate(row)
            lines.removeSubrange((row + 1)...)
        case "P":
            pad()
            lines[row].removeSubrange(column..<min(lines[row].count, column + count))
        case "@":
            pad()
            lines[row].insert(contentsOf: Array(repeating: " ", count: count), at: column)
            lines[row] = Array(lines[row].prefix(columns))
        case "m": break
        case "h", "l": break
        default: unknown.append("[\(parameters)\(final)")
        }
    }

    private mutating func truncate(_ row: Int) {
        if lines[row].count > column { lines[row].removeSubrange(column...) }
    }

    private mutating func pad() {
        while lines[row].count < column { lines[row].append(" ") }
    }

    private mutating func lineFeed() {
        row += 1
        while lines.count <= row { lines.append([]) }
    }

    private mutating func put(_ text: String) {
        guard text.count == 1 else { return unknown.append(text) }
        let width = displayWidth(of: text)
        if width == 0 {
            guard column > 0, column <= lines[row].count else { return }
            lines[row][column - 1] = Character(String(lines[row][column - 1]) + text)
            return
        }
        // Like xterm: the cursor waits behind the last column and wraps with the next character.
        if column + width > columns {
            lineFeed()
            column = 0
        }
        pad()
        for (offset, character) in ([Character(text)] + (width == 2 ? [TerminalModel.continuation] : []))
            .enumerated()
        {
            if column + offset < lines[row].count {
                lines[row][column + offset] = character
            } else {
                lines[row].append(character)
            }
        }
        column += width
    }
}
