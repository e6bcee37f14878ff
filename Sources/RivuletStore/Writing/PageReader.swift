import RivuletModel

/// What pages are read from.
protocol PageTables {
    func message(id: Int64) throws -> MessageRow?
    /// Up to `limit` shown rows behind the position, oldest first.
    func shown(in session: Int64, after position: Int64, limit: Int) throws -> [MessageRow]
    /// Up to `limit` shown rows before the position, oldest first.
    func shown(in session: Int64, before position: Int64, limit: Int) throws -> [MessageRow]
    /// The position of the first shown row that was sent at or after a time.
    func firstPosition(in session: Int64, fromMilliseconds: Int64) throws -> Int64?
}

/// Reads one page by keys, never by counting rows: the cost does not grow with the length of a conversation.
struct PageReader<Tables: PageTables> {
    let tables: Tables
    let session: Int64
    let query: PageQuery

    func page(_ message: (MessageRow) throws -> Message?) throws -> StoredPage {
        let (rows, hasOlder, hasNewer) = try rows()
        return StoredPage(messages: try rows.compactMap(message), hasOlder: hasOlder, hasNewer: hasNewer)
    }

    private func rows() throws -> (rows: [MessageRow], hasOlder: Bool, hasNewer: Bool) {
        switch query.place {
        case .newest:
            let (rows, more) = try older(than: .max, limit: query.limit)
            return (rows, more, false)
        case .oldest:
            let (rows, more) = try newer(than: .min, limit: query.limit)
            return (rows, false, more)
        case .before(let position):
            let (rows, more) = try older(than: position.rawValue, limit: query.limit)
            let newer = try tables.shown(in: session, after: Self.step(position.rawValue, -1), limit: 1)
            return (rows, more, !newer.isEmpty)
        case .after(let position):
            let (rows, more) = try newer(than: position.rawValue, limit: query.limit)
            let older = try tables.shown(in: session, before: Self.step(position.rawValue, 1), limit: 1)
            return (rows, !older.isEmpty, more)
        case .around(let id):
            guard let row = try tables.message(id: id.rawValue), row.session == session,
                let position = row.position
            else { return ([], false, false) }
            return try around(position)
        case .from(let milliseconds):
            guard let position = try tables.firstPosition(in: session, fromMilliseconds: milliseconds) else {
                let (rows, more) = try older(than: .max, limit: query.limit)
                return (rows, more, false)
            }
            let (rows, more) = try newer(than: Self.step(position, -1), limit: query.limit)
            let older = try tables.shown(in: session, before: position, limit: 1)
            return (rows, !older.isEmpty, more)
        }
    }

    /// The next position in a direction; the ends of the range stay.
    private static func step(_ position: Int64, _ direction: Int64) -> Int64 {
        let (next, overflow) = position.addingReportingOverflow(direction)
        return overflow ? position : next
    }

    /// Half of the page on either side; a side that is short leaves its room to the other.
    private func around(_ position: Int64) throws -> (rows: [MessageRow], hasOlder: Bool, hasNewer: Bool) {
        let limit = query.limit
        // One row more than can be used on either side tells whether there is more.
        let before = try tables.shown(in: session, before: position, limit: limit + 1)
        let after = try tables.shown(in: session, after: Self.step(position, -1), limit: limit + 1)
        let beforeCount = min(before.count, max(limit / 2, limit - after.count))
        let afterCount = min(after.count, limit - beforeCount)
        return (
            Array(before.suffix(beforeCount) + after.prefix(afterCount)), beforeCount < before.count,
            afterCount < after.count
        )
    }

    private func older(than position: Int64, limit: Int) throws -> ([MessageRow], Bool) {
        let rows = try tables.shown(in: session, before: position, limit: limit + 1)
        return (Array(rows.suffix(limit)), rows.count > limit)
    }

    private func newer(than position: Int64, limit: Int) throws -> ([MessageRow], Bool) {
        let rows = try tables.shown(in: session, after: position, limit: limit + 1)
        return (Array(rows.prefix(limit)), rows.count > limit)
    }
}
