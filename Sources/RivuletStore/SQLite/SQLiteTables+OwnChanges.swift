import SQLiteKit

extension SQLiteTables {
    private static let ownChangeColumns = "id, target, raw, time_ms, hidden, was_edited"

    private static func ownChange(_ row: borrowing Row) -> OwnChange {
        OwnChange(
            id: row.integer(at: 0), target: row.text(at: 1), raw: row.text(at: 2),
            timeMilliseconds: row.integer(at: 3), hidden: row.optionalText(at: 4),
            wasEdited: row.integer(at: 5) != 0)
    }

    func insert(_ change: OwnChange) throws {
        try database.execute(
            "INSERT OR REPLACE INTO own_change (\(Self.ownChangeColumns)) VALUES (?, ?, ?, ?, ?, ?)",
            .integer(change.id), .text(change.target), .text(change.raw), .integer(change.timeMilliseconds),
            .optional(change.hidden), .integer(change.wasEdited ? 1 : 0))
    }

    func ownChange(_ id: Int64) throws -> OwnChange? {
        try database.first(
            "SELECT \(Self.ownChangeColumns) FROM own_change WHERE id = ?", .integer(id),
            make: Self.ownChange)
    }

    func ownChanges(of target: String) throws -> [OwnChange] {
        try database.rows(
            "SELECT \(Self.ownChangeColumns) FROM own_change WHERE target = ? ORDER BY id", .text(target),
            make: Self.ownChange)
    }

    func deleteOwnChange(_ id: Int64) throws {
        try database.execute("DELETE FROM own_change WHERE id = ?", .integer(id))
    }
}
