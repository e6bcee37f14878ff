import RivuletModel
import SQLiteKit

/// The earliest and the latest time of each stretch of 1,024 message numbers that the search knows.
///
/// Numbers grow with arrival, times nearly so: a search by date then reads a range of numbers instead of everything that
/// is newer. A wrong clock makes the range longer, never the answer wrong; an index on times would cost every message.
extension SQLiteTables {
    private static let spanBits: Int64 = 10

    /// Takes a row's time into its stretch; written by `finishSpans`.
    func noteTime(of row: MessageRow) {
        let number = row.id >> Self.spanBits
        let time = row.timeMilliseconds
        guard let known = spans[number] else {
            spans[number] = time...time
            return
        }
        if !known.contains(time) { spans[number] = min(known.lowerBound, time)...max(known.upperBound, time) }
    }

    func finishSpans() throws {
        for (number, times) in spans {
            try database.execute(
                """
                INSERT INTO search_span VALUES (?, ?, ?) ON CONFLICT DO UPDATE
                SET first_ms = min(first_ms, excluded.first_ms), last_ms = max(last_ms, excluded.last_ms)
                """, .integer(number), .integer(times.lowerBound), .integer(times.upperBound))
        }
        spans = [:]
    }

    /// The numbers among which all messages of a time lie; nil when there are none.
    func numbers(from first: Int64?, until end: Int64?) throws -> ClosedRange<Int64>? {
        guard first != nil || end != nil else { return Int64.min...Int64.max }
        let found: (Int64, Int64)? =
            try database.first(
                "SELECT min(id), max(id) FROM search_span WHERE last_ms >= ? AND first_ms < ?",
                .integer(first ?? .min), .integer(end ?? .max)
            ) { row in
                guard let low = row.optionalInteger(at: 0), let high = row.optionalInteger(at: 1) else {
                    return nil
                }
                return (low, high)
            } ?? nil
        guard let (low, high) = found else { return nil }
        return (low << Self.spanBits)...(high << Self.spanBits | (1 << Self.spanBits - 1))
    }
}
